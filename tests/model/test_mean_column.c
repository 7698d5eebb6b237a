/* SPDX-License-Identifier: Apache-2.0 */
/* Prior means that rows bring along: the model is one of the target less them, and speaks of the target. */
#include "model/model_testing.h"

#include "model/file.h"
#include <holdfast/certify_uses.h>
#include <holdfast/compare.h>
#include <unistd.h>

enum {
    ROWS = 60,
    BAD = 3
};

/* A table with the columns a, b, y; m, a prior mean that is nothing like y; and rest = y - m. */
typedef struct bench {
    hf_context *ctx;
    hf_table *table;
    double m[ROWS], rest[ROWS];
    hf_model *model, *other; /* with the mean column; of the rest */
} bench;

static double mean_at(double a, double b)
{
    return 40.0 + 7.0 * a * a - 3.0 * b;
}

static void add_means(hf_context *ctx, hf_table *table, double *m, double *rest)
{
    const double *a = column_of(ctx, table, "a"), *b = column_of(ctx, table, "b");
    double y[ROWS];
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        m[i] = mean_at(a[i], b[i]);
        y[i] = column_of(ctx, table, "y")[i] + m[i];
        rest[i] = y[i] - m[i];
    }
    assert_int_equal(hf_table_set_numbers(ctx, table, "y", y), HF_OK);
    assert_int_equal(hf_table_set_numbers(ctx, table, "m", m), HF_OK);
    assert_int_equal(hf_table_set_numbers(ctx, table, "rest", rest), HF_OK);
}

static const char *const inputs[] = {"a", "b"};
static const hf_columns with_mean = {
    .size = sizeof with_mean, .target = "y", .mean = "m", .features = inputs, .feature_count = 2};
static const hf_columns of_rest = {
    .size = sizeof of_rest, .target = "rest", .features = inputs, .feature_count = 2};

static hf_model *fitted(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                        const hf_fit_settings *settings)
{
    hf_model *model = NULL;
    const hf_status status = hf_fit(ctx, table, columns, settings, &model, NULL);
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
    return model;
}

static bench begin(const hf_fit_settings *settings)
{
    bench b = {.ctx = hf_context_create()};
    b.table = wavy_table(b.ctx, ROWS, BAD);
    add_means(b.ctx, b.table, b.m, b.rest);
    b.model = fitted(b.ctx, b.table, &with_mean, settings);
    b.other = fitted(b.ctx, b.table, &of_rest, settings);
    return b;
}

static void end(bench *b)
{
    hf_model_free(b->model);
    hf_model_free(b->other);
    hf_table_free(b->table);
    hf_context_free(b->ctx);
}

/* Every number about a reading: means are those of the rest plus the mean of the row, all else is equal. */
static void same_readings(bench *b)
{
    static const char *const equal[] = {"row", "loo_sd", "weight", "suspected", "group"};
    hf_table *rows = NULL, *others = NULL;
    assert_int_equal(hf_model_rows(b->ctx, b->model, &rows), HF_OK);
    assert_int_equal(hf_model_rows(b->ctx, b->other, &others), HF_OK);
    for (size_t k = 0; k < sizeof equal / sizeof equal[0]; k++)
        for (size_t i = 0; i < ROWS; i++)
            assert_true(column_of(b->ctx, rows, equal[k])[i] == column_of(b->ctx, others, equal[k])[i]);
    for (size_t i = 0; i < ROWS; i++) {
        assert_close(column_of(b->ctx, rows, "loo_mean")[i],
                     column_of(b->ctx, others, "loo_mean")[i] + b->m[i], 1e-14);
        assert_true(column_of(b->ctx, rows, "y")[i] == column_of(b->ctx, b->table, "y")[i]);
    }
    hf_table_free(rows);
    hf_table_free(others);
}

/* Predictions and scores of rows that neither has seen. */
static void same_predictions(bench *b)
{
    hf_table *fresh = wavy_table(b->ctx, 20, 1);
    double m[ROWS], rest[ROWS];
    add_means(b->ctx, fresh, m, rest);
    hf_metrics score, other;
    assert_int_equal(hf_score(b->ctx, b->model, fresh, &score), HF_OK);
    assert_int_equal(hf_score(b->ctx, b->other, fresh, &other), HF_OK);
    assert_close(score.rmse, other.rmse, 1e-12);
    assert_close(score.nlpd, other.nlpd, 1e-10);
    assert_true(hf_predict_into_table(b->ctx, b->model, fresh) >= 0);
    assert_true(hf_predict_into_table(b->ctx, b->other, fresh) >= 0);
    for (size_t i = 0; i < 20; i++) {
        assert_close(column_of(b->ctx, fresh, "y_mean")[i], column_of(b->ctx, fresh, "rest_mean")[i] + m[i],
                     1e-14);
        assert_close(column_of(b->ctx, fresh, "y_lo95")[i], column_of(b->ctx, fresh, "rest_lo95")[i] + m[i],
                     1e-14);
        assert_true(column_of(b->ctx, fresh, "y_sd_observed")[i] ==
                    column_of(b->ctx, fresh, "rest_sd_observed")[i]);
    }
    hf_table_free(fresh);
}

static void same_scores(bench *b)
{
    hf_leave_one_out_scores scores, other;
    assert_int_equal(hf_model_leave_one_out(b->ctx, b->model, &scores), HF_OK);
    assert_int_equal(hf_model_leave_one_out(b->ctx, b->other, &other), HF_OK);
    assert_int_equal(scores.model.n, other.model.n);
    assert_close(scores.model.rmse, other.model.rmse, 1e-12);
    assert_close(scores.model.crps, other.model.crps, 1e-12);
    assert_int_equal(scores.plain.n, other.plain.n);
    if (scores.plain.n > 0) assert_close(scores.plain.rmse, other.plain.rmse, 1e-12);
}

static void the_model_is_that_of_the_rest(void **state)
{
    (void)state;
    const hf_fit_settings settings = hf_fit_settings_default();
    bench b = begin(&settings);
    assert_string_equal(hf_model_mean_column(b.model), "m");
    assert_null(hf_model_mean_column(b.other));
    assert_true(hf_model_report_of(b.model)->suspects_adopted);
    assert_int_equal(hf_model_report_of(b.model)->suspects, BAD);
    same_readings(&b);
    same_predictions(&b);
    same_scores(&b);
    hf_table *training = NULL;
    assert_int_equal(hf_model_training(b.ctx, b.model, &training), HF_OK);
    for (size_t i = 0; i < ROWS; i++) assert_true(column_of(b.ctx, training, "m")[i] == b.m[i]);
    /* A model predicts the table that it tells of. */
    assert_true(hf_predict_into_table(b.ctx, b.model, training) >= 0);
    hf_table_free(training);
    end(&b);
}

static void every_solver_and_robust_sites(void **state)
{
    (void)state;
    const hf_solver solvers[] = {HF_SOLVER_INDUCING, HF_SOLVER_PROJECTED, HF_SOLVER_EXACT};
    for (size_t k = 0; k < 3; k++) {
        hf_fit_settings settings = hf_fit_settings_default();
        settings.solver = solvers[k];
        settings.iterations = 10;
        if (k == 2) {
            settings.sites = HF_LIKELIHOOD_ROBUST;
            settings.suspects = HF_OUTLIERS_OFF;
        }
        bench b = begin(&settings);
        same_readings(&b);
        same_predictions(&b);
        if (k == 2) {
            const double at[] = {1.0, 0.5};
            double damage, other;
            assert_int_equal(hf_model_contamination_bound(b.ctx, b.model, 1, 1, at, &damage, NULL), HF_OK);
            assert_int_equal(hf_model_contamination_bound(b.ctx, b.other, 1, 1, at, &other, NULL), HF_OK);
            assert_true(damage > 0.0);
            assert_close(damage, other, 1e-9);
        }
        end(&b);
    }
}

static void arrays_have_prior_means(void **state)
{
    (void)state;
    hf_fit_settings settings = hf_fit_settings_default();
    bench b = begin(&settings);
    double x[2 * ROWS], y[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = column_of(b.ctx, b.table, "a")[i];
        x[2 * i + 1] = column_of(b.ctx, b.table, "b")[i];
        y[i] = column_of(b.ctx, b.table, "y")[i];
    }
    hf_posterior *posterior = NULL, *other = NULL;
    hf_reading reading[ROWS], plain[ROWS];
    const hf_data data = {.n = ROWS, .d = 2, .x = x, .ldx = 2, .y = y, .mean = b.m};
    const hf_data rest = {.n = ROWS, .d = 2, .x = x, .ldx = 2, .y = b.rest};
    assert_true(hf_fit_data(b.ctx, &data, &settings, &posterior, NULL, reading) >= 0);
    assert_true(hf_fit_data(b.ctx, &rest, &settings, &other, NULL, plain) >= 0);
    double mean[2];
    assert_int_equal(hf_predict(b.ctx, posterior, 1, x, 2, &mean[0], NULL, NULL), HF_OK);
    assert_int_equal(hf_predict(b.ctx, other, 1, x, 2, &mean[1], NULL, NULL), HF_OK);
    assert_true(mean[0] == mean[1]);
    for (size_t i = 0; i < ROWS; i++)
        assert_close(reading[i].plain_mean, plain[i].plain_mean + b.m[i], 1e-14);
    hf_posterior_free(posterior);
    hf_posterior_free(other);

    /* A mean that is not known where there is no reading does no harm; elsewhere it does. */
    posterior = NULL;
    b.m[7] = NAN;
    assert_int_equal(hf_fit_data(b.ctx, &data, &settings, &posterior, NULL, NULL), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(b.ctx), "prior mean of row 8"));
    assert_null(posterior);
    y[7] = NAN;
    assert_true(hf_fit_data(b.ctx, &data, &settings, &posterior, NULL, NULL) >= 0);
    hf_posterior_free(posterior);
    posterior = NULL;
    y[9] = 1e308;
    b.m[9] = -1e308;
    assert_int_equal(hf_fit_data(b.ctx, &data, &settings, &posterior, NULL, NULL), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(b.ctx), "too far apart"));
    end(&b);
}

static void files_remember(void **state)
{
    (void)state;
    hf_fit_settings settings = hf_fit_settings_default();
    settings.solver = HF_SOLVER_INDUCING; /* its files hold leave-one-out means */
    settings.iterations = 5;
    bench b = begin(&settings);
    char path[] = "/tmp/mean-column-XXXXXX";
    close(mkstemp(path));
    assert_int_equal(hf_model_save(b.ctx, b.model, path), HF_OK);
    unsigned char *bytes = NULL;
    size_t size;
    assert_int_equal(hfi_file_read(b.ctx, path, &bytes, &size), HF_OK);
    assert_int_equal(bytes[63], HFI_FORMAT_VERSION);
    hfi_free(b.ctx, bytes);
    hf_model_free(b.model);
    b.model = NULL;
    assert_int_equal(hf_model_load(b.ctx, path, &b.model), HF_OK);
    assert_string_equal(hf_model_mean_column(b.model), "m");
    same_readings(&b);
    same_predictions(&b);

    /* Without a mean column the file is what it was. */
    assert_int_equal(hf_model_save(b.ctx, b.other, path), HF_OK);
    assert_int_equal(hfi_file_read(b.ctx, path, &bytes, &size), HF_OK);
    assert_int_equal(bytes[63], HFI_FORMAT_ONE_OUTPUT);
    hfi_free(b.ctx, bytes);
    remove(path);
    end(&b);
}

static void comparisons_add_the_mean(void **state)
{
    (void)state;
    const hf_fit_settings settings = untrained();
    bench b = begin(&settings);
    const hf_contender one = {.name = "one", .settings = settings};
    hf_compare_settings how = hf_compare_settings_default();
    how.folds = 3;
    hf_comparison *with = NULL, *without = NULL;
    assert_int_equal(hf_compare(b.ctx, b.table, &with_mean, 1, &one, &how, &with), HF_OK);
    assert_int_equal(hf_compare(b.ctx, b.table, &of_rest, 1, &one, &how, &without), HF_OK);
    assert_close(hf_comparison_scores(with, 0)->metrics.rmse, hf_comparison_scores(without, 0)->metrics.rmse,
                 1e-12);
    hf_comparison_free(with);
    hf_comparison_free(without);
    end(&b);
}

static void rows_without_a_mean(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = table_of(ctx, "a,b,m,y\n1,2,0,1\n2,1,,2\n3,0,1,4\n4,1,1,3\n");
    const hf_fit_settings settings = untrained();
    hf_model *model = NULL;
    const hf_columns columns = {.size = sizeof columns, .target = "y", .mean = "m"};
    assert_int_equal(hf_fit(ctx, table, &columns, &settings, &model, NULL), HF_WARN_ROWS_SKIPPED);
    assert_non_null(strstr(hf_context_message(ctx), "1 of 4 rows left out: an input or the prior mean"));
    assert_int_equal(hf_model_features(model), 2);
    hf_table *gap = table_of(ctx, "a,b,m\n1,2,\n1,2,5\n"), *without = table_of(ctx, "a,b\n1,2\n");
    assert_int_equal(hf_predict_into_table(ctx, model, gap), HF_WARN_ROWS_SKIPPED);
    assert_true(isnan(column_of(ctx, gap, "y_mean")[0]) && !isnan(column_of(ctx, gap, "y_mean")[1]));
    assert_int_equal(hf_predict_into_table(ctx, model, without), HF_ERR_NO_COLUMN);
    assert_non_null(strstr(hf_context_message(ctx), "\"m\""));
    assert_non_null(strstr(hf_context_message(ctx), "prior mean of each row"));
    hf_table *infinite = table_of(ctx, "a,b,m\n1,2,inf\n");
    assert_int_equal(hf_predict_into_table(ctx, model, infinite), HF_ERR_NOT_FINITE);
    hf_table_free(infinite);
    hf_table_free(gap);
    hf_table_free(without);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void what_does_not_go_with_it(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = table_of(ctx, "a,b,m,y,z,c\n1,2,0,1,1,u\n2,1,1,2,1,v\n3,0,1,4,2,u\n4,1,1,3,2,v\n");
    const char *const two[] = {"y", "z"};
    hf_fit_settings plain = hf_fit_settings_default(), root = plain, labels;
    root.transform = HF_TRANSFORM_SQRT;
    assert_int_equal(hf_fit_settings_preset(ctx, "probit", &labels, sizeof labels), HF_OK);
    const struct {
        hf_columns columns;
        const hf_fit_settings *settings;
        const char *words;
    } cases[] = {
        {{.size = sizeof(hf_columns), .targets = two, .target_count = 2, .mean = "m"},
         &plain,
         "is of one target"},
        {{.size = sizeof(hf_columns), .target = "y", .output_column = "c", .mean = "m"},
         &plain,
         "is of one target"},
        {{.size = sizeof(hf_columns), .target = "y", .mean = "m"},
         &root,
         "does not go with the mean column \"m\""},
        {{.size = sizeof(hf_columns), .target = "c", .mean = "m"}, &labels, "mean column"},
        {{.size = sizeof(hf_columns), .target = "y", .mean = "y"}, &plain, "the target and the mean column"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        hf_model *model = NULL;
        assert_int_equal(hf_fit(ctx, table, &cases[k].columns, cases[k].settings, &model, NULL),
                         HF_ERR_ARGUMENT);
        assert_non_null(strstr(hf_context_message(ctx), cases[k].words));
        assert_null(model);
    }
    hf_model *model = NULL;
    const hf_columns missing = {.size = sizeof missing, .target = "y", .mean = "nowhere"};
    assert_int_equal(hf_fit(ctx, table, &missing, &plain, &model, NULL), HF_ERR_NO_COLUMN);
    assert_int_equal(hf_fit_stream(ctx, "/tmp/no-such-file.csv", NULL, &with_mean, &plain, &model, NULL),
                     HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "mean column \"m\""));
    hf_table_free(table);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_that_of_the_rest), cmocka_unit_test(every_solver_and_robust_sites),
        cmocka_unit_test(arrays_have_prior_means),       cmocka_unit_test(files_remember),
        cmocka_unit_test(comparisons_add_the_mean),      cmocka_unit_test(rows_without_a_mean),
        cmocka_unit_test(what_does_not_go_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
