/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to what is about several outputs; see test_arguments.c. */
#include "api/refused.h"

static void covariances(workshop *w)
{
    double x[30], location[2] = {7.0, 7.0}, covariance[4];
    const hf_robust_covariance_arrays out = {.location = location, .covariance = covariance}, none = {0};
    hf_robust_covariance_settings settings = hf_robust_covariance_settings_default();
    for (size_t i = 0; i < 30; i++) x[i] = sin((double)i);
    ARGUMENT(hf_robust_covariance(w->ctx, 15, 2, NULL, 2, NULL, &out, NULL));
    ARGUMENT(hf_robust_covariance(w->ctx, 15, 0, x, 2, NULL, &out, NULL));
    ARGUMENT(hf_robust_covariance(w->ctx, 15, 2, x, 2, NULL, NULL, NULL));
    ARGUMENT(hf_robust_covariance(w->ctx, 15, 2, x, 2, NULL, &none, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_robust_covariance(w->ctx, 15, 2, x, 1, NULL, &out, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_robust_covariance(w->ctx, 4, 2, x, 2, NULL, &out, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_robust_covariance(w->ctx, 0, 2, NULL, 2, NULL, &out, NULL));
    settings.starts = 0;
    ARGUMENT(hf_robust_covariance(w->ctx, 15, 2, x, 2, &settings, &out, NULL));
    settings = hf_robust_covariance_settings_default();
    settings.support_fraction = NAN;
    ARGUMENT(hf_robust_covariance(w->ctx, 15, 2, x, 2, &settings, &out, NULL));
    x[3] = INFINITY;
    REFUSED(HF_ERR_NOT_FINITE, hf_robust_covariance(w->ctx, 15, 2, x, 2, NULL, &out, NULL));
    for (size_t i = 0; i < 12; i++) x[2 * i] = NAN;
    x[3] = 0.0;
    REFUSED(HF_ERR_NO_DATA, hf_robust_covariance(w->ctx, 15, 2, x, 2, NULL, &out, NULL));
    assert_true(location[0] == 7.0);
}

static void outputs(workshop *w)
{
    double y[6] = {0.0, 1.0, 2.0, 1.0, 0.5, NAN}, g[6] = {7.0, 7.0, 7.0, 7.0, 7.0, 7.0}, c[2] = {7.0, 7.0};
    const double two[2] = {0.1, 0.2}, b[4] = {1.0, 0.5, 0.5, 1.0}, bad_b[4] = {1.0, 0.5, INFINITY, 1.0};
    const hf_outputs_model model = {.outputs = 2, .mean = two, .covariance = b, .noise = two};
    hf_outputs_model bad = model;
    hf_outputs_rule rule = {.size = sizeof rule, .eps = two};
    const hf_outputs_sites out = {.weight = g, .shift = g}, none = {0};
    hf_outputs_weighting weighting = HF_OUTPUTS_READING;
    ARGUMENT(hf_outputs_conditional_centre(w->ctx, 3, NULL, 2, &model, g));
    ARGUMENT(hf_outputs_conditional_centre(w->ctx, 3, y, 2, NULL, g));
    ARGUMENT(hf_outputs_conditional_centre(w->ctx, 3, y, 2, &model, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_outputs_conditional_centre(w->ctx, 3, y, 1, &model, g));
    bad.covariance = bad_b;
    REFUSED(HF_ERR_NOT_FINITE, hf_outputs_conditional_centre(w->ctx, 3, y, 2, &bad, g));
    bad = model;
    bad.outputs = 0;
    ARGUMENT(hf_outputs_conditional_centre(w->ctx, 3, y, 2, &bad, g));
    bad = model;
    bad.ridge = -1.0;
    ARGUMENT(hf_outputs_conditional_centre(w->ctx, 3, y, 2, &bad, g));
    bad = model;
    bad.noise = NULL;
    ARGUMENT(hf_outputs_conditional_centre(w->ctx, 3, y, 2, &bad, g));
    ARGUMENT(hf_outputs_thresholds(w->ctx, HF_OUTPUTS_LINEAR, 3, 2, NULL, 2, y, two, c));
    ARGUMENT(hf_outputs_thresholds(w->ctx, HF_OUTPUTS_LINEAR, 3, 2, y, 2, NULL, two, c));
    ARGUMENT(hf_outputs_thresholds(w->ctx, HF_OUTPUTS_LINEAR, 3, 2, y, 2, y, NULL, c));
    ARGUMENT(hf_outputs_thresholds(w->ctx, HF_OUTPUTS_LINEAR, 3, 2, y, 2, y, two, NULL));
    ARGUMENT(hf_outputs_thresholds(w->ctx, (hf_outputs_threshold)9, 3, 2, y, 2, y, two, c));
    ARGUMENT(hf_outputs_thresholds(w->ctx, HF_OUTPUTS_LINEAR, 3, 0, y, 2, y, two, c));
    REFUSED(HF_ERR_DIMENSION, hf_outputs_thresholds(w->ctx, HF_OUTPUTS_LINEAR, 3, 2, y, 1, y, two, c));
    REFUSED(HF_ERR_NO_DATA, hf_outputs_thresholds(w->ctx, HF_OUTPUTS_LINEAR, 0, 2, NULL, 2, NULL, two, c));
    ARGUMENT(hf_outputs_weights(w->ctx, NULL, 3, y, 2, &model, NULL, &out));
    ARGUMENT(hf_outputs_weights(w->ctx, &rule, 3, y, 2, NULL, NULL, &out));
    ARGUMENT(hf_outputs_weights(w->ctx, &rule, 3, y, 2, &model, NULL, NULL));
    ARGUMENT(hf_outputs_weights(w->ctx, &rule, 3, y, 2, &model, NULL, &none));
    rule.weighting = (hf_outputs_weighting)-1;
    ARGUMENT(hf_outputs_weights(w->ctx, &rule, 3, y, 2, &model, NULL, &out));
    rule = (hf_outputs_rule){.size = sizeof(hf_outputs_rule), .weighting = HF_OUTPUTS_JOINT};
    ARGUMENT(hf_outputs_weights(w->ctx, &rule, 3, y, 2, &model, NULL, &out));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_OUTPUTS_WEIGHTING, NULL, &weighting));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_OUTPUTS_WEIGHTING, "each", &weighting));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_OUTPUTS_WEIGHTING, "joint", NULL));
    assert_string_equal(hf_enum_name(HF_ENUM_OUTPUTS_WEIGHTING, (unsigned)77), "unknown");
    assert_true(c[0] == 7.0 && g[0] == 7.0);
}

static void channels(workshop *w)
{
    size_t channel[WORKSHOP_N] = {0};
    double numbers[WORKSHOP_N], negative = -1.0;
    for (size_t i = 0; i < WORKSHOP_N; i++) numbers[i] = NAN;
    ARGUMENT(hf_sites_set_channels(w->ctx, NULL, 1, channel));
    ARGUMENT(hf_sites_set_channels(w->ctx, w->sites, 1, NULL));
    ARGUMENT(hf_sites_set_channels(w->ctx, w->sites, 0, channel));
    channel[3] = 2;
    ARGUMENT(hf_sites_set_channels(w->ctx, w->sites, 2, channel));
    ARGUMENT(hf_sites_set_channel_noise(w->ctx, NULL, numbers));
    ARGUMENT(hf_sites_set_channel_noise(w->ctx, w->sites, NULL));
    ARGUMENT(hf_sites_set_channel_noise(w->ctx, w->sites, &negative));
    ARGUMENT(hf_sites_recentre_channels(w->ctx, NULL, w->centre, numbers));
    ARGUMENT(hf_sites_recentre_channels(w->ctx, w->sites, NULL, numbers));
    ARGUMENT(hf_sites_recentre_channels(w->ctx, w->sites, w->centre, NULL));
    ARGUMENT(hf_sites_recentre_channels(w->ctx, w->sites, w->centre, &negative));
    assert_int_equal(hf_sites_channels(NULL), 0);
    assert_int_equal(hf_sites_channels(w->sites), 1);
    assert_int_equal(hf_sites_channel(NULL, 0), 0);
    assert_true(hf_sites_channel_noise(w->sites, 1) == 0.0);
}

/* Posteriors of several outputs; that of the workshop has one. */
static void posteriors(workshop *w)
{
    hf_mean *mean = NULL;
    ARGUMENT(hf_mean_create_outputs(w->ctx, 0, 2, &mean));
    ARGUMENT(hf_mean_create_outputs(w->ctx, 2, 0, &mean));
    ARGUMENT(hf_mean_create_outputs(w->ctx, 2, 2, NULL));
    assert_null(mean);
    assert_int_equal(hf_posterior_outputs(NULL), 0);
    assert_int_equal(hf_posterior_outputs(w->posterior), 1);
    assert_true(isnan(hf_posterior_output_noise(NULL, 0)));
    assert_true(isnan(hf_posterior_output_noise(w->posterior, 1)));
    assert_true(hf_posterior_output_noise(w->posterior, 0) == hf_posterior_noise(w->posterior));
    double out[WORKSHOP_M] = {7.0}, bad[WORKSHOP_D] = {NAN, 0.0};
    const hf_posterior *p = w->posterior;
    ARGUMENT(hf_predict_outputs(w->ctx, NULL, 1, w->at, WORKSHOP_D, out, NULL, NULL, NULL));
    ARGUMENT(hf_predict_outputs(w->ctx, p, 1, NULL, WORKSHOP_D, out, NULL, NULL, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_predict_outputs(w->ctx, p, 1, w->at, WORKSHOP_D - 1, out, NULL, NULL, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_predict_outputs(w->ctx, p, 1, bad, WORKSHOP_D, out, NULL, NULL, NULL));
    assert_true(out[0] == 7.0);
}

/* Checks calls about several outputs of a table; the model of the workshop has one. */
static void models(workshop *w)
{
    const char *const two[] = {"y", "b"}, *const hole[] = {"y", NULL}, *const same[] = {"y", "y"};
    const hf_fit_settings settings = workshop_untrained();
    const hf_columns bad[] = {
        {.size = sizeof(hf_columns), .target = "y", .targets = two, .target_count = 2},
        {.size = sizeof(hf_columns), .target_count = 2},
        {.size = sizeof(hf_columns), .targets = hole, .target_count = 2},
        {.size = sizeof(hf_columns), .targets = hole + 1, .target_count = 1},
        {.size = sizeof(hf_columns), .targets = same, .target_count = 2},
        {.size = sizeof(hf_columns), .targets = two, .target_count = 2, .output_column = "who"},
        {.size = sizeof(hf_columns), .targets = two, .target_count = 2, .noise = "v"},
        {.size = sizeof(hf_columns),
         .targets = two,
         .target_count = 2,
         .features = two + 1,
         .feature_count = 1},
        {.size = sizeof(hf_columns), .target = "y", .output_column = "y"},
    };
    hf_model *model = NULL;
    hf_cost cost;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ARGUMENT(hf_fit(w->ctx, w->table, &bad[i], &settings, &model, NULL));
        ARGUMENT(hf_fit_cost(w->ctx, w->table, &bad[i], &settings, &cost));
    }
    hf_fit_settings parts = settings;
    parts.minibatch = 4;
    const hf_columns wide = {.size = sizeof wide, .targets = two, .target_count = 2},
                     rows = {.size = sizeof rows, .target = "y", .output_column = "who"};
    ARGUMENT(hf_fit(w->ctx, w->table, &wide, &parts, &model, NULL));
    ARGUMENT(hf_fit(w->ctx, w->table, &rows, &parts, &model, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, NULL, &wide, &settings, &model, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, NULL, &rows, &settings, &model, NULL));
    assert_null(model);
    hf_metrics metrics = {.n = 7};
    ARGUMENT(hf_score_outputs(w->ctx, NULL, w->table, &metrics));
    ARGUMENT(hf_score_outputs(w->ctx, w->model, NULL, &metrics));
    ARGUMENT(hf_score_outputs(w->ctx, w->model, w->table, NULL));
    ARGUMENT(hf_predict_outside_into_table(w->ctx, NULL, w->table));
    ARGUMENT(hf_predict_outside_into_table(w->ctx, w->model, NULL));
    ARGUMENT(hf_predict_covariances_into_table(w->ctx, NULL, w->table));
    ARGUMENT(hf_predict_covariances_into_table(w->ctx, w->model, NULL));
    ARGUMENT(hf_predict_covariances_into_table(w->ctx, w->model, w->table));
    assert_int_equal(metrics.n, 7);
    assert_int_equal(hf_predicted_column_at(NULL, w->table, 0, NULL, 0, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_predicted_column_at(w->model, NULL, 1000, NULL, 0, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_predicted_columns(NULL, NULL), 0);
    assert_int_equal(hf_predicted_columns(w->model, NULL), 5);
    assert_false(hf_model_can(NULL, HF_ABILITY_SCORES));
    assert_int_equal(hf_model_outputs(NULL), 0);
    assert_int_equal(hf_model_outputs(w->model), 1);
    assert_string_equal(hf_model_output(w->model, 0), "y");
    assert_null(hf_model_output(w->model, 1));
    assert_null(hf_model_output_column(w->model));
    assert_null(hf_model_output_column(NULL));
}

REFUSED_TEST(models)
REFUSED_TEST(covariances)
REFUSED_TEST(channels)
REFUSED_TEST(posteriors)
REFUSED_TEST(outputs)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covariances_refuse), cmocka_unit_test(outputs_refuse),
        cmocka_unit_test(models_refuse),      cmocka_unit_test(channels_refuse),
        cmocka_unit_test(posteriors_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
