/* SPDX-License-Identifier: Apache-2.0 */
/* An expert's labels: conjugate updates against quadrature, means against sums. */
#include "mean/expert_case.h"

/* ---- references -------------------------------------------------------------------------------- */

/* E[d] by the midpoint rule: prior density times likelihood. */
static double beta_mean(double alpha, double beta, double weight, bool doubted)
{
    double sum = 0.0, moment = 0.0;
    const size_t points = 20000;
    for (size_t k = 0; k < points; k++) {
        const double p = ((double)k + 0.5) / (double)points;
        const double density =
            pow(p, alpha - 1.0) * pow(1.0 - p, beta - 1.0) * pow(doubted ? p : 1.0 - p, weight);
        sum += density;
        moment += p * density;
    }
    return moment / sum;
}

/* Moments of a normal prior times a normal likelihood, by the midpoint rule; an infinite variance is none. */
static void normal_posterior(double m, double v, double c, double s, double *mean, double *var)
{
    double sum = 0.0, first = 0.0, second = 0.0;
    const double low = m - 12.0 * sqrt(v), step = 24.0 * sqrt(v) / 40000.0;
    for (size_t k = 0; k < 40000; k++) {
        const double u = low + ((double)k + 0.5) * step;
        const double density = exp(-(u - m) * (u - m) / (2.0 * v) - (u - c) * (u - c) / (2.0 * s));
        sum += density;
        first += u * density;
        second += u * u * density;
    }
    *mean = first / sum;
    *var = second / sum - *mean * *mean;
}

/* ---- the posterior of one reading -------------------------------------------------------------- */

static void probabilities_are_those_of_quadrature(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    case_ c;
    make(&c);
    for (size_t k = 0; k < 3; k++) {
        hf_expert_settings settings = hf_expert_settings_default();
        settings.alpha = 1.5 + (double)k;
        settings.beta = 3.0 - (double)k;
        settings.label_weight = 1.0 + 2.0 * (double)k;
        hf_expert *expert = learn(ctx, &c.data, &settings);
        for (size_t i = 0; i < N; i++) {
            const hf_expert_reading r = told(ctx, expert, i);
            assert_int_equal(r.label, c.label[i]);
            if (c.label[i] == HF_EXPERT_UNKNOWN)
                assert_true(isnan(r.wrong) && isnan(r.corrected));
            else
                assert_near(r.wrong,
                            beta_mean(settings.alpha, settings.beta, settings.label_weight,
                                      c.label[i] == HF_EXPERT_DOUBTED),
                            1e-6);
        }
        hf_expert_free(expert);
    }
    /* By itself alpha is the distance from the average. */
    hf_expert_settings settings = hf_expert_settings_default();
    settings.beta = 2.0;
    settings.label_weight = 1.0;
    hf_expert *expert = learn(ctx, &c.data, &settings);
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < N - 1; i++) mean += c.y[i] / (N - 1);
    for (size_t i = 0; i < N - 1; i++) squares += (c.y[i] - mean) * (c.y[i] - mean) / (N - 2);
    const double z = fabs(c.y[4] - mean) / sqrt(squares);
    assert_true(z > 1.0);
    assert_near(told(ctx, expert, 4).wrong, beta_mean(z, 2.0, 1.0, true), 1e-6);
    hf_expert_free(expert);
    hf_context_free(ctx);
}

static void right_values_are_those_of_quadrature(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    case_ c;
    make(&c);
    hf_expert_settings settings = hf_expert_settings_default();
    settings.correction_var = 0.05;
    settings.lengthscale = 0.7;
    settings.alpha = 1.0;
    settings.beta = 1.0;
    settings.label_weight = 2.0;
    hf_expert *expert = learn(ctx, &c.data, &settings);
    for (size_t i = 0; i < N; i++) {
        if (c.label[i] == HF_EXPERT_UNKNOWN) continue;
        const hf_expert_reading r = told(ctx, expert, i);
        double m, v;
        nearest(&c, i, 3, 0.7, &m, &v);
        double mean = m, var = v;
        if (!isnan(c.correction[i]))
            normal_posterior(m, v, c.correction[i], isnan(c.var[i]) ? 0.05 : c.var[i], &mean, &var);
        assert_near(r.corrected, mean, 1e-7);
        assert_near(r.corrected_var, var, 1e-6);
        /* Wrong with probability p: all cases in turn. */
        const double p = r.wrong, expected = (1.0 - p) * c.y[i] + p * mean;
        assert_near(r.expected, expected, 1e-7);
        assert_near(r.expected_var,
                    (1.0 - p) * (c.y[i] - expected) * (c.y[i] - expected) +
                        p * (var + (mean - expected) * (mean - expected)),
                    1e-6);
    }
    hf_expert_free(expert);
    hf_context_free(ctx);
}

/* ---- the mean ---------------------------------------------------------------------------------- */

static void means_are_the_sums_of_the_header(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    case_ c;
    make(&c);
    for (int published = 0; published < 2; published++) {
        hf_expert_settings settings = hf_expert_settings_default();
        settings.rule = published ? HF_EXPERT_PUBLISHED : HF_EXPERT_AVERAGE;
        settings.base = 4.5;
        hf_expert *expert = learn(ctx, &c.data, &settings);
        assert_int_equal(hf_expert_labelled(expert), 5);
        assert_near(hf_expert_base(expert), 4.5, 0.0);
        const double h = pow(5.0, -1.0 / 6.0), far[] = {1e6, 1e6};
        for (size_t q = 0; q <= N; q++) {
            const double *at = q < N ? c.x + D * q : far;
            double crowd = 0.0, mean = 4.5, var = 0.0, told_var;
            for (size_t i = 0; i < N; i++)
                if (c.label[i] != HF_EXPERT_UNKNOWN) crowd += closeness(&c, at, c.x + D * i, h);
            for (size_t i = 0; i < N; i++) {
                if (c.label[i] == HF_EXPERT_UNKNOWN) continue;
                const hf_expert_reading r = told(ctx, expert, i);
                const double w = closeness(&c, at, c.x + D * i, h) / (published ? 5.0 : fmax(1.0, crowd));
                mean += w * (r.expected - 4.5);
                var += w * w * r.expected_var;
                if (published) assert_near(r.expected, 4.5 + r.wrong * (r.corrected - 4.5), 1e-13);
            }
            assert_near(mean_of(ctx, expert, at, &told_var), mean, 1e-12);
            assert_near(told_var, var, 1e-12);
        }
        hf_expert_free(expert);
    }
    hf_context_free(ctx);
}

/* Algorithm 1 with the precision of S158: a constant. */
static void an_infinite_lengthscale_is_the_published_constant(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    case_ c;
    make(&c);
    hf_expert_settings settings = hf_expert_settings_default();
    settings.rule = HF_EXPERT_PUBLISHED;
    settings.lengthscale = INFINITY;
    settings.label_weight = 1.0;
    settings.correction_var = 1.0;
    settings.base = 0.0;
    hf_expert *expert = learn(ctx, &c.data, &settings);
    double sum = 0.0;
    for (size_t i = 0; i < N; i++) {
        if (c.label[i] == HF_EXPERT_UNKNOWN) continue;
        double m, v;
        nearest(&c, i, 3, 1.0, &m, &v);
        const double s = isnan(c.var[i]) ? 1.0 : c.var[i];
        const double right = isnan(c.correction[i]) ? m : (m / v + c.correction[i] / s) / (1.0 / v + 1.0 / s);
        sum += told(ctx, expert, i).wrong * right;
    }
    const double places[] = {0.0, 0.0, 1e5, -3.0};
    assert_near(mean_of(ctx, expert, places, NULL), sum / 5.0, 1e-12);
    assert_near(mean_of(ctx, expert, places + D, NULL), sum / 5.0, 1e-12);
    hf_expert_free(expert);
    hf_context_free(ctx);
}

static void limits(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    case_ c;
    double var;
    make(&c);
    /* Nothing is said: the median, for certain. */
    for (size_t i = 0; i < N; i++) {
        c.label[i] = HF_EXPERT_UNKNOWN;
        c.correction[i] = NAN;
    }
    hf_expert *expert = learn(ctx, &c.data, NULL);
    double sorted[N - 1];
    memcpy(sorted, c.y, sizeof sorted);
    const double median = hfi_median(sorted, N - 1);
    assert_near(mean_of(ctx, expert, c.x, &var), median, 0.0);
    assert_true(var == 0.0 && hf_expert_labelled(expert) == 0);
    hf_expert_free(expert);

    /* One exact correction, labels certain: exactly that at its place. Far off: the base. */
    hf_expert_settings settings = hf_expert_settings_default();
    settings.label_weight = INFINITY;
    settings.correction_var = 0.0;
    c.label[4] = HF_EXPERT_DOUBTED;
    c.correction[4] = 17.0;
    c.var[4] = NAN;
    expert = learn(ctx, &c.data, &settings);
    const double far[] = {1e9, 0.0};
    assert_true(mean_of(ctx, expert, c.x + D * 4, &var) == 17.0 && var == 0.0);
    assert_true(mean_of(ctx, expert, far, &var) == hf_expert_base(expert) && var == 0.0);
    hf_expert_free(expert);

    /* A reading that is certainly believed is its own right value. */
    c.label[2] = HF_EXPERT_BELIEVED;
    expert = learn(ctx, &c.data, &settings);
    assert_true(told(ctx, expert, 2).wrong == 0.0 && told(ctx, expert, 2).expected == c.y[2]);
    assert_true(told(ctx, expert, 2).expected_var == 0.0);
    hf_expert_free(expert);

    /* A correction that nobody can rely on says nothing beside the neighbours. */
    settings.correction_var = 1e30;
    expert = learn(ctx, &c.data, &settings);
    const double vague = told(ctx, expert, 4).corrected;
    hf_expert_free(expert);
    c.correction[4] = NAN;
    expert = learn(ctx, &c.data, &settings);
    assert_near(vague, told(ctx, expert, 4).corrected, 1e-12);
    hf_expert_free(expert);
    hf_context_free(ctx);
}

static void means_stay_in_the_hull(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    case_ c;
    make(&c);
    hf_expert_settings settings = hf_expert_settings_default();
    settings.lengthscale = 0.2;
    hf_expert *expert = learn(ctx, &c.data, &settings);
    double low = hf_expert_base(expert), high = low;
    for (size_t i = 0; i < N; i++) {
        const hf_expert_reading r = told(ctx, expert, i);
        if (r.label == HF_EXPERT_UNKNOWN) continue;
        low = fmin(low, r.expected);
        high = fmax(high, r.expected);
    }
    hfi_stream stream;
    hfi_stream_init(&stream, 6, HFI_PURPOSE_TEST, 0);
    double least = INFINITY, most = -INFINITY;
    for (size_t k = 0; k < 2000; k++) {
        const double at[] = {4.0 * hfi_stream_uniform(&stream), 12.0 * hfi_stream_normal(&stream)};
        const double mean = mean_of(ctx, expert, at, NULL);
        least = fmin(least, mean);
        most = fmax(most, mean);
    }
    assert_true(least >= low - 1e-12 && most <= high + 1e-12);
    assert_true(most - least > 0.5 * (high - low));
    hf_expert_free(expert);
    hf_context_free(ctx);
}

static void units_and_order_do_not_matter(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    case_ c, other;
    make(&c);
    memset(&other, 0, sizeof other);
    for (size_t i = 0; i < N; i++) {
        const size_t to = (5 * i + 3) % N;
        other.x[D * to] = 1000.0 * c.x[D * i] - 4.0;
        other.x[D * to + 1] = 0.01 * c.x[D * i + 1];
        other.y[to] = -3.0 * c.y[i] + 20.0;
        other.label[to] = c.label[i];
        other.correction[to] = -3.0 * c.correction[i] + 20.0;
        other.var[to] = 9.0 * c.var[i];
    }
    other.data = c.data;
    other.data.x = other.x;
    other.data.y = other.y;
    other.data.label = other.label;
    other.data.correction = other.correction;
    other.data.correction_var = other.var;
    hf_expert *expert = learn(ctx, &c.data, NULL), *changed = learn(ctx, &other.data, NULL);
    for (size_t i = 0; i < N; i++) {
        const double at[] = {1000.0 * c.x[D * i] - 4.0, 0.01 * c.x[D * i + 1]};
        double var, changed_var;
        const double mean = mean_of(ctx, expert, c.x + D * i, &var);
        assert_near(mean_of(ctx, changed, at, &changed_var), -3.0 * mean + 20.0, 1e-10);
        assert_near(changed_var, 9.0 * var, 1e-10);
    }
    size_t rows[3], changed_rows[3], count = 3, changed_count = 3;
    assert_int_equal(hf_expert_ask(ctx, expert, NULL, NULL, &count, rows, NULL), HF_OK);
    assert_int_equal(hf_expert_ask(ctx, changed, NULL, NULL, &changed_count, changed_rows, NULL), HF_OK);
    assert_int_equal(count, changed_count);
    for (size_t k = 0; k < count; k++) assert_int_equal(changed_rows[k], (5 * rows[k] + 3) % N);
    hf_expert_free(expert);
    hf_expert_free(changed);
    hf_context_free(ctx);
}

static void a_kernel_of_ones_own(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    case_ c;
    make(&c);
    const double h = pow(5.0, -1.0 / 6.0);
    hf_kernel *kernel = NULL;
    assert_int_equal(hf_kernel_parse(ctx, "7*se(ard) + white", NULL, D, &kernel), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, kernel, "lengthscale[0]", h * sd_of(c.x, D)), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, kernel, "lengthscale[1]", h * sd_of(c.x + 1, D)), HF_OK);
    hf_expert_settings settings = hf_expert_settings_default();
    settings.kernel = kernel;
    hf_expert *own = learn(ctx, &c.data, &settings), *plain = learn(ctx, &c.data, NULL);
    hf_kernel_free(kernel); /* it was copied */
    for (size_t i = 0; i < N; i++)
        assert_near(mean_of(ctx, own, c.x + D * i, NULL), mean_of(ctx, plain, c.x + D * i, NULL), 1e-12);
    hf_expert_free(own);
    hf_expert_free(plain);
    hf_context_free(ctx);
}

/* ---- odd tables, errors ------------------------------------------------------------------------ */

static void odd_tables(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double x[] = {1.0, 1.0, 1.0, 1.0}, same[] = {2.0, 2.0, 2.0, 2.0},
                 huge[] = {1e149, -1e149, 3.0, 4.0};
    const hf_expert_label doubted[] = {HF_EXPERT_DOUBTED, HF_EXPERT_DOUBTED, HF_EXPERT_DOUBTED,
                                       HF_EXPERT_DOUBTED};
    const double correction[] = {5.0, NAN, NAN, NAN};
    const hf_expert_data tables[] = {
        {.n = 1, .d = 1, .x = x, .ldx = 1, .y = same, .label = doubted, .correction = correction},
        {.n = 4, .d = 1, .x = x, .ldx = 1, .y = same, .label = doubted, .correction = correction},
        {.n = 4, .d = 1, .x = x, .ldx = 1, .y = huge, .label = doubted},
        {.n = 2, .d = 2, .x = x, .ldx = 2, .y = same, .label = doubted},
    };
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++) {
        hf_expert *expert = learn(ctx, &tables[k], NULL);
        double mean, var;
        const double at[] = {1.0, 1.0};
        assert_int_equal(hf_expert_mean(ctx, expert, 1, at, tables[k].d, &mean, &var), HF_OK);
        assert_true(isfinite(mean) && isfinite(var) && var >= 0.0);
        size_t rows[4], count = 4;
        assert_int_equal(hf_expert_ask(ctx, expert, NULL, NULL, &count, rows, NULL), HF_OK);
        hf_expert_free(expert);
    }
    hf_context_free(ctx);
}

static void refused(hf_context *ctx, const hf_expert_data *data, const hf_expert_settings *settings,
                    hf_status status, const char *words)
{
    hf_expert *expert = NULL;
    assert_int_equal(hf_expert_create(ctx, data, settings, &expert), status);
    assert_non_null(strstr(hf_context_message(ctx), words));
    assert_null(expert);
}

static void bad_arguments_are_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    case_ c, good;
    make(&good);
    c = good;
    make(&c);
    c.y[3] = INFINITY;
    refused(ctx, &c.data, NULL, HF_ERR_NOT_FINITE, "reading of row 4");
    make(&c);
    c.x[D * 2 + 1] = NAN;
    refused(ctx, &c.data, NULL, HF_ERR_NOT_FINITE, "input 2 of row 3");
    make(&c);
    c.label[11] = HF_EXPERT_DOUBTED;
    refused(ctx, &c.data, NULL, HF_ERR_ARGUMENT, "row 12 has a label and no reading");
    make(&c);
    c.correction[2] = 1.5;
    refused(ctx, &c.data, NULL, HF_ERR_ARGUMENT, "correction 1.5 and the label \"believed\"");
    make(&c);
    c.var[4] = -1.0;
    refused(ctx, &c.data, NULL, HF_ERR_ARGUMENT, "row 5 is -1");
    make(&c);
    for (size_t i = 0; i < N; i++) {
        c.y[i] = NAN;
        c.label[i] = HF_EXPERT_UNKNOWN;
        c.correction[i] = NAN;
    }
    refused(ctx, &c.data, NULL, HF_ERR_NO_DATA, "none of the 12 rows");
    make(&c);
    c.data.n = 0;
    refused(ctx, &c.data, NULL, HF_ERR_NO_DATA, "no readings");
    make(&c);
    struct {
        hf_expert_settings settings;
        const char *words;
    } cases[] = {
        {{.label_weight = 0.0, .neighbours = 3}, "label_weight is 0"},
        {{.label_weight = 1.0, .neighbours = 0}, "neighbours is 0"},
        {{.label_weight = 1.0, .neighbours = 1, .lengthscale = -2.0}, "lengthscale is -2"},
        {{.label_weight = 1.0, .neighbours = 1, .beta = -1.0}, "beta is -1"},
        {{.label_weight = 1.0, .neighbours = 1, .alpha = -1.0}, "alpha is -1"},
        {{.label_weight = 1.0, .neighbours = 1, .correction_var = -1.0}, "correction_var is -1"},
        {{.label_weight = 1.0, .neighbours = 1, .base = INFINITY}, "base is inf"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        cases[k].settings.size = sizeof cases[k].settings;
        refused(ctx, &c.data, &cases[k].settings, HF_ERR_ARGUMENT, cases[k].words);
    }
    hf_expert *expert = learn(ctx, &c.data, NULL);
    double mean, zero[N] = {0.0};
    size_t rows[1], count = 1;
    const double bad[] = {1.0, NAN};
    assert_int_equal(hf_expert_mean(ctx, expert, 1, bad, D, &mean, NULL), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_expert_mean(ctx, expert, 1, bad, 1, &mean, NULL), HF_ERR_DIMENSION);
    assert_int_equal(hf_expert_ask(ctx, expert, NULL, zero, &count, rows, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "sd[0] is 0"));
    hf_expert_reading r;
    assert_int_equal(hf_expert_reading_of(ctx, expert, N, &r), HF_ERR_ARGUMENT);
    hf_expert_free(expert);
    hf_context_free(ctx);
}

static void names(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_expert_label label = HF_EXPERT_UNKNOWN;
    hf_expert_rule rule = HF_EXPERT_AVERAGE;
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_EXPERT_LABEL, "doubted", &label), HF_OK);
    assert_int_equal(label, HF_EXPERT_DOUBTED);
    assert_string_equal(hf_enum_name(HF_ENUM_EXPERT_LABEL, HF_EXPERT_BELIEVED), "believed");
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_EXPERT_LABEL, "wrong", &label), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "believed"));
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_EXPERT_RULE, "published", &rule), HF_OK);
    assert_int_equal(rule, HF_EXPERT_PUBLISHED);
    assert_string_equal(hf_enum_name(HF_ENUM_EXPERT_RULE, HF_EXPERT_AVERAGE), "average");
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_EXPERT_RULE, "best", &rule), HF_ERR_ARGUMENT);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_are_those_of_quadrature),
        cmocka_unit_test(right_values_are_those_of_quadrature),
        cmocka_unit_test(means_are_the_sums_of_the_header),
        cmocka_unit_test(an_infinite_lengthscale_is_the_published_constant),
        cmocka_unit_test(limits),
        cmocka_unit_test(means_stay_in_the_hull),
        cmocka_unit_test(units_and_order_do_not_matter),
        cmocka_unit_test(a_kernel_of_ones_own),
        cmocka_unit_test(odd_tables),
        cmocka_unit_test(bad_arguments_are_told),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
