/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions where nobody has been: how far outside of the training inputs, and what is said of it. */
#include "model/model_testing.h"

/* Inputs a of 0 to 4 and b of 10 to 20; far away, in row 12, a reading that is set aside if it is asked for. */
static hf_table *training(hf_context *ctx, bool bad)
{
    char text[4000];
    size_t used = (size_t)snprintf(text, sizeof text, "a,b,c,y\n");
    for (size_t i = 0; i < 41; i++) {
        const double a = (double)i / 10.0, b = 10.0 + (double)(i * 17 % 41) / 4.0;
        used += (size_t)snprintf(text + used, sizeof text - used, "%g,%g,3,%.6f\n", a, b, sin(a) + 0.1 * b);
    }
    if (bad) snprintf(text + used, sizeof text - used, "9,15,3,-400\n");
    return table_of(ctx, text);
}

static hf_fit_settings quick(hf_outliers suspects)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = suspects;
    settings.train = suspects != HF_OUTLIERS_OFF;
    return settings;
}

static hf_model *model_with(hf_context *ctx, bool bad, hf_outliers suspects)
{
    hf_table *table = training(ctx, bad);
    const hf_fit_settings settings = quick(suspects);
    hf_model *model = model_of(ctx, table, &settings);
    hf_table_free(table);
    return model;
}

static void distances_are_in_ranges(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_model *model = model_with(ctx, false, HF_OUTLIERS_OFF);
    hf_table *table = table_of(
        ctx, "a,b,c,y_outside\n0,10,3,7\n4,20,3,7\n-2,15,3,7\n1,30,3,7\n6,5,3,7\n,5,3,7\n1,15,4,7\n");
    assert_int_equal(hf_predict_outside_into_table(ctx, model, table), HF_WARN_ROWS_SKIPPED);
    assert_int_equal(hf_table_columns(table), 4);
    const double *outside = column_of(ctx, table, "y_outside");
    static const double expected[] = {0.0, 0.0, 0.5, 1.0, 0.5};
    for (size_t i = 0; i < 5; i++) assert_close(outside[i], expected[i], 1e-15);
    assert_true(isnan(outside[5]) && isinf(outside[6]));

    folder scratch = folder_make();
    char path[256];
    hf_model *loaded = NULL;
    assert_int_equal(hf_model_save(ctx, model, folder_file(&scratch, "m.hf", path)), HF_OK);
    assert_int_equal(hf_model_load(ctx, path, &loaded), HF_OK);
    hf_table *again = table_of(ctx, "a,b,c\n6,30,3\n");
    assert_int_equal(hf_predict_outside_into_table(ctx, loaded, again), HF_OK);
    assert_close(column_of(ctx, again, "y_outside")[0], 1.0, 1e-15);
    remove(path);
    rmdir(scratch.path);
    hf_table_free(again);
    hf_model_free(loaded);
    hf_table_free(table);
    hf_model_free(model);
    hf_context_free(ctx);
}

typedef struct remark {
    const char *csv, *text; /* "" says nothing */
    hf_status status;
} remark;

static void predictions_outside_are_told(void **state)
{
    (void)state;
    static const remark cases[] = {
        {"a,b,c\n0,10,3\n4,20,3\n", "", HF_OK},
        {"a,b,c\n4.39,9.1,3\n", "", HF_OK}, /* less than a tenth */
        {"a,b,c\n", "", HF_OK},
        {"a,b,c\n2,15,3\n6,5,3\n1,30,3\n4.5,12,3\n",
         "t.csv: 3 of 4 rows have inputs outside those of the training rows (furthest: t.csv, line 4, \"b\" "
         "= 30, "
         "training 10 to 20); predictions there are extrapolated",
         HF_OK},
        {"a,b,c\n,1,3\n1,15,4\n",
         "t.csv: 1 of 2 rows have a missing input and get no prediction; t.csv: 1 of 2 rows has inputs "
         "outside those "
         "of the training rows (furthest: t.csv, line 3, \"c\" = 4, training 3 to 3); predictions there are "
         "extrapolated",
         HF_WARN_ROWS_SKIPPED},
    };
    hf_context *ctx = hf_context_create();
    hf_model *model = model_with(ctx, false, HF_OUTLIERS_OFF);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hf_table *table = table_of(ctx, cases[i].csv);
        assert_int_equal(hf_predict_into_table(ctx, model, table), cases[i].status);
        assert_string_equal(hf_context_message(ctx), cases[i].text);
        assert_int_equal(hf_table_columns(table), 8);
        hf_table_free(table);
    }
    hf_model_free(model);
    hf_context_free(ctx);
}

/* A reading that was set aside has taught nothing, so its place is not a place where the model has been. */
static void rows_set_aside_do_not_widen_the_range(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (int forced = 0; forced < 2; forced++) {
        hf_model *model = model_with(ctx, true, forced ? HF_OUTLIERS_FORCE : HF_OUTLIERS_OFF);
        hf_table *table = table_of(ctx, "a,b,c\n8,15,3\n"), *suspects = NULL;
        assert_int_equal(hf_model_suspects(ctx, model, &suspects), HF_OK);
        assert_int_equal(hf_table_rows(suspects), forced);
        assert_int_equal(hf_predict_outside_into_table(ctx, model, table), HF_OK);
        assert_close(column_of(ctx, table, "y_outside")[0], forced ? 1.0 : 0.0, 1e-15);
        hf_table_free(suspects);
        hf_table_free(table);
        hf_model_free(model);
    }
    hf_context_free(ctx);
}

static void streams_keep_no_ranges(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char csv[256], cache[256], *text = wavy_csv(300, 0);
    file_put(folder_file(&scratch, "in.csv", csv), text, strlen(text));
    free(text);
    hf_fit_settings settings = hf_fit_settings_default();
    settings.inducing = 16;
    settings.minibatch = 100;
    settings.iterations = 3;
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_model *model = NULL;
    assert_true(hf_fit_stream(ctx, csv, folder_file(&scratch, "in.csv.hfcache", cache), &columns, &settings,
                              &model, NULL) >= 0);
    hf_table *table = table_of(ctx, "a,b\n900,900\n");
    assert_int_equal(hf_predict_into_table(ctx, model, table), HF_OK);
    assert_string_equal(hf_context_message(ctx), "");
    const size_t columns_before = hf_table_columns(table);
    assert_int_equal(hf_predict_outside_into_table(ctx, model, table), HF_ERR_NO_DATA);
    assert_int_equal(hf_table_columns(table), columns_before);
    remove(csv);
    remove(cache);
    rmdir(scratch.path);
    hf_table_free(table);
    hf_model_free(model);
    hf_context_free(ctx);
}

/* Several outputs and classes have one column of distances, which is no input of a fit made again. */
static void other_models_have_them_too(void **state)
{
    (void)state;
    static const char *const targets[] = {"y", "b"};
    const hf_columns columns[] = {{.size = sizeof(hf_columns), .targets = targets, .target_count = 2},
                                  {.size = sizeof(hf_columns), .target = "k"}};
    hf_context *ctx = hf_context_create();
    for (size_t c = 0; c < 2; c++) {
        hf_table *table = c == 0 ? training(ctx, false)
                                 : table_of(ctx, "a,k\n1,0\n2,0\n3,0\n4,1\n5,1\n6,0\n7,1\n8,1\n"),
                 *far = table_of(ctx, "a,c\n2,3\n40,3\n");
        hf_fit_settings settings = quick(HF_OUTLIERS_OFF);
        settings.calibrate = false;
        if (c == 1) settings.sites = HF_LIKELIHOOD_PROBIT;
        hf_model *model = NULL;
        if (hf_fit(ctx, table, &columns[c], &settings, &model, NULL) < 0)
            fail_msg("%s", hf_context_message(ctx));
        assert_int_equal(hf_predict_into_table(ctx, model, far), HF_OK);
        assert_contains(hf_context_message(ctx), "1 of 2 rows has inputs outside");
        const size_t before = hf_model_features(model);
        assert_int_equal(hf_predict_into_table(ctx, model, table), HF_OK);
        assert_int_equal(hf_predict_outside_into_table(ctx, model, table), HF_OK);
        assert_true(column_of(ctx, table, c == 0 ? "y_outside" : "k_outside")[3] == 0.0);
        hf_model_free(model);
        if (hf_fit(ctx, table, &columns[c], &settings, &model, NULL) < 0)
            fail_msg("%s", hf_context_message(ctx));
        assert_int_equal(hf_model_features(model), before);
        hf_model_free(model);
        hf_table_free(far);
        hf_table_free(table);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_in_ranges),
        cmocka_unit_test(predictions_outside_are_told),
        cmocka_unit_test(rows_set_aside_do_not_widen_the_range),
        cmocka_unit_test(streams_keep_no_ranges),
        cmocka_unit_test(other_models_have_them_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
