/* SPDX-License-Identifier: Apache-2.0 */
/* Models of counts and amounts: columns of predictions by hand, scores, files, what is refused. */
#include "model/file_testing.h"

#include <holdfast/likelihood.h>

enum {
    ROWS = 40
};

static const char *const presets[] = {"poisson", "negative-binomial", "gamma"};

/* Readings of a rate that waves, of exposures 1 and 3; one reading is missing, and one exposure. */
static hf_table *counted_table(hf_context *ctx, bool whole)
{
    char *text = malloc(96 * (ROWS + 3));
    assert_non_null(text);
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 3);
    size_t used = (size_t)sprintf(text, "x,hours,y\n");
    for (size_t i = 0; i < ROWS; i++) {
        const double x = 0.15 * (double)i, hours = i % 2 ? 3.0 : 1.0;
        const double y =
            floor(hours * exp(1.0 + sin(x) + 0.4 * hfi_stream_normal(&stream))) + (whole ? 0.0 : 0.25);
        used += (size_t)sprintf(text + used, "%.17g,%g,%.17g\n", x, hours, y);
    }
    sprintf(text + used, "2.2,1,\n2.3,,4\n");
    hf_table *table = table_of(ctx, text);
    free(text);
    return table;
}

static hf_model *fit_counts(hf_context *ctx, const hf_table *table, size_t kind, hf_solver solver)
{
    hf_fit_settings settings;
    hf_model *model = NULL;
    const hf_columns columns = {.size = sizeof columns, .target = "y", .exposure = "hours"};
    assert_int_equal(hf_fit_settings_preset(ctx, presets[kind], &settings, sizeof settings), HF_OK);
    settings.solver = solver;
    settings.inducing = solver == HF_SOLVER_INDUCING ? 12 : 0;
    const hf_status status = hf_fit(ctx, table, &columns, &settings, &model, NULL);
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
    return model;
}

static void predictions_are_of_readings_and_rates(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < 6; k++) {
        hf_table *table = counted_table(ctx, k / 2 < 2);
        hf_model *model = fit_counts(ctx, table, k / 2, k % 2 ? HF_SOLVER_INDUCING : HF_SOLVER_EXACT);
        const hf_likelihood sites = hf_model_settings_of(model)->sites;
        const hf_posterior *posterior = hf_model_posterior(model);
        assert_string_equal(hf_model_exposure_column(model), "hours");
        assert_null(hf_model_mean_column(model));
        assert_int_equal(hf_model_report_of(model)->readings, ROWS);
        assert_int_equal(hf_predict_into_table(ctx, model, table), HF_WARN_ROWS_SKIPPED);
        double x[ROWS], mean[ROWS], var[ROWS];
        for (size_t i = 0; i < ROWS; i++) x[i] = 0.15 * (double)i;
        assert_int_equal(hf_predict(ctx, posterior, ROWS, x, 1, mean, var, NULL), HF_OK);
        for (size_t i = 0; i < ROWS; i++) {
            const double shift = i % 2 ? log(3.0) : 0.0, d = hf_posterior_noise(posterior);
            hf_reading_moments m;
            double low = NAN, high = NAN, middle = NAN;
            assert_int_equal(hf_likelihood_moments(sites, d, mean[i] + shift, var[i], &m), HF_OK);
            assert_int_equal(hf_likelihood_quantile(sites, d, mean[i] + shift, var[i], 0.025, &low), HF_OK);
            assert_int_equal(hf_likelihood_quantile(sites, d, mean[i] + shift, var[i], 0.975, &high), HF_OK);
            assert_int_equal(hf_likelihood_quantile(sites, d, mean[i] + shift, var[i], 0.5, &middle), HF_OK);
            assert_close(column_of(ctx, table, "y_mean")[i], m.mean, 1e-9);
            assert_close(column_of(ctx, table, "y_sd_latent")[i], m.sd_mean, 1e-9);
            assert_close(column_of(ctx, table, "y_sd_observed")[i], m.sd, 1e-9);
            assert_close(column_of(ctx, table, "y_lo95")[i], low, 1e-8);
            assert_close(column_of(ctx, table, "y_hi95")[i], high, 1e-8);
            assert_close(column_of(ctx, table, "y_median")[i], middle, 1e-8);
            assert_close(column_of(ctx, table, "y_rate")[i], exp(mean[i] + 0.5 * var[i]), 1e-9);
            assert_close(column_of(ctx, table, "y_rate_lo95")[i],
                         exp(mean[i] - 1.959963984540054 * sqrt(var[i])), 1e-9);
            assert_close(column_of(ctx, table, "y_rate_hi95")[i],
                         exp(mean[i] + 1.959963984540054 * sqrt(var[i])), 1e-9);
        }
        assert_true(isnan(column_of(ctx, table, "y_mean")[ROWS + 1])); /* without its exposure */
        hf_model_free(model);
        hf_table_free(table);
    }
    hf_context_free(ctx);
}

/* nlpd is the mean of log probabilities, coverage by quantiles; without the column of exposures rows are of
 * one hour. */
static void scores_are_of_the_distribution(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = counted_table(ctx, true), *bare = table_of(ctx, "x,y\n1,4\n2,9\n3,1\n");
    hf_model *model = fit_counts(ctx, table, 1, HF_SOLVER_EXACT);
    const double x[] = {1.0, 2.0, 3.0}, y[] = {4.0, 9.0, 1.0};
    double mean[3], var[3], nlpd = 0.0, inside = 0.0, away = 0.0;
    const double d = hf_posterior_noise(hf_model_posterior(model));
    assert_int_equal(hf_predict(ctx, hf_model_posterior(model), 3, x, 1, mean, var, NULL), HF_OK);
    for (size_t i = 0; i < 3; i++) {
        double score, low, high, middle;
        assert_int_equal(
            hf_likelihood_log_score(HF_LIKELIHOOD_NEGATIVE_BINOMIAL, d, mean[i], var[i], y[i], &score),
            HF_OK);
        assert_int_equal(
            hf_likelihood_quantile(HF_LIKELIHOOD_NEGATIVE_BINOMIAL, d, mean[i], var[i], 0.25, &low), HF_OK);
        assert_int_equal(
            hf_likelihood_quantile(HF_LIKELIHOOD_NEGATIVE_BINOMIAL, d, mean[i], var[i], 0.75, &high), HF_OK);
        assert_int_equal(
            hf_likelihood_quantile(HF_LIKELIHOOD_NEGATIVE_BINOMIAL, d, mean[i], var[i], 0.5, &middle), HF_OK);
        nlpd -= score / 3.0;
        inside += y[i] >= low && y[i] <= high ? 1.0 / 3.0 : 0.0;
        away += fabs(y[i] - middle) / 3.0;
    }
    hf_metrics metrics;
    assert_int_equal(hf_score(ctx, model, bare, &metrics), HF_OK);
    assert_int_equal(metrics.n, 3);
    assert_close(metrics.nlpd, nlpd, 1e-12);
    assert_close(metrics.coverage50, inside, 1e-12);
    assert_close(metrics.mae, away, 1e-12);
    assert_true(metrics.crps > 0.0 && metrics.crps < metrics.mae);
    /* Better than to know the average count alone. */
    hf_leave_one_out_scores scores;
    assert_int_equal(hf_model_leave_one_out(ctx, model, &scores), HF_OK);
    assert_true(scores.model.nlpd < scores.mean.nlpd && scores.model_r2 > 0.2);
    hf_model_free(model);
    hf_table_free(bare);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* A loaded model predicts, scores and shows its rows to the digit; its last parameter is the dispersion, and
 * Poisson has none. */
static void files_keep_everything(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const char *path = "test_counts.hf";
    for (size_t k = 0; k < 6; k++) {
        hf_table *table = counted_table(ctx, k / 2 < 2), *rows = NULL, *again = NULL;
        hf_model *model = fit_counts(ctx, table, k / 2, k % 2 ? HF_SOLVER_INDUCING : HF_SOLVER_EXACT),
                 *loaded = NULL;
        assert_int_equal(hf_model_save(ctx, model, path), HF_OK);
        assert_int_equal(hf_model_load(ctx, path, &loaded), HF_OK);
        assert_string_equal(hf_model_exposure_column(loaded), "hours");
        assert_string_equal(hf_model_data_checksum(loaded), hf_model_data_checksum(model));
        hf_metrics a, b;
        assert_int_equal(hf_score(ctx, model, table, &a), HF_WARN_ROWS_SKIPPED);
        assert_int_equal(hf_score(ctx, loaded, table, &b), HF_WARN_ROWS_SKIPPED);
        assert_true(a.nlpd == b.nlpd && a.rmse == b.rmse && a.coverage90 == b.coverage90);
        assert_int_equal(hf_model_rows(ctx, model, &rows), HF_OK);
        assert_int_equal(hf_model_rows(ctx, loaded, &again), HF_OK);
        for (size_t i = 0; i < ROWS; i++) {
            assert_true(column_of(ctx, rows, "loo_mean")[i] == column_of(ctx, again, "loo_mean")[i]);
            assert_true(column_of(ctx, rows, "weight")[i] == 1.0);
        }
        const size_t count = hf_model_parameters(loaded);
        hf_parameter last;
        assert_int_equal(hf_model_parameter(loaded, count - 1, &last), HF_OK);
        assert_string_equal(last.name, k / 2 == 0 ? "mean" : "dispersion");
        hf_table_free(rows);
        hf_table_free(again);
        hf_model_free(loaded);
        hf_model_free(model);
        hf_table_free(table);
    }
    remove(path);
    hf_context_free(ctx);
}

/* Twice the exposure of every row is half the rate, and nothing else. */
static void exposure_divides_the_rate(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double x[ROWS], y[ROWS], once[ROWS], twice[ROWS], mean[2][ROWS], var[2][ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = 0.2 * (double)i;
        y[i] = floor(6.0 + 4.0 * sin(x[i]) + (double)(i * 7 % 5));
        once[i] = 1.0 + (double)(i % 3);
        twice[i] = 2.0 * once[i];
    }
    for (size_t k = 0; k < 2; k++) {
        const hf_data data = {.n = ROWS, .d = 1, .x = x, .ldx = 1, .y = y, .exposure = k ? twice : once};
        hf_fit_settings settings;
        hf_posterior *posterior = NULL;
        assert_int_equal(hf_fit_settings_preset(ctx, "poisson", &settings, sizeof settings), HF_OK);
        settings.inference = HF_INFERENCE_LAPLACE;
        assert_int_equal(hf_fit_data(ctx, &data, &settings, &posterior, NULL, NULL), HF_OK);
        assert_int_equal(hf_predict(ctx, posterior, ROWS, x, 1, mean[k], var[k], NULL), HF_OK);
        hf_posterior_free(posterior);
    }
    for (size_t i = 0; i < ROWS; i++) {
        assert_close(mean[0][i] - mean[1][i], log(2.0), 1e-4);
        assert_close(var[0][i], var[1][i], 1e-4);
    }
    hf_context_free(ctx);
}

static void refuse(hf_context *ctx, const char *text, const hf_columns *columns,
                   const hf_fit_settings *settings, hf_status expected, const char *part)
{
    hf_table *table = table_of(ctx, text);
    hf_model *model = NULL;
    assert_int_equal(hf_fit(ctx, table, columns, settings, &model, NULL), expected);
    assert_null(model);
    if (strstr(hf_context_message(ctx), part) == NULL)
        fail_msg("no '%s' in: %s", part, hf_context_message(ctx));
    hf_table_free(table);
}

static void what_means_nothing_is_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const char *good = "x,e,v,y\n1,1,1,4\n2,1,1,0\n3,1,1,7\n4,2,1,3\n";
    hf_fit_settings poisson, gamma, gp;
    assert_int_equal(hf_fit_settings_preset(ctx, "poisson", &poisson, sizeof poisson), HF_OK);
    assert_int_equal(hf_fit_settings_preset(ctx, "gamma", &gamma, sizeof gamma), HF_OK);
    assert_int_equal(hf_fit_settings_preset(ctx, "gp", &gp, sizeof gp), HF_OK);
    const hf_columns plain = {.size = sizeof plain, .target = "y", .exposure = "e"};
    refuse(ctx, "x,e,y\n1,1,4\n2,1,2.5\n", &plain, &poisson, HF_ERR_ARGUMENT,
           "line 3, column \"y\": poisson sites");
    refuse(ctx, "x,e,y\n1,1,4\n2,1,-2\n", &plain, &poisson, HF_ERR_ARGUMENT, "this is -2");
    refuse(ctx, "x,e,y\n1,1,4\n2,1,0\n", &plain, &gamma, HF_ERR_ARGUMENT, "positive numbers");
    refuse(ctx, "x,e,y\n1,1,4\n2,0,3\n", &plain, &poisson, HF_ERR_ARGUMENT, "exposure must be positive");
    refuse(ctx, good, &plain, &gp, HF_ERR_ARGUMENT, "exposure column \"e\"");
    const hf_columns noise = {.size = sizeof noise, .target = "y", .noise = "v"},
                     mean = {.size = sizeof mean, .target = "y", .mean = "v"};
    refuse(ctx, good, &noise, &poisson, HF_ERR_ARGUMENT, "noise column");
    refuse(ctx, good, &mean, &poisson, HF_ERR_ARGUMENT, "mean column");
    hf_fit_settings other = poisson;
    other.calibrate = true;
    refuse(ctx, good, &plain, &other, HF_ERR_ARGUMENT, "calibrate");
    other = poisson;
    other.solver = HF_SOLVER_PROJECTED;
    refuse(ctx, good, &plain, &other, HF_ERR_ARGUMENT, "projected");
    other = poisson;
    other.transform = HF_TRANSFORM_LOG;
    refuse(ctx, good, &plain, &other, HF_ERR_ARGUMENT, "transform");
    other = poisson;
    other.kernel = "auto";
    refuse(ctx, good, &plain, &other, HF_ERR_ARGUMENT, "kernel auto");
    other = poisson;
    other.noise_start = 0.2;
    refuse(ctx, good, &plain, &other, HF_ERR_ARGUMENT, "noise_start");
    other = poisson;
    other.mean = HF_MEAN_MEDIAN;
    refuse(ctx, good, &plain, &other, HF_ERR_ARGUMENT, "mean median");
    other = poisson;
    other.suspects = HF_OUTLIERS_AUTO;
    refuse(ctx, good, &plain, &other, HF_ERR_ARGUMENT, "suspects auto");
    const hf_assignment dispersion = {"dispersion", 0.3}, plain_noise = {"noise", 0.3};
    other = poisson;
    other.set = &dispersion;
    other.set_count = 1;
    refuse(ctx, good, &plain, &other, HF_ERR_ARGUMENT, "dispersion");
    other = gamma;
    other.set = &plain_noise;
    other.set_count = 1;
    refuse(ctx, "x,e,y\n1,1,4\n2,1,3\n", &plain, &other, HF_ERR_ARGUMENT, "noise");
    hf_context_free(ctx);
}

/* A dispersion that is held stays, and is told as held. */
static void dispersion_can_be_held(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = counted_table(ctx, true);
    hf_fit_settings settings;
    const hf_assignment held = {"dispersion", 0.125};
    const hf_columns columns = {.size = sizeof columns, .target = "y", .exposure = "hours"};
    hf_model *model = NULL;
    hf_parameter last;
    assert_int_equal(hf_fit_settings_preset(ctx, "negative-binomial", &settings, sizeof settings), HF_OK);
    settings.set = &held;
    settings.set_count = 1;
    assert_true(hf_fit(ctx, table, &columns, &settings, &model, NULL) >= 0);
    assert_int_equal(hf_model_parameter(model, hf_model_parameters(model) - 1, &last), HF_OK);
    assert_close(last.value, 0.125, 1e-14);
    assert_true(last.fixed);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_of_readings_and_rates),
        cmocka_unit_test(scores_are_of_the_distribution),
        cmocka_unit_test(files_keep_everything),
        cmocka_unit_test(exposure_divides_the_rate),
        cmocka_unit_test(what_means_nothing_is_refused),
        cmocka_unit_test(dispersion_can_be_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
