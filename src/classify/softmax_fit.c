/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of labels of several classes: that of readings of C outputs up to its trainer, every row being read
 * once for each class, with the softmax link's evidence for the objective. The targets, 1 for the class of a
 * row and -1 for the others, say where constant means start and nothing else. */
#include "classify/classify.h"
#include "classify/fit.h"
#include "classify/softmax.h"
#include <string.h>

typedef struct softmax_fit {
    hfi_class_fit fit;
    size_t n; /* rows with a label: the first ones of fit.base.x are they, with class 0 */
    double *x;
    const char **names;  /* of the features, then `column`; NULL when they have none */
    char *column, *text; /* name of the input with the class; the kernel */
} softmax_fit;

static hf_status check_stride(hf_context *ctx, const hf_class_data *data)
{
    if (data->ldx < data->d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "row stride %zu is less than the %zu inputs", data->ldx,
                        data->d);
    return HF_OK;
}

/* "class", and as many '_' as make it no feature's name. */
static hf_status name_column(hf_context *ctx, const hf_class_data *data, softmax_fit *f)
{
    if (!data->names) return HF_OK;
    const size_t bytes = sizeof "class" + data->d;
    f->names = hfi_alloc(ctx, data->d + 1, sizeof *f->names);
    f->column = hfi_alloc(ctx, bytes, 1);
    if (!f->names || !f->column) return HF_ERR_MEMORY;
    hfi_print(f->column, bytes, "class");
    for (size_t tries = 0; tries < data->d; tries++) {
        bool taken = false;
        for (size_t j = 0; j < data->d; j++) taken = taken || strcmp(data->names[j], f->column) == 0;
        if (!taken) break;
        f->column[strlen(f->column)] = '_';
    }
    for (size_t j = 0; j < data->d; j++) f->names[j] = data->names[j];
    f->names[data->d] = f->column;
    return HF_OK;
}

/* Class after class, so that the rows of class 0 are the features of all. */
static hf_status stack(hf_context *ctx, const hf_class_data *data, softmax_fit *f)
{
    const size_t d = data->d + 1, classes = data->classes;
    for (size_t i = 0; i < data->n; i++) f->n += data->label[i] != HF_LABEL_MISSING;
    if (HFI_ALLOC(ctx, HFI_ROOMS(f->x, f->n, d * classes), HFI_ROOMS(f->fit.reading, f->n, classes),
                  HFI_ROOM(f->fit.label, f->n)) < 0)
        return HF_ERR_MEMORY;
    size_t at = 0;
    for (size_t i = 0; i < data->n; i++) {
        if (data->label[i] == HF_LABEL_MISSING) continue;
        for (size_t c = 0; c < classes; c++) {
            double *row = f->x + (c * f->n + at) * d;
            memcpy(row, data->x + i * data->ldx, data->d * sizeof *row);
            row[data->d] = (double)c;
            f->fit.reading[c * f->n + at] = data->label[i] == c ? 1.0 : -1.0;
        }
        f->fit.label[at++] = data->label[i];
    }
    f->fit.data = (hf_data){.n = f->n * classes,
                            .d = d,
                            .x = f->x,
                            .ldx = d,
                            .y = f->fit.reading,
                            .names = f->names,
                            .outputs = classes,
                            .output_names = data->class_names};
    return HF_OK;
}

/* The kernel of independent classes, and the only solver. */
static hf_status set_kernel(hf_context *ctx, const hf_class_data *data, bool own_kernels, softmax_fit *f)
{
    hf_fit_settings *s = &f->fit.settings;
    f->text = hfi_softmax_expression(ctx, s->kernel ? s->kernel : "matern52(ard)", f->column, data->d + 1,
                                     data->classes, !own_kernels);
    s->kernel = f->text;
    s->solver = HF_SOLVER_EXACT;
    return f->text ? HF_OK : HF_ERR_MEMORY;
}

/* Latent values have the scale of the link. */
static void unscale(softmax_fit *f)
{
    hfi_fit *base = &f->fit.base;
    hfi_scaling *const both[] = {&base->scaling, &base->measured};
    for (size_t k = 0; k < 2; k++) {
        both[k]->y_shift = 0.0;
        both[k]->y_scale = 1.0;
        for (size_t c = 0; c < base->outputs; c++) {
            both[k]->shifts[c] = 0.0;
            both[k]->scales[c] = 1.0;
        }
    }
    memcpy(base->y, f->fit.reading, base->n * sizeof *base->y);
}

static hf_status prepare_softmax_fit(hf_context *ctx, softmax_fit *f)
{
    hfi_fit *base = &f->fit.base;
    hf_status s = hfi_fit_check(ctx, &f->fit.data, &f->fit.settings);
    if (s >= 0) s = hfi_fit_gather(base);
    if (s < 0) return s;
    unscale(f);
    base->verdict.suspected = hfi_alloc(ctx, base->n, sizeof *base->verdict.suspected);
    if (!base->verdict.suspected) return HF_ERR_MEMORY;
    s = hfi_fit_prepare(base);
    if (s < 0) return s;
    for (size_t c = 0; c < base->outputs; c++) base->noises_held[c] = true;
    s = hfi_fit_latent_evaluator(base);
    return s < 0 ? s : hfi_fit_trainer(base);
}

static void free_softmax_fit(hf_context *ctx, softmax_fit *f)
{
    hfi_class_fit_free(&f->fit);
    HFI_FREE(ctx, f->x, f->names, f->column, f->text);
}

static hf_status begin_softmax_fit(hf_context *ctx, const hf_class_data *data,
                                   const hf_fit_settings *settings, bool own_kernels, softmax_fit *f)
{
    hf_status s = hfi_class_fit_begin(ctx, data, settings, &f->fit);
    if (s >= 0) s = check_stride(ctx, data);
    if (s >= 0) s = name_column(ctx, data, f);
    if (s >= 0) s = stack(ctx, data, f);
    if (s >= 0) s = set_kernel(ctx, data, own_kernels, f);
    return s < 0 ? s : prepare_softmax_fit(ctx, f);
}

static hf_status evaluate_softmax_state(void *arg, double *value, double *gradient)
{
    return hfi_softmax_evaluate(arg, value, gradient);
}

static hf_status conclude_softmax_fit(softmax_fit *f, hfi_softmax_problem *p, const double *state,
                                      hf_classifier **out, hf_class_report *report)
{
    hf_posterior *posterior = NULL;
    hf_class_report local;
    hf_status s = hfi_softmax_give(p, &f->fit.base.scaling, &posterior);
    if (s < 0) return s;
    const hf_status warning = hfi_class_fit_report(&f->fit, state, posterior, HF_OK, &local);
    const size_t left = p->classes - 1;
    local.labels = f->n;
    local.missing = f->fit.given->n - f->n;
    local.rounds = p->rounds;
    local.bytes =
        8.0 * (double)p->n * (double)p->n * (double)(2 * p->classes + 4 + (p->classes + left) * left);
    s = hf_classifier_create(p->ctx, posterior, HF_LINK_SOFTMAX, p->classes, out);
    if (s < 0) {
        hf_posterior_free(posterior);
        return s;
    }
    if (report) *report = local;
    return warning;
}

static hf_status run_softmax_fit(softmax_fit *f, hf_classifier **out, hf_class_report *report)
{
    hfi_fit *base = &f->fit.base;
    hfi_softmax_problem p;
    hf_status s = hfi_softmax_init(base->ctx, base->kernel, base->mean, f->n, base->x, base->d, f->fit.label,
                                   base->outputs, &p);
    if (s < 0) return s;
    double *state = hfi_alloc(base->ctx, base->trainer.count, sizeof *state);
    hfi_latent_search search = {.trainer = &base->trainer,
                                .evaluate = evaluate_softmax_state,
                                .arg = &p,
                                .count = p.classes * p.n,
                                .ended = p.alpha,
                                .kept = p.kept_alpha,
                                .started = &p.started,
                                .iterations = f->fit.settings.iterations,
                                .restarts = f->fit.settings.restarts};
    s = state ? hfi_softmax_check_kernel(&p) : HF_ERR_MEMORY;
    if (s >= 0) s = hfi_trainer_cold(&base->trainer, state);
    if (s >= 0) s = hfi_latent_train(&search, state);
    if (s >= 0 && f->fit.inference != HF_INFERENCE_LAPLACE) s = hfi_softmax_correct(&p);
    if (s >= 0) s = conclude_softmax_fit(f, &p, state, out, report);
    if (s == HF_OK) s = hfi_softmax_check_converged(&p);
    hfi_free(base->ctx, state);
    hfi_softmax_free(&p);
    return s;
}

hf_status hfi_softmax_fit(hf_context *ctx, const hf_class_data *data, const hf_fit_settings *settings,
                          bool own_kernels, hf_classifier **out, hf_class_report *report)
{
    softmax_fit f;
    memset(&f, 0, sizeof f);
    hf_status s = begin_softmax_fit(ctx, data, settings, own_kernels, &f);
    if (s >= 0) s = run_softmax_fit(&f, out, report);
    free_softmax_fit(ctx, &f);
    return s;
}
