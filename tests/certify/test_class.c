/* SPDX-License-Identifier: Apache-2.0 */
/* Class probabilities over boxes, and what follows from them: no point of a box is ever outside, the ends are
 * as near as asked, verdicts and radii agree with brute force. */
#include "classify/labels.h"

#include <holdfast/certify_uses.h>

enum {
    BOXES = 12,
    SAMPLES = 400
};

static const char *const kernels[] = {"1.5*se(ard, lengthscale=0.9)", "4*matern52(ard, lengthscale=1.3)",
                                      "2*matern32(lengthscale=1)", "2*matern12(lengthscale=1.5)",
                                      "rq(lengthscale=1, alpha=1.2) + 0.3*linear(ard)"};

enum {
    KERNELS = sizeof kernels / sizeof *kernels
};

typedef struct trial {
    labels l;
    hf_classifier *classifier;
    hf_posterior_workspace *workspace;
    hfi_stream stream;
} trial;

static void begin(trial *t, const char *kernel, hf_link link, hf_inference inference)
{
    labels_make(&t->l, kernel, HF_MEAN_CONSTANT);
    assert_true(hf_classify_exact(t->l.ctx, link, inference, t->l.kernel, t->l.mean, ROWS, t->l.x, INPUTS,
                                  t->l.label, 2, &t->classifier, NULL) >= 0);
    t->workspace = hf_posterior_workspace_create(t->l.ctx, hf_classifier_posterior(t->classifier));
    hfi_stream_init(&t->stream, 17, HFI_PURPOSE_TEST, 3);
}

static void end(trial *t)
{
    hf_posterior_workspace_free(t->workspace);
    hf_classifier_free(t->classifier);
    labels_free(&t->l);
}

static double probability_of(trial *t, size_t class, const double *x)
{
    double both[2];
    assert_int_equal(hf_classify_predict(t->l.ctx, t->classifier, 1, x, INPUTS, both, NULL, NULL, NULL, NULL),
                     HF_OK);
    return both[class];
}

static void draw_box(trial *t, double half, double *x, double *lower, double *upper)
{
    for (size_t j = 0; j < INPUTS; j++) {
        x[j] = 3.0 * hfi_stream_uniform(&t->stream) - 1.2;
        lower[j] = x[j] - half * hfi_stream_uniform(&t->stream);
        upper[j] = x[j] + half * hfi_stream_uniform(&t->stream);
    }
}

static void draw_inside(trial *t, const double *lower, const double *upper, double *x)
{
    for (size_t j = 0; j < INPUTS; j++) {
        const double u = hfi_stream_uniform(&t->stream);
        x[j] = u < 0.1 ? lower[j] : u > 0.9 ? upper[j] : lower[j] + u * (upper[j] - lower[j]);
    }
}

static void check_box(trial *t, const hf_certify_settings *settings, const double *lower, const double *upper)
{
    hf_range r;
    double argmin[INPUTS], argmax[INPUTS], x[INPUTS];
    const hf_status status =
        hf_certify_class(t->l.ctx, t->classifier, settings, 1, lower, upper, &r, argmin, argmax);
    assert_true(status >= 0);
    assert_true(r.lower >= 0.0 && r.upper <= 1.0);
    assert_near(probability_of(t, settings->output, argmin), r.lower_attained, 1e-12);
    assert_near(probability_of(t, settings->output, argmax), r.upper_attained, 1e-12);
    if (r.stop == HF_CERTIFY_TOLERANCE) {
        assert_true(r.lower_attained - r.lower <= settings->tolerance + 1e-12);
        assert_true(r.upper - r.upper_attained <= settings->tolerance + 1e-12);
    }
    for (size_t k = 0; k < SAMPLES; k++) {
        draw_inside(t, lower, upper, x);
        const double p = probability_of(t, settings->output, x);
        if (!(p >= r.lower && p <= r.upper))
            fail_msg("p = %.15g is outside of [%.15g, %.15g]", p, r.lower, r.upper);
    }
}

/* Also on budget exits, of which one box is the strictest. */
static void test_sound(void **state)
{
    (void)state;
    const hf_link links[] = {HF_LINK_PROBIT, HF_LINK_LOGIT};
    for (size_t k = 0; k < KERNELS; k++)
        for (size_t l = 0; l < 2; l++)
            for (int method = 0; method < 2; method++) {
                trial t;
                begin(&t, kernels[k], links[l], method ? HF_INFERENCE_EP : HF_INFERENCE_LAPLACE);
                hf_certify_settings settings = hf_certify_settings_default();
                for (size_t b = 0; b < BOXES; b++) {
                    double x[INPUTS], lower[INPUTS], upper[INPUTS];
                    draw_box(&t, b % 3 == 0 ? 0.02 : b % 3 == 1 ? 0.2 : 0.7, x, lower, upper);
                    settings.output = b % 2;
                    settings.tolerance = b % 3 == 0 ? 1e-4 : 0.01;
                    settings.node_limit = k == 3 || b % 4 == 0 ? 1 + 30 * (b % 2) : 0;
                    check_box(&t, &settings, lower, upper);
                }
                end(&t);
            }
}

static void test_point(void **state)
{
    (void)state;
    trial t;
    begin(&t, kernels[0], HF_LINK_PROBIT, HF_INFERENCE_EP);
    const double x[INPUTS] = {0.3, -0.2};
    hf_range r;
    assert_int_equal(hf_certify_class(t.l.ctx, t.classifier, NULL, 1, x, x, &r, NULL, NULL), HF_OK);
    const double p = probability_of(&t, 0, x);
    assert_true(r.lower <= p && p <= r.upper && r.upper - r.lower < 1e-10);
    end(&t);
}

static void test_decisions(void **state)
{
    (void)state;
    trial t;
    size_t seen[3] = {0};
    begin(&t, kernels[1], HF_LINK_LOGIT, HF_INFERENCE_LAPLACE);
    for (size_t b = 0; b < 40; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], other[INPUTS];
        hf_decision d;
        draw_box(&t, 0.5, x, lower, upper);
        assert_int_equal(
            hf_certify_decision(t.l.ctx, t.classifier, NULL, NULL, 1, x, lower, upper, &d, other), HF_OK);
        seen[d.verdict]++;
        assert_int_equal(d.winner, probability_of(&t, 1, x) > 0.5);
        if (d.verdict == HF_VERDICT_COUNTEREXAMPLE) {
            assert_int_not_equal(probability_of(&t, 1, other) > 0.5, d.winner);
            for (size_t j = 0; j < INPUTS; j++) assert_true(other[j] >= lower[j] && other[j] <= upper[j]);
        } else {
            assert_true(isnan(other[0]));
        }
        for (size_t k = 0; k < SAMPLES && d.verdict == HF_VERDICT_CERTIFIED; k++) {
            double y[INPUTS];
            draw_inside(&t, lower, upper, y);
            assert_int_equal(probability_of(&t, 1, y) > 0.5, d.winner);
        }
    }
    assert_true(seen[HF_VERDICT_CERTIFIED] > 0 && seen[HF_VERDICT_COUNTEREXAMPLE] > 0);
    assert_int_equal(seen[HF_VERDICT_OPEN], 0);
    assert_string_equal(hf_enum_name(HF_ENUM_VERDICT, HF_VERDICT_OPEN), "open");
    end(&t);
}

static void test_radius(void **state)
{
    (void)state;
    trial t;
    begin(&t, kernels[0], HF_LINK_PROBIT, HF_INFERENCE_EP);
    const double unit[INPUTS] = {1.0, 0.5};
    for (size_t b = 0; b < 10; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], other[INPUTS], y[INPUTS];
        hf_radius r;
        draw_box(&t, 0.5, x, lower, upper);
        assert_int_equal(hf_certify_radius(t.l.ctx, t.classifier, NULL, x, unit, 3.0, 0.01, &r, other),
                         HF_OK);
        assert_true(r.certified < r.broken);
        if (!isfinite(r.broken)) {
            assert_near(r.certified, 3.0, 1e-12);
            continue;
        }
        assert_true(r.broken - r.certified <= 0.0101 * r.broken);
        assert_int_not_equal(probability_of(&t, 1, other) > 0.5, r.winner);
        for (size_t j = 0; j < INPUTS; j++) {
            assert_true(fabs(other[j] - x[j]) <= r.broken * unit[j] * (1.0 + 1e-12));
            lower[j] = x[j] - r.certified * unit[j];
            upper[j] = x[j] + r.certified * unit[j];
        }
        for (size_t k = 0; k < SAMPLES; k++) {
            draw_inside(&t, lower, upper, y);
            assert_int_equal(probability_of(&t, 1, y) > 0.5, r.winner);
        }
    }
    end(&t);
}

/* An attack stays in its box, gains, and never gets below what is certified. */
static void test_attack(void **state)
{
    (void)state;
    trial t;
    size_t near = 0;
    begin(&t, kernels[1], HF_LINK_PROBIT, HF_INFERENCE_LAPLACE);
    for (size_t b = 0; b < 20; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], y[INPUTS], left;
        hf_range r;
        draw_box(&t, 0.6, x, lower, upper);
        hf_certify_settings settings = hf_certify_settings_default();
        settings.output = probability_of(&t, 1, x) > 0.5;
        assert_true(hf_certify_class(t.l.ctx, t.classifier, &settings, 1, lower, upper, &r, NULL, NULL) >= 0);
        for (int kind = 0; kind < 2; kind++) {
            assert_int_equal(
                hf_attack(t.l.ctx, t.classifier, (hf_attack_kind)kind, 0, 1, x, lower, upper, y, &left),
                HF_OK);
            assert_near(left, probability_of(&t, settings.output, y), 1e-12);
            assert_true(left >= r.lower);
            if (kind == HF_ATTACK_PGD) {
                assert_true(left <= probability_of(&t, settings.output, x) + 1e-15);
                near += left <= r.lower_attained + 0.02;
            }
            for (size_t j = 0; j < INPUTS; j++) assert_true(y[j] >= lower[j] && y[j] <= upper[j]);
        }
    }
    assert_true(near >= 16);
    end(&t);
}

/* The score by a fine grid is in its enclosure. */
static void test_explain(void **state)
{
    (void)state;
    trial t;
    begin(&t, kernels[2], HF_LINK_LOGIT, HF_INFERENCE_EP);
    const double step[INPUTS] = {0.6, 0.25}, x[2 * INPUTS] = {0.1, 0.2, 0.9, -0.4};
    double low[2 * INPUTS], high[2 * INPUTS];
    hf_certify_settings settings = hf_certify_settings_default();
    settings.output = 1;
    settings.tolerance = 1e-3;
    assert_int_equal(hf_explain_class(t.l.ctx, t.classifier, &settings, 2, x, step, low, high), HF_OK);
    for (size_t k = 0; k < 2 * INPUTS; k++) {
        double least[2] = {1.0, 1.0}, most[2] = {0.0, 0.0}, y[INPUTS];
        memcpy(y, x + k / INPUTS * INPUTS, sizeof y);
        for (int i = -500; i <= 500; i++) {
            y[k % INPUTS] = x[k] + i / 500.0 * step[k % INPUTS];
            const double p = probability_of(&t, 1, y);
            for (int side = 0; side < 2; side++) {
                if (side == 0 ? i < 0 : i > 0) continue;
                least[side] = fmin(least[side], p);
                most[side] = fmax(most[side], p);
            }
        }
        const double score = (most[0] - most[1]) + (least[0] - least[1]);
        assert_true(score >= low[k] - 1e-6 && score <= high[k] + 1e-6);
        assert_true(high[k] - low[k] <= 4.1e-3);
    }
    settings.output = 0;
    const double still[INPUTS] = {0.0, 0.1};
    assert_int_equal(hf_explain(t.l.ctx, hf_classifier_posterior(t.classifier), HF_CERTIFY_MEAN, &settings, 1,
                                x, still, low, high),
                     HF_OK);
    assert_true(low[0] == 0.0 && high[0] == 0.0 && low[1] < high[1]);
    end(&t);
}

/* Slopes of a weighted linear fit with a constant, by elimination, over the points that the routine draws. */
static void fit_slowly(trial *t, const double *x, const double *step, double width, uint64_t seed,
                       size_t pairs, double *slope)
{
    enum {
        SIZE = INPUTS + 1
    };
    double a[SIZE][SIZE + 1] = {{0.0}};
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_SAMPLE, 0);
    for (size_t i = 0; i < pairs; i++) {
        double u[SIZE] = {1.0}, square = 0.0;
        for (size_t j = 1; j < SIZE; j++) u[j] = hfi_stream_normal(&stream);
        for (size_t j = 1; j < SIZE; j++) square += u[j] * u[j];
        for (int side = 0; side < 2; side++) {
            double z[INPUTS];
            for (size_t j = 0; j < INPUTS; j++) z[j] = x[j] + step[j] * u[j + 1];
            const double p = probability_of(t, 1, z), weight = exp(-square / (2.0 * width * width));
            for (size_t j = 0; j < SIZE; j++) {
                for (size_t k = 0; k < SIZE; k++) a[j][k] += weight * u[j] * u[k];
                a[j][SIZE] += weight * u[j] * p;
            }
            for (size_t j = 1; j < SIZE; j++) u[j] = -u[j];
        }
    }
    for (size_t j = 0; j < SIZE; j++)
        for (size_t k = 0; k < SIZE; k++) {
            const double share = k == j ? 0.0 : a[k][j] / a[j][j];
            for (size_t c = j; c <= SIZE; c++) a[k][c] -= share * a[j][c];
        }
    for (size_t j = 0; j < INPUTS; j++) slope[j] = a[j + 1][SIZE] / a[j + 1][j + 1];
}

static void test_linear(void **state)
{
    (void)state;
    trial t;
    begin(&t, kernels[2], HF_LINK_LOGIT, HF_INFERENCE_EP);
    const double step[INPUTS] = {0.6, 0.25}, tiny[INPUTS] = {1e-4, 0.0},
                 x[2 * INPUTS] = {0.1, 0.2, 0.9, -0.4};
    double score[2 * INPUTS], other[2 * INPUTS], slope[INPUTS];
    hf_linear_settings settings = hf_linear_settings_default();
    settings.output = 1;
    settings.pairs = 60;
    settings.width = 0.8;
    settings.seed = 5;
    assert_int_equal(hf_explain_linear_class(t.l.ctx, t.classifier, &settings, 2, x, step, score), HF_OK);
    for (size_t k = 0; k < 2; k++) {
        fit_slowly(&t, x + k * INPUTS, step, settings.width, settings.seed, settings.pairs, slope);
        for (size_t j = 0; j < INPUTS; j++) assert_near(score[k * INPUTS + j], 2.0 * slope[j], 1e-10);
    }
    settings.output = 0;
    assert_int_equal(hf_explain_linear_class(t.l.ctx, t.classifier, &settings, 2, x, step, other), HF_OK);
    for (size_t k = 0; k < 2 * INPUTS; k++) assert_near(other[k], -score[k], 1e-12);
    /* nearby it is the gradient, and what does not move scores 0 */
    const double above[INPUTS] = {x[0] + 1e-4, x[1]}, below[INPUTS] = {x[0] - 1e-4, x[1]};
    assert_int_equal(hf_explain_linear_class(t.l.ctx, t.classifier, &settings, 1, x, tiny, score), HF_OK);
    assert_near(score[0], probability_of(&t, 0, above) - probability_of(&t, 0, below), 1e-9);
    assert_true(score[1] == 0.0);
    double mean[2];
    assert_int_equal(
        hf_explain_linear(t.l.ctx, hf_classifier_posterior(t.classifier), NULL, 1, x, tiny, score), HF_OK);
    assert_int_equal(
        hf_predict(t.l.ctx, hf_classifier_posterior(t.classifier), 1, above, INPUTS, mean, NULL, NULL),
        HF_OK);
    assert_int_equal(
        hf_predict(t.l.ctx, hf_classifier_posterior(t.classifier), 1, below, INPUTS, mean + 1, NULL, NULL),
        HF_OK);
    assert_near(score[0], mean[0] - mean[1], 1e-8);
    end(&t);
}

/* Slopes of the probabilities of several classes add up to nothing; what cannot be fitted is refused. */
static void test_linear_of_three(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double x[2 * ROWS], score[2], sum[2] = {0.0, 0.0};
    size_t label[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        label[i] = i % 3;
        x[2 * i] = cos(2.0 * (double)label[i]) + 0.3 * sin((double)i);
        x[2 * i + 1] = sin(2.0 * (double)label[i]) + 0.3 * cos(1.7 * (double)i);
    }
    const hf_class_data data = {.n = ROWS, .d = 2, .x = x, .ldx = 2, .label = label, .classes = 3};
    hf_class_settings fit = hf_class_settings_default();
    hf_classifier *classifier = NULL;
    fit.link = HF_LINK_SOFTMAX;
    fit.train = false;
    assert_true(hf_classifier_fit(ctx, &data, &fit, &classifier, NULL) >= 0);
    const double step[2] = {0.5, 0.5}, at[2] = {0.4, 0.3};
    hf_linear_settings settings = {.size = sizeof(hf_linear_settings), .pairs = 20};
    for (settings.output = 0; settings.output < 3; settings.output++) {
        assert_int_equal(hf_explain_linear_class(ctx, classifier, &settings, 1, at, step, score), HF_OK);
        assert_true(fabs(score[0]) > 1e-3);
        for (size_t j = 0; j < 2; j++) sum[j] += score[j];
    }
    assert_near(sum[0], 0.0, 1e-8);
    assert_near(sum[1], 0.0, 1e-8);
    const double before = score[0];
    assert_int_equal(hf_explain_linear_class(ctx, classifier, &settings, 1, at, step, score),
                     HF_ERR_ARGUMENT);
    settings = (hf_linear_settings){.size = sizeof(hf_linear_settings), .pairs = 1};
    assert_int_equal(hf_explain_linear_class(ctx, classifier, &settings, 1, at, step, score),
                     HF_ERR_ARGUMENT);
    settings = (hf_linear_settings){.size = sizeof(hf_linear_settings), .pairs = 50, .width = 1e-9};
    assert_int_equal(hf_explain_linear_class(ctx, classifier, &settings, 1, at, step, score),
                     HF_ERR_ARGUMENT);
    settings.width = -1.0;
    assert_int_equal(hf_explain_linear_class(ctx, classifier, &settings, 1, at, step, score),
                     HF_ERR_ARGUMENT);
    assert_true(score[0] == before);
    hf_classifier_free(classifier);
    hf_context_free(ctx);
}

/* Classes far apart leave labels that say next to nothing, with sites of enormous variance: that is no rounding. */
static void test_far_apart(void **state)
{
    (void)state;
    trial t;
    labels_make(&t.l, "100*se(ard, lengthscale=9)", HF_MEAN_ZERO);
    for (size_t i = 0; i < ROWS; i++) {
        t.l.x[INPUTS * i] = 0.6 * (double)i;
        t.l.label[i] = i >= ROWS / 2;
    }
    assert_true(hf_classify_exact(t.l.ctx, HF_LINK_PROBIT, HF_INFERENCE_LAPLACE, t.l.kernel, t.l.mean, ROWS,
                                  t.l.x, INPUTS, t.l.label, 2, &t.classifier, NULL) >= 0);
    const hf_solve_report *report = hf_posterior_report_of(hf_classifier_posterior(t.classifier));
    if (!(report->condition > 1e10)) fail_msg("condition %g", report->condition);
    const double lower[INPUTS] = {11.0, -0.5}, upper[INPUTS] = {13.0, 0.5};
    hfi_stream_init(&t.stream, 18, HFI_PURPOSE_TEST, 3);
    hf_certify_settings settings = hf_certify_settings_default();
    hf_range r;
    settings.output = 1;
    assert_int_equal(hf_certify_class(t.l.ctx, t.classifier, &settings, 1, lower, upper, &r, NULL, NULL),
                     HF_OK);
    assert_true(r.rounding < 1e-8);
    check_box(&t, &settings, lower, upper);
    hf_classifier_free(t.classifier);
    labels_free(&t.l);
}

static void test_accuracy(void **state)
{
    (void)state;
    trial t;
    begin(&t, kernels[0], HF_LINK_PROBIT, HF_INFERENCE_EP);
    const double radius[INPUTS] = {0.1, 0.1}, none[INPUTS] = {0.0, 0.0};
    hf_certified_accuracy with, without;
    t.l.label[5] = HF_LABEL_MISSING;
    assert_int_equal(hf_certify_accuracy(t.l.ctx, t.classifier, NULL, ROWS, t.l.x, t.l.label, radius, &with),
                     HF_OK);
    assert_int_equal(hf_certify_accuracy(t.l.ctx, t.classifier, NULL, ROWS, t.l.x, t.l.label, none, &without),
                     HF_OK);
    assert_int_equal(with.rows, ROWS - 1);
    assert_int_equal(with.right, without.right);
    assert_int_equal(without.certified, without.right);
    assert_int_equal(with.certified + with.broken, with.right);
    assert_true(with.certified < with.right && with.certified > 0);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),     cmocka_unit_test(test_point),
        cmocka_unit_test(test_decisions), cmocka_unit_test(test_radius),
        cmocka_unit_test(test_attack),    cmocka_unit_test(test_explain),
        cmocka_unit_test(test_linear),    cmocka_unit_test(test_linear_of_three),
        cmocka_unit_test(test_far_apart), cmocka_unit_test(test_accuracy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
