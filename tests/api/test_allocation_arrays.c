/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of fits, predictions and scores of arrays fails once; see test_allocation.c. */
#include "api/sweep.h"

static hf_arrays rows_of(workshop *w)
{
    hf_arrays rows = {.size = sizeof rows, .rows = WORKSHOP_N, .inputs = WORKSHOP_D};
    rows.x = (hf_view){w->x, WORKSHOP_D, 1};
    rows.y = (hf_view){w->y, 1, 0};
    rows.noise = (hf_view){w->extra, 1, 0};
    return rows;
}

static hf_status fit(workshop *w)
{
    const hf_arrays rows = rows_of(w);
    const hf_fit_settings settings = workshop_untrained();
    hf_model *model = NULL;
    hf_fit_report report = {.readings = 77};
    const hf_status s = hf_model_fit_arrays(w->ctx, &rows, &settings, &model, &report);
    assert_true((s >= 0) == (model != NULL));
    assert_true((s >= 0) == (report.readings != 77));
    hf_model_free(model);
    return s;
}

static hf_status labels(workshop *w)
{
    hf_arrays rows = rows_of(w);
    size_t label[WORKSHOP_N], winner[WORKSHOP_N] = {77};
    double probability[WORKSHOP_N * 3] = {77.0};
    hf_fit_settings settings;
    hf_model *model = NULL;
    hf_class_metrics metrics = {.n = 77};
    for (size_t i = 0; i < WORKSHOP_N; i++) label[i] = i % 3;
    rows.y.at = rows.noise.at = NULL;
    rows.label = label;
    rows.classes = 3;
    hf_status s = hf_fit_settings_preset(w->ctx, "softmax", &settings, sizeof settings);
    settings.train = false;
    if (s >= 0) s = hf_model_fit_arrays(w->ctx, &rows, &settings, &model, NULL);
    const hf_predictions wanted = {.size = sizeof wanted, .probability = probability, .winner = winner};
    if (s >= 0) {
        s = hf_model_predict_arrays(w->ctx, model, &rows, &wanted);
        assert_true((s < 0) == (winner[0] == 77) && (s < 0) == (probability[0] == 77.0));
    }
    if (s >= 0) {
        s = hf_model_score_class_arrays(w->ctx, model, &rows, &metrics);
        assert_true((s < 0) == (metrics.n == 77));
    }
    hf_model_free(model);
    return s;
}

static hf_status predict(workshop *w)
{
    double mean[WORKSHOP_N] = {77.0}, between[WORKSHOP_N] = {77.0}, quantile[2 * WORKSHOP_N] = {77.0},
           covariance[WORKSHOP_N * WORKSHOP_N] = {77.0};
    const double level[] = {0.1, 0.9};
    const hf_arrays rows = rows_of(w);
    const hf_predictions wanted = {.size = sizeof wanted,
                                   .mean = mean,
                                   .levels = 2,
                                   .level = level,
                                   .quantile = quantile,
                                   .covariance = covariance,
                                   .output_covariance = between};
    const hf_status s = hf_model_predict_arrays(w->ctx, w->model, &rows, &wanted);
    assert_true((s < 0) == (mean[0] == 77.0) && (s < 0) == (quantile[0] == 77.0));
    assert_true((s < 0) == (covariance[0] == 77.0) && (s < 0) == (between[0] == 77.0));
    return s;
}

static hf_status predict_many(workshop *w)
{
    enum {
        MANY = 5000
    };
    static double x[MANY * WORKSHOP_D], mean[MANY];
    mean[MANY - 1] = 77.0;
    const hf_arrays rows = {.size = sizeof rows, .rows = MANY, .inputs = WORKSHOP_D, .x = {x, WORKSHOP_D, 1}};
    const hf_predictions wanted = {.size = sizeof wanted, .mean = mean};
    const hf_status s = hf_model_predict_arrays(w->ctx, w->model, &rows, &wanted);
    assert_true((s < 0) == (mean[MANY - 1] == 77.0));
    return s;
}

static hf_status score(workshop *w)
{
    const hf_arrays rows = rows_of(w);
    hf_metrics metrics = {.n = 77};
    const hf_status s = hf_model_score_arrays(w->ctx, w->model, &rows, &metrics);
    assert_true((s < 0) == (metrics.n == 77));
    return s;
}

static hf_status readings(workshop *w)
{
    double weight[WORKSHOP_N];
    const hf_reading_arrays out = {.size = sizeof out, .weight = weight};
    assert_int_equal(hf_model_reading_count(w->model), 8);
    assert_int_equal(hf_model_latents(w->model), 1);
    return hf_model_readings(w->ctx, w->model, &out);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    RUN(CASE(fit, 20), CASE(labels, 40), CASE(predict, 8), CASE(predict_many, 5), CASE(score, 10),
        CASE(readings, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
