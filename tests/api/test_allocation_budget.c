/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the budget solvers fails once: placing inducing inputs and other choices of rows,
 * solving, what a projection has not computed, whole fits, and their models in files. */
#include "api/sweep.h"
#include <math.h>

enum {
    PLACES = 4
};

static hf_status choose(workshop *w, hf_inducing_choice choice)
{
    double z[PLACES * WORKSHOP_D] = {7.0};
    size_t chosen = 77;
    hf_status s =
        hf_choose_inducing(w->ctx, w->kernel, choice, WORKSHOP_N, w->x, WORKSHOP_D, PLACES, z, &chosen);
    assert_true(s < 0 ? chosen == 77 && z[0] == 7.0 : chosen == PLACES);
    return s;
}

static hf_status choose_greedy(workshop *w)
{
    return choose(w, HF_INDUCING_GREEDY);
}

static hf_status choose_kmeans(workshop *w)
{
    return choose(w, HF_INDUCING_KMEANS);
}

static hf_status choose_mdpp(workshop *w)
{
    return choose(w, HF_INDUCING_MDPP);
}

static hf_status choose_first(workshop *w)
{
    return choose(w, HF_INDUCING_FIRST);
}

static hf_status dpp_greedy(workshop *w)
{
    size_t rows[PLACES] = {77}, chosen = 77;
    double log_det = 77.0;
    hf_status s = hf_dpp_greedy(w->ctx, w->kernel, WORKSHOP_N, w->x, WORKSHOP_D, NULL, PLACES, 0.0, rows,
                                &chosen, &log_det);
    assert_true(s < 0 ? chosen == 77 && rows[0] == 77 && log_det == 77.0 : chosen == PLACES);
    return s;
}

static hf_status dpp_sample(workshop *w)
{
    size_t rows[PLACES] = {77};
    hf_dpp_report report = {.chosen = 77};
    hf_status s = hf_dpp_sample(w->ctx, w->kernel, WORKSHOP_N, w->x, WORKSHOP_D, PLACES,
                                hf_dpp_mixing_steps(WORKSHOP_N, PLACES, 0.5), 1, rows, &report);
    assert_true(s < 0 ? report.chosen == 77 && rows[0] == 77 : report.chosen == PLACES);
    return s;
}

static hf_status ageing(workshop *w)
{
    const hf_age_law law = {.kind = HF_AGE_WIENER, .rate = 0.1};
    hf_sites *older = UNTOUCHED;
    hf_status s = settled(hf_sites_copy(w->ctx, w->sites, &older), older);
    if (s < 0) return s;
    s = hf_sites_age(w->ctx, older, &law, w->extra);
    hf_sites_free(older);
    return s;
}

static hf_status inducing(workshop *w, hf_inducing_method method)
{
    hf_posterior *out = UNTOUCHED;
    hf_status s = settled(hf_solve_inducing(w->ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, method,
                                            PLACES, w->x, WORKSHOP_D, &out),
                          out);
    if (s >= 0) hf_posterior_free(out);
    return s;
}

static hf_status inducing_vfe(workshop *w)
{
    return inducing(w, HF_INDUCING_VFE);
}

static hf_status inducing_fitc(workshop *w)
{
    return inducing(w, HF_INDUCING_FITC);
}

static hf_status projected(workshop *w, const hf_projection *projection)
{
    hf_posterior *out = UNTOUCHED;
    hf_projection_report report = {.passes = 77};
    hf_status s = settled(
        hf_solve_projected(w->ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, projection, &out, &report),
        out);
    if (s < 0) assert_int_equal(report.passes, 77);
    if (s >= 0) hf_posterior_free(out);
    return s;
}

static hf_status projected_krylov(workshop *w)
{
    return projected(
        w, &(hf_projection){
               .size = sizeof(hf_projection), .actions = HF_ACTIONS_KRYLOV, .count = 3, .inducing = 2});
}

static hf_status projected_inducing(workshop *w)
{
    return projected(
        w, &(hf_projection){.size = sizeof(hf_projection), .actions = HF_ACTIONS_INDUCING, .count = 3});
}

static hf_status projected_blocks(workshop *w)
{
    const hf_projection projection = {.size = sizeof projection,
                                      .actions = HF_ACTIONS_BLOCKS,
                                      .count = 3,
                                      .blocks = HF_BLOCKS_CLUSTERED,
                                      .start = HF_ACTION_START_EIGEN,
                                      .single_precision = true};
    return projected(w, &projection);
}

static hf_status projected_given(workshop *w)
{
    double matrix[WORKSHOP_N * 3];
    for (size_t i = 0; i < WORKSHOP_N * 3; i++) matrix[i] = cos((double)((i % 3 + 1) * (i / 3)));
    return projected(
        w, &(hf_projection){
               .size = sizeof(hf_projection), .actions = HF_ACTIONS_GIVEN, .count = 3, .matrix = matrix});
}

/* Made anew each time: also the failures on the way to it are swept. */
static hf_status computational(workshop *w)
{
    const hf_projection projection = {.size = sizeof projection, .actions = HF_ACTIONS_BLOCKS, .count = 3};
    hf_posterior *posterior = NULL;
    double var[WORKSHOP_M] = {-7.0};
    hf_status s = hf_solve_projected(w->ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, &projection,
                                     &posterior, NULL);
    if (s >= 0) s = hf_predict_computational(w->ctx, posterior, WORKSHOP_M, w->at, WORKSHOP_D, var);
    assert_true((var[0] == -7.0) == (s < 0));
    hf_posterior_free(posterior);
    return s;
}

static hf_status influence_projected(workshop *w)
{
    const hf_projection projection = {.size = sizeof projection, .actions = HF_ACTIONS_BLOCKS, .count = 3};
    hf_posterior *posterior = NULL;
    double kl = -7.0;
    hf_status s = hf_solve_projected(w->ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, &projection,
                                     &posterior, NULL);
    if (s >= 0) s = hf_influence(w->ctx, posterior, 1, 0.4, 0.2, &kl);
    assert_true((kl == -7.0) == (s < 0));
    hf_posterior_free(posterior);
    return s;
}

static hf_status influence_inducing(workshop *w)
{
    hf_posterior *posterior = NULL;
    double kl = -7.0;
    hf_status s = hf_solve_inducing(w->ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, HF_INDUCING_VFE,
                                    3, w->x, WORKSHOP_D, &posterior);
    if (s >= 0) s = hf_influence_inducing(w->ctx, posterior, HF_INDUCING_VFE, w->x, 0.4, 0.2, 0.3, 0.2, &kl);
    assert_true((kl == -7.0) == (s < 0));
    hf_posterior_free(posterior);
    return s;
}

static hf_status worst_cases(workshop *w)
{
    const hf_projection projection = {.size = sizeof projection, .actions = HF_ACTIONS_BLOCKS, .count = 3};
    hf_posterior *posterior = NULL;
    double total[WORKSHOP_M] = {-7.0}, part[WORKSHOP_M] = {-7.0};
    hf_projection_error error = {.rho = -7.0};
    hf_status s = hf_solve_projected(w->ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, &projection,
                                     &posterior, NULL);
    if (s >= 0) s = hf_predict_worst_case(w->ctx, posterior, WORKSHOP_M, w->at, WORKSHOP_D, total, part);
    assert_true((total[0] == -7.0 && part[0] == -7.0) == (s < 0));
    if (s >= 0) {
        s = hf_projected_error(w->ctx, posterior, true, &error);
        assert_true((error.rho == -7.0) == (s < 0));
    }
    hf_posterior_free(posterior);
    return s;
}

static hf_status fit(workshop *w, hf_fit_settings settings)
{
    const hf_data data = {
        .n = WORKSHOP_N, .d = WORKSHOP_D, .x = w->x, .ldx = WORKSHOP_D, .y = w->y, .noise = w->extra};
    hf_posterior *out = UNTOUCHED;
    hf_fit_report report = {.readings = 77};
    hf_reading readings[WORKSHOP_N] = {{.weight = 77.0}};
    settings.iterations = 2;
    settings.rounds = 2;
    hf_status s = settled(hf_fit_data(w->ctx, &data, &settings, &out, &report, readings), out);
    if (s < 0) assert_true(report.readings == 77 && readings[0].weight == 77.0);
    if (s >= 0) hf_posterior_free(out);
    return s;
}

static hf_fit_settings preset(const char *name)
{
    hf_fit_settings settings = hf_fit_settings_default();
    assert_int_equal(hf_fit_settings_preset(NULL, name, &settings, sizeof settings), HF_OK);
    settings.actions = settings.solver == HF_SOLVER_PROJECTED ? 3 : 0;
    settings.inducing = settings.solver == HF_SOLVER_EXACT ? 0 : PLACES;
    return settings;
}

static hf_status fit_sgpr(workshop *w)
{
    return fit(w, preset("sgpr"));
}

static hf_status fit_rcsvgp(workshop *w)
{
    return fit(w, preset("rcsvgp"));
}

static hf_status fit_cagp(workshop *w)
{
    return fit(w, preset("cagp"));
}

static hf_status fit_rcagp(workshop *w)
{
    return fit(w, preset("rcagp"));
}

static hf_status fit_svgp(workshop *w)
{
    return fit(w, preset("svgp"));
}

static hf_status fit_student(workshop *w)
{
    return fit(w, preset("student-t"));
}

static hf_status fit_rrp(workshop *w)
{
    return fit(w, preset("rrp"));
}

/* A model with any solver goes through a file. */
static hf_status model_file(workshop *w, hf_solver solver)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "v"};
    hf_fit_settings settings = workshop_untrained();
    hf_model *model = NULL, *loaded = NULL;
    settings.solver = solver;
    settings.inducing = settings.actions = 3;
    hf_status s = hf_fit(w->ctx, w->table, &columns, &settings, &model, NULL);
    if (s >= 0) s = hf_model_save(w->ctx, model, w->out);
    if (s >= 0) {
        s = hf_model_load(w->ctx, w->out, &loaded);
        remove(w->out);
    }
    hf_model_free(loaded);
    hf_model_free(model);
    return s;
}

static hf_status model_inducing(workshop *w)
{
    return model_file(w, HF_SOLVER_INDUCING);
}

static hf_status model_projected(workshop *w)
{
    return model_file(w, HF_SOLVER_PROJECTED);
}

/* ---- what allocates nothing ------------------------------------------------------------------ */

static hf_status quiet_choices(workshop *w)
{
    hf_solver solver;
    hf_inducing_method method;
    hf_inducing_choice choice;
    hf_actions actions;
    hf_blocks blocks;
    hf_action_start start;
    hf_inference student;
    hf_optimiser optimiser;
    hf_prior_kind prior;
    hf_age_kind age;
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_SOLVER, "projected", &solver), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_SOLVER, solver), "projected");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_INDUCING_METHOD, "fitc", &method), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_INDUCING_METHOD, method), "fitc");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_INDUCING_CHOICE, "mdpp", &choice), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_INDUCING_CHOICE, choice), "mdpp");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_ACTIONS, "blocks", &actions), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_ACTIONS, actions), "blocks");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_BLOCKS, "clustered", &blocks), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_BLOCKS, blocks), "clustered");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_ACTION_START, "eigen", &start), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_ACTION_START, start), "eigen");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_INFERENCE, "ep", &student), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_INFERENCE, student), "ep");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_PRIOR_KIND, "dimension", &prior), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_PRIOR_KIND, prior), "dimension");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_OPTIMISER, "adam", &optimiser), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_OPTIMISER, optimiser), "adam");
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_AGE_KIND, "wiener", &age), HF_OK);
    assert_string_equal(hf_enum_name(HF_ENUM_AGE_KIND, age), "wiener");
    return HF_OK;
}

static bool add_up(size_t count, double *values, void *user)
{
    (void)count;
    (void)values;
    (void)user;
    return true;
}

static hf_status quiet_rest(workshop *w)
{
    const hf_group alone = {.rank = 0, .size = 1, .sum = add_up};
    hf_group group = {.size = 77};
    assert_int_equal(hf_context_set_group(w->ctx, &alone), w->ctx != NULL ? HF_OK : HF_ERR_ARGUMENT);
    assert_int_equal(hf_context_set_group(w->ctx, NULL), w->ctx != NULL ? HF_OK : HF_ERR_ARGUMENT);
    /* Without MPI, or before it runs. */
    assert_int_equal(hf_group_mpi(w->ctx, 0, &group), HF_ERR_ARGUMENT);
    assert_int_equal(group.size, 77);
    assert_int_equal(hf_sites_set_beta(w->ctx, w->sites, 0.0), HF_OK);
    const double usual[] = {0.0};
    assert_int_equal(hf_sites_set_channel_beta(w->ctx, w->sites, usual), HF_OK);
    assert_true(hf_sites_beta(w->sites, 0) == 0.0);
    const hf_age_law law = {.kind = HF_AGE_LINEAR, .rate = 0.5};
    assert_int_equal(hf_age_law_check(w->ctx, &law), HF_OK);
    assert_true(hf_age_variance(&law, 1.0, 2.0) == 4.0 && hf_age_horizon(&law, 1.0, 4.0) == 2.0);
    assert_int_equal(hf_posterior_solver(w->posterior), HF_SOLVER_EXACT);
    assert_int_equal(hf_posterior_rank(w->posterior), WORKSHOP_N - 1);
    double var[WORKSHOP_M];
    assert_int_equal(hf_predict_computational(w->ctx, w->posterior, WORKSHOP_M, w->at, WORKSHOP_D, var),
                     HF_OK);
    return HF_OK;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void places_survive(void **state)
{
    (void)state;
    RUN(CASE(choose_greedy, 5), CASE(choose_kmeans, 6), CASE(choose_mdpp, 10), CASE(choose_first, 2),
        CASE(dpp_greedy, 6), CASE(dpp_sample, 15), CASE(ageing, 2));
}

static void solves_survive(void **state)
{
    (void)state;
    RUN(CASE(inducing_vfe, 10), CASE(inducing_fitc, 10), CASE(projected_krylov, 10),
        CASE(projected_inducing, 10), CASE(projected_given, 10), CASE(projected_blocks, 10),
        CASE(computational, 15), CASE(influence_projected, 15), CASE(influence_inducing, 15),
        CASE(worst_cases, 20));
}

static void inducing_fits_survive(void **state)
{
    (void)state;
    RUN(CASE(fit_sgpr, 30), CASE(fit_rcsvgp, 30), CASE(fit_svgp, 20));
}

static void projected_fits_survive(void **state)
{
    (void)state;
    RUN(CASE(fit_cagp, 30), CASE(fit_rcagp, 30));
}

static void other_fits_survive(void **state)
{
    (void)state;
    RUN(CASE(fit_student, 30), CASE(fit_rrp, 30));
}

static void models_survive(void **state)
{
    (void)state;
    RUN(CASE(model_inducing, 50), CASE(model_projected, 50));
}

static void the_rest_allocates_nothing(void **state)
{
    (void)state;
    RUN(CASE(quiet_choices, 0), CASE(quiet_rest, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_survive),
        cmocka_unit_test(solves_survive),
        cmocka_unit_test(inducing_fits_survive),
        cmocka_unit_test(projected_fits_survive),
        cmocka_unit_test(other_fits_survive),
        cmocka_unit_test(models_survive),
        cmocka_unit_test(the_rest_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
