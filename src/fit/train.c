/* SPDX-License-Identifier: Apache-2.0 */
/* Training, for each kind of sites. */
#include "fit/fit.h"
#include "inference/student.h"
#include "outliers/pursuit.h"
#include "search/explore.h"
#include "settings/settings.h"
#include <math.h>

/* Nats that a plain fit may be short of its maximum while suspects are looked for. */
static const double plain_enough = 0.1;

static hf_status climb(void *arg, double *state)
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
    if (s >= 0) s = hfi_trainer_restart(t, cold, fit->settings->restarts, climb, fit, state);
    hfi_free(fit->ctx, cold);
    /* Again from the best, so that the report is about it; it has converged, so this costs little. */
    return s < 0 ? s : climb(fit, state);
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
static hf_status gaussian_fit(hfi_fit *fit, double *state)
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

static hf_status robust_fit(hfi_fit *fit, double *state)
{
    hf_status s = hfi_trainer_cold(&fit->trainer, state);
    hf_fit_settings settings = *fit->settings;
    if (isfinite(fit->threshold)) settings.threshold_rule = HF_THRESHOLD_GIVEN;
    if (s >= 0)
        s = hfi_robust_reweight(&fit->trainer, &settings, fit->threshold, state, &fit->verdict.rounds);
    for (size_t i = 0; s >= 0 && i < fit->n; i++)
        fit->verdict.suspected[i] = hf_sites_weights(fit->sites)[i] < hfi_suspect_weight;
    return s;
}

static hf_status student_fit(hfi_fit *fit, double *state)
{
    hf_status s = hfi_trainer_cold(&fit->trainer, state);
    if (s >= 0) s = hfi_explore_periods(&fit->trainer, state, fit->settings->iterations);
    if (s >= 0) s = hfi_student_fit(&fit->trainer, fit->settings, state, &fit->nu, &fit->verdict.rounds);
    for (size_t i = 0; s >= 0 && i < fit->n; i++)
        fit->verdict.suspected[i] = hf_sites_weights(fit->sites)[i] < hfi_suspect_weight;
    return s;
}

static hf_status pursuit_fit(hfi_fit *fit, double *state)
{
    hf_status s = hfi_trainer_cold(&fit->trainer, state);
    if (s >= 0) s = hfi_explore_periods(&fit->trainer, state, fit->settings->iterations);
    if (s >= 0)
        s = hfi_pursuit_fit(&fit->trainer, fit->settings, state, &fit->verdict.rounds,
                            fit->verdict.suspected);
    return s;
}

hf_status hfi_fit_train(hfi_fit *fit, double *state)
{
    if (fit->shift) return hfi_fit_train_likelihood(fit, state);
    if (hfi_fit_is_stochastic(fit)) return hfi_fit_train_stochastic(fit, state);
    if (hfi_likelihood_is_noise(fit->settings->sites)) return student_fit(fit, state);
    switch (fit->settings->sites) {
    case HF_LIKELIHOOD_ROBUST:
        return robust_fit(fit, state);
    case HF_LIKELIHOOD_PURSUIT:
        return pursuit_fit(fit, state);
    default: /* labels were refused before */
        break;
    }
    return gaussian_fit(fit, state);
}
