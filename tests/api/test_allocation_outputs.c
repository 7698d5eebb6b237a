/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of what is about several outputs fails once; see test_allocation.c. */
#include "api/sweep.h"

static const double EPS[2] = {0.1, 0.2}, MEAN[2] = {0.5, -0.5}, COVARIANCE[4] = {1.0, 0.6, 0.6, 2.0},
                    NOISE[2] = {0.1, 0.2};
static const hf_outputs_model MODEL = {.outputs = 2, .mean = MEAN, .covariance = COVARIANCE, .noise = NOISE};

/* n x 2 readings, some of them missing. */
static void readings(double *y, size_t n, bool gaps)
{
    for (size_t i = 0; i < 2 * n; i++)
        y[i] = gaps && i % 7 == 3 ? NAN : sin(3.0 * (double)i) + 0.1 * (double)(i % 2);
}

static hf_status covariance_of(workshop *w, size_t n, size_t p)
{
    static double x[1400];
    double location[2] = {7.0, 7.0}, covariance[4];
    const hf_robust_covariance_arrays out = {.location = location, .covariance = covariance};
    hf_robust_covariance_settings settings = hf_robust_covariance_settings_default();
    hf_robust_covariance_report report = {.support = 77};
    settings.starts = 5;
    readings(x, 700, false);
    hf_status s = hf_robust_covariance(w->ctx, n, p, x, p, &settings, &out, &report);
    if (s < 0) assert_true(location[0] == 7.0 && report.support == 77);
    return s;
}

static hf_status covariance_small(workshop *w)
{
    return covariance_of(w, 40, 2);
}

static hf_status covariance_large(workshop *w)
{
    return covariance_of(w, 700, 2);
}

static hf_status covariance_one_column(workshop *w)
{
    return covariance_of(w, 40, 1);
}

static hf_status centre(workshop *w)
{
    double y[20], g[20] = {7.0};
    readings(y, 10, true);
    hf_status s = hf_outputs_conditional_centre(w->ctx, 10, y, 2, &MODEL, g);
    if (s < 0) assert_true(g[0] == 7.0);
    return s;
}

static hf_status thresholds(workshop *w)
{
    double y[20], g[20] = {0.0}, c[2] = {7.0, 7.0};
    readings(y, 10, true);
    hf_status s = hf_outputs_thresholds(w->ctx, HF_OUTPUTS_LOWER, 10, 2, y, 2, g, EPS, c);
    if (s < 0) assert_true(c[0] == 7.0 && c[1] == 7.0);
    return s;
}

static hf_status weights_by(workshop *w, hf_outputs_weighting weighting)
{
    double y[20], weight[20] = {7.0}, shift[20] = {7.0};
    const hf_outputs_rule rule = {.size = sizeof rule, .weighting = weighting, .eps = EPS};
    const hf_outputs_sites out = {.weight = weight, .shift = shift};
    readings(y, 10, true);
    hf_status s = hf_outputs_weights(w->ctx, &rule, 10, y, 2, &MODEL, NULL, &out);
    if (s < 0) assert_true(weight[0] == 7.0 && shift[0] == 7.0);
    return s;
}

static hf_status weights_reading(workshop *w)
{
    return weights_by(w, HF_OUTPUTS_READING);
}

static hf_status weights_joint(workshop *w)
{
    return weights_by(w, HF_OUTPUTS_JOINT);
}

static hf_status weights_channel(workshop *w)
{
    return weights_by(w, HF_OUTPUTS_CHANNEL);
}

static hf_status weighting_names(workshop *w)
{
    hf_outputs_weighting weighting;
    assert_string_equal(hf_enum_name(HF_ENUM_OUTPUTS_WEIGHTING, HF_OUTPUTS_JOINT), "joint");
    return hf_enum_parse(w->ctx, HF_ENUM_OUTPUTS_WEIGHTING, "channel", &weighting);
}

/* A copy of the workshop's sites in two channels. */
static hf_status channels(workshop *w)
{
    static const double noise[2] = {0.02, 0.04}, threshold[2] = {1.0, 2.0};
    size_t channel[WORKSHOP_N];
    hf_sites *sites = NULL;
    for (size_t i = 0; i < WORKSHOP_N; i++) channel[i] = i % 2;
    hf_status s = hf_sites_copy(w->ctx, w->sites, &sites);
    if (s >= 0) s = hf_sites_set_channels(w->ctx, sites, 2, channel);
    if (s >= 0) {
        assert_int_equal(hf_sites_channels(sites), 2);
        assert_int_equal(hf_sites_channel(sites, 3), 1);
        s = hf_sites_set_channel_noise(w->ctx, sites, noise);
    } else if (sites != NULL) {
        assert_int_equal(hf_sites_channels(sites), 1);
    }
    if (s >= 0) assert_true(hf_sites_channel_noise(sites, 1) == 0.04);
    if (s >= 0) s = hf_sites_recentre_channels(w->ctx, sites, w->centre, threshold);
    hf_sites_free(sites);
    return s;
}

/* ---- posteriors ------------------------------------------------------------------------------ */

static hf_status mean_of_outputs(workshop *w)
{
    hf_mean *mean = UNTOUCHED;
    hf_status s = hf_mean_create_outputs(w->ctx, 2, 3, &mean);
    if (s >= 0) hf_mean_free(mean);
    return settled(s, s < 0 ? mean : NULL);
}

/* Two outputs at given values. */
static hf_status fit_two(hf_context *ctx, hf_posterior **out)
{
    double x[24], y[12];
    for (size_t i = 0; i < 12; i++) {
        x[2 * i] = 0.4 * (double)i;
        x[2 * i + 1] = (double)(i % 2);
        y[i] = sin(x[2 * i]) + (double)(i % 2);
    }
    const hf_data data = {.n = 12, .d = 2, .x = x, .ldx = 2, .y = y, .outputs = 2};
    hf_fit_settings settings = hf_fit_settings_default();
    settings.train = false;
    settings.suspects = HF_OUTLIERS_OFF;
    settings.calibrate = false;
    return hf_fit_data(ctx, &data, &settings, out, NULL, NULL);
}

static hf_status fit_outputs(workshop *w)
{
    hf_posterior *posterior = NULL;
    hf_status s = fit_two(w->ctx, &posterior);
    if (s >= 0) {
        assert_int_equal(hf_posterior_outputs(posterior), 2);
        assert_true(hf_posterior_output_noise(posterior, 1) > 0.0);
        assert_true(isnan(hf_posterior_output_noise(posterior, 2)));
    }
    assert_true((s >= 0) == (posterior != NULL));
    hf_posterior_free(posterior);
    return s;
}

static hf_status predict_outputs(workshop *w)
{
    double mean[WORKSHOP_M] = {7.0}, latent[WORKSHOP_M] = {7.0}, observed[WORKSHOP_M] = {7.0};
    double covariance[WORKSHOP_M] = {7.0};
    hf_status s = hf_predict_outputs(w->ctx, w->posterior, WORKSHOP_M, w->at, WORKSHOP_D, mean, latent,
                                     observed, covariance);
    if (s < 0) assert_true(mean[0] == 7.0 && latent[0] == 7.0 && observed[0] == 7.0 && covariance[0] == 7.0);
    return s;
}

/* ---- models ---------------------------------------------------------------------------------- */

static const char wide_csv[] = "a,y1,y2\n0.1,0.2,10\n0.9,0.8,\n1.7,1.0,15\n2.4,,12\n3.3,-0.1,9\n4.0,-0.7,4\n";
static const char long_csv[] =
    "a,of,y\n0.1,p,0.2\n0.1,q,10\n0.9,p,0.8\n1.7,q,15\n1.7,p,1\n3.3,p,-0.1\n3.3,q,9\n";

/* Fitted by the context of the workshop, like everything that is asked of it. */
static hf_status with_model(workshop *w, const char *csv, bool whole, hf_table **table, hf_model **model)
{
    static const char *const targets[] = {"y1", "y2"};
    const hf_columns wide = {.size = sizeof wide, .targets = targets, .target_count = 2},
                     rows = {.size = sizeof rows, .target = "y", .output_column = "of"};
    hf_fit_settings settings = workshop_untrained();
    settings.set = NULL;
    settings.set_count = 0;
    hf_status s = hf_table_parse_csv(w->ctx, csv, strlen(csv), "t", table);
    if (s >= 0) s = hf_fit(w->ctx, *table, whole ? &wide : &rows, &settings, model, NULL);
    if (s < 0) {
        assert_null(*model);
        return s;
    }
    assert_int_equal(hf_model_outputs(*model), 2);
    assert_string_equal(hf_model_output(*model, 1), whole ? "y2" : "q");
    assert_true((hf_model_output_column(*model) == NULL) == whole);
    return s;
}

static hf_status model_with(workshop *w, const char *csv, bool whole,
                            hf_status (*ask)(workshop *w, hf_model *model, hf_table *table))
{
    hf_table *table = NULL;
    hf_model *model = NULL;
    hf_status s = with_model(w, csv, whole, &table, &model);
    if (s >= 0) s = ask(w, model, table);
    hf_model_free(model);
    hf_table_free(table);
    return s;
}

static hf_status ask_predictions(workshop *w, hf_model *model, hf_table *table)
{
    const size_t before = hf_table_columns(table);
    hf_status s = hf_predict_into_table(w->ctx, model, table);
    if (s < 0) assert_int_equal(hf_table_columns(table), before);
    return s;
}

static hf_status ask_covariances(workshop *w, hf_model *model, hf_table *table)
{
    const size_t before = hf_table_columns(table);
    assert_true(hf_model_can(model, HF_ABILITY_COVARIANCES));
    assert_int_equal(
        hf_predicted_column_at(model, table, hf_predicted_columns(model, table) - 1, NULL, 0, NULL, NULL),
        HF_OK);
    hf_status s = hf_predict_covariances_into_table(w->ctx, model, table);
    assert_int_equal(hf_table_columns(table), s < 0 ? before : before + 1);
    return s;
}

static hf_status ask_distances(workshop *w, hf_model *model, hf_table *table)
{
    const size_t before = hf_table_columns(table);
    hf_status s = hf_predict_outside_into_table(w->ctx, model, table);
    assert_int_equal(hf_table_columns(table), s < 0 ? before : before + 1);
    return s;
}

static hf_status ask_scores(workshop *w, hf_model *model, hf_table *table)
{
    hf_metrics each[2] = {{.n = 77}, {.n = 77}}, all = {.n = 77};
    hf_status s = hf_score_outputs(w->ctx, model, table, each);
    assert_true((s < 0) == (each[0].n == 77) && (s < 0) == (each[1].n == 77));
    if (s >= 0) s = hf_score(w->ctx, model, table, &all);
    assert_true((s < 0) == (all.n == 77));
    return s;
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

static hf_status ask_tables(workshop *w, hf_model *model, hf_table *table)
{
    (void)table;
    hf_table *rows = NULL, *training = NULL;
    hf_status s = hf_model_rows(w->ctx, model, &rows);
    if (s >= 0) s = hf_model_training(w->ctx, model, &training);
    hf_table_free(rows);
    hf_table_free(training);
    return s;
}

static hf_status ask_influence(workshop *w, hf_model *model, hf_table *table)
{
    (void)table;
    double kl[2] = {77.0}, joint = 77.0;
    hf_status s = hf_model_influence(w->ctx, model, 1, 0, 0.5, kl, &joint);
    assert_true((s < 0) == (kl[0] == 77.0) && (s < 0) == (joint == 77.0));
    return s;
}

static hf_status model_predictions(workshop *w)
{
    return model_with(w, wide_csv, true, ask_predictions);
}

static hf_status model_influence(workshop *w)
{
    return model_with(w, wide_csv, true, ask_influence);
}

static hf_status model_predictions_long(workshop *w)
{
    return model_with(w, long_csv, false, ask_predictions);
}

static hf_status model_covariances(workshop *w)
{
    return model_with(w, wide_csv, true, ask_covariances);
}

static hf_status model_distances(workshop *w)
{
    return model_with(w, wide_csv, true, ask_distances);
}

static hf_status model_scores(workshop *w)
{
    return model_with(w, wide_csv, true, ask_scores);
}

static hf_status model_file(workshop *w)
{
    return model_with(w, long_csv, false, ask_file);
}

static hf_status model_tables(workshop *w)
{
    return model_with(w, wide_csv, true, ask_tables);
}

static void models_survive(void **state)
{
    (void)state;
    RUN(CASE(model_predictions, 40), CASE(model_influence, 40), CASE(model_predictions_long, 40),
        CASE(model_covariances, 40), CASE(model_distances, 40), CASE(model_scores, 40), CASE(model_file, 40),
        CASE(model_tables, 40));
}

static void outputs_survive(void **state)
{
    (void)state;
    RUN(CASE(channels, 3), CASE(mean_of_outputs, 1), CASE(fit_outputs, 20), CASE(predict_outputs, 4),
        CASE(covariance_small, 8), CASE(covariance_large, 8), CASE(covariance_one_column, 5), CASE(centre, 4),
        CASE(thresholds, 2), CASE(weights_reading, 5), CASE(weights_joint, 5), CASE(weights_channel, 5),
        CASE(weighting_names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_survive),
        cmocka_unit_test(models_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
