/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to what is about classifiers of tables; see test_arguments.c. */
#include "api/refused.h"

static void classes(workshop *w)
{
    static const char csv[] = "a,kind\n0,x\n1,y\n2,x\n3,y\n";
    hf_fit_settings settings;
    hf_table *table = NULL;
    hf_model *model = NULL, *other = NULL;
    hf_class_metrics metrics = {.n = 77};
    hf_metrics wrong;
    assert_int_equal(hf_fit_settings_preset(w->ctx, "probit", &settings, sizeof settings), HF_OK);
    settings.train = false;
    assert_int_equal(hf_table_parse_csv(w->ctx, csv, sizeof csv - 1, "labels", &table), HF_OK);
    assert_int_equal(hf_fit(w->ctx, table, &(hf_columns){.size = sizeof(hf_columns), .target = "kind"},
                            &settings, &model, NULL),
                     HF_OK);
    ARGUMENT(hf_score_classes(w->ctx, NULL, table, 10, NULL, &metrics));
    ARGUMENT(hf_score_classes(w->ctx, model, NULL, 10, NULL, &metrics));
    ARGUMENT(hf_score_classes(w->ctx, model, table, 10, NULL, NULL));
    ARGUMENT(hf_score_classes(w->ctx, model, table, 0, NULL, &metrics));
    ARGUMENT(hf_score(w->ctx, model, table, &wrong));
    ARGUMENT(hf_predict_covariances_into_table(w->ctx, model, table));
    size_t label[4] = {77};
    hf_table *foreign = NULL;
    ARGUMENT(hf_model_labels(w->ctx, NULL, table, label));
    ARGUMENT(hf_model_labels(w->ctx, model, NULL, label));
    ARGUMENT(hf_model_labels(w->ctx, model, table, NULL));
    ARGUMENT(hf_model_labels(w->ctx, w->model, table, label));
    assert_int_equal(label[0], 77);
    assert_int_equal(hf_table_parse_csv(w->ctx, "kind\nz\n", 7, "new", &foreign), HF_OK);
    ARGUMENT(hf_model_labels(w->ctx, model, foreign, label));
    assert_contains(hf_context_message(w->ctx), "new, line 2");
    hf_table_free(foreign);
    const double point = 0.5;
    double damage = 77.0;
    ARGUMENT(hf_model_contamination_bound(w->ctx, model, 1, 1, &point, &damage, NULL));
    assert_true(damage == 77.0);
    assert_int_equal(metrics.n, 77);
    assert_int_equal(hf_model_classes(NULL), 0);
    assert_null(hf_model_class(NULL, 0));
    assert_null(hf_model_class(model, 2));
    assert_int_equal(hf_model_class_rows(NULL, 0), 0);
    assert_int_equal(hf_model_class_rows(model, 2), 0);
    assert_null(hf_model_classifier(NULL));
    const hf_class_rule rule = {sizeof(hf_class_rule), 1.0, 0.3, NULL};
    ARGUMENT(hf_model_set_class_rule(w->ctx, NULL, &rule));
    ARGUMENT(hf_model_set_class_rule(w->ctx, w->model, &rule));
    ARGUMENT(hf_model_set_class_rule(w->ctx, model, &(hf_class_rule){sizeof(hf_class_rule), 1.0, 2.0, NULL}));
    assert_true(hf_classifier_rule(hf_model_classifier(model))->threshold == 0.5);
    settings.calibrate = true;
    ARGUMENT(hf_fit(w->ctx, table, &(hf_columns){.size = sizeof(hf_columns), .target = "kind"}, &settings,
                    &other, NULL));
    assert_null(other);
    hf_model_free(model);
    hf_table_free(table);
}

REFUSED_TEST(classes)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
