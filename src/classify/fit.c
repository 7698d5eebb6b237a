/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of labels of two classes, from rows to classifier. */
#include "classify/fit.h"
#include "classify/classify.h"
#include "core/settings.h"
#include <math.h>

/* The posterior that the sites make, and the classifier that owns it. */
static hf_status conclude_class_fit(hfi_class_fit *fit, size_t rounds, const double *state,
                                    hf_classifier **out, hf_class_report *report)
{
    hfi_fit *base = &fit->base;
    hfi_solution solution = {0};
    hf_posterior *posterior = NULL;
    const hf_status solved = hfi_fit_solve(base, &solution);
    if (solved < 0) return solved;
    hf_status s = hfi_posterior_create(base->ctx, base->kernel, base->mean, &solution, &base->scaling, 1.0,
                                       1.0, &posterior);
    if (s < 0) {
        hfi_solution_free(&solution);
        return s;
    }
    hf_class_report local;
    const hf_status warning = hfi_class_fit_report(fit, state, posterior, solved, &local);
    local.rounds = rounds;
    s = hf_classifier_create(base->ctx, posterior, fit->link, fit->given->classes, out);
    if (s < 0) {
        hf_posterior_free(posterior);
        return s;
    }
    if (report) *report = local;
    return warning;
}

static hf_status run_class_fit(hfi_class_fit *fit, hf_classifier **out, hf_class_report *report)
{
    hfi_fit *base = &fit->base;
    const hfi_latent_data data = {.likelihood = hfi_class_likelihood(fit->link),
                                  .inference = fit->inference,
                                  .y = base->y,
                                  .iterations = fit->settings.iterations,
                                  .restarts = fit->settings.restarts};
    size_t rounds = 0;
    double *state = hfi_alloc(base->ctx, base->trainer.count, sizeof *state);
    hf_status s = state ? hfi_trainer_cold(&base->trainer, state) : HF_ERR_MEMORY;
    if (s >= 0) s = hfi_latent_fit(&base->trainer, &data, state, &rounds);
    const hf_status trained = s;
    if (s >= 0) s = conclude_class_fit(fit, rounds, state, out, report);
    hfi_free(base->ctx, state);
    return s == HF_OK ? trained : s;
}

static hf_status fit_two(hf_context *ctx, const hf_class_data *data, const hf_fit_settings *settings,
                         hf_classifier **out, hf_class_report *report)
{
    hfi_class_fit fit;
    hf_status s = hfi_class_fit_init(ctx, data, settings, &fit);
    if (s < 0) return s;
    s = run_class_fit(&fit, out, report);
    hfi_class_fit_free(&fit);
    return s;
}

/* Below this many labels the parallel sections of an evaluation are shorter than waking and gathering the threads. */
enum {
    LEAST_FOR_THREADS = 512
};

static bool are_few(const hf_class_data *data)
{
    size_t present = 0;
    for (size_t i = 0; data->label && i < data->n; i++) present += data->label[i] != HF_LABEL_MISSING;
    return present < LEAST_FOR_THREADS;
}

hf_status hfi_classifier_fit(hf_context *ctx, const hf_class_data *data, const hf_fit_settings *settings,
                             bool own_kernels, hf_classifier **out, hf_class_report *report)
{
    const double begin = hfi_now();
    hf_context *own = hfi_context_borrow(ctx);
    if (!own) return HF_ERR_MEMORY;
    if (are_few(data)) hf_context_set_threads(own, 1);
    const hf_status s = hfi_class_likelihood(hfi_class_link(settings->sites))
                            ? fit_two(own, data, settings, out, report)
                            : hfi_softmax_fit(own, data, settings, own_kernels, out, report);
    if (s >= 0 && report) report->seconds = hfi_now() - begin;
    hfi_context_give_back(ctx, own);
    return s;
}

/* Settings of labels as those of a fit. */
static hf_fit_settings fit_settings(const hf_class_settings *s)
{
    hf_fit_settings out = hf_fit_settings_default();
    unsigned sites = HF_LIKELIHOOD_GAUSSIAN;
    hf_enum_parse(NULL, HF_ENUM_LIKELIHOOD, hf_enum_name(HF_ENUM_LINK, s->link), &sites);
    out.sites = (hf_likelihood)sites;
    for (size_t i = 0; i < hf_class_settings_table()->count; i++) {
        const hfi_setting *row = &hf_class_settings_table()->row[i],
                          *same = hfi_setting_find(hf_fit_settings_table(), row->face.name);
        if (same && row->face.type < HF_SETTING_TEXT)
            hfi_setting_assign(same, hfi_setting_value(row, s), &out);
    }
    out.kernel = s->kernel;
    out.set = s->set;
    out.set_count = s->set_count;
    return out;
}

hf_status hf_classifier_fit(hf_context *ctx, const hf_class_data *data, const hf_class_settings *settings,
                            hf_classifier **out, hf_class_report *report)
{
    if (!ctx || !out) return hfi_refuse(ctx, "hf_classifier_fit: %s is NULL", ctx ? "out" : "ctx");
    if (!data || !settings) return hfi_refuse(ctx, "a fit of labels needs data and settings");
    hf_class_settings given;
    const hf_status status = hfi_settings_open(ctx, hf_class_settings_table(), settings, &given);
    if (status < 0) return status;
    const hf_fit_settings own = fit_settings(&given);
    return hfi_classifier_fit(ctx, data, &own, given.own_kernels, out, report);
}
