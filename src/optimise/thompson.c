/* SPDX-License-Identifier: Apache-2.0 */
/* The place where a function drawn from the posterior is largest. */
#include "optimise/acquire.h"

#include "posterior/posterior.h"
#include <holdfast/acquire_front.h>
#include <math.h>
#include <string.h>

/* Costs of a usual path: its features, and a cosine in multiplications. */
static const double features = 1024.0, wave = 20.0;

typedef struct drawn {
    hf_path *path;
    hf_workspace *room;
} drawn;

static hf_status many(hf_context *ctx, void *of, size_t m, size_t d, const double *x, double *values)
{
    const drawn *f = of;
    return hf_path_many_rows(ctx, f->path, m, x, d, values);
}

static hf_status at(void *of, size_t d, const double *x, double *value, double *gradient)
{
    (void)d;
    const drawn *f = of;
    return hf_path_evaluate(f->path, f->room, x, value, gradient);
}

static hf_status check(hf_context *ctx, const hf_posterior *posterior, const hf_domain *domain)
{
    if (posterior == NULL) return hfi_refuse(ctx, "hf_thompson_maximise: the posterior is NULL");
    if (hf_posterior_outputs(posterior) > 1)
        return hfi_refuse(ctx, "Thompson's method is about one output; the posterior has %zu",
                          hf_posterior_outputs(posterior));
    if (hf_posterior_dimension(posterior) != domain->dimension)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the posterior has %zu inputs, but the domain has %zu",
                        hf_posterior_dimension(posterior), domain->dimension);
    return HF_OK;
}

static hf_status find(hf_context *ctx, const hf_posterior *posterior, drawn *f, const hf_domain *domain,
                      const hf_search_settings *settings, size_t guess_count, const double *guesses,
                      double *place, hf_argmax *found)
{
    const double n = (double)hf_posterior_anchors(posterior), d = (double)domain->dimension;
    const hfi_surface surface = {.what = "the function drawn",
                                 .of = f,
                                 .near = posterior,
                                 .work = n * d + features * (d + wave),
                                 .many = many,
                                 .at = at};
    double var;
    f->room = hf_path_workspace(ctx, f->path);
    if (f->room == NULL) return HF_ERR_MEMORY;
    const hf_search_settings usual = hfi_acquire_settings(surface.work, domain->dimension);
    hf_status status = hfi_maximise_surface(ctx, &surface, domain, settings != NULL ? settings : &usual,
                                            guess_count, guesses, place, found);
    if (status >= 0) status = at(f, domain->dimension, place, &found->value, NULL);
    if (status >= 0)
        status = hf_predict(ctx, posterior, 1, place, domain->dimension, &found->mean, &var, NULL);
    if (status >= 0) found->sd = sqrt(var);
    return status;
}

hf_status hf_thompson_maximise(hf_context *ctx, const hf_posterior *model, uint64_t stream,
                               const hf_domain *domain, const hf_search_settings *settings,
                               size_t guess_count, const double *guesses, double *x, hf_argmax *report)
{
    const double begin = hfi_now();
    drawn f = {NULL, NULL};
    hf_argmax found = {.index = 0};
    hf_status status = hfi_maximise_check_call(ctx, domain, settings, guess_count, guesses, x);
    if (status >= 0) status = check(ctx, model, domain);
    if (status < 0) return status;
    double *place = hfi_alloc(ctx, domain->dimension, sizeof *place);
    status = place != NULL ? hf_path_create(ctx, model, stream, 0, &f.path) : HF_ERR_MEMORY;
    if (status >= 0) status = find(ctx, model, &f, domain, settings, guess_count, guesses, place, &found);
    if (status >= 0) {
        memcpy(x, place, domain->dimension * sizeof *x);
        found.seconds = hfi_now() - begin;
        if (report != NULL) *report = found;
    }
    hf_workspace_free(f.room);
    hf_path_free(f.path);
    hfi_free(ctx, place);
    return status;
}
