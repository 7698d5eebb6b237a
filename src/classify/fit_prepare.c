/* SPDX-License-Identifier: Apache-2.0 */
/* A fit of labels up to its trainer: what a fit of readings does, with labels for readings and no noise to be
 * learnt. */
#include "classify/classify.h"
#include "classify/fit.h"
#include <math.h>
#include <string.h>

/* Names of held values, and the number of classes; the table of settings is asked about the rest. */
static hf_status check_class_settings(hf_context *ctx, const hfi_class_fit *fit)
{
    const hf_fit_settings *s = &fit->settings;
    for (size_t k = 0; k < s->set_count; k++)
        if (s->set[k].name &&
            (strncmp(s->set[k].name, "noise", 5) == 0 || strcmp(s->set[k].name, "threshold") == 0))
            return hfi_refuse(ctx, "classification has no %s to be set", s->set[k].name);
    return hfi_class_check_link(ctx, fit->link, fit->given->classes);
}

static const char *class_name(const hf_class_data *data, size_t c)
{
    return data->class_names && data->class_names[c] ? data->class_names[c] : "";
}

/* hfi_class_check_labels(), and that each class occurs and there are two. */
static hf_status check_data(hf_context *ctx, const hf_class_data *data)
{
    if (!data->x || !data->label) return hfi_refuse(ctx, "a fit of labels needs x and label");
    hf_status s = hfi_class_check_labels(ctx, data->n, data->label, data->classes);
    if (s < 0) return s;
    size_t *count = hfi_alloc(ctx, data->classes, sizeof *count), seen = 0, last = 0;
    if (!count) return HF_ERR_MEMORY;
    for (size_t i = 0; i < data->n; i++)
        if (data->label[i] != HF_LABEL_MISSING) count[data->label[i]]++;
    for (size_t c = 0; c < data->classes; c++) {
        if (count[c] == 0) continue;
        seen++;
        last = c;
    }
    for (size_t c = 0; s >= 0 && seen < data->classes && c < data->classes; c++) {
        if (seen == 1)
            s = hfi_fail(
                ctx, HF_ERR_NO_DATA,
                "all labelled rows are of one class, number %zu %s; classification needs rows of two", last,
                class_name(data, last));
        else if (count[c] == 0)
            s = hfi_fail(ctx, HF_ERR_NO_DATA, "no labelled row is of class %zu %s; leave it out, or give one",
                         c, class_name(data, c));
    }
    hfi_free(ctx, count);
    return s;
}

static hf_solver solver_of(const hf_fit_settings *s, const hf_class_data *data)
{
    size_t present = 0;
    for (size_t i = 0; i < data->n; i++) present += data->label[i] != HF_LABEL_MISSING;
    return hfi_choose_class_solver(s, present);
}

/* Latent values have a scale of their own, that of the link: the target is as it is. */
static void unscale(hfi_class_fit *fit)
{
    hfi_fit *base = &fit->base;
    base->scaling.y_shift = base->measured.y_shift = 0.0;
    base->scaling.y_scale = base->measured.y_scale = 1.0;
    for (size_t k = 0; k < base->n; k++) {
        base->y[k] = fit->reading[base->row[k]];
        fit->label[k] = fit->given->label[base->row[k]];
    }
}

static hf_status prepare_class_fit(hf_context *ctx, hfi_class_fit *fit)
{
    hfi_fit *base = &fit->base;
    const hf_class_data *data = fit->given;
    if (HFI_ALLOC(ctx, HFI_ROOM(fit->reading, data->n), HFI_ROOM(fit->label, data->n)) < 0)
        return HF_ERR_MEMORY;
    for (size_t i = 0; i < data->n; i++)
        fit->reading[i] = data->label[i] == HF_LABEL_MISSING ? NAN : data->label[i] == 0 ? -1.0 : 1.0;
    fit->data = (hf_data){
        .n = data->n, .d = data->d, .x = data->x, .ldx = data->ldx, .y = fit->reading, .names = data->names};
    hf_status s = hfi_fit_check(ctx, &fit->data, &fit->settings);
    if (s >= 0) s = hfi_fit_gather(base);
    if (s < 0) return s;
    unscale(fit);
    base->verdict.suspected = hfi_alloc(ctx, base->n, sizeof *base->verdict.suspected);
    if (!base->verdict.suspected) return HF_ERR_MEMORY;
    s = hfi_fit_prepare(base);
    base->noise_held = true;
    if (s >= 0) s = hfi_fit_evaluator(base);
    if (s >= 0) s = hfi_fit_trainer(base);
    return s;
}

hf_status hfi_class_fit_begin(hf_context *ctx, const hf_class_data *data, const hf_fit_settings *settings,
                              hfi_class_fit *fit)
{
    *fit = (hfi_class_fit){.given = data, .settings = *settings, .link = hfi_class_link(settings->sites)};
    fit->inference = hfi_class_inference(fit->link, settings->inference);
    fit->settings.sites = HF_LIKELIHOOD_GAUSSIAN;
    fit->settings.suspects = HF_OUTLIERS_OFF;
    fit->settings.groups = fit->settings.calibrate = false;
    fit->base =
        (hfi_fit){.ctx = ctx, .data = &fit->data, .settings = &fit->settings, .latent = true, .nu = INFINITY};
    const hf_status s = check_data(ctx, data);
    return s < 0 ? s : check_class_settings(ctx, fit);
}

hf_status hfi_class_fit_init(hf_context *ctx, const hf_class_data *data, const hf_fit_settings *settings,
                             hfi_class_fit *fit)
{
    hf_status s = hfi_class_fit_begin(ctx, data, settings, fit);
    if (s >= 0) fit->settings.solver = solver_of(&fit->settings, data);
    if (s >= 0) s = prepare_class_fit(ctx, fit);
    if (s < 0) hfi_class_fit_free(fit);
    return s;
}

void hfi_class_fit_free(hfi_class_fit *fit)
{
    hf_context *ctx = fit->base.ctx;
    fit->base.trainer.evaluator.ctx = ctx;
    hfi_fit_free(&fit->base);
    HFI_FREE(ctx, fit->reading, fit->label);
    memset(fit, 0, sizeof *fit);
}

hf_status hfi_class_fit_report(const hfi_class_fit *fit, const double *state, const hf_posterior *posterior,
                               hf_status solved, hf_class_report *report)
{
    hf_fit_report like;
    hfi_fit_fill_report(&fit->base, state, posterior, 1.0, &like);
    *report = (hf_class_report){.labels = like.readings,
                                .missing = like.missing,
                                .stop = like.stop,
                                .evaluations = like.evaluations,
                                .objective = like.objective,
                                .log_prior = like.log_prior,
                                .gradient_norm = like.gradient_norm,
                                .at_bound = like.at_bound,
                                .jitter = like.jitter,
                                .bytes = like.bytes,
                                .solver = like.solver,
                                .inducing = like.inducing};
    memcpy(report->at_bound_names, like.at_bound_names, sizeof report->at_bound_names);
    return hfi_fit_warn(&fit->base, solved, &like);
}
