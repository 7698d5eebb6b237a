/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of solving, predicting, updating, fitting, saving and loading fails once; see test_allocation.c. */
#include "api/sweep.h"

/* ---- where a bound is largest or smallest ---------------------------------------------------- */

static hf_status maximise(workshop *w, size_t candidates)
{
    const double lower[WORKSHOP_D] = {0.0, -0.5}, upper[WORKSHOP_D] = {5.0, 0.5};
    const hf_domain domain = {
        .dimension = WORKSHOP_D, .lower = lower, .upper = upper, .candidates = candidates, .points = w->at};
    const hf_ucb bound = {.size = sizeof bound, .mean = w->posterior, .beta = 2.0};
    double x[WORKSHOP_D] = {-7.0};
    hf_argmax report = {.evaluations = 77};
    hf_status s = hf_maximise_ucb(w->ctx, &bound, &domain, NULL, 1, w->at, x, &report);
    assert_true((x[0] == -7.0) == (s < 0) && (report.evaluations == 77) == (s < 0));
    return s;
}

static hf_status maximise_in_a_box(workshop *w)
{
    return maximise(w, 0);
}

static hf_status maximise_over_candidates(workshop *w)
{
    return maximise(w, WORKSHOP_M);
}

static hf_status minimise_in_a_box(workshop *w)
{
    const double lower[WORKSHOP_D] = {0.0, -0.5}, upper[WORKSHOP_D] = {5.0, 0.5};
    const hf_domain box = {.dimension = WORKSHOP_D, .lower = lower, .upper = upper};
    const hf_ucb bound = {.size = sizeof bound, .mean = w->posterior, .beta = 2.0, .minimise = true};
    double x[WORKSHOP_D] = {-7.0};
    const hf_status s = hf_maximise_ucb(w->ctx, &bound, &box, NULL, 1, w->at, x, NULL);
    assert_true((x[0] == -7.0) == (s < 0));
    return s;
}

/* ---- solver and posterior -------------------------------------------------------------------- */

static hf_status solve(workshop *w)
{
    hf_posterior *out = UNTOUCHED;
    hf_status s = settled(hf_solve_exact(w->ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, &out), out);
    if (s >= 0) hf_posterior_free(out);
    return s;
}

static hf_status workspace(workshop *w)
{
    hf_posterior_workspace *out = hf_posterior_workspace_create(w->ctx, w->posterior);
    hf_posterior_workspace_free(out);
    return out != NULL ? HF_OK : HF_ERR_MEMORY;
}

static hf_status predict(workshop *w)
{
    double mean[WORKSHOP_M] = {-7.0}, latent[WORKSHOP_M] = {-7.0}, observed[WORKSHOP_M] = {-7.0};
    hf_status s = hf_predict(w->ctx, w->posterior, WORKSHOP_M, w->at, WORKSHOP_D, mean, latent, observed);
    if (s < 0) assert_true(mean[0] == -7.0 && latent[0] == -7.0 && observed[0] == -7.0);
    return s;
}

static hf_status covariance(workshop *w)
{
    double c[WORKSHOP_M * WORKSHOP_M] = {-7.0};
    hf_status s = hf_predict_covariance(w->ctx, w->posterior, WORKSHOP_M, w->at, WORKSHOP_D, c, WORKSHOP_M);
    assert_true((c[0] == -7.0) == (s < 0));
    return s;
}

static hf_status sample(workshop *w)
{
    double draws[2 * WORKSHOP_M] = {-7.0};
    hf_status s = hf_sample(w->ctx, w->posterior, WORKSHOP_M, w->at, WORKSHOP_D, 2, 0, draws);
    assert_true((draws[0] == -7.0) == (s < 0));
    return s;
}

static hf_status leave_one_out(workshop *w)
{
    double mean[WORKSHOP_N] = {-7.0}, var[WORKSHOP_N] = {-7.0};
    hf_status s = hf_leave_one_out(w->ctx, w->posterior, mean, var);
    assert_true((mean[0] == -7.0 && var[0] == -7.0) == (s < 0));
    return s;
}

static hf_status influence(workshop *w)
{
    double kl = -7.0;
    hf_status s = hf_influence(w->ctx, w->posterior, 1, 0.4, 0.2, &kl);
    assert_true((kl == -7.0) == (s < 0));
    return s;
}

static hf_status influence_of_sites(workshop *w)
{
    const size_t anchor[] = {1, 2};
    const double target[] = {0.4, 0.1}, variance[] = {0.2, INFINITY};
    double kl;
    hf_status s = hf_influence_sites(w->ctx, w->posterior, 2, anchor, target, variance, 0, NULL, 0, &kl);
    if (s >= 0)
        s = hf_influence_sites(w->ctx, w->posterior, 2, anchor, target, variance, 2, w->x, WORKSHOP_D, &kl);
    return s;
}

static hf_status removals(workshop *w)
{
    double kl[WORKSHOP_N] = {-7.0};
    hf_status s = hf_influence_of_removal(w->ctx, w->posterior, kl);
    assert_true((kl[0] == -7.0) == (s < 0));
    return s;
}

/* Calls that change a posterior work on one of their own; what they leave behind is compared with what was. */
static hf_status on_own_posterior(workshop *w, hf_status (*change)(workshop *, hf_posterior *))
{
    hf_posterior *own = NULL;
    hf_status s = hf_solve_exact(w->ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, &own);
    if (s < 0) return s;
    size_t anchors = hf_posterior_anchors(own);
    s = change(w, own);
    if (s < 0) {
        double a[2], b[2];
        assert_int_equal(hf_posterior_anchors(own), anchors);
        /* The workshop's workspace fits: a posterior of the same shape. */
        assert_int_equal(hf_predict_latent(own, w->workspace, w->at, a, a + 1, NULL, NULL), HF_OK);
        assert_int_equal(hf_predict_latent(w->posterior, w->workspace, w->at, b, b + 1, NULL, NULL), HF_OK);
        assert_memory_equal(a, b, sizeof a);
    }
    hf_posterior_free(own);
    return s;
}

static hf_status add_one(workshop *w, hf_posterior *own)
{
    return hf_posterior_add(w->ctx, own, w->at, 0.5, 0.1);
}

static hf_status remove_one(workshop *w, hf_posterior *own)
{
    return hf_posterior_remove(w->ctx, own, 2);
}

static hf_status replace_one(workshop *w, hf_posterior *own)
{
    return hf_posterior_replace(w->ctx, own, 3, 0.5, 10.0);
}

static hf_status check_drift(workshop *w, hf_posterior *own)
{
    double backward = -7.0;
    hf_status s = hf_posterior_backward_error(w->ctx, own, &backward);
    assert_true((backward == -7.0) == (s < 0));
    return s;
}

static hf_status factor_afresh(workshop *w, hf_posterior *own)
{
    return hf_posterior_refresh(w->ctx, own);
}

static hf_status add(workshop *w)
{
    return on_own_posterior(w, add_one);
}

static hf_status remove_anchor(workshop *w)
{
    return on_own_posterior(w, remove_one);
}

static hf_status replace(workshop *w)
{
    return on_own_posterior(w, replace_one);
}

static hf_status check(workshop *w)
{
    return on_own_posterior(w, check_drift);
}

static hf_status refresh(workshop *w)
{
    return on_own_posterior(w, factor_afresh);
}

/* ---- training -------------------------------------------------------------------------------- */

static hf_status objective(workshop *w)
{
    double value = -7.0, gradient[16] = {-7.0};
    hf_status s = hf_objective_evaluate(w->ctx, HF_OBJECTIVE_WLOO, w->kernel, w->mean, w->sites, w->x,
                                        WORKSHOP_D, &value, gradient);
    assert_true((value == -7.0 && gradient[0] == -7.0) == (s < 0));
    return s;
}

static hf_status fit_arrays(workshop *w, hf_fit_settings settings)
{
    const char *const names[] = {"time", "b"};
    const hf_data data = {.n = WORKSHOP_N,
                          .d = WORKSHOP_D,
                          .x = w->x,
                          .ldx = WORKSHOP_D,
                          .y = w->y,
                          .noise = w->extra,
                          .names = names};
    hf_posterior *out = UNTOUCHED;
    hf_fit_report report = {.readings = 77};
    hf_reading readings[WORKSHOP_N] = {{.group = 77}};
    settings.iterations = 3;
    hf_status s = settled(hf_fit_data(w->ctx, &data, &settings, &out, &report, readings), out);
    assert_true((report.readings == 77 && readings[0].group == 77) == (s < 0));
    hf_assignment list[8];
    assert_true((hf_fit_assignments(s >= 0 ? out : NULL, 8, list) > 0) == (s >= 0));
    if (s >= 0) hf_posterior_free(out);
    return s;
}

static hf_status fit_warm(workshop *w)
{
    hf_fit_settings settings = hf_fit_settings_default();
    const hf_assignment start[] = {{"noise", 0.1}, {"lengthscale", 0.5}, {"mean", 0.2}};
    settings.start = start;
    settings.start_count = 3;
    settings.warm = true;
    return fit_arrays(w, settings);
}

static hf_status fit_default(workshop *w)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.restarts = 1;
    settings.suspects = HF_OUTLIERS_FORCE;
    return fit_arrays(w, settings);
}

static hf_status fit_robust(workshop *w)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_OFF;
    settings.sites = HF_LIKELIHOOD_ROBUST;
    settings.objective = HF_OBJECTIVE_LOO;
    settings.mean = HF_MEAN_LINEAR;
    settings.standardise = false;
    settings.rounds = 2;
    return fit_arrays(w, settings);
}

/* ---- models ---------------------------------------------------------------------------------- */

static hf_status fit_table(workshop *w)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "v"};
    const hf_fit_settings settings = workshop_untrained();
    hf_model *out = UNTOUCHED;
    hf_fit_report report = {.readings = 77};
    hf_status s = settled(hf_fit(w->ctx, w->table, &columns, &settings, &out, &report), out);
    assert_true((report.readings == 77) == (s < 0));
    if (s >= 0) hf_model_free(out);
    return s;
}

static hf_status fit_cost(workshop *w)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "v"};
    const hf_fit_settings settings = hf_fit_settings_default();
    hf_cost cost = {.readings = 77};
    hf_status s = hf_fit_cost(w->ctx, w->table, &columns, &settings, &cost);
    assert_true((cost.readings == 77) == (s < 0));
    return s;
}

static hf_status fit_columns(workshop *w)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "v"};
    const hf_fit_settings settings = hf_fit_settings_default();
    hf_table *out = UNTOUCHED;
    const hf_status s = settled(hf_fit_columns(w->ctx, w->table, &columns, &settings, &out), out);
    if (s >= 0) hf_table_free(out);
    return s;
}

/* A model with dates and categories: fit, save, load, predict. */
static hf_status with_texts(workshop *w)
{
    static const char text[] =
        "day;kind;y\n01.02.2024;a;1,5\n02.02.2024;b;2\n03.02.2024;a;1,7\n04.02.2024;b;2,1\n";
    const char *const features[] = {"day", "kind"}, *const codes[] = {"-9"};
    const hf_columns columns = {
        .size = sizeof columns, .target = "y", .features = features, .feature_count = 2, .text_inputs = true};
    const hf_dialect dialect = {.size = sizeof dialect, .missing = codes, .missing_count = 1};
    hf_fit_settings settings = hf_fit_settings_default();
    settings.train = false;
    settings.suspects = HF_OUTLIERS_OFF;
    hf_table *table = NULL, *inputs = NULL;
    hf_model *model = NULL, *loaded = NULL;
    hf_status s = hf_table_parse(w->ctx, text, strlen(text), "m", &dialect, &table);
    if (s >= 0) s = hf_fit(w->ctx, table, &columns, &settings, &model, NULL);
    if (s >= 0) s = hf_model_save(w->ctx, model, w->out);
    if (s >= 0) s = hf_model_load(w->ctx, w->out, &loaded);
    if (s >= 0) s = hf_model_inputs(w->ctx, loaded, table, &inputs);
    if (s >= 0) s = hf_predict_into_table(w->ctx, loaded, table);
    if (s >= 0) assert_int_equal(hf_model_dialect(loaded)->missing_count, 1);
    if (s >= 0) assert_int_equal(hf_table_columns(inputs), 3);
    remove(w->out);
    hf_table_free(inputs);
    hf_model_free(loaded);
    hf_model_free(model);
    hf_table_free(table);
    return s;
}

static hf_status predict_into_table(workshop *w)
{
    hf_table *own = NULL;
    hf_status s = hf_table_read_csv(w->ctx, w->csv, &own);
    if (s < 0) return s;
    s = hf_predict_into_table(w->ctx, w->model, own);
    assert_int_equal(hf_table_columns(own), s < 0 ? 5 : 10);
    hf_table_free(own);
    return s;
}

static hf_status score(workshop *w)
{
    hf_metrics metrics = {.n = 77};
    hf_status s = hf_score(w->ctx, w->model, w->table, &metrics);
    assert_true((metrics.n == 77) == (s < 0));
    return s;
}

static hf_status rows(workshop *w)
{
    hf_table *out = UNTOUCHED;
    hf_status s = settled(hf_model_rows(w->ctx, w->model, &out), out);
    if (s >= 0) hf_table_free(out);
    return s;
}

static hf_status quality(workshop *w)
{
    hf_leave_one_out_scores scores = {.model = {.n = 77}};
    double relevance[8] = {77.0};
    hf_status s = hf_model_leave_one_out(w->ctx, w->model, &scores);
    assert_true((scores.model.n == 77) == (s < 0));
    if (s >= 0) s = hf_model_relevance(w->ctx, w->model, relevance);
    assert_true((relevance[0] == 77.0) == (s < 0));
    return s;
}

static hf_status suspects(workshop *w)
{
    hf_table *out = UNTOUCHED;
    hf_status s = settled(hf_model_suspects(w->ctx, w->model, &out), out);
    if (s >= 0) hf_table_free(out);
    return s;
}

static hf_status training(workshop *w)
{
    hf_table *out = UNTOUCHED;
    hf_status s = settled(hf_model_training(w->ctx, w->model, &out), out);
    if (s >= 0) hf_table_free(out);
    return s;
}

static hf_status save(workshop *w)
{
    hf_status s = hf_model_save(w->ctx, w->model, w->out);
    assert_int_equal(folder_count(&w->scratch), s < 0 ? 2 : 3);
    if (s >= 0) remove(w->out);
    return s;
}

static hf_status load(workshop *w)
{
    hf_model *out = UNTOUCHED;
    hf_status s = settled(hf_model_load(w->ctx, w->file, &out), out);
    if (s >= 0) hf_model_free(out);
    return s;
}

/* From text to a saved model and back, as a program would. */
static hf_status whole_program(workshop *w)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "v"};
    hf_fit_settings settings = hf_fit_settings_default();
    settings.iterations = 2;
    settings.suspects = HF_OUTLIERS_OFF;
    hf_table *table = NULL, *told = NULL;
    hf_model *model = NULL, *loaded = NULL;
    hf_metrics metrics;
    hf_status s = hf_table_parse_csv(w->ctx, workshop_csv, strlen(workshop_csv), "m", &table);
    if (s >= 0) s = hf_fit(w->ctx, table, &columns, &settings, &model, NULL);
    if (s >= 0) s = hf_predict_into_table(w->ctx, model, table);
    if (s >= 0) s = hf_score(w->ctx, model, table, &metrics);
    if (s >= 0) s = hf_model_rows(w->ctx, model, &told);
    if (s >= 0) s = hf_model_save(w->ctx, model, w->out);
    if (s >= 0) s = hf_model_load(w->ctx, w->out, &loaded);
    remove(w->out);
    hf_table_free(told);
    hf_table_free(table);
    hf_model_free(model);
    hf_model_free(loaded);
    return s;
}

/* The same of a model of target - mean: the noise column brings the means. */
static hf_status with_means(workshop *w)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y", .mean = "v"};
    const hf_fit_settings settings = workshop_untrained();
    hf_model *model = NULL, *loaded = NULL;
    hf_table *training = NULL;
    hf_status s = hf_fit(w->ctx, w->table, &columns, &settings, &model, NULL);
    if (s >= 0) s = hf_model_training(w->ctx, model, &training);
    if (s >= 0) s = hf_predict_into_table(w->ctx, model, training);
    if (s >= 0) s = hf_model_save(w->ctx, model, w->out);
    if (s >= 0) s = hf_model_load(w->ctx, w->out, &loaded);
    if (s >= 0) assert_string_equal(hf_model_mean_column(loaded), "v");
    remove(w->out);
    hf_table_free(training);
    hf_model_free(model);
    hf_model_free(loaded);
    return s;
}

/* Counts with exposures, and what is told of new ones, which allocates nothing. */
static hf_status with_counts(workshop *w)
{
    static const char text[] = "x,e,y\n1,1,4\n2,1,0\n3,2,7\n4,1,3\n5,1,2\n6,3,9\n";
    const hf_columns columns = {.size = sizeof columns, .target = "y", .exposure = "e"};
    hf_fit_settings settings;
    hf_table *table = NULL;
    hf_model *model = NULL;
    hf_metrics metrics;
    hf_reading_moments moments;
    double q = NAN, p = NAN, score = NAN, crps = NAN;
    assert_int_equal(hf_fit_settings_preset(NULL, "negative-binomial", &settings, sizeof settings), HF_OK);
    assert_true(hf_likelihood_has_rate(settings.sites) && !hf_likelihood_has_labels(settings.sites));
    assert_int_equal(hf_likelihood_moments(settings.sites, 0.3, 1.0, 0.2, &moments), HF_OK);
    assert_int_equal(hf_likelihood_quantile(settings.sites, 0.3, 1.0, 0.2, 0.5, &q), HF_OK);
    assert_int_equal(hf_likelihood_cumulative(settings.sites, 0.3, 1.0, 0.2, q, &p), HF_OK);
    assert_int_equal(hf_likelihood_log_score(settings.sites, 0.3, 1.0, 0.2, q, &score), HF_OK);
    assert_int_equal(hf_likelihood_crps(settings.sites, 0.3, 1.0, 0.2, q, &crps), HF_OK);
    assert_true(p >= 0.5 && score < 0.0 && crps > 0.0);
    settings.iterations = 3;
    hf_status s = hf_table_parse_csv(w->ctx, text, strlen(text), "m", &table);
    if (s >= 0) s = hf_fit(w->ctx, table, &columns, &settings, &model, NULL);
    if (s >= 0) assert_string_equal(hf_model_exposure_column(model), "e");
    if (s >= 0) s = hf_predict_into_table(w->ctx, model, table);
    if (s >= 0) s = hf_score(w->ctx, model, table, &metrics);
    hf_table_free(table);
    hf_model_free(model);
    return s;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void posteriors_survive(void **state)
{
    (void)state;
    RUN(CASE(solve, 10), CASE(workspace, 4), CASE(predict, 3), CASE(covariance, 2), CASE(sample, 2),
        CASE(leave_one_out, 1), CASE(influence, 1), CASE(influence_of_sites, 10), CASE(removals, 1),
        CASE(add, 15), CASE(remove_anchor, 10), CASE(replace, 15), CASE(check, 10), CASE(refresh, 10),
        CASE(maximise_in_a_box, 20), CASE(minimise_in_a_box, 20), CASE(maximise_over_candidates, 10));
}

static void fits_survive(void **state)
{
    (void)state;
    RUN(CASE(objective, 3), CASE(fit_default, 50), CASE(fit_warm, 30), CASE(fit_robust, 30));
}

static void models_survive(void **state)
{
    (void)state;
    RUN(CASE(fit_table, 30), CASE(fit_cost, 10), CASE(fit_columns, 10), CASE(with_texts, 80),
        CASE(predict_into_table, 10), CASE(score, 5), CASE(rows, 20), CASE(quality, 6), CASE(suspects, 10),
        CASE(training, 8), CASE(save, 10), CASE(load, 30), CASE(whole_program, 100), CASE(with_means, 80),
        CASE(with_counts, 60));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posteriors_survive),
        cmocka_unit_test(fits_survive),
        cmocka_unit_test(models_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
