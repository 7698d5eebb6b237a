/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to solving, predicting, updating, fitting, saving and loading; see test_arguments.c. */
#include "api/refused.h"

/* ---- solver and posterior -------------------------------------------------------------------- */

static void solving(workshop *w)
{
    hf_posterior *out = NULL;
    double x[WORKSHOP_N * WORKSHOP_D];
    memcpy(x, w->x, sizeof x);
    ARGUMENT(hf_solve_exact(w->ctx, NULL, w->mean, w->sites, x, WORKSHOP_D, &out));
    ARGUMENT(hf_solve_exact(w->ctx, w->kernel, NULL, w->sites, x, WORKSHOP_D, &out));
    ARGUMENT(hf_solve_exact(w->ctx, w->kernel, w->mean, NULL, x, WORKSHOP_D, &out));
    ARGUMENT(hf_solve_exact(w->ctx, w->kernel, w->mean, w->sites, NULL, WORKSHOP_D, &out));
    ARGUMENT(hf_solve_exact(w->ctx, w->kernel, w->mean, w->sites, x, WORKSHOP_D, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_solve_exact(w->ctx, w->kernel, w->mean, w->sites, x, 1, &out));
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        x[3] = bad[i];
        REFUSED(HF_ERR_NOT_FINITE, hf_solve_exact(w->ctx, w->kernel, w->mean, w->sites, x, WORKSHOP_D, &out));
    }
    hf_sites *none = NULL;
    assert_int_equal(hf_sites_gaussian(w->ctx, 0, NULL, 1.0, NULL, &none), HF_OK);
    REFUSED(HF_ERR_NO_DATA, hf_solve_exact(w->ctx, w->kernel, w->mean, none, w->x, WORKSHOP_D, &out));
    hf_sites_free(none);
    hf_mean *other = NULL;
    assert_int_equal(hf_mean_create(w->ctx, HF_MEAN_LINEAR, 5, &other), HF_OK);
    REFUSED(HF_ERR_DIMENSION, hf_solve_exact(w->ctx, w->kernel, other, w->sites, w->x, WORKSHOP_D, &out));
    hf_mean_free(other);
    assert_null(out);
    hf_exact_cost(0, 0, NULL, NULL);
}

static void asking_posteriors(workshop *w)
{
    hf_posterior_free(NULL);
    hf_posterior_workspace_free(NULL);
    assert_int_equal(hf_posterior_dimension(NULL), 0);
    assert_int_equal(hf_posterior_anchors(NULL), 0);
    assert_true(isnan(hf_posterior_noise(NULL)) && isnan(hf_posterior_calibration(NULL)));
    assert_null(hf_posterior_kernel(NULL));
    assert_null(hf_posterior_mean_function(NULL));
    assert_null(hf_posterior_report_of(NULL));
    refused_mark(w);
    assert_null(hf_posterior_workspace_create(w->ctx, NULL));
    refused_check(w, HF_ERR_ARGUMENT, HF_ERR_ARGUMENT, "hf_posterior_workspace_create", __LINE__);
}

/* These have no context, so there is no message. */
static void one_point(workshop *w)
{
    double mean = 7.0, var = 7.0, at[WORKSHOP_D] = {0.5, 0.5};
    const hf_posterior *other = hf_model_posterior(w->model);
    hf_posterior_workspace *foreign = hf_posterior_workspace_create(w->ctx, other);
    assert_int_equal(hf_predict_latent(NULL, w->workspace, at, &mean, &var, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_predict_latent(w->posterior, NULL, at, &mean, &var, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_predict_latent(w->posterior, w->workspace, NULL, &mean, &var, NULL, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_predict_observed(NULL, w->workspace, at, &mean, &var, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_predict_observed(w->posterior, foreign, at, &mean, &var, NULL, NULL),
                     HF_ERR_ARGUMENT);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        at[1] = bad[i];
        assert_int_equal(hf_predict_latent(w->posterior, w->workspace, at, &mean, &var, NULL, NULL),
                         HF_ERR_NOT_FINITE);
        assert_int_equal(hf_predict_observed(w->posterior, w->workspace, at, &mean, NULL, NULL, NULL),
                         HF_ERR_NOT_FINITE);
    }
    assert_true(mean == 7.0 && var == 7.0);
    hf_posterior_workspace_free(foreign);
}

static void many_points(workshop *w)
{
    double at[4] = {0.1, 0.2, 0.3, NAN}, out[4] = {7, 7, 7, 7};
    const hf_posterior *p = w->posterior;
    ARGUMENT(hf_predict(w->ctx, NULL, 2, w->at, 2, out, NULL, NULL));
    ARGUMENT(hf_predict(w->ctx, p, 2, NULL, 2, out, NULL, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_predict(w->ctx, p, 2, w->at, 1, out, NULL, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_predict(w->ctx, p, 2, at, 2, out, NULL, NULL));
    assert_int_equal(hf_predict(w->ctx, p, 0, NULL, 2, NULL, NULL, NULL), HF_OK);
    ARGUMENT(hf_predict_covariance(w->ctx, NULL, 2, w->at, 2, out, 2));
    ARGUMENT(hf_predict_covariance(w->ctx, p, 2, NULL, 2, out, 2));
    ARGUMENT(hf_predict_covariance(w->ctx, p, 2, w->at, 2, NULL, 2));
    REFUSED(HF_ERR_DIMENSION, hf_predict_covariance(w->ctx, p, 2, w->at, 1, out, 2));
    REFUSED(HF_ERR_DIMENSION, hf_predict_covariance(w->ctx, p, 2, w->at, 2, out, 1));
    REFUSED(HF_ERR_NOT_FINITE, hf_predict_covariance(w->ctx, p, 2, at, 2, out, 2));
    assert_int_equal(hf_predict_covariance(w->ctx, p, 0, NULL, 2, NULL, 0), HF_OK);
    ARGUMENT(hf_sample(w->ctx, NULL, 2, w->at, 2, 1, 0, out));
    ARGUMENT(hf_sample(w->ctx, p, 2, NULL, 2, 1, 0, out));
    ARGUMENT(hf_sample(w->ctx, p, 2, w->at, 2, 1, 0, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_sample(w->ctx, p, 2, w->at, 1, 1, 0, out));
    REFUSED(HF_ERR_NOT_FINITE, hf_sample(w->ctx, p, 2, at, 2, 1, 0, out));
    assert_int_equal(hf_sample(w->ctx, p, 2, w->at, 2, 0, 0, NULL), HF_OK);
    for (size_t i = 0; i < 4; i++) assert_true(out[i] == 7.0);
}

static void largest_bounds(workshop *w)
{
    const double lower[WORKSHOP_D] = {0.0, 0.0}, upper[WORKSHOP_D] = {1.0, 1.0}, none[] = {0.0, NAN};
    const hf_domain box = {.dimension = WORKSHOP_D, .lower = lower, .upper = upper};
    const hf_domain nowhere = {.dimension = WORKSHOP_D}, list = {.dimension = WORKSHOP_D, .candidates = 1};
    const hf_domain half = {.dimension = WORKSHOP_D, .lower = lower},
                    bad = {.dimension = WORKSHOP_D, .lower = none, .upper = upper};
    const hf_ucb empty = {.size = sizeof empty, .beta = 1.0};
    hf_ucb bound = {.size = sizeof bound, .mean = w->posterior, .beta = 1.0};
    hf_search_settings settings = hf_search_settings_default();
    double x[WORKSHOP_D] = {7.0, 7.0}, value = 7.0;
    size_t index = 7;
    ARGUMENT(hf_domain_check(w->ctx, NULL));
    ARGUMENT(hf_domain_check(w->ctx, &nowhere));
    ARGUMENT(hf_domain_check(w->ctx, &list));
    REFUSED(HF_ERR_NOT_FINITE, hf_domain_check(w->ctx, &bad));
    assert_false(hf_domain_contains(NULL, lower, &index) || hf_domain_contains(&box, NULL, &index));
    assert_false(hf_domain_contains(&half, lower, &index) || hf_domain_contains(&list, lower, &index));
    hf_domain_quasirandom(NULL, 0, 1, x);
    hf_domain_quasirandom(&nowhere, 0, 1, x);
    hf_domain_quasirandom(&list, 0, 1, x);
    hf_domain_quasirandom(&box, 0, 1, NULL);
    ARGUMENT(hf_maximise_ucb(w->ctx, NULL, &box, NULL, 0, NULL, x, NULL));
    ARGUMENT(hf_maximise_ucb(w->ctx, &empty, &box, NULL, 0, NULL, x, NULL));
    ARGUMENT(hf_maximise_ucb(w->ctx, &bound, NULL, NULL, 0, NULL, x, NULL));
    ARGUMENT(hf_maximise_ucb(w->ctx, &bound, &box, NULL, 1, NULL, x, NULL));
    ARGUMENT(hf_maximise_ucb(w->ctx, &bound, &box, NULL, 0, NULL, NULL, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_maximise_ucb(w->ctx, &bound, &box, NULL, 1, none, x, NULL));
    bound.minimise = true;
    REFUSED(HF_ERR_NOT_FINITE, hf_maximise_ucb(w->ctx, &bound, &box, NULL, 1, none, x, NULL));
    settings.resolution = NAN;
    ARGUMENT(hf_maximise_ucb(w->ctx, &bound, &box, &settings, 0, NULL, x, NULL));
    assert_int_equal(hf_ucb_evaluate(NULL, w->workspace, NULL, WORKSHOP_D, lower, &value, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_ucb_evaluate(&bound, NULL, NULL, WORKSHOP_D, lower, &value, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_ucb_evaluate(&bound, w->workspace, NULL, WORKSHOP_D, none, &value, x),
                     HF_ERR_NOT_FINITE);
    assert_true(x[0] == 7.0 && x[1] == 7.0 && value == 7.0 && index == 7);
}

static void influences(workshop *w)
{
    double out[WORKSHOP_N] = {7.0};
    const hf_posterior *p = w->posterior;
    ARGUMENT(hf_leave_one_out(w->ctx, NULL, out, NULL));
    ARGUMENT(hf_leave_one_out(w->ctx, p, NULL, NULL));
    ARGUMENT(hf_influence(w->ctx, NULL, 0, 0.0, 1.0, out));
    ARGUMENT(hf_influence(w->ctx, p, 0, 0.0, 1.0, NULL));
    ARGUMENT(hf_influence(w->ctx, p, WORKSHOP_N, 0.0, 1.0, out));
    const size_t none = WORKSHOP_N, twice[] = {1, 1};
    const double one[] = {1.0, 1.0};
    ARGUMENT(hf_influence_sites(w->ctx, NULL, 1, twice, one, one, 0, NULL, 0, out));
    ARGUMENT(hf_influence_sites(w->ctx, p, 0, twice, one, one, 0, NULL, 0, out));
    ARGUMENT(hf_influence_sites(w->ctx, p, 1, &none, one, one, 0, NULL, 0, out));
    ARGUMENT(hf_influence_sites(w->ctx, p, 2, twice, one, one, 0, NULL, 0, out));
    ARGUMENT(hf_influence_sites(w->ctx, p, 1, twice, one, one, 1, NULL, 0, out));
    ARGUMENT(hf_influence_sites(w->ctx, p, 1, twice, one, one, 0, NULL, 0, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_influence(w->ctx, p, 0, NAN, 1.0, out));
    const double variances[] = {0.0, -1.0, NAN};
    for (size_t i = 0; i < 3; i++) ARGUMENT(hf_influence(w->ctx, p, 0, 0.0, variances[i], out));
    ARGUMENT(hf_influence_of_removal(w->ctx, NULL, out));
    ARGUMENT(hf_influence_of_removal(w->ctx, p, NULL));
    assert_true(out[0] == 7.0);
}

static void updates(workshop *w)
{
    hf_posterior *p = w->posterior;
    double at[WORKSHOP_D] = {0.5, 0.5}, backward = 7.0;
    ARGUMENT(hf_posterior_add(w->ctx, NULL, at, 0.0, 1.0));
    ARGUMENT(hf_posterior_add(w->ctx, p, NULL, 0.0, 1.0));
    ARGUMENT(hf_posterior_replace(w->ctx, NULL, 0, 0.0, 1.0));
    ARGUMENT(hf_posterior_replace(w->ctx, p, WORKSHOP_N, 0.0, 1.0));
    const double variances[] = {0.0, -1.0, NAN, INFINITY}, targets[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 4; i++) {
        ARGUMENT(hf_posterior_add(w->ctx, p, at, 0.0, variances[i]));
        ARGUMENT(hf_posterior_replace(w->ctx, p, 0, 0.0, variances[i]));
    }
    for (size_t i = 0; i < 3; i++) {
        REFUSED(HF_ERR_NOT_FINITE, hf_posterior_add(w->ctx, p, at, targets[i], 1.0));
        REFUSED(HF_ERR_NOT_FINITE, hf_posterior_replace(w->ctx, p, 0, targets[i], 1.0));
    }
    at[0] = NAN;
    REFUSED(HF_ERR_NOT_FINITE, hf_posterior_add(w->ctx, p, at, 0.0, 1.0));
    ARGUMENT(hf_posterior_remove(w->ctx, NULL, 0));
    ARGUMENT(hf_posterior_remove(w->ctx, p, WORKSHOP_N));
    ARGUMENT(hf_posterior_backward_error(w->ctx, NULL, &backward));
    ARGUMENT(hf_posterior_refresh(w->ctx, NULL));
    assert_true(backward == 7.0);
    /* Sizes that overflow on the way in. */
    REFUSED(HF_ERR_NOT_FINITE, hf_posterior_add(w->ctx, p, w->at, 1.7e308, 1e-300));
}

/* ---- training -------------------------------------------------------------------------------- */

static void objectives(workshop *w)
{
    double value = 7.0, gradient[16] = {7.0}, x[WORKSHOP_N * WORKSHOP_D];
    memcpy(x, w->x, sizeof x);
    const hf_objective what = HF_OBJECTIVE_LOO;
    const size_t d = WORKSHOP_D;
    ARGUMENT(hf_objective_evaluate(w->ctx, what, NULL, w->mean, w->sites, x, d, &value, gradient));
    ARGUMENT(hf_objective_evaluate(w->ctx, what, w->kernel, NULL, w->sites, x, d, &value, gradient));
    ARGUMENT(hf_objective_evaluate(w->ctx, what, w->kernel, w->mean, NULL, x, d, &value, gradient));
    ARGUMENT(hf_objective_evaluate(w->ctx, what, w->kernel, w->mean, w->sites, NULL, d, &value, gradient));
    ARGUMENT(hf_objective_evaluate(w->ctx, what, w->kernel, w->mean, w->sites, x, d, NULL, gradient));
    ARGUMENT(hf_objective_evaluate(w->ctx, (hf_objective)99, w->kernel, w->mean, w->sites, x, d, &value,
                                   gradient));
    REFUSED(HF_ERR_DIMENSION,
            hf_objective_evaluate(w->ctx, what, w->kernel, w->mean, w->sites, x, 1, &value, gradient));
    hf_mean *other = NULL;
    assert_int_equal(hf_mean_create(w->ctx, HF_MEAN_LINEAR, 1, &other), HF_OK);
    REFUSED(HF_ERR_DIMENSION,
            hf_objective_evaluate(w->ctx, what, w->kernel, other, w->sites, x, d, &value, gradient));
    hf_mean_free(other);
    hf_sites *none = NULL, *far = NULL;
    assert_int_equal(hf_sites_gaussian(w->ctx, 0, NULL, 1.0, NULL, &none), HF_OK);
    REFUSED(HF_ERR_NO_DATA,
            hf_objective_evaluate(w->ctx, what, w->kernel, w->mean, none, x, d, &value, gradient));
    const double huge[2] = {1e300, -1e300};
    assert_int_equal(hf_sites_gaussian(w->ctx, 2, huge, 1.0, NULL, &far), HF_OK);
    REFUSED(HF_ERR_NOT_FINITE,
            hf_objective_evaluate(w->ctx, what, w->kernel, w->mean, far, x, d, &value, gradient));
    hf_sites_free(none);
    hf_sites_free(far);
    x[5] = NAN;
    REFUSED(HF_ERR_NOT_FINITE,
            hf_objective_evaluate(w->ctx, what, w->kernel, w->mean, w->sites, x, d, &value, gradient));
    assert_true(value == 7.0 && gradient[0] == 7.0);
}

/* A fit of the workshop's arrays that must fail as expected. */
static void refuses_data_at(workshop *w, hf_data data, hf_fit_settings settings, hf_status expected, int line)
{
    hf_posterior *out = NULL;
    hf_fit_report report = {.readings = 77};
    hf_reading readings[WORKSHOP_N] = {{.group = 77}};
    refused_mark(w);
    hf_status status = hf_fit_data(w->ctx, &data, &settings, &out, &report, readings);
    refused_check(w, status, expected, "hf_fit_data", line);
    assert_true(out == NULL && report.readings == 77 && readings[0].group == 77);
}

#define refuses_data(w, data, settings, expected) refuses_data_at(w, data, settings, expected, __LINE__)

static void fits_of_bad_data(workshop *w)
{
    const hf_data good = {.n = WORKSHOP_N, .d = WORKSHOP_D, .x = w->x, .ldx = WORKSHOP_D, .y = w->y};
    hf_fit_settings settings = hf_fit_settings_default();
    hf_posterior *out = NULL;
    ARGUMENT(hf_fit_data(w->ctx, NULL, &settings, &out, NULL, NULL));
    ARGUMENT(hf_fit_data(w->ctx, &good, NULL, &out, NULL, NULL));
    ARGUMENT(hf_fit_data(w->ctx, &good, &settings, NULL, NULL, NULL));
    hf_assignment list[2];
    assert_int_equal(hf_fit_assignments(NULL, 2, list), 0);
    assert_int_equal(hf_fit_assignments(w->posterior, 0, list), hf_fit_assignments(w->posterior, 2, NULL));
    hf_data data = good;
    data.x = NULL;
    refuses_data(w, data, settings, HF_ERR_ARGUMENT);
    data = good, data.y = NULL;
    refuses_data(w, data, settings, HF_ERR_ARGUMENT);
    data = good, data.n = 0;
    refuses_data(w, data, settings, HF_ERR_NO_DATA);
    data = good, data.d = 0;
    refuses_data(w, data, settings, HF_ERR_NO_DATA);
    data = good, data.ldx = 1;
    refuses_data(w, data, settings, HF_ERR_DIMENSION);
    const char *const missing[] = {"a", NULL};
    data = good, data.names = missing;
    refuses_data(w, data, settings, HF_ERR_ARGUMENT);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    double x[WORKSHOP_N * WORKSHOP_D], y[WORKSHOP_N], noise[WORKSHOP_N];
    for (size_t i = 0; i < 3; i++) {
        memcpy(x, w->x, sizeof x);
        memcpy(y, w->y, sizeof y);
        memcpy(noise, w->extra, sizeof noise);
        x[7] = y[3] = noise[5] = bad[i];
        data = good, data.x = x;
        refuses_data(w, data, settings, HF_ERR_NOT_FINITE);
        data = good, data.noise = noise;
        refuses_data(w, data, settings, HF_ERR_ARGUMENT);
        if (i == 0) continue; /* a reading that is NaN is missing */
        data = good, data.y = y;
        refuses_data(w, data, settings, HF_ERR_NOT_FINITE);
    }
    for (size_t i = 0; i < WORKSHOP_N; i++) y[i] = NAN;
    data = good, data.y = y;
    refuses_data(w, data, settings, HF_ERR_NO_DATA);
}

static void fits_with_bad_settings(workshop *w)
{
    const hf_data data = {.n = WORKSHOP_N, .d = WORKSHOP_D, .x = w->x, .ldx = WORKSHOP_D, .y = w->y};
    const hf_fit_settings good = hf_fit_settings_default();
    hf_fit_settings s = good;
    const double shares[] = {1.0, -1.0, NAN};
    for (size_t i = 0; i < 3; i++) {
        s.eps = shares[i];
        refuses_data(w, data, s, HF_ERR_ARGUMENT);
    }
    const double thresholds[] = {0.0, -1.0, NAN};
    s = good, s.threshold_rule = HF_THRESHOLD_GIVEN;
    for (size_t i = 0; i < 3; i++) {
        s.threshold = thresholds[i];
        refuses_data(w, data, s, HF_ERR_ARGUMENT);
    }
    s = good, s.kernel = "matern52(ard";
    refuses_data(w, data, s, HF_ERR_PARSE);
    s = good, s.sites = HF_LIKELIHOOD_ROBUST; /* with suspects */
    refuses_data(w, data, s, HF_ERR_ARGUMENT);
    s.suspects = HF_OUTLIERS_OFF, s.rounds = 0;
    refuses_data(w, data, s, HF_ERR_ARGUMENT);
    s = good, s.suspects = HF_OUTLIERS_FORCE, s.train = false;
    refuses_data(w, data, s, HF_ERR_ARGUMENT);
    s = good, s.mean = (hf_mean_kind)99;
    refuses_data(w, data, s, HF_ERR_ARGUMENT);
    s = good, s.sites = (hf_likelihood)99;
    refuses_data(w, data, s, HF_ERR_ARGUMENT);
    s = good, s.suspects = (hf_outliers)99;
    refuses_data(w, data, s, HF_ERR_ARGUMENT);
    s = good, s.objective = (hf_objective)99;
    refuses_data(w, data, s, HF_ERR_ARGUMENT);
    s = good, s.centre = (hf_centre)99, s.sites = HF_LIKELIHOOD_ROBUST, s.suspects = HF_OUTLIERS_OFF;
    refuses_data(w, data, s, HF_ERR_ARGUMENT);
    s.centre = HF_CENTRE_PRIOR, s.threshold_rule = (hf_threshold_rule)99;
    refuses_data(w, data, s, HF_ERR_ARGUMENT);
    s = good, s.set = NULL, s.set_count = 2;
    refuses_data(w, data, s, HF_ERR_ARGUMENT);
    const hf_assignment bad[] = {{NULL, 1.0},
                                 {"", 1.0},
                                 {"lenghtscale", 1.0},
                                 {"noise", -1.0},
                                 {"noise", 0.0},
                                 {"noise", NAN},
                                 {"lengthscale", 0.0},
                                 {"mean", INFINITY},
                                 {"threshold", 0.0},
                                 {"outputscale", -1.0},
                                 {"lengthscale[2]", 1.0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        s = good, s.set = &bad[i], s.set_count = 1;
        refuses_data(w, data, s, HF_ERR_ARGUMENT);
    }
}

/* ---- models ---------------------------------------------------------------------------------- */

static void fits_of_tables(workshop *w)
{
    hf_fit_settings settings = workshop_untrained();
    hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_model *out = NULL;
    hf_cost cost = {.readings = 77};
    ARGUMENT(hf_fit(w->ctx, NULL, &columns, &settings, &out, NULL));
    ARGUMENT(hf_fit(w->ctx, w->table, NULL, &settings, &out, NULL));
    ARGUMENT(hf_fit(w->ctx, w->table, &columns, NULL, &out, NULL));
    ARGUMENT(hf_fit(w->ctx, w->table, &columns, &settings, NULL, NULL));
    ARGUMENT(hf_fit_cost(w->ctx, NULL, &columns, &settings, &cost));
    ARGUMENT(hf_fit_cost(w->ctx, w->table, NULL, &settings, &cost));
    ARGUMENT(hf_fit_cost(w->ctx, w->table, &columns, NULL, &cost));
    ARGUMENT(hf_fit_cost(w->ctx, w->table, &columns, &settings, NULL));
    hf_table *made = NULL;
    ARGUMENT(hf_fit_columns(w->ctx, NULL, &columns, &settings, &made));
    ARGUMENT(hf_fit_columns(w->ctx, w->table, NULL, &settings, &made));
    ARGUMENT(hf_fit_columns(w->ctx, w->table, &columns, NULL, &made));
    ARGUMENT(hf_fit_columns(w->ctx, w->table, &columns, &settings, NULL));
    ARGUMENT(hf_model_inputs(w->ctx, NULL, w->table, &made));
    ARGUMENT(hf_model_inputs(w->ctx, w->model, NULL, &made));
    ARGUMENT(hf_model_inputs(w->ctx, w->model, w->table, NULL));
    assert_true(made == NULL && hf_model_dialect(NULL) == NULL);
    const char *const itself[] = {"a", "y"}, *const nothing[] = {"a", NULL}, *const twice[] = {"a", "a"};
    const char *const unknown[] = {"a", "bb"}, *const text[] = {"who"};
    const struct {
        hf_columns columns;
        hf_status status;
    } cases[] = {
        {{.size = sizeof(hf_columns), .target = NULL}, HF_ERR_ARGUMENT},
        {{.size = sizeof(hf_columns), .target = "z"}, HF_ERR_NO_COLUMN},
        {{.size = sizeof(hf_columns), .target = "who"}, HF_ERR_PARSE},
        {{.size = sizeof(hf_columns), .target = "y", .features = itself, .feature_count = 2},
         HF_ERR_ARGUMENT},
        {{.size = sizeof(hf_columns), .target = "y", .features = nothing, .feature_count = 2},
         HF_ERR_ARGUMENT},
        {{.size = sizeof(hf_columns), .target = "y", .features = twice, .feature_count = 2}, HF_ERR_ARGUMENT},
        {{.size = sizeof(hf_columns), .target = "y", .features = unknown, .feature_count = 2},
         HF_ERR_NO_COLUMN},
        {{.size = sizeof(hf_columns), .target = "y", .features = text, .feature_count = 1}, HF_ERR_PARSE},
        {{.size = sizeof(hf_columns), .target = "y", .features = NULL, .feature_count = 2}, HF_ERR_ARGUMENT},
        {{.size = sizeof(hf_columns), .target = "y", .drop = unknown, .drop_count = 2}, HF_ERR_NO_COLUMN},
        {{.size = sizeof(hf_columns), .target = "y", .drop = NULL, .drop_count = 1}, HF_ERR_ARGUMENT},
        {{.size = sizeof(hf_columns), .target = "y", .noise = "nose"}, HF_ERR_NO_COLUMN},
        {{.size = sizeof(hf_columns), .target = "y", .noise = "who"}, HF_ERR_PARSE},
        {{.size = sizeof(hf_columns), .target = "y", .noise = "y"}, HF_ERR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        REFUSED(cases[i].status, hf_fit(w->ctx, w->table, &cases[i].columns, &settings, &out, NULL));
        REFUSED(cases[i].status, hf_fit_cost(w->ctx, w->table, &cases[i].columns, &settings, &cost));
        REFUSED(cases[i].status, hf_fit_columns(w->ctx, w->table, &cases[i].columns, &settings, &made));
    }
    assert_true(out == NULL && cost.readings == 77);
}

static void asking_models(workshop *w)
{
    hf_parameter p;
    hf_model_free(NULL);
    assert_null(hf_model_posterior(NULL));
    assert_null(hf_model_target(NULL));
    assert_int_equal(hf_model_features(NULL), 0);
    assert_null(hf_model_feature(NULL, 0));
    assert_null(hf_model_feature(w->model, 2));
    const char *category = "untouched";
    assert_null(hf_model_category(NULL, 0, &category));
    assert_null(hf_model_category(w->model, 2, &category));
    assert_string_equal(category, "untouched");
    assert_null(hf_model_report_of(NULL));
    assert_null(hf_model_settings_of(NULL));
    assert_null(hf_model_noise_column(NULL));
    assert_null(hf_model_mean_column(NULL));
    assert_null(hf_model_mean_column(w->model));
    assert_null(hf_model_exposure_column(NULL));
    assert_null(hf_model_exposure_column(w->model));
    assert_null(hf_model_source(NULL));
    uint64_t seed = 5;
    assert_null(hf_model_command(NULL));
    assert_null(hf_model_library(NULL));
    assert_false(hf_model_seed(NULL, &seed));
    assert_false(hf_model_seed(w->model, NULL));
    assert_int_equal(seed, 5);
    ARGUMENT(hf_model_set_command(w->ctx, NULL, "holdfast"));
    assert_int_equal(hf_model_skipped(NULL), 0);
    assert_int_equal(hf_model_notes(NULL), 0);
    assert_null(hf_model_note(NULL, 0));
    assert_null(hf_model_note(w->model, SIZE_MAX));
    assert_null(hf_model_data_checksum(NULL));
    assert_null(hf_model_content_checksum(NULL));
    assert_int_equal(hf_model_parameters(NULL), 0);
    assert_int_equal(hf_model_parameter(NULL, 0, &p), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_parameter(w->model, SIZE_MAX, &p), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_parameter(w->model, 0, NULL), HF_ERR_ARGUMENT);
}

static void using_models(workshop *w)
{
    hf_table *out = NULL, *other = table_of(w->ctx, "a,z\n1,2\n"),
             *words = table_of(w->ctx, "a,b,y\n1,x,2\n");
    hf_table *infinite = table_of(w->ctx, "a,b,y\n1,inf,2\n");
    hf_metrics metrics = {.n = 77};
    ARGUMENT(hf_predict_into_table(w->ctx, NULL, w->table));
    ARGUMENT(hf_predict_into_table(w->ctx, w->model, NULL));
    REFUSED(HF_ERR_NO_COLUMN, hf_predict_into_table(w->ctx, w->model, other));
    REFUSED(HF_ERR_PARSE, hf_predict_into_table(w->ctx, w->model, words));
    REFUSED(HF_ERR_NOT_FINITE, hf_predict_into_table(w->ctx, w->model, infinite));
    ARGUMENT(hf_score(w->ctx, NULL, w->table, &metrics));
    ARGUMENT(hf_score(w->ctx, w->model, NULL, &metrics));
    ARGUMENT(hf_score(w->ctx, w->model, w->table, NULL));
    REFUSED(HF_ERR_NO_COLUMN, hf_score(w->ctx, w->model, other, &metrics));
    REFUSED(HF_ERR_PARSE, hf_score(w->ctx, w->model, words, &metrics));
    REFUSED(HF_ERR_NOT_FINITE, hf_score(w->ctx, w->model, infinite, &metrics));
    ARGUMENT(hf_model_rows(w->ctx, NULL, &out));
    ARGUMENT(hf_model_rows(w->ctx, w->model, NULL));
    double moved = 7.0;
    ARGUMENT(hf_model_influence(w->ctx, NULL, 1, 0, 0.5, NULL, &moved));
    ARGUMENT(hf_model_influence(w->ctx, w->model, 0, 0, 0.5, NULL, &moved));
    ARGUMENT(hf_model_influence(w->ctx, w->model, 1, 1, 0.5, NULL, &moved));
    REFUSED(HF_ERR_NOT_FINITE, hf_model_influence(w->ctx, w->model, 1, 0, INFINITY, NULL, &moved));
    assert_true(moved == 7.0);
    ARGUMENT(hf_model_suspects(w->ctx, NULL, &out));
    ARGUMENT(hf_model_suspects(w->ctx, w->model, NULL));
    ARGUMENT(hf_model_training(w->ctx, NULL, &out));
    ARGUMENT(hf_model_training(w->ctx, w->model, NULL));
    hf_leave_one_out_scores scores = {.model = {.n = 77}};
    double relevance[8] = {77.0};
    ARGUMENT(hf_model_leave_one_out(w->ctx, NULL, &scores));
    ARGUMENT(hf_model_leave_one_out(w->ctx, w->model, NULL));
    ARGUMENT(hf_model_relevance(w->ctx, NULL, relevance));
    ARGUMENT(hf_model_relevance(w->ctx, w->model, NULL));
    assert_true(out == NULL && metrics.n == 77 && scores.model.n == 77 && relevance[0] == 77.0);
    assert_int_equal(hf_table_columns(words), 3);
    hf_table_free(other);
    hf_table_free(words);
    hf_table_free(infinite);
}

static void model_files(workshop *w)
{
    hf_model *out = NULL;
    ARGUMENT(hf_model_save(w->ctx, NULL, w->out));
    ARGUMENT(hf_model_save(w->ctx, w->model, NULL));
    REFUSED(HF_ERR_IO, hf_model_save(w->ctx, w->model, "/nonexistent/m.hf"));
    REFUSED(HF_ERR_IO, hf_model_save(w->ctx, w->model, w->scratch.path));
    ARGUMENT(hf_model_save(w->ctx, w->model, ""));
    ARGUMENT(hf_model_load(w->ctx, NULL, &out));
    ARGUMENT(hf_model_load(w->ctx, w->file, NULL));
    REFUSED(HF_ERR_IO, hf_model_load(w->ctx, "/nonexistent/m.hf", &out));
    REFUSED(HF_ERR_IO, hf_model_load(w->ctx, w->scratch.path, &out));
    REFUSED(HF_ERR_MODEL_FILE, hf_model_load(w->ctx, w->csv, &out));
    file_put(w->out, "", 0);
    REFUSED(HF_ERR_MODEL_FILE, hf_model_load(w->ctx, w->out, &out));
    remove(w->out);
    assert_null(out);
    assert_int_equal(folder_count(&w->scratch), 2);
}

/* ---- groups ---------------------------------------------------------------------------------- */

REFUSED_TEST(solving)
REFUSED_TEST(asking_posteriors)
REFUSED_TEST(one_point)
REFUSED_TEST(many_points)
REFUSED_TEST(largest_bounds)
REFUSED_TEST(influences)
REFUSED_TEST(updates)
REFUSED_TEST(objectives)
REFUSED_TEST(fits_of_bad_data)
REFUSED_TEST(fits_with_bad_settings)
REFUSED_TEST(fits_of_tables)
REFUSED_TEST(asking_models)
REFUSED_TEST(using_models)
REFUSED_TEST(model_files)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solving_refuse),          cmocka_unit_test(asking_posteriors_refuse),
        cmocka_unit_test(one_point_refuse),        cmocka_unit_test(many_points_refuse),
        cmocka_unit_test(largest_bounds_refuse),   cmocka_unit_test(influences_refuse),
        cmocka_unit_test(updates_refuse),          cmocka_unit_test(objectives_refuse),
        cmocka_unit_test(fits_of_bad_data_refuse), cmocka_unit_test(fits_with_bad_settings_refuse),
        cmocka_unit_test(fits_of_tables_refuse),   cmocka_unit_test(asking_models_refuse),
        cmocka_unit_test(using_models_refuse),     cmocka_unit_test(model_files_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
