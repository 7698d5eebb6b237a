/* SPDX-License-Identifier: Apache-2.0 */
/* EULBO as the public interface has it, and rows that a determinantal point process chooses by expected improvement. */
#include "optimise/eulbo.h"
#include "core/settings.h"

#include "optimise/acquire.h"
#include "posterior/posterior.h"
#include "settings/settings.h"
#include <holdfast/dpp.h>
#include <math.h>
#include <string.h>

/* ---- checks -------------------------------------------------------------------------------------------- */

static hf_status check_fit(hf_context *ctx, const hf_data *data, const hf_fit_settings *fit)
{
    if (data == NULL || fit == NULL)
        return hfi_refuse(ctx, "the %s of EULBO %s NULL", data == NULL ? "data" : "fit",
                          data == NULL ? "are" : "is");
    if (data->outputs > 1 || data->mean != NULL)
        return hfi_refuse(ctx, "EULBO is for readings of one output, without prior means of their own");
    return hfi_fit_settings_use(ctx, fit, HFI_USE_EULBO);
}

static hf_status check_domain(hf_context *ctx, const hf_data *data, const hf_domain *domain,
                              size_t guess_count, const double *guesses, const double *x)
{
    const hf_status status = hfi_maximise_check_call(ctx, domain, NULL, guess_count, guesses, x);
    if (status < 0) return status;
    if (domain->candidates > 0)
        return hfi_refuse(ctx, "EULBO moves points in a box, not among %zu candidates", domain->candidates);
    if (domain->dimension != data->d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the domain has %zu inputs, but the readings have %zu",
                        domain->dimension, data->d);
    return HF_OK;
}

/* ---- the call ------------------------------------------------------------------------------------------ */

/* After the training of a fit. */
static hf_status climb_eulbo_after_fit(void *arg, hfi_fit *fit, double *state)
{
    hfi_eulbo *e = arg;
    const hfi_evaluator *evaluator = &fit->trainer.evaluator;
    if (hfi_fit_has_stages(fit) || evaluator->kind->query_rows == NULL)
        return hfi_refuse(fit->ctx,
                          "%zu readings are trained in stages, which EULBO does not know; train inducing "
                          "inputs, or use Adam",
                          fit->n);
    e->ctx = fit->ctx;
    e->fit = fit;
    hf_status status = hfi_utility_init(e->ctx, e->settings.batch, e->settings.draws, &e->utility);
    e->utility.expected_log = e->settings.utility == HF_UTILITY_EXPECTED_LOG;
    if (status >= 0) status = hfi_eulbo_begin(e, state);
    if (status >= 0) status = hfi_eulbo_climb(e, state);
    hf_posterior_workspace_free(e->workspace);
    hf_posterior_free(e->start);
    hfi_utility_free(&e->utility);
    e->workspace = NULL;
    e->start = NULL;
    return status;
}

hf_status hf_eulbo(hf_context *ctx, const hf_data *data, const hf_fit_settings *fit,
                   const hf_eulbo_settings *how, const hf_domain *domain, size_t guess_count,
                   const double *guesses, double *x, hf_posterior **posterior, hf_eulbo_report *report)
{
    const double begin = hfi_now();
    hf_fit_settings own;
    hfi_eulbo e = {.domain = domain, .guess_count = guess_count, .guesses = guesses};
    hf_status status = hfi_settings_open(ctx, hf_eulbo_settings_table(), how, &e.settings);
    if (status >= 0)
        status = hfi_settings_open(ctx, hf_search_settings_table(), e.settings.search, &e.search);
    if (status >= 0) status = hfi_settings_take(ctx, hf_fit_settings_table(), fit, &own);
    if (status >= 0) status = check_fit(ctx, data, fit != NULL ? &own : NULL);
    if (status >= 0) status = check_domain(ctx, data, domain, guess_count, guesses, x);
    if (status < 0) return status;
    hf_posterior *made = NULL;
    status =
        HFI_ALLOC(ctx, HFI_ROOMS(e.points, e.settings.batch, data->d), HFI_ROOMS(e.gradients, data->d, 2));
    if (status >= 0)
        status = hfi_fit_with(ctx, data, &own, climb_eulbo_after_fit, &e, &made, &e.report.fit, NULL);
    if (status >= 0) {
        memcpy(x, e.points, e.settings.batch * data->d * sizeof *x);
        e.report.seconds = hfi_now() - begin;
        if (report != NULL) *report = e.report;
        if (posterior != NULL) *posterior = made;
    }
    if (status < 0 || posterior == NULL) hf_posterior_free(made);
    HFI_FREE(ctx, e.points, e.gradients);
    return status;
}

/* ---- rows for a surrogate ------------------------------------------------------------------------------ */

/* Expected improvements over the largest mean, in units of the largest of them. */
static void improvements(size_t n, const double *mean, double *quality)
{
    double best = -INFINITY, largest = -INFINITY;
    for (size_t i = 0; i < n; i++) best = fmax(best, mean[i]);
    for (size_t i = 0; i < n; i++) {
        quality[i] =
            hf_acquisition_value(HF_ACQUIRE_LOG_EI, mean[i], sqrt(quality[i]), best, 0.0, NULL, NULL);
        largest = fmax(largest, quality[i]);
    }
    for (size_t i = 0; i < n; i++) quality[i] = exp(quality[i] - largest);
}

hf_status hf_dpp_quality(hf_context *ctx, const hf_posterior *of, size_t n, const double *x, size_t ldx,
                         size_t m, size_t *rows, size_t *count)
{
    if (of == NULL || rows == NULL || count == NULL)
        return hfi_refuse(ctx, "hf_dpp_quality: %s is NULL",
                          of == NULL     ? "the posterior"
                          : rows == NULL ? "rows"
                                         : "count");
    if (n == 0 || m == 0)
        return hfi_refuse(ctx, "hf_dpp_quality: there are %zu rows, of which %zu are asked for", n, m);
    hf_status status = hfi_posterior_need_one(ctx, of, "hf_dpp_quality");
    if (status >= 0) status = hfi_posterior_check_rows(ctx, of, n, x, ldx);
    if (status < 0) return status;
    const size_t d = of->scaling.d;
    double *mean = hfi_alloc_unset(ctx, n, 2 * sizeof *mean),
           *scaled = hfi_alloc_product(ctx, n, d, sizeof *scaled);
    status =
        mean != NULL && scaled != NULL ? hf_predict(ctx, of, n, x, ldx, mean, mean + n, NULL) : HF_ERR_MEMORY;
    if (status >= 0) {
        improvements(n, mean, mean + n);
        hfi_scaling_inputs(&of->scaling, n, x, ldx, scaled);
        status = hf_dpp_greedy(ctx, of->kernel, n, scaled, d, mean + n, m, 0.0, rows, count, NULL);
    }
    HFI_FREE(ctx, mean, scaled);
    return status;
}
