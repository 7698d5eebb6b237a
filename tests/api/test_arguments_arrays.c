/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to models of arrays; see test_arguments.c. */
#include "api/refused.h"

static const size_t label[WORKSHOP_N] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};

static hf_arrays rows_of(workshop *w)
{
    hf_arrays rows = {.size = sizeof rows, .rows = WORKSHOP_N, .inputs = WORKSHOP_D};
    rows.x = (hf_view){w->x, WORKSHOP_D, 1};
    rows.y = (hf_view){w->y, 1, 0};
    return rows;
}

/* The call with one thing changed. */
#define FIT_WITH(expected, change, words)                                                                    \
    do {                                                                                                     \
        rows = good;                                                                                         \
        change;                                                                                              \
        REFUSED(expected, hf_model_fit_arrays(w->ctx, &rows, &settings, &model, &report));                   \
        assert_contains(hf_context_message(w->ctx), words);                                                  \
        assert_null(model);                                                                                  \
        assert_int_equal(report.readings, 77);                                                               \
    } while (0)

static void fits(workshop *w)
{
    hf_fit_settings settings = workshop_untrained();
    hf_model *model = NULL;
    hf_fit_report report = {.readings = 77};
    const hf_arrays good = rows_of(w);
    hf_arrays rows = good;
    struct {
        hf_arrays known;
        double more;
    } newer = {good, 1.0};
    static const char *const same[] = {"a", "a"}, *const hole[] = {"a", NULL};
    ARGUMENT(hf_model_fit_arrays(w->ctx, NULL, &settings, &model, &report));
    ARGUMENT(hf_model_fit_arrays(w->ctx, &rows, NULL, &model, &report));
    ARGUMENT(hf_model_fit_arrays(w->ctx, &rows, &settings, NULL, &report));
    newer.known.size = sizeof newer;
    ARGUMENT(hf_model_fit_arrays(w->ctx, &newer.known, &settings, &model, &report));
    FIT_WITH(HF_ERR_ARGUMENT, rows.size = 0, "sizeof(hf_arrays)");
    FIT_WITH(HF_ERR_ARGUMENT, rows.x.at = NULL, "input");
    FIT_WITH(HF_ERR_ARGUMENT, rows.inputs = 0, "input");
    FIT_WITH(HF_ERR_ARGUMENT, rows.y.at = NULL, "neither y nor label");
    FIT_WITH(HF_ERR_ARGUMENT, rows.label = label, "exclude");
    FIT_WITH(HF_ERR_ARGUMENT, rows.mean = rows.exposure = rows.y, "exclude");
    FIT_WITH(HF_ERR_ARGUMENT, rows.input_names = same, "\"a\"");
    FIT_WITH(HF_ERR_ARGUMENT, rows.input_names = hole, "NULL");
    FIT_WITH(HF_ERR_ARGUMENT, (rows.label = label, rows.classes = 2, rows.y.at = NULL),
             "gaussian sites take readings");
    FIT_WITH(HF_ERR_ARGUMENT, rows.exposure = rows.y, "exposure");
    FIT_WITH(HF_ERR_NO_DATA, rows.rows = 0, "arrays");
    double y[WORKSHOP_N] = {0};
    y[3] = INFINITY;
    FIT_WITH(HF_ERR_NOT_FINITE, rows.y.at = y, "row 4");
    hf_fit_settings_preset(w->ctx, "probit", &settings, sizeof settings);
    settings.train = false;
    FIT_WITH(HF_ERR_ARGUMENT, (void)0, "probit sites take labels");
    FIT_WITH(HF_ERR_ARGUMENT, (rows.label = label, rows.y.at = NULL), "0 classes");
    FIT_WITH(HF_ERR_ARGUMENT, (rows.label = label, rows.y.at = NULL, rows.classes = 1), "class 1 of 1");
    FIT_WITH(HF_ERR_NO_DATA, (rows.label = label, rows.y.at = NULL, rows.classes = 3), "class 2 of 3");
    FIT_WITH(HF_ERR_ARGUMENT,
             (rows.label = label, rows.y.at = NULL, rows.classes = 2, rows.class_names = hole), "NULL");
    settings.sites = HF_LIKELIHOOD_SOFTMAX;
    size_t three[WORKSHOP_N];
    static const char *const twins[] = {"1", "1.0", "b"};
    for (size_t i = 0; i < WORKSHOP_N; i++) three[i] = i % 3;
    FIT_WITH(HF_ERR_ARGUMENT,
             (rows.label = three, rows.y.at = NULL, rows.classes = 3, rows.class_names = twins),
             "3 names of classes stand for 2");
}

REFUSED_TEST(fits)

#define PREDICT_WITH(expected, change, words)                                                                \
    do {                                                                                                     \
        rows = good;                                                                                         \
        wanted = fine;                                                                                       \
        change;                                                                                              \
        REFUSED(expected, hf_model_predict_arrays(w->ctx, w->model, &rows, &wanted));                        \
        assert_contains(hf_context_message(w->ctx), words);                                                  \
        assert_true(mean[0] == 77.0 && mean[WORKSHOP_N - 1] == 77.0);                                        \
    } while (0)

static void predictions(workshop *w)
{
    double mean[WORKSHOP_N], place[WORKSHOP_N * WORKSHOP_N], bad[WORKSHOP_N + 1] = {0}, level = 1.0;
    size_t winner[WORKSHOP_N];
    for (size_t i = 0; i < WORKSHOP_N; i++) mean[i] = 77.0;
    const hf_arrays good = rows_of(w);
    hf_arrays rows = good;
    const hf_predictions fine = {.size = sizeof fine, .mean = mean};
    hf_predictions wanted = fine;
    ARGUMENT(hf_model_predict_arrays(w->ctx, NULL, &rows, &wanted));
    ARGUMENT(hf_model_predict_arrays(w->ctx, w->model, NULL, &wanted));
    ARGUMENT(hf_model_predict_arrays(w->ctx, w->model, &rows, NULL));
    PREDICT_WITH(HF_ERR_ARGUMENT, wanted.size = 8, "sizeof(hf_predictions)");
    PREDICT_WITH(HF_ERR_ARGUMENT, rows.x.at = NULL, "x is NULL");
    PREDICT_WITH(HF_ERR_DIMENSION, rows.inputs = 1, "2 inputs");
    PREDICT_WITH(HF_ERR_ARGUMENT, wanted.probability = place, "probability");
    PREDICT_WITH(HF_ERR_ARGUMENT, wanted.winner = winner, "winner");
    PREDICT_WITH(HF_ERR_ARGUMENT, wanted.quantile = place, "levels");
    PREDICT_WITH(HF_ERR_ARGUMENT, (wanted.quantile = place, wanted.level = &level, wanted.levels = 1),
                 "level 0 is 1");
    PREDICT_WITH(HF_ERR_ARGUMENT, rows.mean = rows.x, "mean");
    PREDICT_WITH(HF_ERR_ARGUMENT, rows.exposure = rows.x, "exposure");
    bad[5] = -1.0;
    PREDICT_WITH(HF_ERR_ARGUMENT, (rows.noise = (hf_view){bad, 1, 0}), "row 5");
    bad[5] = INFINITY;
    PREDICT_WITH(HF_ERR_NOT_FINITE, (rows.noise = (hf_view){bad, 1, 0}), "row 5");
    PREDICT_WITH(HF_ERR_NOT_FINITE, (rows.x = (hf_view){bad, 1, 1}), "row 4");
    bad[5] = NAN;
    PREDICT_WITH(HF_ERR_NOT_FINITE, (rows.x = (hf_view){bad, 1, 1}, wanted.covariance = place), "row 4");
    rows = good;
    rows.rows = 0;
    wanted = fine;
    assert_int_equal(hf_model_predict_arrays(w->ctx, w->model, &rows, &wanted), HF_OK);
    assert_true(mean[0] == 77.0);
}

REFUSED_TEST(predictions)

static void scores_and_readings(workshop *w)
{
    hf_arrays rows = rows_of(w);
    hf_metrics metrics = {.n = 77};
    hf_class_metrics others = {.n = 77};
    hf_reading_arrays places = {.size = sizeof places};
    ARGUMENT(hf_model_score_arrays(w->ctx, NULL, &rows, &metrics));
    ARGUMENT(hf_model_score_arrays(w->ctx, w->model, NULL, &metrics));
    ARGUMENT(hf_model_score_arrays(w->ctx, w->model, &rows, NULL));
    ARGUMENT(hf_model_score_class_arrays(w->ctx, w->model, &rows, &others));
    ARGUMENT(hf_model_score_class_arrays(w->ctx, NULL, &rows, &others));
    ARGUMENT(hf_model_score_class_arrays(w->ctx, w->model, &rows, NULL));
    rows.outputs = 2;
    REFUSED(HF_ERR_DIMENSION, hf_model_score_arrays(w->ctx, w->model, &rows, &metrics));
    rows.y.at = NULL;
    ARGUMENT(hf_model_score_arrays(w->ctx, w->model, &rows, &metrics));
    assert_int_equal(metrics.n, 77);
    assert_int_equal(others.n, 77);
    ARGUMENT(hf_model_readings(w->ctx, NULL, &places));
    ARGUMENT(hf_model_readings(w->ctx, w->model, NULL));
    places.size = 1;
    ARGUMENT(hf_model_readings(w->ctx, w->model, &places));
    assert_int_equal(hf_model_reading_count(NULL), 0);
    assert_int_equal(hf_model_latents(NULL), 0);
}

REFUSED_TEST(scores_and_readings)

static void classes(workshop *w)
{
    hf_arrays rows = rows_of(w);
    hf_fit_settings settings;
    hf_model *model = NULL;
    hf_metrics wrong = {.n = 77};
    hf_class_metrics metrics = {.n = 77};
    double place[WORKSHOP_N];
    hf_predictions wanted = {.size = sizeof wanted, .mean = place};
    size_t alien[WORKSHOP_N] = {0};
    rows.y.at = NULL;
    rows.label = label;
    rows.classes = 2;
    hf_fit_settings_preset(w->ctx, "logit", &settings, sizeof settings);
    settings.train = false;
    assert_true(hf_model_fit_arrays(w->ctx, &rows, &settings, &model, NULL) >= 0);
    ARGUMENT(hf_model_score_arrays(w->ctx, model, &rows, &wrong));
    ARGUMENT(hf_model_predict_arrays(w->ctx, model, &rows, &wanted));
    assert_contains(hf_context_message(w->ctx), "a classifier has no mean");
    rows.label = NULL;
    ARGUMENT(hf_model_score_class_arrays(w->ctx, model, &rows, &metrics));
    alien[7] = 2;
    rows.label = alien;
    ARGUMENT(hf_model_score_class_arrays(w->ctx, model, &rows, &metrics));
    assert_int_equal(metrics.n, 77);
    assert_int_equal(wrong.n, 77);
    hf_model_free(model);
}

REFUSED_TEST(classes)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fits_refuse), cmocka_unit_test(predictions_refuse),
                                       cmocka_unit_test(scores_and_readings_refuse),
                                       cmocka_unit_test(classes_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
