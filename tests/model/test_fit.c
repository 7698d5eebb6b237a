/* SPDX-License-Identifier: Apache-2.0 */
/* From tables to models: roles of columns, rows left out, remarks, and what is refused. */
#include "model/model_testing.h"

typedef struct refusal {
    const char *text;
    hf_columns columns;
    hf_status status;
    const char *message; /* part of it */
} refusal;

static void assert_refused(hf_context *ctx, const refusal *r)
{
    hf_table *table = table_of(ctx, r->text);
    hf_fit_settings settings = hf_fit_settings_default();
    hf_model *model = NULL;
    hf_status status = hf_fit(ctx, table, &r->columns, &settings, &model, NULL);
    if (status != r->status) fail_msg("%s: %s", hf_status_name(status), hf_context_message(ctx));
    assert_contains(hf_context_message(ctx), r->message);
    assert_null(model);
    hf_table_free(table);
}

static void refuses_with_the_place(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static const char *const y[] = {"y"}, *const aa[] = {"a", "a"}, *const b[] = {"b"},
                             *const none[] = {"lenght"};
    const refusal cases[] = {
        {"length,y\n1,2\n", {.size = sizeof(hf_columns), .target = "z"}, HF_ERR_NO_COLUMN, "z"},
        {"length,y\n1,2\n",
         {.size = sizeof(hf_columns), .target = "y", .features = none, .feature_count = 1},
         HF_ERR_NO_COLUMN,
         "length"},
        {"length,y\n1,2\n",
         {.size = sizeof(hf_columns), .target = "y", .drop = none, .drop_count = 1},
         HF_ERR_NO_COLUMN,
         "length"},
        {"a,y\n1,2\n",
         {.size = sizeof(hf_columns), .target = "y", .features = y, .feature_count = 1},
         HF_ERR_ARGUMENT,
         "the target and an input"},
        {"a,y\n1,2\n",
         {.size = sizeof(hf_columns), .target = "y", .noise = "y"},
         HF_ERR_ARGUMENT,
         "the target and the noise column"},
        {"a,y\n1,2\n",
         {.size = sizeof(hf_columns), .target = "y", .features = aa, .feature_count = 2},
         HF_ERR_ARGUMENT,
         "twice"},
        {"a,b,y\n1,1,2\n",
         {.size = sizeof(hf_columns),
          .target = "y",
          .features = b,
          .feature_count = 1,
          .drop = b,
          .drop_count = 1},
         HF_ERR_ARGUMENT,
         "an input and a dropped column"},
        {"a,y\n1,2\n2,inf\n",
         {.size = sizeof(hf_columns), .target = "y"},
         HF_ERR_NOT_FINITE,
         "t.csv, line 3, column \"y\""},
        {"a,y\n1,2\n\n-inf,3\n",
         {.size = sizeof(hf_columns), .target = "y"},
         HF_ERR_NOT_FINITE,
         "t.csv, line 4, column \"a\""},
        {"a,y\n1,2\n1e400,3\n",
         {.size = sizeof(hf_columns), .target = "y"},
         HF_ERR_NOT_FINITE,
         "t.csv, line 3"},
        {"a,y\n1,2\n2,oops\n", {.size = sizeof(hf_columns), .target = "y"}, HF_ERR_PARSE, "line 3, column 2"},
        {"a,b,y\n1,1,2\n2,x,3\n",
         {.size = sizeof(hf_columns), .target = "y"},
         HF_ERR_PARSE,
         "line 3, column 2"},
        {"a,b,y\n1,u,2\n2,v,3\n",
         {.size = sizeof(hf_columns), .target = "y", .features = b, .feature_count = 1},
         HF_ERR_PARSE,
         "line 2"},
        {"name,y\nann,2\nbob,3\n", {.size = sizeof(hf_columns), .target = "y"}, HF_ERR_NO_DATA, "\"name\""},
        {"y\n1\n", {.size = sizeof(hf_columns), .target = "y"}, HF_ERR_NO_DATA, "no numeric column"},
        {"a,y\n", {.size = sizeof(hf_columns), .target = "y"}, HF_ERR_NO_DATA, "no rows"},
        {"a,y\n,2\nNA,3\n", {.size = sizeof(hf_columns), .target = "y"}, HF_ERR_NO_DATA, "all 2 rows"},
        {"a,y\n1,\n2,NA\n", {.size = sizeof(hf_columns), .target = "y"}, HF_ERR_NO_DATA, "no value"},
        {"a,s,y\n1,1,2\n1,-1,2\n",
         {.size = sizeof(hf_columns), .target = "y", .noise = "s"},
         HF_ERR_ARGUMENT,
         "t.csv, line 3, column \"s\""},
        {"a,y\n1,1e300\n2,-1e300\n3,5e299\n4,0\n",
         {.size = sizeof(hf_columns), .target = "y"},
         HF_ERR_NOT_FINITE,
         "other units"},
        {"a,y\n1,2\n", {.size = sizeof(hf_columns), .target = NULL}, HF_ERR_ARGUMENT, "target"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) assert_refused(ctx, &cases[i]);
    hf_context_free(ctx);
}

static void default_inputs_are_the_numeric_columns(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = table_of(ctx, "id,who,a,s,y,b\n1,ann,1,.1,3,4\n2,bob,2,.1,5,7\n3,eve,3,.2,4,6\n");
    const char *drop[] = {"id"};
    const hf_columns columns = {
        .size = sizeof columns, .target = "y", .drop = drop, .drop_count = 1, .noise = "s"};
    hf_fit_settings settings = untrained();
    settings.set = NULL;
    settings.set_count = 0;
    hf_model *model = NULL;
    assert_int_equal(hf_fit(ctx, table, &columns, &settings, &model, NULL), HF_OK);
    assert_int_equal(hf_model_features(model), 2);
    assert_string_equal(hf_model_feature(model, 0), "a");
    assert_string_equal(hf_model_feature(model, 1), "b");
    assert_null(hf_model_feature(model, 2));
    assert_string_equal(hf_model_target(model), "y");
    assert_string_equal(hf_model_noise_column(model), "s");
    assert_string_equal(hf_model_source(model), "t.csv");
    assert_int_equal(hf_model_notes(model), 1);
    assert_contains(hf_model_note(model, 0), "\"who\"");
    assert_contains(hf_context_message(ctx), "\"who\"");
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void rows_with_gaps_are_left_out_and_counted(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = table_of(ctx, "a,y\n1,2\n,3\n3,\n4,1\nNA,\n6,2\n");
    hf_fit_settings settings = hf_fit_settings_default();
    hf_fit_report report;
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_model *model = NULL;
    hf_status status = hf_fit(ctx, table, &columns, &settings, &model, &report);
    assert_true(status > 0);
    assert_int_equal(hf_model_skipped(model), 2);
    assert_int_equal(report.missing, 1);
    assert_int_equal(report.readings, 3);
    assert_contains(hf_context_message(ctx), "2 of 6 rows");
    assert_contains(hf_context_message(ctx), "1 of 6 rows");

    hf_table *rows = NULL;
    assert_true(hf_model_rows(ctx, model, &rows) >= 0);
    static const double expected[] = {1, 3, 4, 6};
    assert_int_equal(hf_table_rows(rows), 4);
    assert_memory_equal(column_of(ctx, rows, "row"), expected, sizeof expected);
    assert_true(isnan(column_of(ctx, rows, "y")[1]));
    assert_true(isfinite(column_of(ctx, rows, "loo_mean")[1]));
    assert_true(column_of(ctx, rows, "weight")[1] == 0.0);
    hf_table_free(rows);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* Shapes that leave nothing to learn are fitted all the same, and said. */
static void degenerate_tables_work(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static const struct {
        const char *text, *note;
    } cases[] = {
        {"a,y\n1,5\n", NULL},
        {"a,y\n1,5\n2,5\n3,5\n4,5\n", "the target \"y\" has the same value"},
        {"a,c,y\n1,7,5\n2,7,6\n3,7,5.5\n4,7,4\n", "input \"c\" has the same value"},
        {"c,e,y\n7,1,5\n7,1,6\n7,1,5.5\n", "2 inputs have the same value"},
        {"a,y\n1,5\n1,5\n1,6\n2,3\n2,3\n", NULL},
        {"a,y\n1e300,5\n-1e300,6\n0,4\n", NULL},
        {"a,y\n1,1e150\n2,-1e150\n3,5e149\n4,0\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hf_table *table = table_of(ctx, cases[i].text);
        hf_fit_settings settings = hf_fit_settings_default();
        hf_model *model = model_of(ctx, table, &settings);
        if (cases[i].note != NULL) assert_contains(hf_context_message(ctx), cases[i].note);
        assert_true(hf_predict_into_table(ctx, model, table) >= 0);
        const double *mean = column_of(ctx, table, "y_mean"), *sd = column_of(ctx, table, "y_sd_observed");
        for (size_t r = 0; r < hf_table_rows(table); r++)
            assert_true(isfinite(mean[r]) && sd[r] >= 0.0 && isfinite(sd[r]));
        hf_model_free(model);
        hf_table_free(table);
    }
    hf_context_free(ctx);
}

static void the_checksum_knows_every_number_and_name(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static const char *const texts[] = {"a,b,y\n1,2,3\n4,5,6\n",   "a,b,y\n1,2,3\n4,5,7\n",
                                        "a,b,y\n1,2,3\n4,5.5,6\n", "a,c,y\n1,2,3\n4,5,6\n",
                                        "a,b,y\n4,5,6\n1,2,3\n",   "a,b,y\n1,2,3\n4,5,\n"};
    enum {
        COUNT = sizeof texts / sizeof texts[0]
    };
    char sums[COUNT][65];
    hf_fit_settings settings = untrained();
    settings.set = NULL;
    settings.set_count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        hf_table *table = table_of(ctx, texts[i]);
        hf_model *model = model_of(ctx, table, &settings);
        assert_int_equal(strlen(hf_model_data_checksum(model)), 64);
        strcpy(sums[i], hf_model_data_checksum(model));
        for (size_t k = 0; k < i; k++) assert_string_not_equal(sums[i], sums[k]);
        hf_model_free(model);
        hf_table_free(table);
    }
    hf_context_free(ctx);
}

static void cost_is_told_beforehand(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 50, 0);
    hf_fit_settings settings = hf_fit_settings_default();
    const hf_columns columns = {.size = sizeof columns, .target = "y"},
                     wrong = {.size = sizeof wrong, .target = "nope"};
    hf_cost cost;
    assert_int_equal(hf_fit_cost(ctx, table, &columns, &settings, &cost), HF_OK);
    assert_int_equal(cost.readings, 50);
    assert_int_equal(cost.inputs, 2);
    assert_true(cost.bytes >= 2 * 8.0 * 50 * 50 && cost.bytes < 1e7);
    assert_true(cost.flops > cost.evaluation_flops && cost.evaluation_flops >= 50.0 * 50 * 50);
    assert_int_equal(hf_fit_cost(ctx, table, &wrong, &settings, &cost), HF_ERR_NO_COLUMN);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void finds_what_is_wrong(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 80, 8), *suspects = NULL;
    hf_fit_settings settings = hf_fit_settings_default();
    hf_model *model = model_of(ctx, table, &settings);
    assert_true(hf_model_report_of(model)->suspects_adopted);
    assert_int_equal(hf_model_report_of(model)->suspects, 8);
    assert_int_equal(hf_model_suspects(ctx, model, &suspects), HF_OK);
    assert_int_equal(hf_table_rows(suspects), 8);
    const double *row = column_of(ctx, suspects, "row"), *mean = column_of(ctx, suspects, "loo_mean");
    const double *y = column_of(ctx, suspects, "y"), *weight = column_of(ctx, suspects, "weight");
    for (size_t i = 0; i < 8; i++) {
        assert_true(row[i] == (double)(10 * i + 2));
        assert_true(fabs(y[i] - mean[i]) > 5.0 && weight[i] == 0.0);
    }
    hf_table_free(suspects);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void null_arguments_are_errors(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 4, 0);
    hf_fit_settings settings = hf_fit_settings_default();
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_model *model = NULL;
    hf_metrics metrics;
    assert_int_equal(hf_fit(ctx, NULL, &columns, &settings, &model, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_fit(ctx, table, NULL, &settings, &model, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_fit(ctx, table, &columns, NULL, &model, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_fit(ctx, table, &columns, &settings, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_predict_into_table(ctx, NULL, table), HF_ERR_ARGUMENT);
    assert_int_equal(hf_score(ctx, NULL, table, &metrics), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_rows(ctx, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_training(ctx, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_save(ctx, NULL, "x.hf"), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_load(ctx, NULL, &model), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_parameters(NULL), 0);
    assert_null(hf_model_target(NULL));
    hf_model_free(NULL);
    hf_table_free(table);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_with_the_place),
        cmocka_unit_test(default_inputs_are_the_numeric_columns),
        cmocka_unit_test(rows_with_gaps_are_left_out_and_counted),
        cmocka_unit_test(degenerate_tables_work),
        cmocka_unit_test(the_checksum_knows_every_number_and_name),
        cmocka_unit_test(cost_is_told_beforehand),
        cmocka_unit_test(finds_what_is_wrong),
        cmocka_unit_test(null_arguments_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
