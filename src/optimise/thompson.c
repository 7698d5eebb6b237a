/* SPDX-License-Identifier: Apache-2.0 */
/* The place where a function drawn from the posterior is largest. */
#include "optimise/acquire.h"

#include "posterior/posterior.h"
#include <holdfast/acquire_front.h>
#include <math.h>

/* Costs of a usual path: its features, and a cosine in multiplications. */
static const double features = 1024.0, wave = 20.0;

typedef struct drawn_function {
    const hf_posterior *posterior;
    hf_path *path;
    hf_path_workspace *room;
} drawn_function;

static hf_status thompson_evaluate_many(hf_context *ctx, void *of, size_t m, size_t d, const double *x,
                                        double *values)
{
    const drawn_function *f = of;
    return hf_path_many_rows(ctx, f->path, m, x, d, values);
}

static hf_status thompson_evaluate_at(void *of, size_t d, const double *x, double *value, double *gradient)
{
    (void)d;
    const drawn_function *f = of;
    return hf_path_evaluate(f->path, f->room, x, value, gradient);
}

static hf_status thompson_describe(hf_context *ctx, void *of, size_t d, const double *x, hf_argmax *found)
{
    const drawn_function *f = of;
    double var = 0.0;
    hf_status status = thompson_evaluate_at(of, d, x, &found->value, NULL);
    if (status >= 0) status = hf_predict(ctx, f->posterior, 1, x, d, &found->mean, &var, NULL);
    found->sd = sqrt(var);
    return status;
}

static hf_status check_thompson_call(hf_context *ctx, const hf_posterior *posterior, const hf_domain *domain)
{
    if (posterior == NULL) return hfi_refuse(ctx, "hf_thompson_maximise: the posterior is NULL");
    const hf_status one = hfi_posterior_need_one(ctx, posterior, "Thompson's method");
    if (one < 0) return one;
    if (hf_posterior_dimension(posterior) != domain->dimension)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the posterior has %zu inputs, but the domain has %zu",
                        hf_posterior_dimension(posterior), domain->dimension);
    return HF_OK;
}

hf_status hf_thompson_maximise(hf_context *ctx, const hf_posterior *model, uint64_t stream,
                               const hf_domain *domain, const hf_search_settings *settings,
                               size_t guess_count, const double *guesses, double *x, hf_argmax *report)
{
    const double begin = hfi_now();
    drawn_function f = {.posterior = model};
    hf_argmax found = {.index = 0};
    hf_status status = hfi_maximise_check_call(ctx, domain, settings, guess_count, guesses, x);
    if (status >= 0) status = check_thompson_call(ctx, model, domain);
    if (status < 0) return status;
    const double n = (double)hf_posterior_anchors(model), d = (double)domain->dimension;
    const hfi_surface surface = {.what = "the function drawn",
                                 .of = &f,
                                 .near = model,
                                 .work = n * d + features * (d + wave),
                                 .many = thompson_evaluate_many,
                                 .at = thompson_evaluate_at,
                                 .describe = thompson_describe,
                                 .measured = true};
    status = hf_path_create(ctx, model, stream, 0, &f.path);
    if (status >= 0) f.room = hf_path_workspace_create(ctx, f.path);
    if (status >= 0 && f.room == NULL) status = HF_ERR_MEMORY;
    if (status >= 0)
        status = hfi_maximise_surface(ctx, &surface, domain, settings, guess_count, guesses, x, &found);
    found.seconds = hfi_now() - begin;
    if (status >= 0 && report != NULL) *report = found;
    hf_path_workspace_free(f.room);
    hf_path_free(f.path);
    return status;
}
