/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of predictions as they are described and as they come; abilities as they are told and as they are found. */
#include "model/file_testing.h"

#include <holdfast/settings.h>

enum {
    ROWS = 18
};

/* Inputs a and b; readings y and z, counts n, labels two and three, and for a long table who. */
static hf_table *make_table(hf_context *ctx)
{
    char *text = malloc(128 * (ROWS + 2));
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "a,b,y,z,n,two,three,who\n");
    for (size_t i = 0; i < ROWS; i++) {
        const double t = (double)i / ROWS;
        used += (size_t)sprintf(text + used, "%.17g,%.17g,%.17g,%.17g,%d,%s,%s,%s\n", 4.0 * t, cos(7.0 * t),
                                1.5 + sin(4.0 * t), 2.0 - t * t, (int)(i % 5), i % 2 ? "no" : "yes",
                                i % 3 == 0   ? "low"
                                : i % 3 == 1 ? "mid"
                                             : "top",
                                i % 2 ? "left" : "right");
    }
    hf_table *table = table_of(ctx, text);
    free(text);
    return table;
}

typedef struct kind {
    const char *preset, *target, *other, *output_column;
    hf_transform transform;
    size_t numbers;  /* columns of numbers for a table of inputs */
    const char *one; /* one of their names */
} kind;

static const kind kinds[] = {
    {"gp", "y", NULL, NULL, HF_TRANSFORM_NONE, 5, "y_hi95"},
    {"gp", "y", NULL, NULL, HF_TRANSFORM_LOG, 6, "y_median"},
    {"poisson", "n", NULL, NULL, HF_TRANSFORM_NONE, 9, "n_rate"},
    {"mogp", "y", "z", NULL, HF_TRANSFORM_NONE, 10, "z_lo95"},
    {"mogp", "y", NULL, "who", HF_TRANSFORM_NONE, 10, "y_left_mean"},
    {"probit", "two", NULL, NULL, HF_TRANSFORM_NONE, 4, "p_yes"},
    {"softmax", "three", NULL, NULL, HF_TRANSFORM_NONE, 9, "three_mid_sd"},
};

static hf_model *fit_kind(hf_context *ctx, const hf_table *table, const kind *k)
{
    static const char *const inputs[] = {"a", "b"};
    const char *const both[] = {k->target, k->other};
    hf_fit_settings settings;
    if (hf_fit_settings_preset(ctx, k->preset, &settings, sizeof settings) < 0) {
        settings = hf_fit_settings_default();
        settings.suspects = HF_OUTLIERS_OFF;
        settings.calibrate = false;
        settings.sites = HF_LIKELIHOOD_POISSON;
    }
    settings.train = false;
    settings.transform = k->transform;
    hf_columns columns = {
        .size = sizeof columns, .features = inputs, .feature_count = 2, .output_column = k->output_column};
    if (k->other != NULL) {
        columns.targets = both;
        columns.target_count = 2;
    } else {
        columns.target = k->target;
    }
    hf_model *model = NULL;
    if (hf_fit(ctx, table, &columns, &settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    return model;
}

/* All columns that predictions add to `table`, and nothing else, are described in their order. */
static void check_columns(hf_context *ctx, const hf_model *model, hf_table *table, size_t numbers,
                          const char *one)
{
    const size_t before = hf_table_columns(table), described = hf_predicted_columns(model, table);
    size_t labels = 0, met = 0;
    assert_int_equal(hf_predict_into_table(ctx, model, table), HF_OK);
    assert_int_equal(hf_table_columns(table) - before, described);
    for (size_t i = 0; i < described; i++) {
        char name[64], cut[4];
        size_t length = 0;
        hf_predicted_column column;
        assert_int_equal(hf_predicted_column_at(model, table, i, name, sizeof name, &length, &column), HF_OK);
        assert_string_equal(name, hf_table_name(table, before + i));
        assert_int_equal(length, strlen(name));
        assert_int_equal(column.label, !hf_table_is_numeric(table, before + i));
        assert_true(strlen(column.meaning) > 5);
        assert_int_equal(hf_predicted_column_at(model, table, i, cut, sizeof cut, NULL, NULL), HF_OK);
        assert_memory_equal(cut, name, 3);
        assert_int_equal(cut[3], '\0');
        labels += column.label ? 1 : 0;
        met += strcmp(name, one) == 0 ? 1 : 0;
    }
    assert_int_equal(described - labels, numbers);
    assert_int_equal(met, 1);
    hf_predicted_column column;
    assert_int_equal(hf_predicted_column_at(model, table, described, NULL, 0, NULL, &column),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_predicted_column_at(model, table, 0, NULL, 8, NULL, NULL), HF_ERR_ARGUMENT);
}

static void predictions_have_the_columns_that_are_described(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        hf_table *table = make_table(ctx), *inputs = table_of(ctx, "a,b\n0.5,0.25\n1.5,-0.5\n");
        hf_model *model = fit_kind(ctx, table, &kinds[k]);
        check_columns(ctx, model, inputs, kinds[k].numbers, kinds[k].one);
        if (kinds[k].output_column != NULL) check_columns(ctx, model, table, 5, "y_mean");
        hf_model_free(model);
        hf_table_free(inputs);
        hf_table_free(table);
    }
    assert_int_equal(hf_predicted_columns(NULL, NULL), 0);
    assert_int_equal(hf_predicted_column_at(NULL, NULL, 0, NULL, 0, NULL, NULL), HF_ERR_ARGUMENT);
    hf_context_free(ctx);
}

/* Whether a status says that the model has no such thing. */
static bool has(hf_status status)
{
    assert_true(status >= 0 || status == HF_ERR_ARGUMENT);
    return status >= 0;
}

static void abilities_are_those_that_are_found(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        hf_table *table = make_table(ctx), *suspects = NULL;
        hf_model *model = fit_kind(ctx, table, &kinds[k]);
        hf_metrics metrics[2];
        hf_class_metrics scores;
        hf_leave_one_out_scores left_out;
        assert_int_equal(hf_model_can(model, HF_ABILITY_SCORES), has(hf_score(ctx, model, table, metrics)));
        assert_int_equal(hf_model_can(model, HF_ABILITY_SCORES),
                         has(hf_score_outputs(ctx, model, table, metrics)));
        assert_int_equal(hf_model_can(model, HF_ABILITY_SCORES),
                         has(hf_model_leave_one_out(ctx, model, &left_out)));
        assert_int_equal(hf_model_can(model, HF_ABILITY_CLASS_SCORES),
                         has(hf_score_classes(ctx, model, table, 10, NULL, &scores)));
        assert_int_equal(hf_model_can(model, HF_ABILITY_SUSPECTS),
                         has(hf_model_suspects(ctx, model, &suspects)));
        assert_int_equal(hf_model_can(model, HF_ABILITY_COVARIANCES),
                         has(hf_predict_covariances_into_table(ctx, model, table)));
        assert_int_equal(hf_model_can(model, HF_ABILITY_PLAIN), k == 0);
        assert_false(hf_model_can(model, (hf_ability)99));
        hf_table_free(suspects);
        hf_model_free(model);
        hf_table_free(table);
    }
    assert_false(hf_model_can(NULL, HF_ABILITY_SCORES));
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_have_the_columns_that_are_described),
        cmocka_unit_test(abilities_are_those_that_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
