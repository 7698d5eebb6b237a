/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds at many queries: blocks of them share the solves with the factor and the product with the matrix. */
#include "envelope/closed.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 32
};

typedef struct closed_queries {
    const hf_closed_envelope *closed;
    size_t m;
    const double *x;
    size_t ldx;
    double *arena; /* per thread: inputs, cross-covariances, weights, A times them, the kernel's scratch */
    size_t arena_size;
    double *centre, *half; /* m, solver's units */
} closed_queries;

/* The most that <F, g> can be: |F| <= whole, <F, F0> >= along |F0|, |g| <= size and |<g, F0>| <= beside |F0|.
 * At fixed |g| that grows with `beside` until g and F0 are as F would like them. */
static double reach(const hf_closed_envelope *c, double size, double beside)
{
    const double all = c->whole * size;
    const double rest = sqrt((c->whole - c->along) * (c->whole + c->along));
    const double across = sqrt(fmax(0.0, (size - beside) * (size + beside)));
    return beside * rest <= across * c->along ? fmin(all, beside * c->along + size * rest) : all;
}

/* One query: cross are all covariances, w the weights, aw = A w. */
static void bound_closed_query(const hf_closed_envelope *c, double prior, const double *cross,
                               const double *w, const double *aw, double *centre, double *half)
{
    const double unit = hfi_closed_unit(c);
    double square = prior, bulk = sqrt(prior), beside = 0.0, at = 0.0, noise = 0.0, rounding = 0.0;
    for (size_t i = 0; i < c->n; i++) {
        const double residual = cross[i] - aw[i], size = fabs(w[i]);
        square -= w[i] * (cross[i] + residual);
        beside += c->dual[i] * residual;
        bulk += size * c->sd[i];
        at += w[i] * c->target[i];
        noise += size * c->noise[i];
        rounding += size * (fabs(c->target[i]) + c->noise[i]);
    }
    const double size = sqrt(fmax(0.0, square) + unit * bulk * bulk);
    beside = (fabs(beside) + unit * bulk * c->spread) / c->length;
    *centre = hfi_dot(c->all, cross, c->weight);
    *half = reach(c, size, beside) + noise + fabs(at - *centre) + unit * rounding + c->slack;
}

static void bound_block(size_t task, int thread, void *arg)
{
    const closed_queries *job = arg;
    const hf_closed_envelope *c = job->closed;
    const size_t begin = task * BLOCK, left = job->m - begin;
    const size_t count = left < BLOCK ? left : BLOCK;
    double *x = job->arena + (size_t)thread * job->arena_size, *cross = x + BLOCK * c->d;
    double *w = cross + BLOCK * c->all, *aw = w + BLOCK * c->n, *scratch = aw + BLOCK * c->n;
    double *centre = job->centre + begin, *half = job->half + begin, mean[BLOCK] = {0.0};
    hfi_scaling_inputs(&c->scaling, count, job->x + begin * job->ldx, job->ldx, x);
    hfi_kernel_cross_block(c->kernel, count, x, c->d, c->all, c->x, c->d, cross, c->all, scratch);
    for (size_t q = 0; q < count && c->n > 0; q++) memcpy(w + q * c->n, cross + q * c->all, c->n * sizeof *w);
    if (c->n > 0) {
        hfi_chol_forward_block(c->n, count, c->factor, c->n, w, c->n);
        hfi_chol_backward_block(c->n, count, c->factor, c->n, w, c->n);
        hfi_gemm_tn(c->n, count, c->n, 1.0, c->matrix, c->n, w, c->n, 0.0, aw, c->n);
    }
    if (c->mean) hf_mean_evaluate(c->mean, count, x, c->d, mean);
    for (size_t q = 0; q < count; q++) {
        double prior;
        hfi_kernel_diagonal(c->kernel, 1, x + q * c->d, c->d, false, &prior);
        bound_closed_query(c, prior, cross + q * c->all, w + q * c->n, aw + q * c->n, &centre[q], &half[q]);
        centre[q] += mean[q];
    }
}

static hf_status run_closed_queries(hf_context *ctx, closed_queries *job)
{
    const hf_closed_envelope *c = job->closed;
    const size_t tasks = (job->m + BLOCK - 1) / BLOCK, threads = (size_t)hf_context_threads(ctx);

    job->arena_size = BLOCK * (c->d + c->all + 2 * c->n) + hfi_kernel_scratch(c->kernel);
    job->arena = hfi_alloc(ctx, hfi_smaller(threads, tasks), job->arena_size * sizeof *job->arena);
    if (!job->arena) return HF_ERR_MEMORY;
    const hf_status status = hfi_parallel_rounds(ctx, "bounds", tasks, bound_block, job);
    hfi_free(ctx, job->arena);
    return status;
}

static hf_status deliver(hf_context *ctx, const closed_queries *job, double *lower, double *upper,
                         double *centre)
{
    const hfi_scaling *scaling = &job->closed->scaling;
    for (size_t q = 0; q < job->m; q++)
        if (!isfinite(job->centre[q]) || !isfinite(job->half[q]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the bounds at row %zu (counted from 0) overflow", q);
    for (size_t q = 0; q < job->m; q++) {
        const size_t output = hfi_scaling_output(scaling, job->x + q * job->ldx);
        if (lower) lower[q] = hfi_scaling_mean(scaling, output, job->centre[q] - job->half[q]);
        if (upper) upper[q] = hfi_scaling_mean(scaling, output, job->centre[q] + job->half[q]);
        if (centre) centre[q] = hfi_scaling_mean(scaling, output, job->centre[q]);
    }
    return HF_OK;
}

static hf_status check_queries(hf_context *ctx, const hf_closed_envelope *closed, size_t m, const double *x,
                               size_t ldx)
{
    if (ldx < closed->d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of x are %zu apart, but the kernel has %zu inputs", ldx,
                        closed->d);
    for (size_t q = 0; q < m; q++) {
        for (size_t j = 0; j < closed->d; j++)
            if (!isfinite(x[q * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu (counted from 0) is %g", j, q,
                                x[q * ldx + j]);
        const double *row = x + q * ldx;
        if (!hfi_scaling_has_output(&closed->scaling, row))
            return hfi_refuse(ctx, "row %zu (counted from 0) asks for output %g; there are %zu", q,
                              row[closed->d - 1], closed->scaling.outputs);
    }
    return HF_OK;
}

hf_status hf_closed_envelope_bounds(hf_context *ctx, const hf_closed_envelope *closed, size_t m,
                                    const double *x, size_t ldx, double *lower, double *upper, double *centre)
{
    if (!ctx || !closed || (m > 0 && !x))
        return hfi_refuse(ctx, "bounds need a context, a closed envelope and queries");
    hf_status status = check_queries(ctx, closed, m, x, ldx);
    if (status < 0 || m == 0) return status;
    closed_queries job = {.closed = closed, .m = m, .x = x, .ldx = ldx};
    /* Collected aside: a call that is cancelled leaves the caller's arrays alone. */
    job.centre = hfi_alloc(ctx, m, 2 * sizeof *job.centre);
    if (!job.centre) return HF_ERR_MEMORY;
    job.half = job.centre + m;
    status = run_closed_queries(ctx, &job);
    if (status >= 0) status = deliver(ctx, &job, lower, upper, centre);
    hfi_free(ctx, job.centre);
    return status;
}
