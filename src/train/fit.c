/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of arrays, from readings to posterior. */
#include "train/fit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A robust weight below this marks a reading as suspected: its residual is more than 1.7 thresholds. */
static const double suspect_weight = 0.25;

static void fit_free(hfi_fit *fit)
{
    hfi_trainer_free(&fit->trainer);
    hf_kernel_free(fit->kernel);
    hf_mean_free(fit->mean);
    hf_sites_free(fit->sites);
    hfi_scaling_free(&fit->scaling);
    hfi_scaling_free(&fit->measured);
    hfi_free(fit->ctx, fit->row);
    hfi_free(fit->ctx, fit->x);
    hfi_free(fit->ctx, fit->comparable);
    hfi_free(fit->ctx, fit->y);
    hfi_free(fit->ctx, fit->verdict.suspected);
    hfi_free(fit->ctx, fit->verdict.group);
}

/* The plain fit, from the cold start and from seeded random starts around it; the best is left in `state`. */
static hf_status plain_fit(hfi_fit *fit, double *state)
{
    hfi_trainer *t = &fit->trainer;
    const size_t iterations = fit->settings->iterations;
    hf_status s = hfi_trainer_cold(t, state);
    if (s >= 0) s = hfi_trainer_maximise(t, state, iterations);
    if (s < 0 || fit->settings->restarts == 0 || t->free_count == 0) return s;
    double *trial = hfi_alloc(fit->ctx, t->count, sizeof *trial);
    if (!trial) return HF_ERR_MEMORY;
    double best = t->value + t->log_prior;
    const size_t kernel_count = hf_kernel_parameters(fit->kernel);
    for (size_t r = 1; s >= 0 && r <= fit->settings->restarts; r++) {
        hfi_stream stream;
        hfi_stream_init(&stream, hf_context_seed(fit->ctx), HFI_PURPOSE_RESTART, r);
        s = hfi_trainer_cold(t, trial);
        for (size_t k = 0; s >= 0 && k < t->free_count; k++) {
            const size_t i = t->free_index[k];
            if (i < kernel_count || i == t->noise) trial[i] += 1.5 * hfi_stream_normal(&stream);
        }
        if (s >= 0) s = hfi_trainer_maximise(t, trial, iterations);
        if (s < 0 || t->value + t->log_prior <= best) continue;
        best = t->value + t->log_prior;
        memcpy(state, trial, t->count * sizeof *state);
    }
    hfi_free(fit->ctx, trial);
    /* Again from the best, so that the report is about it; it has converged, so this costs little. */
    return s < 0 ? s : hfi_trainer_maximise(t, state, iterations);
}

/* Plain fit, then the suspect finder; a declined finding leaves the plain fit exactly as it was. */
static hf_status gaussian_fit(hfi_fit *fit, double *state)
{
    hfi_trainer *t = &fit->trainer;
    hf_status s = plain_fit(fit, state);
    if (s < 0 || fit->settings->suspects == HF_SUSPECTS_OFF || !fit->settings->train) return s;
    const hf_stop stop = t->stop;
    const double value = t->value, log_prior = t->log_prior, norm = t->gradient_norm;
    const hf_status found = hfi_find_suspects(t, fit->settings, state, &fit->verdict);
    if (found < 0) return found;
    if (!fit->verdict.adopted) {
        t->stop = stop;
        t->value = value;
        t->log_prior = log_prior;
        t->gradient_norm = norm;
        return s;
    }
    return found;
}

static hf_status robust_fit(hfi_fit *fit, double *state)
{
    hf_status s = hfi_trainer_cold(&fit->trainer, state);
    hf_fit_settings settings = *fit->settings;
    if (isfinite(fit->threshold)) settings.threshold_rule = HF_THRESHOLD_GIVEN;
    if (s >= 0)
        s = hfi_robust_reweight(&fit->trainer, &settings, fit->threshold, state, &fit->verdict.rounds);
    for (size_t i = 0; s >= 0 && i < fit->n; i++)
        fit->verdict.suspected[i] = hf_sites_weights(fit->sites)[i] < suspect_weight;
    return s;
}

/* kappa from the residuals of the final model. */
static hf_status calibrate(hfi_fit *fit, double *kappa)
{
    *kappa = 1.0;
    if (!fit->settings->calibrate) return HF_OK;
    hfi_holdout residuals;
    hf_status s = hfi_holdout_init(fit->ctx, &residuals, fit->n);
    if (s < 0) return s;
    bool *kept = hfi_alloc(fit->ctx, fit->n, sizeof *kept);
    s = kept ? hfi_holdout_compute(&fit->trainer.evaluator, &residuals) : HF_ERR_MEMORY;
    for (size_t i = 0; s >= 0 && i < fit->n; i++) kept[i] = hf_sites_weights(fit->sites)[i] >= suspect_weight;
    if (s >= 0)
        s = hfi_calibration(fit->ctx, fit->n, residuals.t, kept, fit->verdict.group, fit->trainer.free_count,
                            kappa);
    hfi_free(fit->ctx, kept);
    hfi_holdout_free(fit->ctx, &residuals);
    return s;
}

static hf_status make_posterior(hfi_fit *fit, double kappa, hf_posterior **posterior)
{
    hfi_solution solution;
    double noise = hf_sites_noise(fit->sites);
    if (fit->settings->sites == HF_SITES_ROBUST && fit->settings->consistent_noise &&
        isfinite(fit->sites->threshold))
        noise = hf_robust_consistent_noise(noise, fit->sites->threshold);
    const hf_status solved =
        hfi_exact_solve(fit->ctx, fit->kernel, fit->mean, fit->sites, fit->d, fit->x, fit->d, &solution);
    if (solved < 0) return solved;
    const hf_status s = hfi_posterior_create(fit->ctx, fit->kernel, fit->mean, &solution, &fit->scaling,
                                             noise, kappa, posterior);
    if (s < 0) hfi_solution_free(&solution);
    return s < 0 ? s : solved;
}

static const char *parameter_name(const hfi_fit *fit, size_t i)
{
    if (i < hf_kernel_parameters(fit->kernel)) {
        hf_parameter p;
        hf_kernel_parameter(fit->kernel, i, &p);
        return p.name;
    }
    if (i > fit->trainer.noise) return "extra";
    return i == fit->trainer.noise ? "noise" : "mean";
}

static void report_bounds(const hfi_fit *fit, const double *state, hf_fit_report *report)
{
    const hfi_trainer *t = &fit->trainer;
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        if (state[i] - t->lower[i] > 1e-6 && t->upper[i] - state[i] > 1e-6) continue;
        const size_t used = strlen(report->at_bound_names);
        snprintf(report->at_bound_names + used, sizeof report->at_bound_names - used, "%s%s",
                 report->at_bound ? ", " : "", parameter_name(fit, i));
        report->at_bound++;
    }
}

static void fill_report(const hfi_fit *fit, const double *state, const hf_posterior *posterior, double kappa,
                        hf_fit_report *report)
{
    const hfi_trainer *t = &fit->trainer;
    memset(report, 0, sizeof *report);
    report->readings = fit->n;
    report->missing = fit->data->n - fit->n;
    report->stop = t->stop;
    report->evaluations = t->evaluations;
    report->rounds = fit->verdict.rounds;
    report->objective = t->value;
    report->log_prior = t->log_prior;
    report->gradient_norm = t->gradient_norm;
    report_bounds(fit, state, report);
    report->jitter = posterior->solution.jitter;
    report->condition = posterior->solution.condition;
    report->backward = posterior->solution.backward;
    report->bytes =
        hfi_evaluator_bytes(fit->n, fit->d, t->evaluator.b != NULL) + 8.0 * (double)fit->n * (double)fit->n;
    report->threshold = fit->sites->threshold * fit->scaling.y_scale;
    report->suspects_adopted = fit->verdict.adopted;
    for (size_t i = 0; i < fit->n; i++) report->suspects += fit->verdict.suspected[i] ? 1 : 0;
    report->groups = fit->verdict.groups;
    report->benefit = fit->verdict.benefit;
    report->gain = fit->verdict.gain;
    report->calibration = kappa;
}

static void fill_readings(const hfi_fit *fit, hf_reading *readings)
{
    memset(readings, 0, fit->data->n * sizeof *readings);
    for (size_t i = 0; i < fit->n; i++) {
        hf_reading *r = &readings[fit->row[i]];
        r->weight = hf_sites_weights(fit->sites)[i];
        r->suspected = fit->verdict.suspected[i];
        r->group = fit->verdict.group[i];
    }
}

/* What a user should know although the result is usable. */
static hf_status warn(const hfi_fit *fit, const hf_fit_report *report)
{
    if (report->jitter > 0.0)
        return hfi_fail(
            fit->ctx, HF_WARN_JITTER,
            "the covariance of the readings was not positive definite; %.3g was added to its diagonal",
            report->jitter);
    if (report->stop == HF_STOP_ITERATIONS)
        return hfi_fail(fit->ctx, HF_WARN_NOT_CONVERGED,
                        "training stopped after %zu evaluations with a gradient of %.3g", report->evaluations,
                        report->gradient_norm);
    if (report->at_bound > 0)
        return hfi_fail(fit->ctx, HF_WARN_AT_BOUND, "at a bound after training: %s", report->at_bound_names);
    return HF_OK;
}

static hf_status run(hfi_fit *fit, hf_posterior **posterior, hf_fit_report *report, hf_reading *readings)
{
    double *state = hfi_alloc(fit->ctx, fit->trainer.count, sizeof *state);
    if (!state) return HF_ERR_MEMORY;
    double kappa = 1.0;
    hf_status s = fit->settings->sites == HF_SITES_ROBUST ? robust_fit(fit, state) : gaussian_fit(fit, state);
    if (s >= 0) s = hfi_trainer_set(&fit->trainer, state);
    if (s >= 0) s = calibrate(fit, &kappa);
    if (s >= 0) s = make_posterior(fit, kappa, posterior);
    if (s >= 0) {
        hf_fit_report local;
        fill_report(fit, state, *posterior, kappa, &local);
        if (readings) fill_readings(fit, readings);
        s = warn(fit, &local);
        if (report) *report = local;
    }
    hfi_free(fit->ctx, state);
    return s;
}

/* Below this many readings the parallel sections of an evaluation are shorter than waking and gathering the threads. */
enum {
    LEAST_FOR_THREADS = 512
};

hf_status hf_fit_data(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings,
                      hf_posterior **posterior, hf_fit_report *report, hf_reading *readings)
{
    if (!posterior) return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_fit_data needs a place for the posterior");
    const double begin = hfi_now();
    hf_status s = hfi_fit_check(ctx, data, settings);
    if (s < 0) return s;
    hfi_fit fit = {.ctx = ctx, .data = data, .settings = settings};
    const int threads = hf_context_threads(ctx);
    fit.verdict.benefit = fit.verdict.gain = NAN;
    s = hfi_fit_gather(&fit);
    if (fit.n < LEAST_FOR_THREADS) hf_context_set_threads(ctx, 1);
    if (s >= 0) s = hfi_fit_prepare(&fit);
    if (s >= 0) s = hfi_fit_trainer(&fit);
    if (s >= 0) {
        fit.trainer.budget = settings->suspects == HF_SUSPECTS_OFF ? 100 * (1 + settings->restarts) : 400;
        fit.verdict.suspected = hfi_alloc(ctx, fit.n, sizeof *fit.verdict.suspected);
        fit.verdict.group = hfi_alloc(ctx, fit.n, sizeof *fit.verdict.group);
        s = fit.verdict.suspected && fit.verdict.group ? HF_OK : HF_ERR_MEMORY;
    }
    if (s >= 0) s = run(&fit, posterior, report, readings);
    if (s >= 0 && report) report->seconds = hfi_now() - begin;
    fit_free(&fit);
    hf_context_set_threads(ctx, threads);
    return s;
}
