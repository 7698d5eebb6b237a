/* SPDX-License-Identifier: Apache-2.0 */
/* NULL, NaN, infinity, zero sizes and strides that are too short, for the budget solvers: an error with a message, all
 * outputs and objects as they were, never a crash. */
#include "api/refused.h"

enum {
    PLACES = 3
};

static void names(workshop *w)
{
    hf_solver solver = HF_SOLVER_EXACT;
    hf_inducing_method method = HF_INDUCING_DTC;
    hf_inducing_choice choice = HF_INDUCING_FIRST;
    hf_actions actions = HF_ACTIONS_BLOCKS;
    hf_blocks blocks = HF_BLOCKS_CLUSTERED;
    hf_action_start start = HF_ACTION_START_EIGEN;
    hf_inference student = HF_INFERENCE_EP;
    hf_prior_kind prior = HF_PRIOR_DIMENSION;
    hf_optimiser optimiser = HF_OPTIMISER_ADAM;
    const char *const bad[] = {NULL, "", "Exact", "exact ", "krylow"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_SOLVER, bad[i], &solver));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_INDUCING_METHOD, bad[i], &method));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_INDUCING_CHOICE, bad[i], &choice));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_ACTIONS, bad[i], &actions));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_BLOCKS, bad[i], &blocks));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_ACTION_START, bad[i], &start));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_INFERENCE, bad[i], &student));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_OPTIMISER, bad[i], &optimiser));
        ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_PRIOR_KIND, bad[i], &prior));
    }
    assert_true(solver == HF_SOLVER_EXACT && method == HF_INDUCING_DTC && choice == HF_INDUCING_FIRST &&
                actions == HF_ACTIONS_BLOCKS && blocks == HF_BLOCKS_CLUSTERED &&
                start == HF_ACTION_START_EIGEN && student == HF_INFERENCE_EP &&
                optimiser == HF_OPTIMISER_ADAM && prior == HF_PRIOR_DIMENSION);
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_SOLVER, "auto", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_INDUCING_METHOD, "vfe", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_INDUCING_CHOICE, "greedy", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_ACTIONS, "krylov", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_BLOCKS, "contiguous", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_ACTION_START, "random", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_INFERENCE, "laplace", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_OPTIMISER, "lbfgs", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_PRIOR_KIND, "weak", NULL));
    const char *strange[] = {hf_enum_name(HF_ENUM_SOLVER, (unsigned)99),
                             hf_enum_name(HF_ENUM_INDUCING_METHOD, (unsigned)99),
                             hf_enum_name(HF_ENUM_INDUCING_CHOICE, (unsigned)-1),
                             hf_enum_name(HF_ENUM_ACTIONS, (unsigned)99),
                             hf_enum_name(HF_ENUM_BLOCKS, (unsigned)99),
                             hf_enum_name(HF_ENUM_ACTION_START, (unsigned)-9),
                             hf_enum_name(HF_ENUM_INFERENCE, (unsigned)99),
                             hf_enum_name(HF_ENUM_OPTIMISER, (unsigned)99),
                             hf_enum_name(HF_ENUM_PRIOR_KIND, (unsigned)99)};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) assert_non_null(strange[i]);
}

static bool add_up(size_t count, double *values, void *user)
{
    (void)count;
    (void)values;
    (void)user;
    return true;
}

static void groups(workshop *w)
{
    hf_group group = {.rank = 2, .size = 2, .sum = add_up};
    ARGUMENT(hf_context_set_group(w->ctx, &group));
    group = (hf_group){.rank = 0, .size = 0, .sum = add_up};
    ARGUMENT(hf_context_set_group(w->ctx, &group));
    group = (hf_group){.rank = 0, .size = 2, .sum = NULL};
    ARGUMENT(hf_context_set_group(w->ctx, &group));
    assert_int_equal(hf_context_set_group(NULL, NULL), HF_ERR_ARGUMENT);
    ARGUMENT(hf_group_mpi(w->ctx, 0, NULL));
    ARGUMENT(hf_group_mpi(w->ctx, 0, &group));
    assert_true(group.size == 2 && group.sum == NULL);
}

static void amplitudes(workshop *w)
{
    const double bad[] = {-1.0, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 4; i++) ARGUMENT(hf_sites_set_beta(w->ctx, w->sites, bad[i]));
    ARGUMENT(hf_sites_set_beta(w->ctx, NULL, 1.0));
    for (size_t i = 0; i < 4; i++) ARGUMENT(hf_sites_set_channel_beta(w->ctx, w->sites, bad + i));
    ARGUMENT(hf_sites_set_channel_beta(w->ctx, w->sites, NULL));
    ARGUMENT(hf_sites_set_channel_beta(w->ctx, NULL, bad));
    assert_true(hf_sites_beta(NULL, 0) == 0.0 && hf_sites_beta(w->sites, SIZE_MAX) == 0.0);
}

static void places(workshop *w)
{
    double z[PLACES * WORKSHOP_D] = {7.0}, x[2 * WORKSHOP_D] = {0.1, 0.2, 0.3, 0.4};
    size_t chosen = 77;
    for (int c = HF_INDUCING_GREEDY; c <= HF_INDUCING_FIRST; c++) {
        const hf_inducing_choice choice = (hf_inducing_choice)c;
        const double wrong[] = {NAN, INFINITY};
        ARGUMENT(hf_choose_inducing(w->ctx, NULL, choice, 2, x, 2, PLACES, z, &chosen));
        ARGUMENT(hf_choose_inducing(w->ctx, w->kernel, choice, 2, NULL, 2, PLACES, z, &chosen));
        ARGUMENT(hf_choose_inducing(w->ctx, w->kernel, choice, 2, x, 2, PLACES, NULL, &chosen));
        ARGUMENT(hf_choose_inducing(w->ctx, w->kernel, choice, 2, x, 2, PLACES, z, NULL));
        ARGUMENT(hf_choose_inducing(w->ctx, w->kernel, choice, 2, x, 2, 0, z, &chosen));
        REFUSED(HF_ERR_NO_DATA,
                hf_choose_inducing(w->ctx, w->kernel, choice, 0, NULL, 2, PLACES, z, &chosen));
        REFUSED(HF_ERR_DIMENSION, hf_choose_inducing(w->ctx, w->kernel, choice, 2, x, 1, PLACES, z, &chosen));
        for (size_t i = 0; i < 2; i++) {
            x[3] = wrong[i];
            REFUSED(HF_ERR_NOT_FINITE,
                    hf_choose_inducing(w->ctx, w->kernel, choice, 2, x, 2, PLACES, z, &chosen));
        }
        x[3] = 0.4;
    }
    ARGUMENT(hf_choose_inducing(w->ctx, w->kernel, (hf_inducing_choice)99, 2, x, 2, PLACES, z, &chosen));
    ARGUMENT(hf_choose_inducing(w->ctx, w->kernel, (hf_inducing_choice)-1, 2, x, 2, PLACES, z, &chosen));
    assert_true(chosen == 77 && z[0] == 7.0);
}

static void processes(workshop *w)
{
    size_t rows[PLACES] = {7}, chosen = 77;
    double x[2 * WORKSHOP_D] = {0.1, 0.2, 0.3, 0.4}, log_det = 7.0;
    hf_dpp_report report = {.chosen = 77};
    const double bad[] = {-1.0, NAN, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        ARGUMENT(hf_dpp_greedy(w->ctx, w->kernel, 2, x, 2, NULL, PLACES, bad[i], rows, &chosen, &log_det));
        assert_true(hf_dpp_mixing_steps(9, 3, bad[i]) == SIZE_MAX);
    }
    ARGUMENT(hf_dpp_greedy(w->ctx, NULL, 2, x, 2, NULL, PLACES, 0.0, rows, &chosen, &log_det));
    ARGUMENT(hf_dpp_greedy(w->ctx, w->kernel, 0, x, 2, NULL, PLACES, 0.0, rows, &chosen, &log_det));
    ARGUMENT(hf_dpp_greedy(w->ctx, w->kernel, 2, x, 2, NULL, 0, 0.0, rows, &chosen, &log_det));
    ARGUMENT(hf_dpp_greedy(w->ctx, w->kernel, 2, NULL, 2, NULL, PLACES, 0.0, rows, &chosen, &log_det));
    ARGUMENT(hf_dpp_greedy(w->ctx, w->kernel, 2, x, 2, NULL, PLACES, 0.0, NULL, &chosen, &log_det));
    ARGUMENT(hf_dpp_greedy(w->ctx, w->kernel, 2, x, 2, NULL, PLACES, 0.0, rows, NULL, &log_det));
    const double none[] = {0.0, 0.0}, negative[] = {1.0, -1.0}, lost[] = {1.0, NAN};
    ARGUMENT(hf_dpp_greedy(w->ctx, w->kernel, 2, x, 2, none, PLACES, 0.0, rows, &chosen, &log_det));
    ARGUMENT(hf_dpp_greedy(w->ctx, w->kernel, 2, x, 2, negative, PLACES, 0.0, rows, &chosen, &log_det));
    REFUSED(HF_ERR_NOT_FINITE,
            hf_dpp_greedy(w->ctx, w->kernel, 2, x, 2, lost, PLACES, 0.0, rows, &chosen, &log_det));
    ARGUMENT(hf_dpp_sample(w->ctx, NULL, 2, x, 2, PLACES, 9, 0, rows, &report));
    ARGUMENT(hf_dpp_sample(w->ctx, w->kernel, 0, x, 2, PLACES, 9, 0, rows, &report));
    ARGUMENT(hf_dpp_sample(w->ctx, w->kernel, 2, x, 2, 0, 9, 0, rows, &report));
    ARGUMENT(hf_dpp_sample(w->ctx, w->kernel, 2, NULL, 2, PLACES, 9, 0, rows, &report));
    ARGUMENT(hf_dpp_sample(w->ctx, w->kernel, 2, x, 2, PLACES, 9, 0, NULL, &report));
    REFUSED(HF_ERR_DIMENSION, hf_dpp_sample(w->ctx, w->kernel, 2, x, 1, PLACES, 9, 0, rows, &report));
    x[3] = INFINITY;
    REFUSED(HF_ERR_NOT_FINITE, hf_dpp_sample(w->ctx, w->kernel, 2, x, 2, PLACES, 9, 0, rows, &report));
    REFUSED(HF_ERR_NOT_FINITE,
            hf_dpp_greedy(w->ctx, w->kernel, 2, x, 2, NULL, PLACES, 0.0, rows, &chosen, NULL));
    assert_true(chosen == 77 && rows[0] == 7 && log_det == 7.0 && report.chosen == 77);
}

static void ageing(workshop *w)
{
    hf_age_kind kind = HF_AGE_TABLE;
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_AGE_KIND, "sudden", &kind));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_AGE_KIND, NULL, &kind));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_AGE_KIND, "none", NULL));
    assert_int_equal(kind, HF_AGE_TABLE);
    assert_string_equal(hf_enum_name(HF_ENUM_AGE_KIND, (unsigned)99), "unknown");
    const double bad[] = {-1.0, NAN, INFINITY};
    double age[WORKSHOP_N] = {0.0};
    hf_age_law law = {.kind = HF_AGE_QUADRATIC};
    for (size_t i = 0; i < 3; i++) {
        law.rate = bad[i];
        ARGUMENT(hf_age_law_check(w->ctx, &law));
        ARGUMENT(hf_sites_age(w->ctx, w->sites, &law, age));
    }
    law.rate = 0.1;
    ARGUMENT(hf_age_law_check(w->ctx, NULL));
    ARGUMENT(hf_sites_age(w->ctx, NULL, &law, age));
    ARGUMENT(hf_sites_age(w->ctx, w->sites, NULL, age));
    ARGUMENT(hf_sites_age(w->ctx, w->sites, &law, NULL));
    age[3] = NAN;
    REFUSED(HF_ERR_NOT_FINITE, hf_sites_age(w->ctx, w->sites, &law, age));
    assert_true(isnan(hf_age_variance(NULL, 1.0, 1.0)) && isnan(hf_age_horizon(NULL, 1.0, 2.0)));
    assert_true(isnan(hf_age_variance(&law, NAN, 1.0)) && isnan(hf_age_variance(&law, 1.0, NAN)));
    assert_true(hf_age_horizon(&law, NAN, 1.0) == 0.0 && hf_age_horizon(&law, 1.0, NAN) == 0.0);
}

static void inducing(workshop *w)
{
    hf_posterior *out = NULL;
    const hf_inducing_method vfe = HF_INDUCING_VFE;
    double z[2 * WORKSHOP_D] = {0.1, 0.2, 0.3, 0.4}, x[WORKSHOP_N * WORKSHOP_D];
    hf_context *ctx = w->ctx;
    ARGUMENT(hf_solve_inducing(ctx, NULL, w->mean, w->sites, w->x, 2, vfe, 2, z, 2, &out));
    ARGUMENT(hf_solve_inducing(ctx, w->kernel, NULL, w->sites, w->x, 2, vfe, 2, z, 2, &out));
    ARGUMENT(hf_solve_inducing(ctx, w->kernel, w->mean, NULL, w->x, 2, vfe, 2, z, 2, &out));
    ARGUMENT(hf_solve_inducing(ctx, w->kernel, w->mean, w->sites, NULL, 2, vfe, 2, z, 2, &out));
    ARGUMENT(hf_solve_inducing(ctx, w->kernel, w->mean, w->sites, w->x, 2, vfe, 2, NULL, 2, &out));
    ARGUMENT(hf_solve_inducing(ctx, w->kernel, w->mean, w->sites, w->x, 2, vfe, 0, z, 2, &out));
    ARGUMENT(hf_solve_inducing(ctx, w->kernel, w->mean, w->sites, w->x, 2, vfe, 2, z, 2, NULL));
    ARGUMENT(
        hf_solve_inducing(ctx, w->kernel, w->mean, w->sites, w->x, 2, (hf_inducing_method)99, 2, z, 2, &out));
    REFUSED(HF_ERR_DIMENSION,
            hf_solve_inducing(ctx, w->kernel, w->mean, w->sites, w->x, 1, vfe, 2, z, 2, &out));
    REFUSED(HF_ERR_DIMENSION,
            hf_solve_inducing(ctx, w->kernel, w->mean, w->sites, w->x, 2, vfe, 2, z, 1, &out));
    z[3] = INFINITY;
    REFUSED(HF_ERR_NOT_FINITE,
            hf_solve_inducing(ctx, w->kernel, w->mean, w->sites, w->x, 2, vfe, 2, z, 2, &out));
    z[2] = z[0];
    z[3] = z[1];
    ARGUMENT(hf_solve_inducing(ctx, w->kernel, w->mean, w->sites, w->x, 2, vfe, 2, z, 2, &out));
    assert_contains(hf_context_message(ctx), "equal");
    memcpy(x, w->x, sizeof x);
    x[5] = NAN;
    REFUSED(HF_ERR_NOT_FINITE,
            hf_solve_inducing(ctx, w->kernel, w->mean, w->sites, x, 2, vfe, 1, z, 2, &out));
    assert_null(out);
}

static void projected(workshop *w)
{
    hf_posterior *out = NULL;
    hf_projection_report report = {.passes = 77};
    const hf_projection good = {.size = sizeof good, .count = 3};
    double x[WORKSHOP_N * WORKSHOP_D];
    hf_context *ctx = w->ctx;
    ARGUMENT(hf_solve_projected(ctx, NULL, w->mean, w->sites, w->x, 2, &good, &out, &report));
    ARGUMENT(hf_solve_projected(ctx, w->kernel, NULL, w->sites, w->x, 2, &good, &out, &report));
    ARGUMENT(hf_solve_projected(ctx, w->kernel, w->mean, NULL, w->x, 2, &good, &out, &report));
    ARGUMENT(hf_solve_projected(ctx, w->kernel, w->mean, w->sites, NULL, 2, &good, &out, &report));
    ARGUMENT(hf_solve_projected(ctx, w->kernel, w->mean, w->sites, w->x, 2, NULL, &out, &report));
    ARGUMENT(hf_solve_projected(ctx, w->kernel, w->mean, w->sites, w->x, 2, &good, NULL, &report));
    REFUSED(HF_ERR_DIMENSION,
            hf_solve_projected(ctx, w->kernel, w->mean, w->sites, w->x, 1, &good, &out, &report));
    const hf_projection bad[] = {
        {.size = sizeof(hf_projection), .count = 0},
        {.size = sizeof(hf_projection), .count = WORKSHOP_N}, /* one reading is missing */
        {.size = sizeof(hf_projection), .count = SIZE_MAX},
        {.size = sizeof(hf_projection), .count = 3, .tolerance = NAN},
        {.size = sizeof(hf_projection), .count = 3, .actions = (hf_actions)99},
        {.size = sizeof(hf_projection), .count = 3, .actions = HF_ACTIONS_BLOCKS, .blocks = (hf_blocks)99},
        {.size = sizeof(hf_projection),
         .count = 3,
         .actions = HF_ACTIONS_BLOCKS,
         .start = (hf_action_start)99},
        {.size = sizeof(hf_projection), .count = 3, .inducing = 2, .choice = (hf_inducing_choice)99}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ARGUMENT(hf_solve_projected(ctx, w->kernel, w->mean, w->sites, w->x, 2, &bad[i], &out, &report));
    double matrix[WORKSHOP_N * 2];
    for (size_t i = 0; i < WORKSHOP_N * 2; i++) matrix[i] = 2.0; /* twice the same */
    hf_projection given = {.size = sizeof given, .actions = HF_ACTIONS_GIVEN, .count = 2};
    ARGUMENT(hf_solve_projected(ctx, w->kernel, w->mean, w->sites, w->x, 2, &given, &out, &report));
    given.matrix = matrix;
    ARGUMENT(hf_solve_projected(ctx, w->kernel, w->mean, w->sites, w->x, 2, &given, &out, &report));
    assert_contains(hf_context_message(ctx), "column 2 of 2");
    matrix[4] = INFINITY;
    REFUSED(HF_ERR_NOT_FINITE,
            hf_solve_projected(ctx, w->kernel, w->mean, w->sites, w->x, 2, &given, &out, &report));
    given.inducing = 2;
    given.inputs = w->x;
    ARGUMENT(hf_solve_projected(ctx, w->kernel, w->mean, w->sites, w->x, 2, &given, &out, &report));
    memcpy(x, w->x, sizeof x);
    x[5] = NAN;
    REFUSED(HF_ERR_NOT_FINITE,
            hf_solve_projected(ctx, w->kernel, w->mean, w->sites, x, 2, &good, &out, &report));
    assert_true(out == NULL && report.passes == 77);
}

static void asking(workshop *w)
{
    double var[WORKSHOP_M] = {-7.0}, mean[WORKSHOP_N] = {-7.0}, at[2] = {0.1, NAN};
    hf_posterior *inducing = NULL;
    ARGUMENT(hf_predict_computational(w->ctx, NULL, 1, w->at, 2, var));
    ARGUMENT(hf_predict_computational(w->ctx, w->posterior, 1, NULL, 2, var));
    ARGUMENT(hf_predict_computational(w->ctx, w->posterior, 1, w->at, 2, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_predict_computational(w->ctx, w->posterior, 1, w->at, 1, var));
    REFUSED(HF_ERR_NOT_FINITE, hf_predict_computational(w->ctx, w->posterior, 1, at, 2, var));
    assert_int_equal(hf_posterior_solver(NULL), HF_SOLVER_AUTO);
    assert_int_equal(hf_posterior_rank(NULL), 0);
    assert_true(hf_solve_inducing(w->ctx, w->kernel, w->mean, w->sites, w->x, 2, HF_INDUCING_VFE, PLACES,
                                  w->x, 2, &inducing) >= 0);
    ARGUMENT(hf_predict_computational(w->ctx, inducing, 1, w->at, 2, var));
    ARGUMENT(hf_predict_worst_case(w->ctx, NULL, 1, w->at, 2, var, NULL));
    ARGUMENT(hf_predict_worst_case(w->ctx, w->posterior, 1, NULL, 2, var, NULL));
    ARGUMENT(hf_predict_worst_case(w->ctx, w->posterior, 1, w->at, 2, NULL, mean));
    ARGUMENT(hf_predict_worst_case(w->ctx, inducing, 1, w->at, 2, var, mean));
    REFUSED(HF_ERR_DIMENSION, hf_predict_worst_case(w->ctx, w->posterior, 1, w->at, 1, var, mean));
    REFUSED(HF_ERR_NOT_FINITE, hf_predict_worst_case(w->ctx, w->posterior, 1, at, 2, var, mean));
    hf_projection_error error = {.rho = -7.0};
    ARGUMENT(hf_projected_error(w->ctx, NULL, false, &error));
    ARGUMENT(hf_projected_error(w->ctx, w->posterior, false, NULL));
    ARGUMENT(hf_projected_error(w->ctx, inducing, false, &error));
    assert_true(error.rho == -7.0);
    const hf_inducing_method vfe = HF_INDUCING_VFE, none = (hf_inducing_method)99;
    ARGUMENT(hf_influence_inducing(w->ctx, NULL, vfe, w->at, 0.0, 1.0, 0.0, 1.0, var));
    ARGUMENT(hf_influence_inducing(w->ctx, w->posterior, vfe, w->at, 0.0, 1.0, 0.0, 1.0, var));
    ARGUMENT(hf_influence_inducing(w->ctx, inducing, none, w->at, 0.0, 1.0, 0.0, 1.0, var));
    ARGUMENT(hf_influence_inducing(w->ctx, inducing, vfe, NULL, 0.0, 1.0, 0.0, 1.0, var));
    ARGUMENT(hf_influence_inducing(w->ctx, inducing, vfe, w->at, 0.0, 1.0, 0.0, 1.0, NULL));
    ARGUMENT(hf_influence_inducing(w->ctx, inducing, vfe, w->at, 0.0, 0.0, 0.0, 1.0, var));
    ARGUMENT(hf_influence_inducing(w->ctx, inducing, vfe, w->at, 0.0, INFINITY, 0.0, 1.0, var));
    ARGUMENT(hf_influence_inducing(w->ctx, inducing, vfe, w->at, 0.0, 1.0, 0.0, -1.0, var));
    REFUSED(HF_ERR_NOT_FINITE, hf_influence_inducing(w->ctx, inducing, vfe, at, 0.0, 1.0, 0.0, 1.0, var));
    REFUSED(HF_ERR_NOT_FINITE, hf_influence_inducing(w->ctx, inducing, vfe, w->at, NAN, 1.0, 0.0, 1.0, var));
    REFUSED(HF_ERR_NOT_FINITE, hf_influence_inducing(w->ctx, inducing, vfe, w->at, 0.0, 1.0, NAN, 1.0, var));
    ARGUMENT(hf_leave_one_out(w->ctx, inducing, mean, NULL));
    ARGUMENT(hf_influence(w->ctx, inducing, 0, 1.0, 1.0, mean));
    ARGUMENT(hf_influence_of_removal(w->ctx, inducing, mean));
    ARGUMENT(hf_posterior_add(w->ctx, inducing, w->at, 1.0, 1.0));
    ARGUMENT(hf_posterior_remove(w->ctx, inducing, 0));
    ARGUMENT(hf_posterior_replace(w->ctx, inducing, 0, 1.0, 1.0));
    ARGUMENT(hf_posterior_backward_error(w->ctx, inducing, mean));
    ARGUMENT(hf_posterior_refresh(w->ctx, inducing));
    hf_posterior_free(inducing);
    assert_true(var[0] == -7.0 && mean[0] == -7.0);
}

static void streams(workshop *w)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y"}, none = {.size = sizeof none};
    const hf_fit_settings good = workshop_untrained();
    hf_fit_settings exact = good, forced = hf_fit_settings_default();
    hf_model *model = NULL;
    exact.solver = HF_SOLVER_EXACT;
    forced.suspects = HF_OUTLIERS_FORCE;
    ARGUMENT(hf_fit_stream(w->ctx, NULL, w->out, &columns, &good, &model, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, w->out, NULL, &good, &model, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, w->out, &none, &good, &model, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, w->out, &columns, NULL, &model, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, w->out, &columns, &good, NULL, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, w->out, &columns, &exact, &model, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, w->out, &columns, &forced, &model, NULL));
    REFUSED(HF_ERR_IO, hf_fit_stream(w->ctx, "/no/such/file.csv", w->out, &columns, &good, &model, NULL));
    assert_null(model);
}

REFUSED_TEST(streams)
REFUSED_TEST(names)
REFUSED_TEST(groups)
REFUSED_TEST(amplitudes)
REFUSED_TEST(places)
REFUSED_TEST(processes)
REFUSED_TEST(ageing)
REFUSED_TEST(inducing)
REFUSED_TEST(projected)
REFUSED_TEST(asking)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_refuse),  cmocka_unit_test(ageing_refuse),
        cmocka_unit_test(names_refuse),      cmocka_unit_test(groups_refuse),
        cmocka_unit_test(amplitudes_refuse), cmocka_unit_test(places_refuse),
        cmocka_unit_test(inducing_refuse),   cmocka_unit_test(projected_refuse),
        cmocka_unit_test(asking_refuse),     cmocka_unit_test(streams_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
