/* SPDX-License-Identifier: Apache-2.0 */
/* Classifiers of tables against the classify room by hand; their files; what is refused. */
#include "model/file_testing.h"

enum {
    ROWS = 24
};

/* Points on a line, of which the middle third is of another class; three classes: each third its own. A label
 * is missing, an input too. */
static char *labels_csv(bool three)
{
    static const char *const names[] = {"low", "mid", "top"};
    char *text = malloc(64 * (ROWS + 3));
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "a,kind,b\n");
    for (size_t i = 0; i < ROWS; i++) {
        const size_t third = 3 * i / ROWS, class = three ? third : third == 1;
        used += (size_t)sprintf(text + used, "%.17g,%s,%.17g\n", 0.25 * (double)i, names[class],
                                cos(3.0 * (double)i));
    }
    sprintf(text + used, "3.3,,0.5\n,low,0.5\n");
    return text;
}

static hf_model *fit_labels(hf_context *ctx, const char *preset, bool train, hf_solver solver, bool three)
{
    char *text = labels_csv(three);
    hf_table *table = table_of(ctx, text);
    free(text);
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(ctx, preset, &settings, sizeof settings), HF_OK);
    settings.train = train;
    settings.solver = solver;
    if (solver == HF_SOLVER_INDUCING) settings.inducing = 6;
    const hf_columns columns = {.size = sizeof columns, .target = "kind"};
    hf_model *model = NULL;
    const hf_status status = hf_fit(ctx, table, &columns, &settings, &model, NULL);
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
    assert_int_equal(status, HF_WARN_ROWS_SKIPPED);
    hf_table_free(table);
    return model;
}

static void a_model_is_its_classifier(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (int three = 0; three < 2; three++) {
        hf_model *model = fit_labels(ctx, three ? "softmax" : "logit", true, HF_SOLVER_AUTO, three);
        const size_t classes = hf_model_classes(model);
        assert_int_equal(classes, three ? 3 : 2);
        assert_string_equal(hf_model_class(model, 0), "low");
        assert_string_equal(hf_model_class(model, 1), "mid");
        assert_null(hf_model_class(model, classes));
        assert_int_equal(hf_model_class_rows(model, 1), ROWS / 3);
        assert_int_equal(hf_model_class_rows(model, classes), 0);
        assert_int_equal(hf_model_report_of(model)->readings, ROWS);
        assert_int_equal(hf_model_report_of(model)->missing, 1);
        assert_int_equal(hf_model_skipped(model), 1);
        assert_int_equal(hf_model_settings_of(model)->inference,
                         three ? HF_INFERENCE_CORRECTED : HF_INFERENCE_EP);

        /* The same labels as arrays. */
        double x[2 * ROWS];
        size_t label[ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            x[2 * i] = 0.25 * (double)i;
            x[2 * i + 1] = cos(3.0 * (double)i);
            label[i] = three ? 3 * i / ROWS : 3 * i / ROWS == 1;
        }
        const hf_class_data data = {.n = ROWS, .d = 2, .x = x, .ldx = 2, .label = label, .classes = classes};
        hf_class_settings settings = hf_class_settings_default();
        settings.link = three ? HF_LINK_SOFTMAX : HF_LINK_LOGIT;
        hf_classifier *classifier = NULL;
        assert_true(hf_classifier_fit(ctx, &data, &settings, &classifier, NULL) >= 0);
        double by_hand[3 * ROWS], by_model[3 * ROWS];
        assert_int_equal(hf_classify_predict(ctx, classifier, ROWS, x, 2, by_hand, NULL, NULL, NULL, NULL),
                         HF_OK);
        assert_int_equal(hf_classify_predict(ctx, hf_model_classifier(model), ROWS, x, 2, by_model, NULL,
                                             NULL, NULL, NULL),
                         HF_OK);
        for (size_t i = 0; i < classes * ROWS; i++) assert_close(by_model[i], by_hand[i], 1e-12);
        hf_classifier_free(classifier);
        hf_model_free(model);
    }
    hf_context_free(ctx);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static void assert_same_classifier(hf_context *ctx, const hf_model *a, const hf_model *b)
{
    const size_t classes = hf_model_classes(a);
    assert_int_equal(classes, hf_model_classes(b));
    for (size_t c = 0; c < classes; c++) {
        assert_string_equal(hf_model_class(a, c), hf_model_class(b, c));
        assert_int_equal(hf_model_class_rows(a, c), hf_model_class_rows(b, c));
    }
    const double x[] = {0.3, 0.1, 2.9, -0.7, 9.0, 4.0};
    double left[3 * 10] = {0}, right[3 * 10] = {0};
    assert_int_equal(
        hf_classify_predict(ctx, hf_model_classifier(a), 3, x, 2, left, NULL, left + 9, left + 18, left + 27),
        HF_OK);
    assert_int_equal(hf_classify_predict(ctx, hf_model_classifier(b), 3, x, 2, right, NULL, right + 9,
                                         right + 18, right + 27),
                     HF_OK);
    assert_memory_equal(left, right, sizeof left);
    assert_string_equal(hf_model_data_checksum(a), hf_model_data_checksum(b));
    assert_same_settings(hf_model_settings_of(a), hf_model_settings_of(b));
    assert_same_fields(hfi_report_fields, hfi_report_field_count, hf_model_report_of(a),
                       hf_model_report_of(b));
    assert_int_equal(hf_model_parameters(a), hf_model_parameters(b));
    for (size_t i = 0; i < hf_model_parameters(a); i++) {
        hf_parameter u, v;
        assert_int_equal(hf_model_parameter(a, i, &u), HF_OK);
        assert_int_equal(hf_model_parameter(b, i, &v), HF_OK);
        assert_string_equal(u.name, v.name);
        assert_true(u.value == v.value && u.fixed == v.fixed && u.unit == v.unit);
    }
}

static void what_is_saved_comes_back(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        hf_solver solver;
        bool three;
    } kinds[] = {{"probit", HF_SOLVER_EXACT, false},
                 {"logit", HF_SOLVER_INDUCING, false},
                 {"softmax", HF_SOLVER_EXACT, false},
                 {"softmax", HF_SOLVER_EXACT, true}};
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int train = 0; train < 2; train++) {
            hf_model *model = fit_labels(ctx, kinds[k].preset, train, kinds[k].solver, kinds[k].three),
                     *loaded;
            unsigned char *bytes = NULL, *again = NULL;
            size_t size = 0, same = 0;
            hfi_solution *solution = &model->posterior->solution;
            assert_int_equal(solution->entry != NULL, strcmp(kinds[k].preset, "softmax") == 0);
            if (!train) { /* then R is in the file, as it was before probabilities were */
                hfi_memory_free(&solution->memory, solution->entry);
                solution->entry = NULL;
            }
            assert_int_equal(hfi_model_to_image(ctx, model, HFI_PIECE_BYTES, &bytes, &size), HF_OK);
            assert_int_equal(bytes[63], 4);
            if (hfi_model_from_bytes(ctx, bytes, size, "m.hf", &loaded) < 0)
                fail_msg("%s: %s", kinds[k].preset, hf_context_message(ctx));
            assert_same_classifier(ctx, model, loaded);
            assert_int_equal(hfi_model_to_image(ctx, loaded, HFI_PIECE_BYTES, &again, &same), HF_OK);
            assert_int_equal(size, same);
            assert_memory_equal(bytes, again, size);
            sqlite3_free(bytes);
            sqlite3_free(again);
            hf_model_free(loaded);
            hf_model_free(model);
        }
    hf_context_free(ctx);
}

static void nonsense_with_a_right_checksum_is_refused(void **state)
{
    (void)state;
    static const char *const both[] = {
        "UPDATE class SET position = 7 WHERE position = 1",
        "UPDATE class SET rows = rows + 1 WHERE position = 0",
        "UPDATE class SET rows = -1 WHERE position = 0",
        "DELETE FROM class WHERE position = 1",
        "DELETE FROM class",
        "WITH RECURSIVE k(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM k WHERE i < 130) INSERT INTO class "
        "SELECT i, 'c' || i, 1 FROM k",
        "UPDATE meta SET value = 'gaussian' WHERE key = 'settings.sites'",
        "UPDATE meta SET value = 'probity' WHERE key = 'settings.sites'",
        "UPDATE meta SET value = 'guess' WHERE key = 'settings.inference'",
        "DELETE FROM meta WHERE key = 'settings.inference'",
        "DELETE FROM meta WHERE key = 'class_input'",
        "UPDATE meta SET value = 'a' WHERE key = 'noise_column'",
        "UPDATE meta SET value = 2 WHERE key = 'outputs'",
        "UPDATE array SET data = zeroblob(length(data)) WHERE name = 'row_target'",
        "DELETE FROM array WHERE name = 'anchor_weight'",
        "UPDATE meta SET value = 'no kernel' WHERE key = 'kernel'",
        "DROP TABLE class"};
    static const char *const probit[] = {"UPDATE meta SET value = 'class' WHERE key = 'class_input'",
                                         "UPDATE meta SET value = 'softmax' WHERE key = 'settings.sites'",
                                         "INSERT INTO class VALUES (2, 'x', 1)"};
    static const char *const softmax[] = {"UPDATE meta SET value = NULL WHERE key = 'class_input'",
                                          "UPDATE meta SET value = 'probit' WHERE key = 'settings.sites'",
                                          "UPDATE meta SET value = 'exact' WHERE key = 'form'",
                                          "UPDATE meta SET value = 1 WHERE key = 'rank'",
                                          "UPDATE array SET data = zeroblob(length(data)) WHERE name = "
                                          "'anchor_probability'",
                                          "UPDATE array SET data = zeroblob(length(data)) WHERE name = "
                                          "'anchor_inputs'",
                                          "DELETE FROM array WHERE name = 'anchor_probability'",
                                          "UPDATE meta SET value = 'constant' WHERE key = 'mean'"};
    for (int three = 0; three < 2; three++) {
        image made = {.ctx = hf_context_create()};
        made.model = fit_labels(made.ctx, three ? "softmax" : "probit", false, HF_SOLVER_EXACT, three);
        assert_int_equal(hfi_model_to_image(made.ctx, made.model, HFI_PIECE_BYTES, &made.bytes, &made.size),
                         HF_OK);
        for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
            const bool sealable = strncmp(both[i], "DROP", 4) != 0;
            change(&made, both[i], sealable);
        }
        for (size_t i = 0; !three && i < sizeof probit / sizeof probit[0]; i++)
            change(&made, probit[i], true);
        for (size_t i = 0; three && i < sizeof softmax / sizeof softmax[0]; i++)
            change(&made, softmax[i], true);
        image_free(&made);
    }
    /* A model of readings does not become a classifier by its sites. */
    image made = image_make();
    change(&made, "UPDATE meta SET value = 'probit' WHERE key = 'settings.sites'", true);
    image_free(&made);
}

/* ---- refused ------------------------------------------------------------------------------------------- */

static void expect(hf_context *ctx, hf_status got, hf_status wanted, const char *part)
{
    if (got != wanted) fail_msg("%s: %s", hf_status_name(got), hf_context_message(ctx));
    assert_contains(hf_context_message(ctx), part);
}

static void what_is_for_readings_is_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_model *labels = fit_labels(ctx, "probit", false, HF_SOLVER_EXACT, false), *model = NULL;
    hf_table *table = wavy_table(ctx, 12, 0), *out = NULL;
    const hf_fit_settings plain = untrained();
    hf_model *readings = model_of(ctx, table, &plain);
    hf_metrics metrics;
    hf_class_metrics class_metrics;
    expect(ctx, hf_score(ctx, labels, table, &metrics), HF_ERR_ARGUMENT, "hf_score_classes()");
    expect(ctx, hf_score_outputs(ctx, labels, table, &metrics), HF_ERR_ARGUMENT, "hf_score_classes()");
    expect(ctx, hf_model_suspects(ctx, labels, &out), HF_ERR_ARGUMENT, "hf_model_rows()");
    expect(ctx, hf_score_classes(ctx, readings, table, 10, NULL, &class_metrics), HF_ERR_ARGUMENT,
           "hf_score()");
    assert_int_equal(hf_model_classes(readings), 0);
    assert_null(hf_model_classifier(readings));

    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(ctx, "probit", &settings, sizeof settings), HF_OK);
    const double x = 0.0, y = 1.0;
    const hf_data data = {.n = 1, .d = 1, .x = &x, .ldx = 1, .y = &y};
    hf_posterior *posterior = NULL;
    expect(ctx, hf_fit_data(ctx, &data, &settings, &posterior, NULL, NULL), HF_ERR_ARGUMENT,
           "hf_classifier_fit()");
    hf_fit_settings wrong = settings;
    wrong.suspects = HF_OUTLIERS_AUTO;
    expect(ctx, hf_fit(ctx, table, &columns, &wrong, &model, NULL), HF_ERR_ARGUMENT, "preset");
    wrong = settings;
    wrong.checkpoint = "file";
    expect(ctx, hf_fit(ctx, table, &columns, &wrong, &model, NULL), HF_ERR_ARGUMENT, "checkpoint file");
    wrong = settings;
    wrong.objective = HF_OBJECTIVE_LOO;
    expect(ctx, hf_fit(ctx, table, &columns, &wrong, &model, NULL), HF_ERR_ARGUMENT, "objective loo");
    expect(ctx,
           hf_fit(ctx, table, &(hf_columns){.size = sizeof(hf_columns), .target = "y", .noise = "a"},
                  &settings, &model, NULL),
           HF_ERR_ARGUMENT, "noise");
    expect(ctx, hf_fit_stream(ctx, "no.csv", NULL, &columns, &settings, &model, NULL), HF_ERR_ARGUMENT,
           "hf_fit()");
    assert_null(model);
    hf_table_free(table);
    hf_model_free(readings);
    hf_model_free(labels);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_its_classifier),
        cmocka_unit_test(what_is_saved_comes_back),
        cmocka_unit_test(nonsense_with_a_right_checksum_is_refused),
        cmocka_unit_test(what_is_for_readings_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
