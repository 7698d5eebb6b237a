/* SPDX-License-Identifier: Apache-2.0 */
/* Models of a transformed target are those of a transformed column, told in the target's own units. */
#include "model/model_testing.h"

#include <holdfast/certify_uses.h>

#include <stdio.h>

/* sin(2 a) + b / 2 + noise as z, and y = g^-1 of `level` + `scale` z. */
typedef struct made {
    hf_transform transform;
    double level, scale;
    size_t bad; /* every `bad`th is far off; 0: none */
    uint64_t seed;
} made;

static hf_table *make(hf_context *ctx, size_t n, const made *m)
{
    const size_t bytes = 64 + 120 * n;
    char *text = malloc(bytes);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, bytes, "a,b,y,z\n");
    hfi_stream stream;
    hfi_stream_init(&stream, m->seed, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < n; i++) {
        const double a = 4.0 * hfi_stream_uniform(&stream), b = hfi_stream_normal(&stream);
        const double f = sin(2.0 * a) + 0.5 * b + 0.25 * hfi_stream_normal(&stream);
        double y = hf_transform_inverse(m->transform, m->level + m->scale * f);
        if (m->bad > 0 && i % m->bad == 3) y = 40.0 * y + 300.0;
        used += (size_t)snprintf(text + used, bytes - used, "%.17g,%.17g,%.17g,%.17g\n", a, b, y,
                                 hf_transform_forward(m->transform, y));
    }
    hf_table *table = table_of(ctx, text);
    free(text);
    return table;
}

static const char *const inputs[] = {"a", "b"};

static hf_model *fit(hf_context *ctx, const hf_table *table, const char *target,
                     const hf_fit_settings *settings)
{
    const hf_columns columns = {
        .size = sizeof columns, .target = target, .features = inputs, .feature_count = 2};
    hf_model *model = NULL;
    if (hf_fit(ctx, table, &columns, settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    return model;
}

static hf_fit_settings plain(hf_transform transform)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_OFF;
    settings.calibrate = false;
    settings.transform = transform;
    return settings;
}

static void same_relative(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fabs(b))) fail_msg("%.17g is not %.17g", a, b);
}

/* ---- by hand ----------------------------------------------------------------------------------------- */

/* The model of y with a transform, that of column z without, and what both predict. */
typedef struct pair {
    hf_context *ctx;
    hf_table *table, *rows_y, *rows_z;
    hf_model *y, *z;
} pair;

static pair make_pair(hf_transform transform, hf_solver solver)
{
    const made m = {transform, transform == HF_TRANSFORM_LOG ? 1.0 : 2.5, 0.7, 0, 3};
    pair p = {.ctx = hf_context_create()};
    p.table = make(p.ctx, 60, &m);
    hf_fit_settings s = hf_fit_settings_default();
    s.solver = solver;
    s.inducing = solver == HF_SOLVER_INDUCING ? 20 : 0;
    p.z = fit(p.ctx, p.table, "z", &s);
    s.transform = transform;
    p.y = fit(p.ctx, p.table, "y", &s);
    assert_int_equal(hf_model_settings_of(p.y)->transform, transform);
    assert_true(hf_predict_into_table(p.ctx, p.y, p.table) == HF_OK);
    assert_true(hf_predict_into_table(p.ctx, p.z, p.table) == HF_OK);
    assert_true(hf_model_rows(p.ctx, p.y, &p.rows_y) >= 0 && hf_model_rows(p.ctx, p.z, &p.rows_z) >= 0);
    return p;
}

static void free_pair(pair *p)
{
    hf_table_free(p->rows_y);
    hf_table_free(p->rows_z);
    hf_table_free(p->table);
    hf_model_free(p->y);
    hf_model_free(p->z);
    hf_context_free(p->ctx);
}

static void predictions_are_those_by_hand(const pair *p, hf_transform t)
{
    hf_context *ctx = p->ctx;
    const double *low = column_of(ctx, p->table, "y_lo95"), *high = column_of(ctx, p->table, "y_hi95"),
                 *median = column_of(ctx, p->table, "y_median"), *mean = column_of(ctx, p->table, "y_mean"),
                 *latent = column_of(ctx, p->table, "y_sd_latent"),
                 *observed = column_of(ctx, p->table, "y_sd_observed");
    const double *z = column_of(ctx, p->table, "z_mean"), *z_low = column_of(ctx, p->table, "z_lo95"),
                 *z_high = column_of(ctx, p->table, "z_hi95"),
                 *z_latent = column_of(ctx, p->table, "z_sd_latent"),
                 *z_observed = column_of(ctx, p->table, "z_sd_observed");
    for (size_t i = 0; i < hf_table_rows(p->table); i++) {
        same_relative(low[i], hf_transform_inverse(t, z_low[i]), 1e-12);
        same_relative(high[i], hf_transform_inverse(t, z_high[i]), 1e-12);
        same_relative(median[i], hf_transform_inverse(t, z[i]), 1e-12);
        double expected, variance;
        hf_transform_moments(t, z[i], z_observed[i] * z_observed[i], &expected, &variance);
        same_relative(mean[i], expected, 1e-12);
        same_relative(observed[i], sqrt(variance), 1e-12);
        hf_transform_moments(t, z[i], z_latent[i] * z_latent[i], NULL, &variance);
        same_relative(latent[i], sqrt(variance), 1e-12);
        assert_true(low[i] >= 0.0 && low[i] <= median[i] && median[i] <= mean[i] && mean[i] < high[i]);
    }
}

static void rows_are_those_by_hand(const pair *p, hf_transform t)
{
    hf_context *ctx = p->ctx;
    const double *mean = column_of(ctx, p->rows_y, "loo_mean"), *sd = column_of(ctx, p->rows_y, "loo_sd"),
                 *median = column_of(ctx, p->rows_y, "loo_median"),
                 *residual = column_of(ctx, p->rows_y, "loo_residual"), *y = column_of(ctx, p->rows_y, "y");
    const double *z = column_of(ctx, p->rows_z, "y"), *z_mean = column_of(ctx, p->rows_z, "loo_mean"),
                 *z_sd = column_of(ctx, p->rows_z, "loo_sd");
    for (size_t i = 0; i < hf_table_rows(p->rows_y); i++) {
        double expected, variance;
        hf_transform_moments(t, z_mean[i], z_sd[i] * z_sd[i], &expected, &variance);
        same_relative(mean[i], expected, 1e-12);
        same_relative(sd[i], sqrt(variance), 1e-12);
        same_relative(median[i], hf_transform_inverse(t, z_mean[i]), 1e-12);
        same_relative(y[i], hf_transform_inverse(t, z[i]), 1e-12);
        assert_true(fabs(residual[i] - (z[i] - z_mean[i]) / z_sd[i]) < 1e-9);
    }
}

/* Densities of y are those of z times the slope; intervals are the same. */
static void scores_are_those_by_hand(const pair *p, hf_transform t)
{
    hf_metrics y, z;
    assert_int_equal(hf_score(p->ctx, p->y, p->table, &y), HF_OK);
    assert_int_equal(hf_score(p->ctx, p->z, p->table, &z), HF_OK);
    const double *readings = column_of(p->ctx, p->table, "y"),
                 *median = column_of(p->ctx, p->table, "y_median"),
                 *mean = column_of(p->ctx, p->table, "y_mean");
    double slopes = 0.0, absolute = 0.0, squares = 0.0;
    const double n = (double)hf_table_rows(p->table);
    for (size_t i = 0; i < hf_table_rows(p->table); i++) {
        slopes += hf_transform_log_derivative(t, readings[i]) / n;
        absolute += fabs(readings[i] - median[i]) / n;
        squares += (readings[i] - mean[i]) * (readings[i] - mean[i]) / n;
    }
    assert_true(fabs(y.nlpd - (z.nlpd - slopes)) < 1e-11);
    assert_true(y.coverage50 == z.coverage50 && y.coverage90 == z.coverage90 && y.coverage95 == z.coverage95);
    same_relative(y.mae, absolute, 1e-12);
    same_relative(y.rmse, sqrt(squares), 1e-12);
    assert_true(y.crps > 0.0 && y.crps < y.mae);
}

/* The same of leave-one-out scores; the mean of the others knows of no transform. */
static void quality_is_that_by_hand(const pair *p, hf_transform t)
{
    hf_leave_one_out_scores y, z;
    assert_int_equal(hf_model_leave_one_out(p->ctx, p->y, &y), HF_OK);
    assert_int_equal(hf_model_leave_one_out(p->ctx, p->z, &z), HF_OK);
    const double *readings = column_of(p->ctx, p->rows_y, "y"),
                 *mean = column_of(p->ctx, p->rows_y, "loo_mean"),
                 *weight = column_of(p->ctx, p->rows_y, "weight");
    double slopes = 0.0, squares = 0.0, sum = 0.0, around = 0.0;
    const double n = (double)y.model.n;
    for (size_t i = 0; i < hf_table_rows(p->rows_y); i++) {
        if (weight[i] < 0.25) continue;
        slopes += hf_transform_log_derivative(t, readings[i]) / n;
        squares += (readings[i] - mean[i]) * (readings[i] - mean[i]) / n;
        sum += readings[i];
    }
    for (size_t i = 0; i < hf_table_rows(p->rows_y); i++) {
        const double away = readings[i] - (sum - readings[i]) / (n - 1.0);
        if (weight[i] >= 0.25) around += away * away / n;
    }
    assert_true(y.model.n == z.model.n && y.model.coverage95 == z.model.coverage95);
    assert_true(fabs(y.model.nlpd - (z.model.nlpd - slopes)) < 1e-9);
    same_relative(y.model.rmse, sqrt(squares), 1e-10);
    same_relative(y.mean.rmse, sqrt(around), 1e-10);
    assert_true(y.model_r2 > 0.5 && y.model_r2 < 1.0);
}

static void a_transform_is_a_transformed_column(void **state)
{
    (void)state;
    const hf_transform both[] = {HF_TRANSFORM_LOG, HF_TRANSFORM_SQRT};
    for (size_t k = 0; k < 2; k++) {
        pair p = make_pair(both[k], HF_SOLVER_EXACT);
        predictions_are_those_by_hand(&p, both[k]);
        rows_are_those_by_hand(&p, both[k]);
        scores_are_those_by_hand(&p, both[k]);
        quality_is_that_by_hand(&p, both[k]);
        free_pair(&p);
    }
    pair p = make_pair(HF_TRANSFORM_LOG, HF_SOLVER_INDUCING);
    predictions_are_those_by_hand(&p, HF_TRANSFORM_LOG);
    rows_are_those_by_hand(&p, HF_TRANSFORM_LOG);
    free_pair(&p);
}

/* ---- files ------------------------------------------------------------------------------------------- */

static void a_transform_is_kept_in_the_file(void **state)
{
    (void)state;
    const char *path = "transformed-model.hf";
    pair p = make_pair(HF_TRANSFORM_SQRT, HF_SOLVER_EXACT);
    hf_model *loaded = NULL;
    assert_int_equal(hf_model_save(p.ctx, p.y, path), HF_OK);
    assert_int_equal(hf_model_load(p.ctx, path, &loaded), HF_OK);
    assert_int_equal(hf_model_settings_of(loaded)->transform, HF_TRANSFORM_SQRT);
    hf_table *again = NULL;
    assert_true(hf_model_rows(p.ctx, loaded, &again) >= 0);
    const double *before = column_of(p.ctx, p.rows_y, "loo_mean"),
                 *after = column_of(p.ctx, again, "loo_mean");
    for (size_t i = 0; i < hf_table_rows(again); i++) same_relative(after[i], before[i], 1e-12);
    unsigned char header[64];
    FILE *file = fopen(path, "rb");
    assert_true(file != NULL && fread(header, 1, sizeof header, file) == sizeof header);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(header[63], 5);
    /* A model written before there were transforms stays as it was. */
    assert_int_equal(hf_model_save(p.ctx, p.z, path), HF_OK);
    file = fopen(path, "rb");
    assert_true(file != NULL && fread(header, 1, sizeof header, file) == sizeof header);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(header[63], 2);
    remove(path);
    hf_table_free(again);
    hf_model_free(loaded);
    free_pair(&p);
}

/* ---- what is refused ------------------------------------------------------------------------------------ */

static void refused(hf_context *ctx, const char *text, const hf_columns *columns,
                    const hf_fit_settings *settings, const char *message)
{
    hf_table *table = table_of(ctx, text);
    hf_model *model = NULL;
    hf_cost cost;
    if (hf_fit(ctx, table, columns, settings, &model, NULL) != HF_ERR_ARGUMENT)
        fail_msg("%s: not refused", message);
    if (strstr(hf_context_message(ctx), message) == NULL)
        fail_msg("'%s' has no '%s'", hf_context_message(ctx), message);
    assert_null(model);
    assert_int_equal(hf_fit_cost(ctx, table, columns, settings, &cost), HF_ERR_ARGUMENT);
    hf_table_free(table);
}

static void what_has_no_transform_is_refused_with_its_place(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static const char *const two[] = {"y", "z"};
    const char *zero = "a,y\n1,2\n2,0\n3,4\n4,\n5,-1\n";
    const hf_columns y = {.size = sizeof y, .target = "y"},
                     wide = {.size = sizeof wide, .targets = two, .target_count = 2},
                     noise = {.size = sizeof noise, .target = "y", .noise = "z"};
    hf_fit_settings log = plain(HF_TRANSFORM_LOG), root = plain(HF_TRANSFORM_SQRT),
                    automatic = plain(HF_TRANSFORM_AUTO), labels;
    refused(ctx, zero, &y, &log, "line 3, column \"y\"");
    refused(ctx, zero, &y, &log, "this one is 0 (2 of 4 are not; also line 6)");
    refused(ctx, zero, &y, &log, "sqrt");
    refused(ctx, zero, &y, &root, "line 6, column \"y\"");
    refused(ctx, "a,y,z\n1,2,3\n2,3,4\n", &wide, &log, "several outputs");
    refused(ctx, "a,y,z\n1,2,3\n2,3,4\n", &noise, &log, "noise column");
    automatic.checkpoint = "never-written.checkpoint";
    refused(ctx, "a,y\n1,2\n2,3\n", &y, &automatic, "checkpoint");
    log.transform = (hf_transform)7;
    refused(ctx, "a,y\n1,2\n2,3\n", &y, &log, "choice of transform");
    assert_int_equal(hf_fit_settings_preset(ctx, "probit", &labels, sizeof labels), HF_OK);
    labels.transform = HF_TRANSFORM_SQRT;
    refused(ctx, "a,y\n1,0\n2,1\n", &y, &labels, "transform");

    const double x[] = {1.0, 2.0}, readings[] = {1.0, 2.0};
    const hf_data data = {.n = 2, .d = 1, .x = x, .ldx = 1, .y = readings};
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_fit_data(ctx, &data, &root, &posterior, NULL, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "hf_transform_forward");
    hf_model *model = NULL;
    assert_int_equal(hf_fit_stream(ctx, "no-such.csv", NULL, &y, &root, &model, NULL), HF_ERR_ARGUMENT);
    assert_null(posterior);
    assert_null(model);

    pair p = make_pair(HF_TRANSFORM_LOG, HF_SOLVER_EXACT);
    double damage;
    const double at[] = {1.0, 0.0};
    assert_int_equal(hf_model_contamination_bound(p.ctx, p.y, 1, 1, at, &damage, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(p.ctx), "transform log");
    free_pair(&p);
    hf_context_free(ctx);
}

/* Missing readings stay so, constants do no harm, and what a model cannot take has a density of 0. */
static void gaps_and_constants(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_table *table = table_of(ctx, "a,y\n1,2\n2,\n3,2\n4,2\n,7\n6,2\n");
    const hf_fit_settings settings = plain(HF_TRANSFORM_LOG);
    hf_model *model = NULL;
    assert_int_equal(hf_fit(ctx, table, &columns, &settings, &model, NULL) >= 0, 1);
    assert_int_equal(hf_model_report_of(model)->missing, 1);
    assert_true(hf_predict_into_table(ctx, model, table) >= 0);
    const double *median = column_of(ctx, table, "y_median");
    same_relative(median[0], 2.0, 1e-3);
    same_relative(median[1], 2.0, 1e-3);
    assert_true(isnan(median[4]));
    hf_table_free(table);
    table = table_of(ctx, "a,y\n1,2\n2,-1\n");
    hf_metrics m;
    assert_int_equal(hf_score(ctx, model, table, &m), HF_OK);
    assert_true(m.nlpd == INFINITY && m.coverage95 <= 0.5);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* ---- choosing -------------------------------------------------------------------------------------------- */

static hf_transform chosen(hf_context *ctx, const made *m, const hf_fit_settings *settings)
{
    hf_table *table = make(ctx, 200, m);
    hf_model *model = fit(ctx, table, "y", settings);
    const hf_transform transform = hf_model_settings_of(model)->transform;
    char start[32];
    snprintf(start, sizeof start, "transform: %s (", hf_enum_name(HF_ENUM_TRANSFORM, transform));
    assert_true(strncmp(hf_model_note(model, 0), start, strlen(start)) == 0);
    hf_model_free(model);
    hf_table_free(table);
    return transform;
}

static void the_transform_of_the_data_is_chosen(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_fit_settings settings = plain(HF_TRANSFORM_AUTO);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const made skewed = {HF_TRANSFORM_LOG, 1.0, 1.0, 0, seed},
                   straight = {HF_TRANSFORM_NONE, 4.0, 1.0, 0, seed},
                   below = {HF_TRANSFORM_NONE, 0.0, 1.0, 0, seed};
        assert_int_equal(chosen(ctx, &skewed, &settings), HF_TRANSFORM_LOG);
        assert_int_equal(chosen(ctx, &straight, &settings), HF_TRANSFORM_NONE);
        assert_int_equal(chosen(ctx, &below, &settings), HF_TRANSFORM_NONE);
    }
    hf_context_free(ctx);
}

/* Wrong readings, which any transform that shortens the way to them likes better, have no say. */
static void wrong_readings_do_not_choose(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = hf_fit_settings_default();
    settings.transform = HF_TRANSFORM_AUTO;
    const made straight = {HF_TRANSFORM_NONE, 4.0, 1.0, 16, 5}, skewed = {HF_TRANSFORM_LOG, 1.0, 1.0, 16, 5};
    assert_int_equal(chosen(ctx, &straight, &settings), HF_TRANSFORM_NONE);
    assert_int_equal(chosen(ctx, &skewed, &settings), HF_TRANSFORM_LOG);
    hf_context_free(ctx);
}

static void choosing_takes_a_fit_each(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_table *table = table_of(ctx, "a,y\n1,2\n2,0\n3,4\n");
    hf_fit_settings settings = plain(HF_TRANSFORM_NONE);
    hf_cost one, two;
    assert_int_equal(hf_fit_cost(ctx, table, &columns, &settings, &one), HF_OK);
    settings.transform = HF_TRANSFORM_AUTO;
    assert_int_equal(hf_fit_cost(ctx, table, &columns, &settings, &two), HF_OK);
    assert_true(two.flops == 2.0 * one.flops); /* none and sqrt: one reading is 0 */
    /* Three readings are too few to choose from. */
    hf_model *model = NULL;
    assert_true(hf_fit(ctx, table, &columns, &settings, &model, NULL) >= 0);
    assert_int_equal(hf_model_settings_of(model)->transform, HF_TRANSFORM_NONE);
    assert_contains(hf_model_note(model, 0), "fewer than 10");
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* ---- the remark ---------------------------------------------------------------------------------------- */

static bool advises(hf_context *ctx, const made *m, hf_transform transform)
{
    hf_table *table = make(ctx, 200, m);
    const hf_fit_settings settings = plain(transform);
    hf_model *model = fit(ctx, table, "y", &settings);
    bool found = false;
    for (size_t i = 0; i < hf_model_notes(model); i++)
        found = found || strstr(hf_model_note(model, i), "fan out") != NULL;
    hf_model_free(model);
    hf_table_free(table);
    return found;
}

static void skewed_targets_are_remarked_on(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        const made skewed = {HF_TRANSFORM_LOG, 1.0, 1.0, 0, seed},
                   straight = {HF_TRANSFORM_NONE, 9.0, 1.0, 0, seed};
        assert_true(advises(ctx, &skewed, HF_TRANSFORM_NONE));
        assert_false(advises(ctx, &skewed, HF_TRANSFORM_LOG));
        assert_false(advises(ctx, &straight, HF_TRANSFORM_NONE));
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transform_is_a_transformed_column),
        cmocka_unit_test(a_transform_is_kept_in_the_file),
        cmocka_unit_test(what_has_no_transform_is_refused_with_its_place),
        cmocka_unit_test(gaps_and_constants),
        cmocka_unit_test(the_transform_of_the_data_is_chosen),
        cmocka_unit_test(wrong_readings_do_not_choose),
        cmocka_unit_test(choosing_takes_a_fit_each),
        cmocka_unit_test(skewed_targets_are_remarked_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
