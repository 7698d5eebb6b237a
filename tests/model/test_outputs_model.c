/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of several outputs and what is said about them: names, predictions, scores, noise columns, hyperparameters. */
#include "model/model_testing.h"

static hf_fit_settings held(void)
{
    hf_fit_settings settings = untrained();
    settings.set = NULL;
    settings.set_count = 0;
    settings.standardise = true;
    return settings;
}

static hf_model *fit_text(hf_context *ctx, const char *csv, const hf_columns *columns,
                          const hf_fit_settings *settings)
{
    hf_table *table = table_of(ctx, csv);
    hf_model *model = NULL;
    if (hf_fit(ctx, table, columns, settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    hf_table_free(table);
    return model;
}

static const char *const abc[] = {"a_b", "c", "a", "b_c"};

static void covariances_need_names_of_their_own(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_fit_settings settings = held();
    const hf_columns four = {.size = sizeof four, .targets = abc, .target_count = 4};
    static const char csv[] = "x,a_b,c,a,b_c\n1,1,2,3,4\n2,3,1,2,2\n3,2,2,1,5\n";
    hf_model *model = fit_text(ctx, csv, &four, &settings);
    hf_table *table = table_of(ctx, "x,w\n1.5,1\n,2\n");
    assert_int_equal(hf_predict_covariances_into_table(ctx, model, table), HF_WARN_ROWS_SKIPPED);
    assert_int_equal(hf_table_columns(table), 2 + 6);
    hf_table_free(table);
    hf_model_free(model);
    static const char *const same[] = {"a", "c_a", "b_a", "b_a_c"};
    const hf_columns equal = {.size = sizeof equal, .targets = same, .target_count = 4};
    /* b_a_c with a, and b_a with c_a: "b_a_c_a_cov" twice. */
    model = fit_text(ctx, "x,a,c_a,b_a,b_a_c\n1,1,2,3,4\n2,3,1,2,2\n3,2,2,1,5\n", &equal, &settings);
    table = table_of(ctx, "x,w\n1.5,1\n");
    assert_int_equal(hf_predict_covariances_into_table(ctx, model, table), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "b_a_c_a_cov");
    assert_int_equal(hf_table_columns(table), 2);
    hf_table_free(table);
    hf_model_free(model);
    hf_context_free(ctx);
}

/* The number of the output has a name that no input has, and the kernel of the file knows it. */
static void an_input_may_be_called_output(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = held();
    static const char *const two[] = {"y", "z"};
    const hf_columns columns = {.size = sizeof columns, .targets = two, .target_count = 2};
    static const char csv[] = "output,output_,y,z\n1,0,1,2\n2,1,3,1\n3,0,2,2\n4,2,1,1\n";
    hf_model *model = fit_text(ctx, csv, &columns, &settings);
    assert_int_equal(hf_model_features(model), 2);
    assert_contains(hf_model_settings_of(model)->kernel, "coregion('output__'");
    hf_model_free(model);
    settings.kernel = "coregion(output__, outputs=2)*se(output)";
    model = fit_text(ctx, csv, &columns, &settings);
    hf_model_free(model);
    hf_context_free(ctx);
}

/* Known noise of each reading, in its own output's units, counts where the table to predict has it too. */
static void noise_of_readings(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_fit_settings settings = held();
    const hf_columns columns = {.size = sizeof columns, .target = "y", .output_column = "of", .noise = "v"};
    hf_model *model = fit_text(
        ctx, "x,of,y,v\n1,b,1,0.1\n2,b,2,0.1\n3,b,1.5,0.1\n1,a,100,4\n2,a,110,4\n3,a,90,9\n3,a,91,9\n",
        &columns, &settings);
    assert_string_equal(hf_model_output(model, 0), "a");
    hf_table *with = table_of(ctx, "x,of,v\n1.5,a,7\n1.5,b,0.2\n1.5,a,\n"),
             *without = table_of(ctx, "x,of\n1.5,a\n1.5,b\n1.5,a\n");
    assert_int_equal(hf_predict_into_table(ctx, model, with), HF_OK);
    assert_int_equal(hf_predict_into_table(ctx, model, without), HF_OK);
    const double *a = column_of(ctx, with, "y_sd_observed"), *b = column_of(ctx, without, "y_sd_observed");
    assert_close(a[0] * a[0], b[0] * b[0] + 7.0, 1e-12);
    assert_close(a[1] * a[1], b[1] * b[1] + 0.2, 1e-12);
    assert_close(a[2], b[2], 1e-15);
    hf_table_free(with);
    hf_table_free(without);
    hf_model_free(model);
    hf_context_free(ctx);
}

static void long_tables_of_odd_outputs(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_fit_settings settings = held();
    const hf_columns columns = {.size = sizeof columns, .target = "y", .output_column = "of"};
    static const struct {
        const char *csv;
        hf_status status;
        const char *message;
    } cases[] = {
        {"x,of,y\n1,a,1\n2,a,2\n", HF_ERR_ARGUMENT, "the same value in every row"},
        {"x,of,y\n1,,1\n2,,2\n", HF_ERR_NO_DATA, "no value in any row"},
        {"x,of,y\n1,a,1\n2,b,\n", HF_ERR_NO_DATA, "output \"b\" has no reading"},
        {"x,of,y\n1,a,1\n,b,2\n", HF_ERR_NO_DATA, "output \"b\" has no reading"},
        {"x,of,y\n1,1,1\n2,inf,2\n", HF_ERR_NOT_FINITE, "line 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hf_table *table = table_of(ctx, cases[i].csv);
        hf_model *model = NULL;
        assert_int_equal(hf_fit(ctx, table, &columns, &settings, &model, NULL), cases[i].status);
        assert_contains(hf_context_message(ctx), cases[i].message);
        assert_null(model);
        hf_table_free(table);
    }
    hf_model *model = fit_text(ctx, "x,of,y\n1,-0,1\n2,0,2\n2,NA,7\n3,01,2\n4,1.0,3\n", &columns, &settings);
    assert_int_equal(hf_model_outputs(model), 2);
    assert_string_equal(hf_model_output(model, 0), "0");
    assert_string_equal(hf_model_output(model, 1), "1");
    assert_int_equal(hf_model_skipped(model), 1);
    hf_model_free(model);
    hf_context_free(ctx);
}

/* More than a kernel takes: said before anything is fitted. */
static void too_many_outputs(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_fit_settings settings = held();
    const hf_columns columns = {.size = sizeof columns, .target = "y", .output_column = "of"};
    char *text = malloc(64 * 1002);
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "x,of,y\n");
    for (int i = 0; i < 1001; i++) used += (size_t)sprintf(text + used, "%d,%d,%d\n", i, i, i);
    hf_table *table = table_of(ctx, text);
    hf_model *model = NULL;
    assert_int_equal(hf_fit(ctx, table, &columns, &settings, &model, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "1001 different values");
    hf_table_free(table);
    free(text);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covariances_need_names_of_their_own),
        cmocka_unit_test(an_input_may_be_called_output),
        cmocka_unit_test(noise_of_readings),
        cmocka_unit_test(long_tables_of_odd_outputs),
        cmocka_unit_test(too_many_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
