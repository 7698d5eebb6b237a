/* SPDX-License-Identifier: Apache-2.0 */
/* Fits of counts and amounts: readings whose likelihood is a row of the table. Latent values are logarithms,
 * so that the target is not standardised; logarithms of readings say where a constant mean starts and nothing
 * else. */
#include "fit/fit.h"
#include "inference/latent_fit.h"
#include "search/explore.h"
#include "settings/settings.h"
#include <math.h>

static hf_status check_rows(hf_context *ctx, const hf_data *data, const hfi_likelihood *l)
{
    for (size_t i = 0; i < data->n; i++) {
        if (isnan(data->y[i])) continue;
        if (!hfi_likelihood_allows(l, data->y[i]))
            return hfi_refuse(ctx, "the target of row %zu is %g; %s sites take %s", i + 1, data->y[i],
                              l->name, l->whole ? "counts: whole numbers from 0" : "positive numbers");
        if (data->exposure && !(data->exposure[i] > 0.0 && isfinite(data->exposure[i])))
            return hfi_refuse(ctx, "the exposure of row %zu is %g; it must be positive and finite", i + 1,
                              data->exposure[i]);
    }
    return HF_OK;
}

/* Arrays beside the readings, and whether the likelihood has a dispersion; the table of settings is asked about the
 * rest. */
static hf_status check_arrays(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings,
                              const hfi_likelihood *l)
{
    if (settings->noise_start > 0.0 && !l->parameter)
        return hfi_refuse(ctx, "noise_start %g does not go with sites %s, which have no dispersion",
                          settings->noise_start, l->name);
    if (data->noise)
        return hfi_refuse(ctx, "%s sites go with readings without known noise variances (noise)", l->name);
    if (data->mean)
        return hfi_refuse(ctx, "%s sites go with readings without prior means (mean); give exposures",
                          l->name);
    return HF_OK;
}

hf_status hfi_fit_check_likelihood(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings)
{
    const hfi_likelihood *l = hfi_likelihood_of_rates(settings->sites);
    if (!l && data->exposure)
        return hfi_refuse(ctx, "exposures are of counts and amounts, not of %s sites",
                          hf_enum_name(HF_ENUM_LIKELIHOOD, settings->sites));
    if (!l) return HF_OK;
    const hf_status s = check_arrays(ctx, data, settings, l);
    return s < 0 ? s : check_rows(ctx, data, l);
}

hf_status hfi_fit_gather_likelihood(hfi_fit *fit)
{
    const hfi_likelihood *l = hfi_likelihood_of_rates(fit->settings->sites);
    if (!l) return HF_OK;
    fit->seen = hfi_alloc(fit->ctx, fit->n, 2 * sizeof *fit->seen);
    if (!fit->seen) return HF_ERR_MEMORY;
    fit->shift = fit->seen + fit->n;
    fit->latent = true;
    for (size_t k = 0; k < fit->n; k++) {
        fit->seen[k] = fit->y[k];
        fit->shift[k] = fit->data->exposure ? log(fit->data->exposure[fit->row[k]]) : 0.0;
        fit->y[k] = log(fit->y[k] + (l->whole ? 0.5 : 0.0)) - fit->shift[k];
    }
    return HF_OK;
}

const char *hfi_fit_noise_name(const hfi_fit *fit)
{
    const hfi_likelihood *l = hfi_likelihood_of_rates(fit->settings->sites);
    return l ? l->parameter : "noise";
}

void hfi_fit_hold_dispersion(hfi_fit *fit)
{
    const hfi_likelihood *l = hfi_likelihood_of_rates(fit->settings->sites);
    if (!l || l->parameter) return;
    fit->noise = 1.0;
    fit->noise_held = true;
}

hf_status hfi_fit_latent_evaluator(hfi_fit *fit)
{
    hfi_evaluator *e = &fit->trainer.evaluator;
    *e = hfi_evaluator_bare(fit->ctx, fit->n, fit->d, fit->x, fit->d);
    e->kernel = fit->kernel;
    e->mean = fit->mean;
    e->sites = fit->sites;
    return HF_OK;
}

hf_status hfi_fit_train_likelihood(hfi_fit *fit, double *state)
{
    const hf_fit_settings *settings = fit->settings;
    const hfi_latent_data data = {.likelihood = hfi_likelihood_of_rates(settings->sites),
                                  .inference = hfi_inference_of(settings),
                                  .y = fit->seen,
                                  .shift = fit->shift,
                                  .iterations = settings->iterations,
                                  .restarts = settings->restarts};
    const hf_status s = hfi_trainer_cold(&fit->trainer, state);
    return s < 0 ? s : hfi_latent_fit(&fit->trainer, &data, state, &fit->verdict.rounds);
}
