/* SPDX-License-Identifier: Apache-2.0 */
/* Which solver a fit uses, what it trains with, and the solution it ends in. */
#include "fit/fit.h"
#include "objective/kronecker.h"

#include "settings/settings.h"
#include "solver/exact_grid.h"
#include <math.h>
#include <string.h>

/* Limits of "auto"; measured in docs/methods/budget.md. */
enum {
    EXACT_READINGS = 2000,      /* or labels: up to here the exact fit takes seconds */
    PROJECTED_READINGS = 20000, /* up to here a pass over all of K takes less than the training */
    LEAST_INDUCING = 64,
    MOST_INDUCING = 512,
    USUAL_ACTIONS = 64
};

static size_t usual_inducing(size_t n)
{
    const double wanted = 4.0 * sqrt((double)n);
    const size_t m = wanted > MOST_INDUCING    ? MOST_INDUCING
                     : wanted < LEAST_INDUCING ? LEAST_INDUCING
                                               : (size_t)wanted;
    return hfi_smaller(m, n);
}

static hf_solver solver_for(const hf_fit_settings *settings, size_t n)
{
    if (settings->solver != HF_SOLVER_AUTO) return settings->solver;
    if (settings->minibatch > 0) return HF_SOLVER_INDUCING;
    if (n <= EXACT_READINGS) return HF_SOLVER_EXACT;
    const bool iterated =
        hfi_likelihood_is_noise(settings->sites) || hfi_likelihood_of_rates(settings->sites) != NULL;
    return n <= PROJECTED_READINGS && !iterated ? HF_SOLVER_PROJECTED : HF_SOLVER_INDUCING;
}

hf_solver hfi_choose_class_solver(const hf_fit_settings *settings, size_t n)
{
    if (settings->solver != HF_SOLVER_AUTO) return settings->solver;
    return n <= EXACT_READINGS ? HF_SOLVER_EXACT : HF_SOLVER_INDUCING;
}

hf_solver hfi_choose_solver(const hf_fit_settings *settings, size_t n, size_t d, size_t *inducing,
                            size_t *actions)
{
    (void)d;
    const hf_solver solver = solver_for(settings, n);
    const hfi_fit_solver *row = hfi_fit_solver_of(solver);
    const bool blocks = row->actions && settings->action_kind == HF_ACTIONS_BLOCKS;
    *inducing = 0;
    *actions = 0;
    if (row->inducing && !blocks) *inducing = settings->inducing > 0 ? settings->inducing : usual_inducing(n);
    if (row->actions) *actions = settings->actions > 0 ? settings->actions : hfi_smaller(USUAL_ACTIONS, n);
    return solver;
}

static hf_status check_counts(const hfi_fit *fit)
{
    if (fit->actions > fit->n && !fit->settings->action_matrix)
        return hfi_refuse(
            fit->ctx,
            "%zu actions are more than the %zu readings; with as many as readings the posterior is exact",
            fit->actions, fit->n);
    return HF_OK;
}

/* ---- what training maximises with ------------------------------------------------------------ */

/* 'first' means the table's rows. */
static hf_status choose_inducing(const hfi_fit *fit, double *z, size_t *chosen)
{
    if (fit->settings->inducing_inputs) {
        hfi_scaling_inputs(&fit->scaling, fit->inducing, fit->settings->inducing_inputs, fit->d, z);
        *chosen = fit->inducing;
        return HF_OK;
    }
    const hf_inducing_choice rule = fit->settings->inducing_choice;
    const bool ordered = fit->order && rule == HF_INDUCING_FIRST;
    double *x = ordered ? hfi_alloc(fit->ctx, fit->n, fit->d * sizeof *x) : NULL;
    if (ordered && !x) return HF_ERR_MEMORY;
    for (size_t k = 0; ordered && k < fit->n; k++)
        memcpy(x + fit->order[k] * fit->d, fit->x + k * fit->d, fit->d * sizeof *x);
    const hf_status s = hf_choose_inducing(fit->ctx, fit->kernel, rule, fit->n, ordered ? x : fit->x, fit->d,
                                           fit->inducing, z, chosen);
    hfi_free(fit->ctx, x);
    return s;
}

static hf_status inducing_evaluator(hfi_fit *fit, hfi_evaluator *e)
{
    double *z = hfi_alloc(fit->ctx, fit->inducing, fit->d * sizeof *z);
    if (!z) return HF_ERR_MEMORY;
    size_t chosen = 0;
    hfi_inducing inducing = {0};
    hf_status s = choose_inducing(fit, z, &chosen);
    if (s >= 0) {
        fit->inducing = chosen;
        s = hfi_inducing_init(fit->ctx, fit->settings->inducing_method, chosen, fit->d, z, fit->d, &inducing);
    }
    hfi_free(fit->ctx, z);
    if (s < 0) return s;
    inducing.train_inputs = fit->settings->train && fit->settings->train_inducing;
    s = hfi_evaluator_init_inducing(fit->ctx, e, fit->n, fit->d, fit->x, fit->d, &inducing);
    if (s < 0) hfi_inducing_free(&inducing);
    return s;
}

/* Hyperparameters come from inducing inputs, but with block actions from these themselves. */
static hf_status projected_evaluator(hfi_fit *fit, hfi_evaluator *e)
{
    if (fit->inducing > 0) return inducing_evaluator(fit, e);
    hfi_block_actions actions = {0};
    const double *x = fit->place_of ? fit->comparable : fit->x;
    hf_status s = hfi_block_actions_init(fit->ctx, fit->settings->blocks, fit->n, fit->d, x, fit->d,
                                         fit->actions, &actions);
    if (s < 0) return s;
    s = hfi_evaluator_init_projected(fit->ctx, e, fit->n, fit->d, fit->x, fit->d, &actions,
                                     fit->settings->train && fit->settings->train_actions,
                                     fit->settings->single_precision ? HFI_SINGLE : HFI_DOUBLE);
    if (s < 0) hfi_block_actions_free(fit->ctx, &actions);
    return s;
}

/* Student-t noise and relevance pursuit look into the matrix of one process. */
static bool shares_matrices(const hfi_fit *fit)
{
    return hfi_sites_kind_of(fit->settings->sites)->direct && hfi_grid_wanted(fit->ctx, fit->n);
}

static hf_status exact_evaluator(hfi_fit *fit, hfi_evaluator *e)
{
    const bool leave_one_out = fit->settings->train && fit->settings->objective != HF_OBJECTIVE_EVIDENCE;
    return shares_matrices(fit)
               ? hfi_evaluator_init_group(fit->ctx, e, leave_one_out, fit->n, fit->d, fit->x, fit->d)
               : hfi_evaluator_init(fit->ctx, e, leave_one_out, fit->n, fit->d, fit->x, fit->d);
}

hf_status hfi_fit_evaluator(hfi_fit *fit)
{
    hfi_evaluator *e = &fit->trainer.evaluator;
    hf_status s = check_counts(fit);
    if (s < 0) return s;
    const hfi_fit_solver *solver = hfi_fit_solver_of(fit->solver);
    if (fit->latent && solver->latent_evaluator) return solver->latent_evaluator(fit);
    s = solver->evaluator(fit, e);
    if (s < 0) return s;
    e->kernel = fit->kernel;
    e->mean = fit->mean;
    e->sites = fit->sites;
    e->place_of = fit->place_of;
    if (e->kind->start_actions) return e->kind->start_actions(e, fit->settings->action_start);
    if (fit->settings->train) s = hfi_kronecker_init(e, fit->outputs, fit->sample, fit->place_of);
    return s;
}

/* ---- where it ends --------------------------------------------------------------------------- */

/* Actions are those of the evaluator, whose rows are all present. Entries that were not trained are
 * those that their rule gives for the sites, mean and kernel as training has left them. */
static hf_status solve_blocks(hfi_fit *fit, hfi_solution *out)
{
    hfi_evaluator *e = &fit->trainer.evaluator;
    if (hfi_evaluator_extras(e) == 0) {
        const hf_status s = hfi_projected_start(e, fit->settings->action_start);
        if (s < 0) return s;
    }
    return hfi_projected_solve_blocks(fit->ctx, fit->kernel, fit->mean, fit->sites, fit->d, fit->x, fit->d,
                                      hfi_projected_actions(e->projected),
                                      fit->settings->single_precision ? HFI_SINGLE : HFI_DOUBLE, out,
                                      &fit->projection);
}

/* The given matrix without the rows of data that are not here. */
static hf_status solve_given(hfi_fit *fit, hfi_solution *out)
{
    const size_t count = fit->actions;
    double *matrix = hfi_alloc(fit->ctx, fit->n, count * sizeof *matrix);
    if (!matrix) return HF_ERR_MEMORY;
    for (size_t k = 0; k < fit->n; k++)
        memcpy(matrix + k * count, fit->settings->action_matrix + fit->row[k] * count,
               count * sizeof *matrix);
    const hf_projection projection = {.size = sizeof projection,
                                      .actions = HF_ACTIONS_GIVEN,
                                      .count = count,
                                      .single_precision = fit->settings->single_precision,
                                      .matrix = matrix};
    const hf_status s = hfi_projected_solve(fit->ctx, fit->kernel, fit->mean, fit->sites, fit->d, fit->x,
                                            fit->d, &projection, out, &fit->projection);
    hfi_free(fit->ctx, matrix);
    return s;
}

static hf_status solve_projected(hfi_fit *fit, hfi_solution *out)
{
    if (fit->inducing == 0) {
        hfi_projected_rest(
            fit->trainer.evaluator.projected); /* the solution makes its own, and there is room for one */
        return solve_blocks(fit, out);
    }
    if (fit->settings->action_matrix) return solve_given(fit, out);
    const size_t present = hf_sites_present(fit->sites);
    const hfi_evaluator *e = &fit->trainer.evaluator;
    const hf_projection projection = {.size = sizeof projection,
                                      .actions = fit->settings->action_kind,
                                      .count = hfi_smaller(fit->actions, present),
                                      .tolerance = fit->settings->tolerance,
                                      .inducing = hfi_smaller(fit->inducing, present),
                                      .choice = fit->settings->inducing_choice,
                                      .inputs = fit->settings->inducing_inputs ? e->inducing->z : NULL,
                                      .single_precision = fit->settings->single_precision};
    return hfi_projected_solve(fit->ctx, fit->kernel, fit->mean, fit->sites, fit->d, fit->x, fit->d,
                               &projection, out, &fit->projection);
}

static hf_status solve_exact(hfi_fit *fit, hfi_solution *out)
{
    return hfi_exact_solve(fit->ctx, fit->kernel, fit->mean, fit->sites, fit->d, fit->x, fit->d, out);
}

static hf_status solve_inducing(hfi_fit *fit, hfi_solution *out)
{
    hfi_inducing *inducing = fit->trainer.evaluator.inducing;
    const hf_status s =
        hfi_inducing_factor(inducing, fit->kernel, fit->mean, fit->sites, fit->n, fit->x, fit->d);
    return s < 0 ? s : hfi_worse(hfi_inducing_solution(inducing, out), s);
}

hf_status hfi_fit_solve(hfi_fit *fit, hfi_solution *out)
{
    fit->projection = (hf_projection_report){.residual = NAN};
    return hfi_fit_solver_of(fit->solver)->solve(fit, out);
}

/* ---- what it takes --------------------------------------------------------------------------- */

/* The greedy choice holds a column of K for every input chosen, within limits (hf_choose_inducing()). */
static double placing_bytes(const hfi_fit *fit)
{
    const hf_inducing_choice choice = fit->settings->inducing_choice;
    if (choice != HF_INDUCING_GREEDY && choice != HF_INDUCING_MDPP) return 0.0;
    return fmin(8.0 * (double)fit->n * (double)fit->inducing, 1024.0 * 1024.0 * 1024.0);
}

static double exact_bytes(const hfi_fit *fit)
{
    const double n = (double)fit->n;
    const bool leave_one_out = fit->settings->objective != HF_OBJECTIVE_EVIDENCE;
    return 8.0 * n * n + (shares_matrices(fit)
                              ? (leave_one_out ? 3.0 : 1.0) * hfi_exact_grid_part_bytes(fit->ctx, fit->n)
                              : hfi_evaluator_bytes(fit->n, fit->d, leave_one_out));
}

/* Beside a copy of the inputs. */
static double training_bytes(const hfi_fit *fit)
{
    double bytes = 0.0, flops = 0.0;
    if (fit->inducing == 0) return 0.0;
    hfi_inducing_cost(fit->n, fit->d, fit->inducing, &bytes, &flops);
    return fmax(bytes, placing_bytes(fit));
}

static double inputs_bytes(const hfi_fit *fit)
{
    return 8.0 * (double)fit->n * (double)fit->d;
}

static double inducing_bytes(const hfi_fit *fit)
{
    return training_bytes(fit) + inputs_bytes(fit);
}

static double projected_bytes(const hfi_fit *fit)
{
    const hf_projection projection = {.size = sizeof projection,
                                      .actions = fit->settings->action_kind,
                                      .count = fit->actions,
                                      .inducing = fit->inducing};
    double bytes = 0.0, flops = 0.0;
    hfi_projected_cost(fit->n, fit->d, &projection, &bytes, &flops);
    return fmax(training_bytes(fit), bytes) + inputs_bytes(fit);
}

double hfi_fit_bytes(const hfi_fit *fit)
{
    return hfi_fit_solver_of(fit->solver)->bytes(fit);
}

const hfi_fit_solver *hfi_fit_solver_of(hf_solver solver)
{
    static const hfi_fit_solver rows[] = {
        [HF_SOLVER_AUTO] = {.inducing = true, .actions = true, .parts = true},
        [HF_SOLVER_EXACT] = {.evaluator = exact_evaluator,
                             .latent_evaluator = hfi_fit_latent_evaluator,
                             .solve = solve_exact,
                             .bytes = exact_bytes,
                             .smaller = "use the inducing solver",
                             .slopes = true},
        [HF_SOLVER_INDUCING] = {.evaluator = inducing_evaluator,
                                .solve = solve_inducing,
                                .bytes = inducing_bytes,
                                .smaller = "use fewer inducing inputs, or minibatches",
                                .inducing = true,
                                .parts = true,
                                .bound = true},
        [HF_SOLVER_PROJECTED] = {.evaluator = projected_evaluator,
                                 .solve = solve_projected,
                                 .bytes = projected_bytes,
                                 .smaller = "use the inducing solver",
                                 .inducing = true,
                                 .actions = true,
                                 .bound = true}};
    return &rows[(size_t)solver < sizeof rows / sizeof *rows ? solver : HF_SOLVER_AUTO];
}
