/* SPDX-License-Identifier: Apache-2.0 */
/* Training, for each kind of sites. */
#include "fit/fit.h"
#include "inference/student.h"
#include "search/explore.h"
#include "settings/settings.h"
#include <math.h>

/* ---- by minibatches ---------------------------------------------------------------------------------- */

/*
 * Training by minibatches, and Student-t noise with inducing inputs: both are hfi_svgp_fit(). Its end is turned
 * into sites of the rows. The rest of a fit (solution, residuals, calibration) then goes on as with any other sites.
 */

bool hfi_fit_is_stochastic(const hfi_fit *fit)
{
    const hf_fit_settings *s = fit->settings;
    return hfi_fit_solver_of(fit->solver)->parts && (s->minibatch > 0 || hfi_likelihood_is_noise(s->sites));
}

/* Latent mean and variance of every row under the solution: through the evaluator, whose rows may all be
 * absent for this. */
static hf_status marginals(hfi_fit *fit, const hfi_solution *solution, hfi_holdout *all)
{
    hf_sites *none = NULL;
    hf_status s = hf_sites_copy(fit->ctx, fit->sites, &none);
    for (size_t i = 0; s >= 0 && i < fit->n; i++) s = hf_sites_set_present(fit->ctx, none, i, false);
    if (s >= 0) {
        hfi_evaluator view = fit->trainer.evaluator;
        view.sites = none;
        s = hfi_holdout_from_solution(&view, solution, all);
    }
    hf_sites_free(none);
    return s;
}

/* The Gaussian sites that make the variational posterior of Student-t noise a fixed point. Where the expected
 * log density curves upwards the reading says nothing that a Gaussian could. */
static hf_status give_student_sites(hfi_fit *fit, const hfi_holdout *all)
{
    const size_t n = fit->n;
    const hfi_likelihood *row = hfi_likelihood_row(fit->settings->sites);
    double *target = hfi_alloc(fit->ctx, n, 2 * sizeof *target);
    if (!target) return HF_ERR_MEMORY;
    double *variance = target + n;
    for (size_t i = 0; i < n; i++) {
        const double scale = hfi_sites_noise(fit->sites, i);
        const double v = fmax(all->sd[i] * all->sd[i] - scale, 0.0);
        hfi_seen seen = {.y = fit->y[i], .dispersion = scale, .shape = fit->nu};
        hfi_likelihood_place(row, &seen);
        const hfi_likelihood_expected e = hfi_likelihood_expect(row, &seen, all->mean[i], v);
        variance[i] = e.w > 0.0 ? 1.0 / e.w : INFINITY;
        target[i] = e.w > 0.0 ? all->mean[i] + e.f * variance[i] : 0.0;
    }
    hfi_sites_give(fit->sites, target, variance);
    hfi_free(fit->ctx, target);
    return hf_sites_present(fit->sites) > 0
               ? HF_OK
               : hfi_fail(fit->ctx, HF_ERR_NO_DATA, "under this noise no reading says anything");
}

hf_status hfi_fit_refine_noise(hfi_fit *fit, const hfi_holdout *all, bool train, double *state)
{
    (void)train; /* steps of its own did that, with all rows */
    const hf_status s = give_student_sites(fit, all);
    if (s >= 0) hfi_fit_suspect(fit);
    hfi_trainer_get(&fit->trainer, state);
    return s;
}

static hf_status make_sites(hfi_fit *fit, const hfi_solution *solution, double *state)
{
    hfi_holdout all;
    hf_status s = hfi_holdout_init(fit->ctx, &all, fit->n);
    if (s < 0) return s;
    s = marginals(fit, solution, &all);
    if (s >= 0) s = fit->way->refine(fit, &all, false, state);
    hfi_holdout_free(fit->ctx, &all);
    return s;
}

void hfi_fit_adopt_shared(hfi_fit *fit)
{
    fit->trainer.found = fit->shared.found;
    fit->trainer.evaluations = fit->shared.evaluations;
}

static hf_status train_stochastic(hfi_fit *fit, double *state)
{
    hfi_trainer *t = &fit->trainer;
    hfi_inducing *inducing = t->evaluator.inducing;
    hfi_row_arrays arrays = {
        .n = fit->n, .d = fit->d, .x = fit->x, .ldx = fit->d, .y = fit->y, .extra = fit->extra};
    const hfi_row_source rows = hfi_row_source_in_memory(&arrays);
    hfi_solution solution = {0};
    hfi_svgp_report report = {0};
    hf_status s = hfi_trainer_cold(t, state);
    if (s >= 0) s = hfi_trainer_set(t, state);
    const hf_status trained =
        s < 0 ? s
              : hfi_svgp_fit(fit->ctx, &rows, t, fit->kernel, fit->mean, &fit->noise, &fit->nu, fit->settings,
                             fit->threshold, inducing->m, inducing->z, &solution, &report);
    if (trained < 0) return trained;
    s = hf_sites_set_noise(fit->ctx, fit->sites, fit->noise);
    fit->shared = (hfi_share_report){.found = report.found, .evaluations = report.steps};
    if (s >= 0) s = make_sites(fit, &solution, state);
    fit->verdict.rounds = report.epochs;
    hfi_fit_adopt_shared(fit);
    hfi_solution_free(&solution);
    return s < 0 ? s : trained;
}

/* ---- the training ------------------------------------------------------------------------------------- */

/* Nats that a plain fit may be short of its maximum while suspects are looked for. */
static const double plain_enough = 0.1;

static hf_status climb_fit_objective(void *arg, double *state)
{
    hfi_fit *fit = arg;
    return hfi_trainer_maximise(&fit->trainer, state, fit->settings->iterations);
}

/* The plain fit, from the cold start and others around it; the best is left in `state`, and later cold fits
 * start as it did. */
static hf_status plain_fit(hfi_fit *fit, double *state)
{
    hfi_trainer *t = &fit->trainer;
    const size_t iterations = fit->settings->iterations;
    hf_status s = hfi_trainer_cold(t, state);
    if (s >= 0) s = hfi_trainer_explore(t, fit->outputs > 1, state, iterations, &t->moved);
    if (s < 0 || t->free_count == 0 || fit->settings->restarts == 0) return s;
    double *cold = hfi_alloc(fit->ctx, t->count, sizeof *cold);
    if (!cold) return HF_ERR_MEMORY;
    s = hfi_trainer_cold(t, cold);
    if (s >= 0) s = hfi_trainer_restart(t, cold, fit->settings->restarts, climb_fit_objective, fit, state);
    hfi_free(fit->ctx, cold);
    /* Again from the best, so that the report is about it; it has converged, so this costs little. */
    return s < 0 ? s : climb_fit_objective(fit, state);
}

/* A plain fit good enough to look for suspects from; with second derivatives the rest of the way is short and
 * can wait. */
static hf_status first_fit(hfi_fit *fit, double *state)
{
    hfi_trainer *t = &fit->trainer;
    if (t->curved) t->enough = plain_enough;
    const hf_status s = plain_fit(fit, state);
    t->enough = 0.0;
    return s;
}

/* From there to the end: the same whether or not anything was looked for in between. */
static hf_status finish_plain_fit(hfi_fit *fit, double *state, hf_status first)
{
    hfi_trainer *t = &fit->trainer;
    return t->curved && t->free_count > 0 ? hfi_trainer_maximise(t, state, fit->settings->iterations) : first;
}

/* Plain fit, then the suspect finder; a declined finding leaves the plain fit exactly as it was. */
hf_status hfi_fit_train_plain(hfi_fit *fit, double *state)
{
    hfi_trainer *t = &fit->trainer;
    const hf_status s = first_fit(fit, state);
    if (s < 0) return s;
    if (fit->settings->suspects == HF_OUTLIERS_OFF || !fit->settings->train)
        return finish_plain_fit(fit, state, s);
    const hfi_optimum plain = t->found;
    hf_fit_settings settings = *fit->settings;
    settings.groups = settings.groups && t->evaluator.kind->absence;
    const hf_status found = hfi_find_suspects(t, &settings, state, &fit->verdict);
    if (found < 0 || fit->verdict.adopted) return found;
    t->found = plain;
    return finish_plain_fit(fit, state, s);
}

hf_status hfi_fit_train_robust(hfi_fit *fit, double *state)
{
    hf_fit_settings settings = *fit->settings;
    hfi_reweighting done;
    if (isfinite(fit->threshold)) settings.threshold_rule = HF_THRESHOLD_GIVEN;
    hf_status s = hfi_trainer_cold(&fit->trainer, state);
    if (s >= 0) s = hfi_robust_reweight(&fit->trainer, &settings, fit->threshold, state, &done);
    if (s < 0) return s;
    fit->verdict.rounds = done.rounds;
    hfi_fit_suspect(fit);
    return hfi_reweighting_remark(fit->ctx, &done);
}

/* The cold start of methods that find all sites together. */
static hf_status explored(hfi_fit *fit, double *state)
{
    const hf_status s = hfi_trainer_cold(&fit->trainer, state);
    return s < 0 ? s : hfi_explore_periods(&fit->trainer, state, fit->settings->iterations);
}

hf_status hfi_fit_train_pursuit(hfi_fit *fit, double *state)
{
    const hf_status s = explored(fit, state);
    return s < 0 ? s
                 : hfi_pursuit_fit(&fit->trainer, fit->settings, state, &fit->verdict.rounds,
                                   fit->verdict.suspected);
}

hf_status hfi_fit_train_noise(hfi_fit *fit, double *state)
{
    hf_status s = explored(fit, state);
    if (s >= 0) s = hfi_student_fit(&fit->trainer, fit->settings, state, &fit->nu, &fit->verdict.rounds);
    if (s >= 0) hfi_fit_suspect(fit);
    return s;
}

hf_status hfi_fit_train(hfi_fit *fit, double *state)
{
    return hfi_fit_is_stochastic(fit) ? train_stochastic(fit, state) : fit->way->train(fit, state);
}
