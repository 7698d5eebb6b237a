/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions into tables, scores, and what the model says of its own readings. */
#include "model/model_testing.h"

/* k(x, z) of the untrained settings, by hand. */
static double covariance(const double *x, const double *z)
{
    double u = (x[0] - z[0]) / 0.8, v = (x[1] - z[1]) / 2.5, r = sqrt(5.0 * (u * u + v * v));
    return 1.3 * (1.0 + r + r * r / 3.0) * exp(-r);
}

/* The textbook posterior from readings other than `skip`, by Gaussian elimination. */
static void textbook(size_t n, const double *x, const double *y, const double *extra, size_t skip,
                     const double *at, double *mean, double *var)
{
    size_t m = 0, width = n + 2;
    double *a = calloc(n * width, sizeof *a), *k = calloc(n, sizeof *k);
    assert_true(a != NULL && k != NULL);
    for (size_t i = 0; i < n; i++) {
        if (i == skip) continue;
        size_t c = 0;
        for (size_t j = 0; j < n; j++)
            if (j != skip)
                a[m * width + c++] =
                    covariance(x + 2 * i, x + 2 * j) + (i == j ? 0.04 + (extra ? extra[i] : 0) : 0);
        k[m] = covariance(x + 2 * i, at);
        a[m * width + n] = y[i] - 0.25;
        a[m * width + n + 1] = k[m];
        m++;
    }
    for (size_t p = 0; p < m; p++)
        for (size_t i = 0; i < m; i++) {
            if (i == p) continue;
            double factor = a[i * width + p] / a[p * width + p];
            for (size_t j = p; j < width; j++) a[i * width + j] -= factor * a[p * width + j];
        }
    *mean = 0.25;
    *var = 1.3;
    for (size_t i = 0; i < m; i++) {
        *mean += k[i] * a[i * width + n] / a[i * width + i];
        *var -= k[i] * a[i * width + n + 1] / a[i * width + i];
    }
    free(a);
    free(k);
}

typedef struct arrays {
    double x[2 * 30];
    const double *y;
} arrays;

static arrays arrays_of(hf_context *ctx, const hf_table *table)
{
    arrays out;
    const double *a = column_of(ctx, table, "a"), *b = column_of(ctx, table, "b");
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        out.x[2 * i] = a[i];
        out.x[2 * i + 1] = b[i];
    }
    out.y = column_of(ctx, table, "y");
    return out;
}

static void predictions_are_the_textbook_ones(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 30, 0);
    hf_table *fresh = table_of(ctx, "note,b,a\nhere,0.3,1\n\"a, b\",-1,7.5\n");
    arrays data = arrays_of(ctx, table);
    hf_fit_settings settings = untrained();
    hf_model *model = model_of(ctx, table, &settings);
    assert_int_equal(hf_predict_into_table(ctx, model, fresh), HF_OK);
    assert_int_equal(hf_table_columns(fresh), 8);
    assert_string_equal(hf_table_name(fresh, 3), "y_mean");
    assert_string_equal(hf_table_name(fresh, 7), "y_hi95");
    for (size_t i = 0; i < 2; i++) {
        double at[] = {column_of(ctx, fresh, "a")[i], column_of(ctx, fresh, "b")[i]}, mean, var;
        textbook(30, data.x, data.y, NULL, SIZE_MAX, at, &mean, &var);
        double sd = sqrt(var + 0.04);
        assert_close(column_of(ctx, fresh, "y_mean")[i], mean, 1e-11);
        assert_close(column_of(ctx, fresh, "y_sd_latent")[i], sqrt(var), 1e-9);
        assert_close(column_of(ctx, fresh, "y_sd_observed")[i], sd, 1e-11);
        assert_close(column_of(ctx, fresh, "y_lo95")[i], mean - 1.959963984540054 * sd, 1e-11);
        assert_close(column_of(ctx, fresh, "y_hi95")[i], mean + 1.959963984540054 * sd, 1e-11);
    }
    hf_model_free(model);
    hf_table_free(fresh);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void standardising_changes_nothing_that_is_given(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 30, 0), *plain = wavy_table(ctx, 30, 0),
             *scaled = wavy_table(ctx, 30, 0);
    hf_fit_settings settings = untrained();
    hf_model *first = model_of(ctx, table, &settings);
    settings.standardise = true;
    hf_model *second = model_of(ctx, table, &settings);
    assert_int_equal(hf_predict_into_table(ctx, first, plain), HF_OK);
    assert_int_equal(hf_predict_into_table(ctx, second, scaled), HF_OK);
    static const char *const names[] = {"y_mean", "y_sd_latent", "y_sd_observed"};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 30; i++)
            assert_close(column_of(ctx, scaled, names[k])[i], column_of(ctx, plain, names[k])[i], 1e-9);
    assert_int_equal(hf_model_parameters(first), 5);
    for (size_t i = 0; i < 5; i++) {
        hf_parameter a, b;
        assert_int_equal(hf_model_parameter(first, i, &a), HF_OK);
        assert_int_equal(hf_model_parameter(second, i, &b), HF_OK);
        assert_string_equal(a.name, b.name);
        assert_true(a.fixed && b.fixed);
        assert_close(b.value, a.value, 1e-12);
        for (size_t k = 0; k < sizeof plain_values / sizeof plain_values[0]; k++)
            if (strcmp(plain_values[k].name, a.name) == 0)
                assert_close(a.value, plain_values[k].value, 1e-13);
    }
    hf_parameter none;
    assert_int_equal(hf_model_parameter(first, 5, &none), HF_ERR_ARGUMENT);
    hf_model_free(first);
    hf_model_free(second);
    hf_table_free(table);
    hf_table_free(plain);
    hf_table_free(scaled);
    hf_context_free(ctx);
}

/* A linear mean in the user's units: intercept and slopes that can be read off. */
static void a_linear_mean_is_told_in_user_units(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table =
        table_of(ctx, "a,b,y\n0,10,12\n100,20,213\n200,-5,405\n300,0,600\n400,3,803\n50,-9,99\n");
    hf_fit_settings settings = hf_fit_settings_default();
    settings.mean = HF_MEAN_LINEAR;
    settings.suspects = HF_OUTLIERS_OFF;
    hf_model *model = model_of(ctx, table, &settings);
    size_t count = hf_model_parameters(model);
    hf_parameter p[3];
    for (size_t k = 0; k < 3; k++) assert_int_equal(hf_model_parameter(model, count - 4 + k, &p[k]), HF_OK);
    assert_string_equal(p[0].name, "mean[0]");
    assert_string_equal(p[2].name, "mean[2]");
    assert_int_equal(p[1].column, 0);
    /* Far from all readings the prediction is the mean. */
    hf_table *far = table_of(ctx, "a,b\n1e9,0\n0,1e9\n");
    assert_true(hf_predict_into_table(ctx, model, far) >= 0);
    assert_close(column_of(ctx, far, "y_mean")[0], p[0].value + 1e9 * p[1].value, 1e-6);
    assert_close(column_of(ctx, far, "y_mean")[1], p[0].value + 1e9 * p[2].value, 1e-6);
    hf_table_free(far);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void gaps_and_missing_columns(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 30, 0);
    hf_fit_settings settings = untrained();
    hf_model *model = model_of(ctx, table, &settings);

    hf_table *gaps = table_of(ctx, "a,b\n1,2\n,2\n3,1\n2,NA\n"), *whole = table_of(ctx, "a,b\n1,2\n3,1\n");
    assert_int_equal(hf_predict_into_table(ctx, model, gaps), HF_WARN_ROWS_SKIPPED);
    assert_contains(hf_context_message(ctx), "2 of 4 rows");
    assert_int_equal(hf_predict_into_table(ctx, model, whole), HF_OK);
    const double *mean = column_of(ctx, gaps, "y_mean"), *expected = column_of(ctx, whole, "y_mean");
    assert_true(isnan(mean[1]) && isnan(mean[3]) && isnan(column_of(ctx, gaps, "y_hi95")[3]));
    assert_close(mean[0], expected[0], 1e-13);
    assert_close(mean[2], expected[1], 1e-13);

    hf_table *lacking = table_of(ctx, "a,B\n1,2\n"), *infinite = table_of(ctx, "a,b\n1,2\n1,inf\n");
    assert_int_equal(hf_predict_into_table(ctx, model, lacking), HF_ERR_NO_COLUMN);
    assert_contains(hf_context_message(ctx), "B");
    assert_int_equal(hf_table_columns(lacking), 2);
    assert_int_equal(hf_predict_into_table(ctx, model, infinite), HF_ERR_NOT_FINITE);
    assert_contains(hf_context_message(ctx), "t.csv, line 3, column \"b\"");
    hf_table *empty = table_of(ctx, "a,b\n");
    assert_int_equal(hf_predict_into_table(ctx, model, empty), HF_OK);
    assert_int_equal(hf_table_columns(empty), 7);

    hf_table_free(empty);
    hf_table_free(infinite);
    hf_table_free(lacking);
    hf_table_free(whole);
    hf_table_free(gaps);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void the_noise_column_counts(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 20, 0);
    double extra[20];
    for (size_t i = 0; i < 20; i++) extra[i] = 0.01 * (double)(i % 5);
    assert_int_equal(hf_table_set_numbers(ctx, table, "s2", extra), HF_OK);
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "s2"};
    hf_fit_settings settings = untrained();
    hf_model *model = NULL;
    assert_int_equal(hf_fit(ctx, table, &columns, &settings, &model, NULL), HF_OK);
    arrays data = arrays_of(ctx, table);
    hf_table *fresh = table_of(ctx, "a,b,s2\n1,2,0.5\n1,2,\n"), *without = table_of(ctx, "a,b\n1,2\n");
    double at[] = {1, 2}, mean, var;
    textbook(20, data.x, data.y, extra, SIZE_MAX, at, &mean, &var);
    assert_int_equal(hf_predict_into_table(ctx, model, fresh), HF_OK);
    assert_int_equal(hf_predict_into_table(ctx, model, without), HF_OK);
    assert_close(column_of(ctx, fresh, "y_mean")[0], mean, 1e-11);
    assert_close(column_of(ctx, fresh, "y_sd_observed")[0], sqrt(var + 0.54), 1e-10);
    assert_close(column_of(ctx, fresh, "y_sd_observed")[1], sqrt(var + 0.04), 1e-10);
    assert_close(column_of(ctx, without, "y_sd_observed")[0], sqrt(var + 0.04), 1e-10);
    hf_table *negative = table_of(ctx, "a,b,s2\n1,2,-1\n");
    assert_int_equal(hf_predict_into_table(ctx, model, negative), HF_ERR_ARGUMENT);
    hf_table_free(negative);
    hf_table_free(without);
    hf_table_free(fresh);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void scores_are_those_of_the_predictions(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 30, 0), *test = wavy_table(ctx, 12, 3);
    hf_fit_settings settings = untrained();
    hf_model *model = model_of(ctx, table, &settings);
    hf_metrics scored, expected;
    assert_int_equal(hf_score(ctx, model, test, &scored), HF_OK);
    assert_int_equal(hf_predict_into_table(ctx, model, test), HF_OK);
    assert_int_equal(hf_metrics_gaussian(ctx, 12, column_of(ctx, test, "y"), column_of(ctx, test, "y_mean"),
                                         column_of(ctx, test, "y_sd_observed"), &expected),
                     HF_OK);
    assert_memory_equal(&scored, &expected, sizeof scored);
    hf_table *gaps = table_of(ctx, "a,b,y\n1,2,\n,2,3\n1,1,1\n"), *nothing = table_of(ctx, "a,b,y\n1,2,\n");
    assert_int_equal(hf_score(ctx, model, gaps, &scored), HF_WARN_ROWS_SKIPPED);
    assert_int_equal(scored.n, 1);
    assert_int_equal(hf_score(ctx, model, nothing, &scored), HF_ERR_NO_DATA);
    hf_table_free(nothing);
    hf_table_free(gaps);
    hf_model_free(model);
    hf_table_free(test);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* Leave-one-out by leaving one out. */
static void rows_agree_with_brute_force(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 25, 0), *rows = NULL, *training = NULL;
    arrays data = arrays_of(ctx, table);
    hf_fit_settings settings = untrained();
    hf_model *model = model_of(ctx, table, &settings);
    assert_int_equal(hf_model_rows(ctx, model, &rows), HF_OK);
    assert_int_equal(hf_table_rows(rows), 25);
    assert_int_equal(hf_table_columns(rows), 8);
    for (size_t i = 0; i < 25; i++) {
        double mean, var, kl;
        textbook(25, data.x, data.y, NULL, i, data.x + 2 * i, &mean, &var);
        assert_close(column_of(ctx, rows, "loo_mean")[i], mean, 1e-10);
        assert_close(column_of(ctx, rows, "loo_sd")[i], sqrt(var + 0.04), 1e-10);
        assert_true(column_of(ctx, rows, "weight")[i] == 1.0);
        assert_int_equal(hf_influence(ctx, hf_model_posterior(model), i, data.y[i], INFINITY, &kl), HF_OK);
        assert_close(column_of(ctx, rows, "influence")[i], kl, 1e-8);
    }
    assert_int_equal(hf_model_training(ctx, model, &training), HF_OK);
    assert_int_equal(hf_table_columns(training), 4);
    assert_memory_equal(column_of(ctx, training, "b"), column_of(ctx, table, "b"), 25 * sizeof(double));
    assert_memory_equal(column_of(ctx, training, "y"), data.y, 25 * sizeof(double));
    hf_table_free(training);
    hf_table_free(rows);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* A model of robust sites about the prior mean, of a threshold that is given. */
static hf_model *robust_model(hf_context *ctx, const hf_table *table, bool standardise, double beta)
{
    hf_fit_settings settings = untrained();
    settings.standardise = standardise;
    settings.beta = beta;
    settings.sites = HF_LIKELIHOOD_ROBUST;
    settings.centre = HF_CENTRE_PRIOR;
    settings.threshold_rule = HF_THRESHOLD_GIVEN;
    settings.threshold = 0.7;
    return model_of(ctx, table, &settings);
}

/* One reading after the other is replaced, and the model fitted again: nothing moves further than told, and
 * something nearly so far. */
static void replace_readings(double beta)
{
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 20, 2);
    const double at[] = {1.0, 0.2}, *readings = column_of(ctx, table, "y");
    double y[20], told, scaled, two, mean, now, most = 0.0;
    size_t worst = 0, other = 0, found = 0;
    memcpy(y, readings, sizeof y);
    hf_model *model = robust_model(ctx, table, false, beta), *standard = robust_model(ctx, table, true, beta);
    assert_int_equal(hf_model_contamination_bound(ctx, model, 1, 1, at, &told, &worst), HF_OK);
    assert_int_equal(hf_model_contamination_bound(ctx, standard, 1, 1, at, &scaled, &other), HF_OK);
    assert_int_equal(hf_model_contamination_bound(ctx, model, 2, 1, at, &two, NULL), HF_OK);
    assert_close(scaled, told, 1e-9);
    assert_int_equal(other, worst);
    assert_true(isfinite(two) && two > told);
    assert_int_equal(hf_predict(ctx, hf_model_posterior(model), 1, at, 2, &mean, NULL, NULL), HF_OK);
    for (size_t i = 0; i < 20; i++)
        for (int k = 0; k < 40; k++) {
            const double kept = y[i];
            y[i] = 0.25 + (k % 2 == 0 ? 0.05 : -0.05) * pow(1.35, k / 2);
            assert_int_equal(hf_table_set_numbers(ctx, table, "y", y), HF_OK);
            y[i] = kept;
            hf_model *bad = robust_model(ctx, table, false, beta);
            assert_int_equal(hf_predict(ctx, hf_model_posterior(bad), 1, at, 2, &now, NULL, NULL), HF_OK);
            hf_model_free(bad);
            if (fabs(now - mean) <= most) continue;
            most = fabs(now - mean);
            found = i + 1;
        }
    if (most > told * (1.0 + 1e-9) || most < 0.95 * told) fail_msg("%g was found, and %g told", most, told);
    assert_int_equal(found, worst);
    hf_model_free(standard);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void bad_readings_do_no_more_than_told(void **state)
{
    (void)state;
    replace_readings(0.0);
    replace_readings(0.3); /* an amplitude of the weight function */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_the_textbook_ones),
        cmocka_unit_test(standardising_changes_nothing_that_is_given),
        cmocka_unit_test(a_linear_mean_is_told_in_user_units),
        cmocka_unit_test(gaps_and_missing_columns),
        cmocka_unit_test(the_noise_column_counts),
        cmocka_unit_test(scores_are_those_of_the_predictions),
        cmocka_unit_test(rows_agree_with_brute_force),
        cmocka_unit_test(bad_readings_do_no_more_than_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
