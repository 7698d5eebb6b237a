/* SPDX-License-Identifier: Apache-2.0 */
/* A posterior given values of f that are not known yet: what their points have to say about any other. */
#include "posterior/given.h"

#include "linalg/linalg.h"
#include <string.h>

enum {
    BLOCK = 64 /* points of a task */
};

typedef struct fill {
    size_t p;
    const double *covariance;
} fill;

static hf_status copy_covariance(void *arg, double *a, size_t lda)
{
    const fill *job = arg;
    for (size_t j = 0; j < job->p; j++)
        memcpy(a + j * (lda + 1), job->covariance + j * (job->p + 1), (job->p - j) * sizeof *a);
    return HF_OK;
}

/* The factor of the points' covariance, in the posterior's units, and their mean in the user's. */
static hf_status factor_points(hf_context *ctx, const double *x, hfi_given *g)
{
    const hf_posterior *posterior = g->posterior;
    const hfi_solution *s = &posterior->solution;
    double *covariance = hfi_alloc(ctx, g->p, g->p * sizeof *covariance), jitter;
    if (covariance == NULL) return HF_ERR_MEMORY;
    fill source = {.p = g->p, .covariance = covariance};
    hf_status status = hfi_posterior_joint(ctx, posterior, g->p, x, s->d, g->mean, covariance);
    if (status >= 0)
        status =
            hfi_chol_jitter(ctx, g->p, g->factor, g->p, hfi_jitter_scale(posterior->kernel, s->n, s->z, s->d),
                            copy_covariance, &source, &jitter);
    for (size_t k = 0; k < g->p; k++) g->mean[k] = hfi_scaling_mean(&posterior->scaling, 0, g->mean[k]);
    hfi_free(ctx, covariance);
    return status < 0 ? status : HF_OK;
}

/* W = [-S k(Z, P); I] L^-T. */
static hf_status compute_given_weights(hf_context *ctx, hfi_given *g)
{
    const hf_posterior *posterior = g->posterior;
    const hfi_solution *s = &posterior->solution;
    const double *points = g->inputs + s->n * s->d;
    double *column = hfi_alloc(ctx, s->n, sizeof *column),
           *room = hfi_alloc(ctx, hfi_solution_room(s, 1), sizeof *room);
    double *scratch = hfi_alloc(ctx, hfi_kernel_scratch(posterior->kernel), sizeof *scratch);
    const bool any = column != NULL && room != NULL && scratch != NULL;
    for (size_t k = 0; any && k < g->p; k++) {
        double *w = g->weights + k * g->rows;
        size_t ld;
        hfi_kernel_cross_block(posterior->kernel, 1, points + k * s->d, s->d, s->n, s->z, s->d, column, s->n,
                               scratch);
        hfi_solution_spread(s, hfi_solution_whiten(s, 1, column, s->n, room, &ld), w);
        for (size_t i = 0; i < s->n; i++) w[i] = -w[i];
        w[s->n + k] = 1.0;
    }
    if (any) hfi_tall_divide(ctx, g->rows, g->p, g->factor, g->p, true, g->weights, g->rows);
    for (size_t k = 0; any && k < g->p * g->p; k++) g->factor[k] *= g->scale;
    HFI_FREE(ctx, column, room, scratch);
    return any ? HF_OK : HF_ERR_MEMORY;
}

hf_status hfi_given_begin(hf_context *ctx, const hf_posterior *posterior, size_t p, const double *x,
                          hfi_given *given)
{
    const hfi_solution *s = &posterior->solution;
    hfi_given *g = given;
    *g = (hfi_given){
        .posterior = posterior, .p = p, .rows = s->n + p, .scale = hfi_scaling_scale(&posterior->scaling, 0)};
    if (p == 0) return HF_OK;
    if (HFI_ALLOC(ctx, HFI_ROOM(g->mean, p), HFI_ROOMS(g->factor, p, p), HFI_ROOMS(g->inputs, g->rows, s->d),
                  HFI_ROOMS(g->weights, g->rows, p),
                  HFI_ROOM(g->room, g->rows + s->d + hfi_kernel_scratch(posterior->kernel))) < 0)
        return HF_ERR_MEMORY;
    memcpy(g->inputs, s->z, s->n * s->d * sizeof *g->inputs);
    hfi_scaling_inputs(&posterior->scaling, p, x, s->d, g->inputs + s->n * s->d);
    const hf_status status = factor_points(ctx, x, g);
    return status >= 0 ? compute_given_weights(ctx, g) : status;
}

void hfi_given_end(hf_context *ctx, hfi_given *given)
{
    HFI_FREE(ctx, given->mean, given->factor, given->inputs, given->weights, given->room);
    *given = (hfi_given){.p = 0};
}

/* w of `count` points in the posterior's units; k has rows x count entries. */
static void whiten_given_points(const hfi_given *g, size_t count, const double *scaled, double *k,
                                double *scratch, double *w)
{
    const size_t d = g->posterior->solution.d;
    hfi_kernel_cross_block(g->posterior->kernel, count, scaled, d, g->rows, g->inputs, d, k, g->rows,
                           scratch);
    hfi_gemm_tn(g->p, count, g->rows, g->scale, g->weights, g->rows, k, g->rows, 0.0, w, g->p);
}

void hfi_given_at(hfi_given *given, const double *x, double *w)
{
    const size_t d = given->posterior->solution.d;
    if (given->p == 0) return;
    double *scaled = given->room + given->rows;
    hfi_scaling_inputs(&given->posterior->scaling, 1, x, d, scaled);
    whiten_given_points(given, 1, scaled, given->room, scaled + d, w);
}

void hfi_given_gradient(hfi_given *given, const double *x, const double *q, double *gradient)
{
    const hf_posterior *posterior = given->posterior;
    const size_t d = posterior->solution.d;
    memset(gradient, 0, d * sizeof *gradient);
    if (given->p == 0) return;
    double *sum = given->room, *scaled = sum + given->rows;
    hfi_scaling_inputs(&posterior->scaling, 1, x, d, scaled);
    hfi_gemv(given->rows, given->p, given->scale, given->weights, given->rows, q, 0.0, sum);
    hfi_kernel_input_gradient(posterior->kernel, scaled, given->rows, given->inputs, d, sum, gradient,
                              scaled + d);
    for (size_t j = 0; j < d; j++) gradient[j] /= posterior->scaling.x_scale[j];
}

typedef struct given_queries {
    const hfi_given *given;
    size_t m, d, size; /* size: doubles of room for each thread */
    const double *x;
    double *w, *room;
} given_queries;

static void block(size_t index, int thread, void *arg)
{
    const given_queries *j = arg;
    const hfi_given *g = j->given;
    const size_t begin = index * BLOCK, count = j->m - begin < BLOCK ? j->m - begin : BLOCK;
    double *k = j->room + (size_t)thread * j->size, *scaled = k + g->rows * BLOCK;
    hfi_scaling_inputs(&g->posterior->scaling, count, j->x + begin * j->d, j->d, scaled);
    whiten_given_points(g, count, scaled, k, scaled + BLOCK * j->d, j->w + begin * g->p);
}

hf_status hfi_given_many(hf_context *ctx, const hfi_given *g, size_t m, const double *x, double *w)
{
    if (g->p == 0 || m == 0) return HF_OK;
    given_queries j = {.given = g, .m = m, .d = g->posterior->solution.d, .x = x, .w = w};
    j.size = BLOCK * (g->rows + j.d) + hfi_kernel_scratch(g->posterior->kernel);
    j.room = hfi_alloc_product(ctx, (size_t)hf_context_threads(ctx), j.size, sizeof *j.room);
    if (j.room == NULL) return HF_ERR_MEMORY;
    hfi_parallel_for(ctx, (m + BLOCK - 1) / BLOCK, block, &j);
    hfi_free(ctx, j.room);
    return HF_OK;
}
