/* SPDX-License-Identifier: Apache-2.0 */
/* Leave-one-out scores of a model and what it is compared with, and the relevance of its inputs. */
#include "model/file_testing.h"

#include <stdint.h>

static void assert_same_metrics(const hf_metrics *a, const hf_metrics *b, double relative)
{
    assert_int_equal(a->n, b->n);
    assert_close(a->mae, b->mae, relative);
    assert_close(a->rmse, b->rmse, relative);
    assert_close(a->nlpd, b->nlpd, relative);
    assert_close(a->crps, b->crps, relative);
    assert_close(a->coverage50, b->coverage50, relative);
    assert_close(a->coverage90, b->coverage90, relative);
    assert_close(a->coverage95, b->coverage95, relative);
}

/* Table of all rows but one, or of that one. */
static hf_table *rows_of(hf_context *ctx, const hf_table *table, size_t one, bool only)
{
    size_t rows[64], count = 0;
    hf_table *out = NULL;
    for (size_t i = 0; i < hf_table_rows(table); i++)
        if ((i == one) == only) rows[count++] = i;
    assert_int_equal(hf_table_select(ctx, table, rows, count, &out), HF_OK);
    return out;
}

/* ---- leave-one-out ---------------------------------------------------------------------------------------- */

/* The model by fitting to all other rows, the mean by the textbook's formulas. */
static void scores_are_those_of_leaving_out(void **state)
{
    (void)state;
    enum {
        N = 24
    };
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, N, 0);
    const hf_fit_settings settings = untrained();
    const double *y = column_of(ctx, table, "y");
    double mean[N], sd[N], others_mean[N], others_sd[N];
    for (size_t i = 0; i < N; i++) {
        hf_table *others = rows_of(ctx, table, i, false), *one = rows_of(ctx, table, i, true);
        hf_model *model = model_of(ctx, others, &settings);
        assert_int_equal(hf_predict_into_table(ctx, model, one), HF_OK);
        mean[i] = column_of(ctx, one, "y_mean")[0];
        sd[i] = column_of(ctx, one, "y_sd_observed")[0];
        double sum = 0.0, squares = 0.0;
        for (size_t k = 0; k < N; k++) sum += k != i ? y[k] : 0.0;
        others_mean[i] = sum / (N - 1);
        for (size_t k = 0; k < N; k++)
            squares += k != i ? (y[k] - others_mean[i]) * (y[k] - others_mean[i]) : 0.0;
        others_sd[i] = sqrt(squares / (N - 2) * (1.0 + 1.0 / (N - 1)));
        hf_model_free(model);
        hf_table_free(one);
        hf_table_free(others);
    }
    hf_model *model = model_of(ctx, table, &settings);
    hf_leave_one_out_scores scores;
    hf_metrics by_hand;
    assert_int_equal(hf_model_leave_one_out(ctx, model, &scores), HF_OK);
    assert_int_equal(hf_metrics_gaussian(ctx, N, y, mean, sd, &by_hand), HF_OK);
    assert_same_metrics(&scores.model, &by_hand, 1e-9);
    assert_int_equal(hf_metrics_gaussian(ctx, N, y, others_mean, others_sd, &by_hand), HF_OK);
    assert_same_metrics(&scores.mean, &by_hand, 1e-9);
    assert_int_equal(scores.plain.n, 0);
    assert_true(isnan(scores.plain.rmse) && isnan(scores.plain_r2));
    const double ratio = scores.model.rmse / scores.mean.rmse;
    assert_close(scores.model_r2, 1.0 - ratio * ratio, 1e-14);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* The plain fit's scores on the readings that the default kept. */
static hf_metrics plain_scores(hf_context *ctx, const hf_table *table, const hf_model *model)
{
    hf_fit_settings settings;
    hf_table *own = NULL, *plain = NULL;
    hf_metrics out;
    assert_int_equal(hf_fit_settings_preset(ctx, "gp", &settings, sizeof settings), HF_OK);
    hf_model *gp = model_of(ctx, table, &settings);
    assert_true(hf_model_rows(ctx, model, &own) >= 0 && hf_model_rows(ctx, gp, &plain) >= 0);
    const double *weight = column_of(ctx, own, "weight");
    double y[128];
    for (size_t i = 0; i < hf_table_rows(own); i++)
        y[i] = weight[i] > 0.0 ? column_of(ctx, own, "y")[i] : NAN;
    assert_true(hf_metrics_gaussian(ctx, hf_table_rows(own), y, column_of(ctx, plain, "loo_mean"),
                                    column_of(ctx, plain, "loo_sd"), &out) >= 0);
    hf_table_free(own);
    hf_table_free(plain);
    hf_model_free(gp);
    return out;
}

static void plain_fit_is_scored_on_the_same_readings(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 60, 5);
    const hf_fit_settings settings = hf_fit_settings_default();
    hf_model *model = model_of(ctx, table, &settings), *loaded = NULL;
    const hf_fit_report *report = hf_model_report_of(model);
    assert_true(report->suspects_adopted && report->suspects >= 5);
    hf_leave_one_out_scores scores, again;
    assert_int_equal(hf_model_leave_one_out(ctx, model, &scores), HF_OK);
    assert_int_equal(scores.model.n, 60 - report->suspects);
    assert_int_equal(scores.plain.n, scores.model.n);
    assert_int_equal(scores.mean.n, scores.model.n);
    assert_true(scores.model.rmse < 0.3 * scores.plain.rmse && scores.model.nlpd < scores.plain.nlpd);
    assert_true(scores.model_r2 > scores.plain_r2);
    /* The finder begins where the plain fit is good enough to begin, a little before its end. */
    const hf_metrics plain = plain_scores(ctx, table, model);
    assert_int_equal(plain.n, scores.plain.n);
    assert_close(scores.plain.rmse, plain.rmse, 0.15);
    assert_close(scores.plain.nlpd, plain.nlpd, 0.15);

    folder scratch = folder_make();
    char path[256];
    folder_file(&scratch, "m.hf", path);
    assert_int_equal(hf_model_save(ctx, model, path), HF_OK);
    assert_int_equal(hf_model_load(ctx, path, &loaded), HF_OK);
    assert_int_equal(hf_model_leave_one_out(ctx, loaded, &again), HF_OK);
    assert_same_metrics(&again.model, &scores.model, 1e-12);
    assert_memory_equal(&again.plain, &scores.plain, sizeof again.plain);
    hf_model_free(loaded);
    folder_remove(&scratch);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void other_solvers_and_sites_are_scored(void **state)
{
    (void)state;
    static const char *const presets[] = {"rcgp", "student-t", "sgpr", "rrp"};
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 60, 4);
    for (size_t p = 0; p < sizeof presets / sizeof *presets; p++) {
        hf_fit_settings settings;
        assert_int_equal(hf_fit_settings_preset(ctx, presets[p], &settings, sizeof settings), HF_OK);
        hf_model *model = model_of(ctx, table, &settings);
        hf_table *rows = NULL;
        hf_leave_one_out_scores scores;
        hf_metrics by_rows;
        assert_int_equal(hf_model_leave_one_out(ctx, model, &scores), HF_OK);
        assert_true(hf_model_rows(ctx, model, &rows) >= 0);
        double y[60];
        for (size_t i = 0; i < 60; i++)
            y[i] = column_of(ctx, rows, "weight")[i] >= 0.25 ? column_of(ctx, rows, "y")[i] : NAN;
        assert_true(hf_metrics_gaussian(ctx, 60, y, column_of(ctx, rows, "loo_mean"),
                                        column_of(ctx, rows, "loo_sd"), &by_rows) >= 0);
        assert_same_metrics(&scores.model, &by_rows, 1e-12);
        assert_int_equal(scores.plain.n, 0);
        hf_table_free(rows);
        hf_model_free(model);
    }
    hf_table_free(table);
    hf_context_free(ctx);
}

/* The density of the reading, not of its logarithm; the mean of the others is in its own units. */
static void transforms_are_scored_in_units_of_the_target(void **state)
{
    (void)state;
    enum {
        N = 20
    };
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, N, 0);
    double y[N], nlpd = 0.0;
    for (size_t i = 0; i < N; i++) y[i] = exp(column_of(ctx, table, "y")[i]);
    assert_int_equal(hf_table_set_numbers(ctx, table, "z", column_of(ctx, table, "y")), HF_OK);
    assert_int_equal(hf_table_set_numbers(ctx, table, "y", y), HF_OK);
    const char *const drop[] = {"z"}, *const inputs[] = {"a", "b"};
    hf_fit_settings settings = untrained();
    hf_model *of_z = NULL, *of_y = NULL;
    hf_leave_one_out_scores plain, transformed;
    const hf_columns z_columns = {.size = sizeof z_columns,
                                  .target = "z",
                                  .features = inputs,
                                  .feature_count = 2},
                     y_columns = {.size = sizeof y_columns, .target = "y", .drop = drop, .drop_count = 1};
    assert_int_equal(hf_fit(ctx, table, &z_columns, &settings, &of_z, NULL), HF_OK);
    settings.transform = HF_TRANSFORM_LOG;
    assert_int_equal(hf_fit(ctx, table, &y_columns, &settings, &of_y, NULL), HF_OK);
    assert_int_equal(hf_model_leave_one_out(ctx, of_z, &plain), HF_OK);
    assert_int_equal(hf_model_leave_one_out(ctx, of_y, &transformed), HF_OK);
    for (size_t i = 0; i < N; i++) nlpd += log(y[i]) / N; /* minus the log of the derivative */
    assert_close(transformed.model.nlpd, plain.model.nlpd + nlpd, 1e-10);
    assert_true(transformed.model.coverage90 == plain.model.coverage90);
    double sum = 0.0, error = 0.0;
    for (size_t i = 0; i < N; i++) sum += y[i];
    for (size_t i = 0; i < N; i++) error += fabs(y[i] - (sum - y[i]) / (N - 1)) / N;
    assert_close(transformed.mean.mae, error, 1e-12);
    double of_the_log[2], of_the_target[2];
    assert_int_equal(hf_model_relevance(ctx, of_z, of_the_log), HF_OK);
    assert_int_equal(hf_model_relevance(ctx, of_y, of_the_target), HF_OK);
    assert_close(of_the_target[0], of_the_log[0], 1e-9);
    hf_model_free(of_y);
    hf_model_free(of_z);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* In scaled units: another unit of an output changes no score. */
static void outputs_are_scored_together(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_leave_one_out_scores scores[2];
    for (size_t k = 0; k < 2; k++) {
        char text[4096];
        size_t used = (size_t)snprintf(text, sizeof text, "x,u,v\n");
        for (size_t i = 0; i < 20; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%g,%g,%g\n", (double)i / 3.0,
                                     sin((double)i), (k == 0 ? 1.0 : 1024.0) * cos((double)i * 0.4));
        hf_table *table = table_of(ctx, text);
        const char *const targets[] = {"u", "v"};
        const hf_columns columns = {.size = sizeof columns, .targets = targets, .target_count = 2};
        hf_fit_settings settings = hf_fit_settings_default();
        settings.train = false;
        settings.suspects = HF_OUTLIERS_OFF;
        hf_model *model = NULL;
        assert_true(hf_fit(ctx, table, &columns, &settings, &model, NULL) >= 0);
        assert_int_equal(hf_model_leave_one_out(ctx, model, &scores[k]), HF_OK);
        double relevance[1];
        assert_int_equal(hf_model_relevance(ctx, model, relevance), HF_OK);
        assert_true(relevance[0] > 0.5);
        hf_model_free(model);
        hf_table_free(table);
    }
    assert_int_equal(scores[0].model.n, 40);
    assert_int_equal(scores[0].mean.n, 40);
    assert_same_metrics(&scores[1].model, &scores[0].model, 1e-5);
    assert_same_metrics(&scores[1].mean, &scores[0].mean, 1e-5);
    hf_context_free(ctx);
}

static void nonsense_of_the_plain_fit_is_refused(void **state)
{
    (void)state;
    image made = image_make();
    change(
        &made,
        "INSERT INTO array SELECT 'row_plain_mean', rows, columns, data FROM array WHERE name = 'row_target'",
        true);
    assert_contains(hf_context_message(made.ctx), "row_plain_sd");
    change(
        &made,
        "INSERT INTO array SELECT 'row_plain_mean', rows, columns, data FROM array WHERE name = "
        "'row_target'; "
        "INSERT INTO array SELECT 'row_plain_sd', rows, columns, zeroblob(8 * rows) FROM array WHERE name = "
        "'row_target'",
        true);
    assert_contains(hf_context_message(made.ctx), "not positive");
    image_free(&made);
}

/* ---- relevance -------------------------------------------------------------------------------------------- */

/* Three inputs that vary independently; the target is made by `mix`. */
static hf_model *mixed_model(hf_context *ctx, size_t n, const double mix[4])
{
    char *text = malloc(64 + 100 * n);
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "a,b,c,y\n");
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < n; i++) {
        const double a = hfi_stream_normal(&stream), b = hfi_stream_normal(&stream),
                     c = hfi_stream_normal(&stream);
        used += (size_t)sprintf(text + used, "%.17g,%.17g,%.17g,%.17g\n", a, b, c,
                                mix[0] * a + mix[1] * b + mix[2] * c + mix[3] * a * b);
    }
    hf_table *table = table_of(ctx, text);
    free(text);
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(ctx, "gp", &settings, sizeof settings), HF_OK);
    settings.kernel = "se(ard)";
    hf_model *model = model_of(ctx, table, &settings);
    hf_table_free(table);
    return model;
}

/* All pairs of rows, one by one. */
static void all_pairs(hf_context *ctx, const hf_model *model, size_t n, double *out)
{
    hf_table *rows = NULL;
    assert_int_equal(hf_model_training(ctx, model, &rows), HF_OK);
    static const char *const names[] = {"a", "b", "c"};
    const double *column[3];
    double f[64], sum = 0.0, variance = 0.0;
    for (size_t j = 0; j < 3; j++) column[j] = column_of(ctx, rows, names[j]);
    for (size_t i = 0; i < n; i++) {
        const double x[3] = {column[0][i], column[1][i], column[2][i]};
        assert_int_equal(hf_predict(ctx, hf_model_posterior(model), 1, x, 3, &f[i], NULL, NULL), HF_OK);
        sum += f[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) variance += (f[i] - sum) * (f[i] - sum) / (double)(n - 1);
    for (size_t j = 0; j < 3; j++) {
        out[j] = 0.0;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++) {
                double x[3] = {column[0][i], column[1][i], column[2][i]}, other;
                if (k == i) continue;
                x[j] = column[j][k];
                assert_int_equal(hf_predict(ctx, hf_model_posterior(model), 1, x, 3, &other, NULL, NULL),
                                 HF_OK);
                out[j] += (other - f[i]) * (other - f[i]);
            }
        out[j] /= (double)(n * (n - 1)) * 2.0 * variance;
    }
    hf_table_free(rows);
}

/* With so few rows every pair is asked about. */
static void few_rows_are_paired_with_all_others(void **state)
{
    (void)state;
    enum {
        N = 20
    };
    hf_context *ctx = hf_context_create();
    hf_model *model = mixed_model(ctx, N, (const double[]){1.0, 0.5, 0.0, 0.7});
    double relevance[3], pairs[3];
    assert_int_equal(hf_model_relevance(ctx, model, relevance), HF_OK);
    all_pairs(ctx, model, N, pairs);
    for (size_t j = 0; j < 3; j++) assert_close(relevance[j], pairs[j], 1e-9);
    hf_model_free(model);
    hf_context_free(ctx);
}

/* Total Sobol indices of what is known: (w_a^2, w_b^2) / sum where effects add up, and a product that
 * belongs to both. */
static void shares_are_sobol_indices(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double relevance[3], again[3];
    hf_model *model = mixed_model(ctx, 300, (const double[]){3.0, 1.0, 0.0, 0.0});
    assert_int_equal(hf_model_relevance(ctx, model, relevance), HF_OK);
    assert_true(fabs(relevance[0] - 0.9) < 0.1 && fabs(relevance[1] - 0.1) < 0.05);
    assert_true(relevance[2] >= 0.0 && relevance[2] < 1e-3);
    hf_context_set_seed(ctx, 99);
    assert_int_equal(hf_model_relevance(ctx, model, again), HF_OK);
    assert_memory_equal(again, relevance, sizeof again);
    hf_model_free(model);
    model = mixed_model(ctx, 300, (const double[]){0.0, 0.0, 0.5, 1.0});
    assert_int_equal(hf_model_relevance(ctx, model, relevance), HF_OK);
    assert_true(fabs(relevance[0] - 0.8) < 0.2 && fabs(relevance[1] - 0.8) < 0.2);
    assert_true(fabs(relevance[2] - 0.2) < 0.08);
    hf_model_free(model);
    hf_context_free(ctx);
}

static void classes_have_relevant_inputs(void **state)
{
    (void)state;
    static const char *const presets[] = {"probit", "softmax"};
    hf_context *ctx = hf_context_create();
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "a,b,y\n");
    for (size_t i = 0; i < 40; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%g,%g,%s\n", sin(7.0 * (double)i),
                                 cos(5.0 * (double)i), sin(7.0 * (double)i) > 0.1 ? "high" : "low");
    hf_table *table = table_of(ctx, text);
    for (size_t p = 0; p < 2; p++) {
        hf_fit_settings settings;
        hf_leave_one_out_scores scores;
        double relevance[2];
        assert_int_equal(hf_fit_settings_preset(ctx, presets[p], &settings, sizeof settings), HF_OK);
        hf_model *model = model_of(ctx, table, &settings);
        assert_int_equal(hf_model_relevance(ctx, model, relevance), HF_OK);
        assert_true(relevance[0] > 0.8 && relevance[1] < 0.2);
        assert_int_equal(hf_model_leave_one_out(ctx, model, &scores), HF_ERR_ARGUMENT);
        assert_contains(hf_context_message(ctx), "classifier");
        hf_model_free(model);
    }
    hf_table_free(table);
    hf_context_free(ctx);
}

/* ---- what cannot be told ---------------------------------------------------------------------------------- */

static void nothing_to_learn_is_no_error(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_fit_settings settings = hf_fit_settings_default();
    static const char *const texts[] = {"a,y\n1,5\n", "a,y\n1,5\n2,5\n3,5\n4,5\n",
                                        "a,y\n1,5\n2,5\n3,5\n4,6\n",
                                        "a,y\n1,1e150\n2,-1e150\n3,5e149\n4,0\n"};
    for (size_t k = 0; k < 4; k++) {
        hf_table *table = table_of(ctx, texts[k]);
        hf_model *model = model_of(ctx, table, &settings);
        hf_leave_one_out_scores scores;
        double relevance[1] = {-1.0};
        assert_int_equal(hf_model_leave_one_out(ctx, model, &scores), HF_OK);
        assert_int_equal(scores.model.n, hf_table_rows(table));
        assert_int_equal(scores.mean.n, k < 2 ? 0 : 4);
        assert_true(isnan(scores.model_r2) == (k < 2));
        if (k == 2) assert_true(isinf(scores.mean.nlpd) && isfinite(scores.mean.crps));
        const hf_status status = hf_model_relevance(ctx, model, relevance);
        assert_int_equal(status, k == 0 ? HF_ERR_NO_DATA : HF_OK);
        if (k == 0) assert_true(relevance[0] == -1.0);
        if (k == 1) assert_true(relevance[0] == 0.0);
        hf_model_free(model);
        hf_table_free(table);
    }
    hf_context_free(ctx);
}

static bool stop(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)done;
    (void)value;
    (void)user;
    return false;
}

static void refuses(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 30, 0);
    const hf_fit_settings settings = untrained();
    hf_model *model = model_of(ctx, table, &settings);
    hf_leave_one_out_scores scores = {.model_r2 = -7.0};
    double relevance[2] = {-7.0, -7.0};
    assert_int_equal(hf_model_leave_one_out(ctx, NULL, &scores), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_leave_one_out(ctx, model, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_relevance(ctx, NULL, relevance), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_relevance(ctx, model, NULL), HF_ERR_ARGUMENT);
    hf_context_set_progress(ctx, stop, NULL);
    assert_int_equal(hf_model_relevance(ctx, model, relevance), HF_ERR_CANCELLED);
    assert_true(scores.model_r2 == -7.0 && relevance[0] == -7.0);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_of_leaving_out),
        cmocka_unit_test(plain_fit_is_scored_on_the_same_readings),
        cmocka_unit_test(other_solvers_and_sites_are_scored),
        cmocka_unit_test(transforms_are_scored_in_units_of_the_target),
        cmocka_unit_test(outputs_are_scored_together),
        cmocka_unit_test(nonsense_of_the_plain_fit_is_refused),
        cmocka_unit_test(few_rows_are_paired_with_all_others),
        cmocka_unit_test(shares_are_sobol_indices),
        cmocka_unit_test(classes_have_relevant_inputs),
        cmocka_unit_test(nothing_to_learn_is_no_error),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
