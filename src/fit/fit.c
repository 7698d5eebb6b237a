/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of arrays, from readings to posterior. */
#include "fit/fit.h"
#include "checkpoint/journal.h"
#include "core/settings.h"
#include "settings/settings.h"
#include <math.h>

void hfi_fit_free(hfi_fit *fit)
{
    hfi_trainer_free(&fit->trainer);
    hf_kernel_free(fit->kernel);
    hf_mean_free(fit->mean);
    hf_sites_free(fit->sites);
    hfi_scaling_free(&fit->scaling);
    hfi_scaling_free(&fit->measured);
    HFI_FREE(fit->ctx, fit->row, fit->x, fit->code, fit->comparable, fit->y, fit->seen, fit->noises,
             fit->noises_held, fit->means_given, fit->coregionalisation, fit->sample, fit->readings,
             fit->place_of, fit->order);
    hfi_conditional_free(&fit->conditional);
    HFI_FREE(fit->ctx, fit->verdict.suspected, fit->verdict.group, fit->verdict.plain_mean);
}

static hf_status allocate_verdict(hfi_fit *fit, bool stages)
{
    /* Stages see the plain fit of a share only. */
    if (!stages && fit->settings->suspects != HF_OUTLIERS_OFF) {
        fit->verdict.plain_mean = hfi_alloc(fit->ctx, fit->n, 2 * sizeof *fit->verdict.plain_mean);
        if (!fit->verdict.plain_mean) return HF_ERR_MEMORY;
        fit->verdict.plain_sd = fit->verdict.plain_mean + fit->n;
    }
    return HFI_ALLOC(fit->ctx, HFI_ROOM(fit->verdict.suspected, fit->n),
                     HFI_ROOM(fit->verdict.group, fit->n));
}

/* Residuals of the final model: from the solution where readings are its anchors. */
static hf_status final_residuals(hfi_fit *fit, const hfi_solution *solution, hfi_holdout *residuals)
{
    hfi_evaluator *e = &fit->trainer.evaluator;
    if (!hfi_solver_kind_of(solution->solver)->readings) return hfi_holdout_compute(e, residuals);
    return hfi_holdout_from_solution(e, solution, residuals);
}

/* Whether the readings' vote on the hyperparameters shows in their residuals, and can be taken from them. */
static bool wants_refit(const hfi_fit *fit)
{
    const hf_fit_settings *settings = fit->settings;
    return settings->calibrate && settings->train && hfi_sites_kind_of(settings->sites)->plain &&
           hfi_refit_matters(&fit->trainer);
}

/* Residuals of the state without that vote; `honest` is made where it shows, else left zeroed. */
static hf_status refit(hfi_fit *fit, const double *state, hfi_holdout *honest)
{
    if (!wants_refit(fit)) return HF_OK;
    hf_status s = hfi_holdout_init(fit->ctx, honest, fit->n);
    if (s >= 0) s = hfi_holdout_compute(&fit->trainer.evaluator, honest);
    return s < 0 ? s : hfi_refit_residuals(&fit->trainer, state, honest);
}

/* kappa from the residuals of the final model, in which `trained` hyperparameters have the readings' votes. */
static hf_status calibrate(hfi_fit *fit, const double *t, size_t trained, double *kappa)
{
    bool *kept = hfi_alloc(fit->ctx, fit->n, sizeof *kept);
    if (!kept) return HF_ERR_MEMORY;
    for (size_t i = 0; i < fit->n; i++) kept[i] = hf_sites_weights(fit->sites)[i] >= hfi_suspect_weight;
    const hf_status s = hfi_calibration(fit->ctx, fit->n, t, kept, fit->verdict.group, trained, kappa);
    hfi_free(fit->ctx, kept);
    return s;
}

/* Noise of a new reading in a channel, from the noise that training ended with. */
static double observed_noise(const hfi_fit *fit, size_t channel)
{
    const double noise = hf_sites_channel_noise(fit->sites, channel);
    const double threshold = fit->sites->channel ? fit->sites->thresholds[channel] : fit->sites->threshold;
    return hfi_sites_observed_noise(hfi_sites_kind_of(fit->settings->sites), noise, fit->nu,
                                    fit->settings->consistent_noise ? threshold : INFINITY);
}

/* Those of the outputs, where each has its own. */
static hf_status tell_noises(const hfi_fit *fit, hf_posterior *posterior)
{
    const size_t channels = hf_sites_channels(fit->sites);
    if (channels == 1) return HF_OK;
    double *noises = hfi_alloc(fit->ctx, channels, sizeof *noises);
    if (!noises) return HF_ERR_MEMORY;
    for (size_t c = 0; c < channels; c++) noises[c] = observed_noise(fit, c);
    const hf_status s = hfi_posterior_set_noises(fit->ctx, posterior, noises);
    hfi_free(fit->ctx, noises);
    return s;
}

/* Where the solution can leave out a reading, residuals are asked for later; else what it takes is there only now. */
static hf_status judge_fit(hfi_fit *fit, const hfi_solution *solution, const hfi_holdout *honest,
                           double *kappa, hf_reading *readings)
{
    const bool stored = readings && !hfi_solver_kind_of(solution->solver)->leaves_out;
    *kappa = 1.0;
    if (!fit->settings->calibrate && !stored) {
        if (readings) hfi_fit_fill_readings(fit, NULL, honest, readings);
        return HF_OK;
    }
    hfi_holdout residuals;
    hf_status s = hfi_holdout_init(fit->ctx, &residuals, fit->n);
    if (s < 0) return s;
    s = final_residuals(fit, solution, &residuals);
    if (s >= 0 && fit->settings->calibrate)
        s = calibrate(fit, honest->t ? honest->t : residuals.t, honest->t ? 0 : fit->trainer.free_count,
                      kappa);
    if (s >= 0 && readings) hfi_fit_fill_readings(fit, stored ? &residuals : NULL, honest, readings);
    hfi_holdout_free(fit->ctx, &residuals);
    return s;
}

static hf_status solve_and_judge(hfi_fit *fit, const double *state, const hfi_holdout *honest,
                                 hf_posterior **posterior, hf_fit_report *report, hf_reading *readings)
{
    hfi_solution solution = {0};
    double kappa = 1.0;
    hf_status s = HF_OK;
    if (fit->place_of) s = hfi_kernel_order_outputs(fit->ctx, fit->kernel, NULL);
    if (s >= 0) s = hfi_fit_restore_order(fit, honest);
    const hf_status solved = s < 0 ? s : hfi_fit_solve(fit, &solution);
    if (solved < 0) return solved;
    hf_posterior *made = NULL;
    s = hfi_posterior_create(fit->ctx, fit->kernel, fit->mean, &solution, &fit->scaling,
                             observed_noise(fit, 0), 1.0, &made);
    if (s < 0) {
        hfi_solution_free(&solution);
        return s;
    }
    s = tell_noises(fit, made);
    if (s >= 0)
        s = judge_fit(fit, &made->solution, honest, &kappa, readings); /* last: what it writes stays */
    if (s < 0) {
        hf_posterior_free(made);
        return s;
    }
    made->calibration = kappa;
    hf_fit_report local;
    hfi_fit_fill_report(fit, state, made, kappa, &local);
    s = hfi_fit_warn(fit, solved, &local);
    if (report) *report = local;
    *posterior = made;
    return s;
}

static hf_status conclude_fit(hfi_fit *fit, const double *state, hf_posterior **posterior,
                              hf_fit_report *report, hf_reading *readings)
{
    hfi_holdout honest = {0};
    hf_status s = hfi_trainer_set(&fit->trainer, state);
    if (s >= 0) s = refit(fit, state, &honest);
    if (s >= 0) s = solve_and_judge(fit, state, &honest, posterior, report, readings);
    hfi_holdout_free(fit->ctx, &honest);
    return s;
}

static hf_status open_journal(hfi_fit *fit)
{
    const hf_fit_settings *settings = fit->settings;
    if (!settings->checkpoint) return HF_OK;
    const hfi_fingerprint own = hfi_fit_fingerprint(fit->ctx, fit->data, settings);
    return hfi_journal_open(fit->ctx, settings->checkpoint, settings->resume, &own, &fit->journal);
}

void hfi_fit_close_journal(hfi_fit *fit, hf_fit_report *report)
{
    if (!fit->journal) return;
    const char *warning = hfi_journal_warning(fit->journal);
    if (report)
        hfi_print(report->checkpoint_warning, sizeof report->checkpoint_warning, "%s",
                  warning ? warning : "");
    hfi_journal_close(fit->journal, false);
    fit->journal = NULL;
}

static hf_status finish_stages(hfi_fit *fit, const hfi_holdout *start, double *state)
{
    const size_t before = fit->shared.evaluations;
    const hf_status s = fit->way->refine(fit, start, fit->warm, state);
    if (fit->warm)
        fit->trainer.evaluations += before;
    else
        hfi_fit_adopt_shared(fit);
    return s;
}

static hf_status run_whole_fit(hfi_fit *fit, hf_posterior **posterior, hf_fit_report *report,
                               hf_reading *readings)
{
    hf_status s = hfi_fit_prepare(fit);
    if (s >= 0 && fit->place_of) s = hfi_kernel_order_outputs(fit->ctx, fit->kernel, fit->place_of);
    if (s >= 0) s = open_journal(fit);
    const bool stages = s >= 0 && hfi_fit_has_stages(fit);
    hfi_holdout start = {0};
    if (stages) s = hfi_fit_train_in_stages(fit, &start);
    if (s >= 0) s = hfi_fit_evaluator(fit);
    if (s >= 0) s = hfi_fit_trainer(fit);
    double *state = s >= 0 ? hfi_alloc(fit->ctx, fit->trainer.count, sizeof *state) : NULL;
    if (s >= 0 && !state) s = HF_ERR_MEMORY;
    if (s >= 0) s = allocate_verdict(fit, stages);
    if (s >= 0) s = stages ? finish_stages(fit, &start, state) : hfi_fit_train(fit, state);
    const hf_status trained = s;
    if (s >= 0 && fit->step) s = fit->step(fit->step_arg, fit, state);
    if (s >= 0 && hfi_fit_integrates_slopes(fit)) s = hfi_fit_centre_slopes(fit, state);
    if (s >= 0) s = conclude_fit(fit, state, posterior, report, readings);
    /* The shortfall of sites with an iteration of their own is told here; nothing has been said since. */
    if (s == HF_OK && trained == HF_WARN_NOT_CONVERGED) s = trained;
    hfi_fit_close_journal(fit, report);
    hfi_free(fit->ctx, state);
    hfi_holdout_free(fit->ctx, &start);
    return s;
}

/* Below this many readings the parallel sections of an evaluation are shorter than waking and gathering the threads. */
enum {
    LEAST_FOR_THREADS = 512
};

/* Readings without a prior mean of their own, which are checked. */
static hf_status fit_centred(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings,
                             hfi_fit_step step, void *arg, hf_posterior **posterior, hf_fit_report *report,
                             hf_reading *readings)
{
    const double begin = hfi_now();
    hf_context *own = hfi_context_borrow(ctx);
    if (!own) return HF_ERR_MEMORY;
    hfi_fit fit = {
        .ctx = own, .data = data, .settings = settings, .nu = INFINITY, .step = step, .step_arg = arg};
    fit.verdict.evidence = hfi_suspicion_none();
    hf_status s = hfi_fit_gather(&fit);
    if (s >= 0) s = hfi_fit_order_outputs(&fit);
    if (fit.n < LEAST_FOR_THREADS) hf_context_set_threads(own, 1);
    if (s >= 0) s = run_whole_fit(&fit, posterior, report, readings);
    if (s >= 0 && report) report->seconds = hfi_now() - begin;
    hfi_fit_free(&fit);
    hfi_context_give_back(ctx, own);
    return s;
}

/* y - mean, finite or missing. */
static hf_status subtract_mean(hf_context *ctx, const hf_data *data, double *y)
{
    for (size_t i = 0; i < data->n; i++) {
        y[i] = data->y[i];
        if (isnan(y[i])) continue;
        if (!isfinite(data->mean[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the prior mean of row %zu is not finite", i + 1);
        y[i] -= data->mean[i];
        if (!isfinite(y[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "the target of row %zu is %g and its prior mean %g: they are too far apart",
                            i + 1, data->y[i], data->mean[i]);
    }
    return HF_OK;
}

/* Adds the mean of the data: all that is told of a reading is in the units of y. */
static void add_mean(const hf_data *data, hf_reading *readings)
{
    for (size_t i = 0; readings && i < data->n; i++) {
        readings[i].loo_mean += data->mean[i];
        readings[i].plain_mean += data->mean[i];
        readings[i].refit_mean += data->mean[i];
    }
}

hf_status hf_fit_data(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings,
                      hf_posterior **posterior, hf_fit_report *report, hf_reading *readings)
{
    hf_fit_settings own;
    if (!posterior || !settings)
        return hfi_refuse(ctx, "hf_fit_data needs settings and a place for the posterior");
    const hf_status status = hfi_settings_take(ctx, hf_fit_settings_table(), settings, &own);
    return status < 0 ? status : hfi_fit_with(ctx, data, &own, NULL, NULL, posterior, report, readings);
}

hf_status hfi_fit_with(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings,
                       hfi_fit_step step, void *of, hf_posterior **posterior, hf_fit_report *report,
                       hf_reading *readings)
{
    hf_status s = hfi_fit_check(ctx, data, settings);
    if (s < 0) return s;
    if (!data->mean) return fit_centred(ctx, data, settings, step, of, posterior, report, readings);
    double *y = hfi_alloc(ctx, data->n, sizeof *y);
    if (!y) return HF_ERR_MEMORY;
    s = subtract_mean(ctx, data, y);
    hf_data centred = *data;
    centred.y = y;
    centred.mean = NULL;
    if (s >= 0) s = fit_centred(ctx, &centred, settings, step, of, posterior, report, readings);
    if (s >= 0) add_mean(data, readings);
    hfi_free(ctx, y);
    return s;
}
