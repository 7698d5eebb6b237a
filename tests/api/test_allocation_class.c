/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of what is about classifiers of tables fails once; see test_allocation.c. */
#include "api/sweep.h"

static const char csv[] =
    "a,b,kind\n0,1,x\n0.5,2,y\n1,1.5,x\n1.5,0,y\n2,1,\n2.5,0.3,z\n3,2,z\n,1,x\n3.5,1,x\n";

typedef hf_status ask(workshop *w, hf_model *model, hf_table *table);

static hf_status labels_with(workshop *w, const char *preset, ask *question)
{
    hf_fit_settings settings;
    hf_table *table = NULL;
    hf_model *model = NULL;
    const hf_columns columns = {.size = sizeof columns, .target = "kind"};
    hf_status s = hf_fit_settings_preset(w->ctx, preset, &settings, sizeof settings);
    if (s >= 0) s = hf_table_parse_csv(w->ctx, csv, sizeof csv - 1, "labels", &table);
    settings.train = false;
    if (s >= 0) s = hf_fit(w->ctx, table, &columns, &settings, &model, NULL);
    assert_true((s >= 0) == (model != NULL));
    if (s >= 0 && question != NULL) s = question(w, model, table);
    hf_model_free(model);
    hf_table_free(table);
    return s;
}

static hf_status fit(workshop *w)
{
    return labels_with(w, "softmax", NULL);
}

static hf_status ask_predictions(workshop *w, hf_model *model, hf_table *table)
{
    assert_non_null(hf_model_classifier(model));
    assert_true(hf_model_classes(model) == 3 && hf_model_class_rows(model, 2) == 2);
    assert_string_equal(hf_model_class(model, 2), "z");
    assert_int_equal(hf_model_set_class_rule(w->ctx, model, NULL), HF_OK);
    return hf_predict_into_table(w->ctx, model, table);
}

static hf_status predictions(workshop *w)
{
    return labels_with(w, "softmax", ask_predictions);
}

static hf_status ask_scores(workshop *w, hf_model *model, hf_table *table)
{
    hf_class_metrics metrics = {.n = 77};
    const hf_status s = hf_score_classes(w->ctx, model, table, 10, NULL, &metrics);
    assert_true((s < 0) == (metrics.n == 77));
    return s;
}

static hf_status scores(workshop *w)
{
    return labels_with(w, "softmax", ask_scores);
}

static hf_status ask_labels(workshop *w, hf_model *model, hf_table *table)
{
    size_t label[9] = {77};
    const hf_status s = hf_model_labels(w->ctx, model, table, label);
    assert_true((s < 0) == (label[0] == 77));
    assert_true(s < 0 || (label[0] == 0 && label[5] == 2 && label[4] == HF_LABEL_MISSING));
    return s;
}

static hf_status labels(workshop *w)
{
    return labels_with(w, "softmax", ask_labels);
}

static hf_status ask_file(workshop *w, hf_model *model, hf_table *table)
{
    (void)table;
    hf_model *loaded = NULL;
    hf_status s = hf_model_save(w->ctx, model, w->out);
    if (s >= 0) s = hf_model_load(w->ctx, w->out, &loaded);
    assert_true((s >= 0) == (loaded != NULL));
    hf_model_free(loaded);
    return s;
}

static hf_status file(workshop *w)
{
    return labels_with(w, "softmax", ask_file);
}

static hf_status ask_tables(workshop *w, hf_model *model, hf_table *table)
{
    (void)table;
    hf_table *rows = NULL, *training = NULL;
    const size_t some[] = {3, 0};
    hf_table *chosen = NULL;
    hf_status s = hf_model_rows(w->ctx, model, &rows);
    if (s >= 0) s = hf_model_training(w->ctx, model, &training);
    if (s >= 0) s = hf_table_select(w->ctx, training, some, 2, &chosen);
    hf_table_free(chosen);
    hf_table_free(rows);
    hf_table_free(training);
    return s;
}

static hf_status tables(workshop *w)
{
    return labels_with(w, "softmax", ask_tables);
}

static void classes_survive(void **state)
{
    (void)state;
    RUN(CASE(fit, 40), CASE(predictions, 50), CASE(scores, 50), CASE(file, 60), CASE(tables, 60),
        CASE(labels, 50));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
