/* SPDX-License-Identifier: Apache-2.0 */
/* Report of a fit about itself. */
#include "fit/fit.h"
#include <math.h>
#include <string.h>

static const char *parameter_name(const hfi_fit *fit, size_t i)
{
    if (i < hf_kernel_parameters(fit->kernel)) {
        hf_parameter p;
        hf_kernel_parameter(fit->kernel, i, &p);
        return p.name;
    }
    if (i >= fit->trainer.noise + hfi_trainer_noises(&fit->trainer)) return "extra";
    return i >= fit->trainer.noise ? hfi_fit_noise_name(fit) : "mean";
}

static void report_bounds(const hfi_fit *fit, const double *state, hf_fit_report *report)
{
    const hfi_trainer *t = &fit->trainer;
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        if (state[i] - t->lower[i] > 1e-6 && t->upper[i] - state[i] > 1e-6) continue;
        const size_t used = strlen(report->at_bound_names);
        hfi_print(report->at_bound_names + used, sizeof report->at_bound_names - used, "%s%s",
                  report->at_bound ? ", " : "", parameter_name(fit, i));
        report->at_bound++;
    }
}

static hf_outliers_side side_of(const hfi_fit *fit, const hfi_side *side)
{
    const double unit = fit->outputs > 1 ? 1.0 : fit->scaling.y_scale;
    return (hf_outliers_side){.error = unit * side->error, .sd = unit * side->sd};
}

void hfi_fit_fill_report(const hfi_fit *fit, const double *state, const hf_posterior *posterior, double kappa,
                         hf_fit_report *report)
{
    const hfi_trainer *t = &fit->trainer;
    memset(report, 0, sizeof *report);
    report->readings = fit->n;
    report->aside = fit->aside;
    report->missing = fit->data->n - fit->n - fit->aside;
    report->stop = t->found.stop;
    report->evaluations = t->evaluations;
    report->rounds = fit->verdict.rounds;
    report->objective = t->found.value;
    report->log_prior = t->found.log_prior;
    report->gradient_norm = t->found.gradient_norm;
    report_bounds(fit, state, report);
    report->jitter = posterior->solution.jitter;
    report->condition = posterior->solution.condition;
    report->backward = posterior->solution.backward;
    report->bytes = hfi_fit_bytes(fit);
    report->solver = fit->solver;
    report->inducing = fit->inducing;
    report->actions = fit->projection.actions;
    report->passes = fit->projection.passes;
    report->residual = fit->projection.residual;
    report->nu = fit->nu;
    report->threshold = fit->sites->threshold * fit->scaling.y_scale;
    report->suspects_adopted = fit->verdict.adopted;
    for (size_t i = 0; i < fit->n; i++) report->suspects += fit->verdict.suspected[i] ? 1 : 0;
    report->groups = fit->verdict.groups;
    const hfi_suspicion *evidence = &fit->verdict.evidence;
    report->benefit = evidence->benefit;
    report->gain = evidence->gain;
    report->chance = evidence->chance;
    report->suspects_undecided = evidence->undecided;
    report->kept = side_of(fit, &evidence->with);
    report->set_aside = side_of(fit, &evidence->without);
    report->calibration = kappa;
}

void hfi_fit_fill_readings(const hfi_fit *fit, const hfi_holdout *left, const hfi_holdout *honest,
                           hf_reading *readings)
{
    const hfi_verdict *verdict = &fit->verdict;
    for (size_t i = 0; i < fit->data->n; i++)
        readings[i] = (hf_reading){.suspected = hfi_fit_is_aside(fit->data, i),
                                   .loo_mean = NAN,
                                   .loo_var = NAN,
                                   .plain_mean = NAN,
                                   .plain_sd = NAN,
                                   .refit_mean = NAN,
                                   .refit_sd = NAN};
    for (size_t i = 0; i < fit->n; i++) {
        hf_reading *r = &readings[fit->row[i]];
        r->weight = fit->shift ? 1.0 : hf_sites_weights(fit->sites)[i];
        r->suspected = verdict->suspected[i];
        r->group = verdict->group[i];
        /* A missing reading keeps NaN: nothing was left out to predict it. */
        const size_t output = hfi_scaling_output(&fit->scaling, fit->x + i * fit->d);
        if (verdict->plain_mean && verdict->adopted) {
            const double sd = verdict->plain_sd[i];
            r->plain_mean = hfi_scaling_mean(&fit->scaling, output, verdict->plain_mean[i]);
            r->plain_sd = sqrt(hfi_scaling_variance(&fit->scaling, output, sd * sd));
        }
        if (honest->t) {
            const double sd = honest->sd[i];
            r->refit_mean = hfi_scaling_mean(&fit->scaling, output, honest->mean[i]);
            r->refit_sd = sqrt(hfi_scaling_variance(&fit->scaling, output, sd * sd));
        }
        if (!left) continue;
        const double noise = hfi_sites_noise(fit->sites, i);
        r->loo_mean = hfi_scaling_mean(&fit->scaling, output, left->mean[i]);
        r->loo_var =
            hfi_scaling_variance(&fit->scaling, output, fmax(left->sd[i] * left->sd[i] - noise, 0.0));
    }
}

/* Tells a user what to know although the result is usable. */
hf_status hfi_fit_warn(const hfi_fit *fit, hf_status solved, const hf_fit_report *report)
{
    if (solved == HF_WARN_JITTER)
        return hfi_fail(
            fit->ctx, HF_WARN_JITTER,
            "the covariance of the readings was not positive definite; %.3g was added to its diagonal",
            report->jitter);
    if (report->stop == HF_STOP_ITERATIONS)
        return hfi_fail(fit->ctx, HF_WARN_NOT_CONVERGED,
                        "training stopped after %zu evaluations with a gradient of %.3g", report->evaluations,
                        report->gradient_norm);
    if (isfinite(report->residual) && fit->settings->tolerance > 0.0 && !fit->settings->action_matrix &&
        report->residual > fit->settings->tolerance)
        return hfi_fail(fit->ctx, HF_WARN_NOT_CONVERGED,
                        "%zu actions leave %.3g of the readings unexplained (tolerance %.3g); the variances "
                        "include it, more actions would reduce it",
                        report->actions, report->residual, fit->settings->tolerance);
    if (report->at_bound > 0)
        return hfi_fail(fit->ctx, HF_WARN_AT_BOUND, "at a bound after training: %s", report->at_bound_names);
    return HF_OK;
}
