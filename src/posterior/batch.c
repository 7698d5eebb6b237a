/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction at many points: blocks of queries, each a matrix of cross-covariances that goes through one
 * triangular solve with many right-hand sides. */
#include "posterior/posterior.h"

#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    BLOCK = 256,     /* queries of a task: so many that reading the factor costs little beside using it */
    MEAN_BLOCK = 48, /* without the factor: so few that their covariances stay in the cache */
    SMALL_BLOCK = 32,
    TASKS = 32, /* aimed at when the queries are few, for the sake of the threads */
    LINE = 8    /* doubles in a cache line */
};

/* Doubles of inputs and covariances that a thread may hold; only far beyond 10 000 anchors or inputs does it
 * make blocks smaller. */
#define ARENA_DOUBLES ((size_t)1 << 23)

/* One call. The blocks depend on the number of queries but not on the number of threads, so that no digit
 * does. */
typedef struct prediction_batch {
    const hf_posterior *posterior;
    size_t m;
    const double *x;
    size_t ldx;
    size_t block;  /* queries in a task */
    size_t stride; /* of the cross-covariances, >= anchors */

    double *arena; /* per thread: scaled inputs, cross-covariances, whitened ones, the kernel's scratch */
    size_t arena_size;
    double *mean;     /* m, scaled units */
    double *variance; /* m latent ones, scaled units, or NULL: the mean-only path */
} prediction_batch;

static void predict_block(size_t task, int thread, void *arg)
{
    const prediction_batch *job = arg;
    const hf_posterior *p = job->posterior;
    const hfi_solution *s = &p->solution;
    size_t begin = task * job->block;
    size_t count = job->m - begin < job->block ? job->m - begin : job->block;
    double *x = job->arena + (size_t)thread * job->arena_size, *v = x + job->block * s->d;
    double *room = v + job->block * job->stride, *scratch = room + hfi_solution_room(s, job->block);
    double *mean = job->mean + begin;
    hfi_scaling_inputs(&p->scaling, count, job->x + begin * job->ldx, job->ldx, x);
    hfi_kernel_cross_block(p->kernel, count, x, s->d, s->n, s->z, s->d, v, job->stride, scratch);
    hf_mean_evaluate(p->mean, count, x, s->d, mean);
    /* One column's dot product never depends on its neighbours, a matrix-vector product may. */
    for (size_t q = 0; q < count; q++) mean[q] += hfi_dot(s->n, v + q * job->stride, s->t);
    if (job->variance == NULL) return;
    double *variance = job->variance + begin;
    hfi_kernel_diagonal(p->kernel, count, x, s->d, true, variance);
    size_t ld, rank = hfi_solution_rank(s);
    const double *whitened = hfi_solution_whiten(s, count, v, job->stride, room, &ld);
    for (size_t q = 0; q < count; q++) {
        const double *column = whitened + q * ld;
        variance[q] = hfi_variance_clamp(variance[q] - hfi_dot(rank, column, column));
    }
}

static size_t round_up(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* Columns a multiple of a page apart would fall into the same few places of the cache. */
static size_t column_stride(size_t n)
{
    size_t stride = round_up(n, LINE);
    return stride % (64 * LINE) == 0 ? stride + LINE : stride;
}

static void plan(prediction_batch *job)
{
    const hf_posterior *p = job->posterior;
    size_t block = job->variance != NULL ? BLOCK : MEAN_BLOCK, share = round_up(job->m / TASKS + 1, LINE);
    if (share < SMALL_BLOCK) share = SMALL_BLOCK;
    job->block = share < block ? share : block;
    job->stride = column_stride(p->solution.n);
    while (job->block > LINE && job->block * (p->solution.d + job->stride) > ARENA_DOUBLES) job->block /= 2;
    job->arena_size =
        round_up(job->block * (p->solution.d + job->stride) + hfi_solution_room(&p->solution, job->block) +
                     hfi_kernel_scratch(p->kernel),
                 LINE);
}

static hf_status run_prediction_batch(hf_context *ctx, prediction_batch *job)
{
    const size_t tasks = (job->m + job->block - 1) / job->block, threads = (size_t)hf_context_threads(ctx);
    job->arena = hfi_alloc(ctx, hfi_smaller(threads, tasks), job->arena_size * sizeof *job->arena);
    if (job->arena == NULL) return HF_ERR_MEMORY;
    const hf_status status = hfi_parallel_rounds(ctx, "predict", tasks, predict_block, job);
    hfi_free(ctx, job->arena);
    return status;
}

/* Scaled results to the caller's arrays, or the first one that overflowed. */
static hf_status deliver(hf_context *ctx, const prediction_batch *job, double *mean, double *var_latent,
                         double *var_observed)
{
    const hf_posterior *p = job->posterior;
    for (size_t i = 0; i < job->m; i++)
        if (!isfinite(job->mean[i]) || (job->variance != NULL && !isfinite(job->variance[i])))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the prediction at row %zu (counted from 0) overflows",
                            i);
    for (size_t i = 0; i < job->m; i++) {
        const size_t output = hfi_scaling_output(&p->scaling, job->x + i * job->ldx);
        if (mean != NULL) mean[i] = hfi_scaling_mean(&p->scaling, output, job->mean[i]);
        if (var_latent != NULL) var_latent[i] = hfi_scaling_variance(&p->scaling, output, job->variance[i]);
        if (var_observed != NULL)
            var_observed[i] = hfi_scaling_variance(&p->scaling, output,
                                                   hfi_posterior_observed(p, output, job->variance[i]));
    }
    return HF_OK;
}

hf_status hf_predict(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *x, size_t ldx,
                     double *mean, double *var_latent, double *var_observed)
{
    if (posterior == NULL) return hfi_refuse(ctx, "the posterior is NULL");
    hf_status status = hfi_posterior_check_rows(ctx, posterior, m, x, ldx);
    if (status < 0 || m == 0) return status;
    bool variance = var_latent != NULL || var_observed != NULL;
    prediction_batch job = {.posterior = posterior, .m = m, .x = x, .ldx = ldx};
    /* Collected aside, because a cancelled call leaves the caller's arrays alone. */
    job.mean = hfi_alloc(ctx, m, sizeof *job.mean);
    job.variance = variance ? hfi_alloc(ctx, m, sizeof *job.variance) : NULL;
    if (job.mean == NULL || (variance && job.variance == NULL)) {
        status = HF_ERR_MEMORY;
    } else {
        plan(&job);
        status = run_prediction_batch(ctx, &job);
        if (status >= 0) status = deliver(ctx, &job, mean, var_latent, var_observed);
    }
    HFI_FREE(ctx, job.mean, job.variance);
    return status;
}

/* ---- every output ------------------------------------------------------------------------------------ */

/* Rows (x, t) for every point and output. */
static void spread_rows(const hfi_scaling *scaling, size_t m, const double *x, size_t ldx, double *rows)
{
    const size_t outputs = scaling->outputs, d = scaling->d, own = hfi_scaling_own_inputs(scaling);
    for (size_t i = 0; i < m; i++)
        for (size_t t = 0; t < outputs; t++) {
            double *row = rows + (i * outputs + t) * d;
            memcpy(row, x + i * ldx, own * sizeof *row);
            if (own < d) row[own] = (double)t;
        }
}

/* One block of T x T after the other; nothing of a block that fails. */
static hf_status covariances(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *rows,
                             double *out)
{
    const size_t outputs = posterior->scaling.outputs, d = posterior->solution.d;
    hf_status status = HF_OK;
    for (size_t i = 0; i < m && status >= 0; i++)
        status = hf_predict_covariance(ctx, posterior, outputs, rows + i * outputs * d, d,
                                       out + i * outputs * outputs, outputs);
    return status;
}

hf_status hf_predict_outputs(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *x,
                             size_t ldx, double *mean, double *var_latent, double *var_observed,
                             double *covariance)
{
    if (posterior == NULL) return hfi_refuse(ctx, "hf_predict_outputs: the posterior is NULL");
    const size_t outputs = posterior->scaling.outputs, d = posterior->solution.d;
    const size_t own = hfi_scaling_own_inputs(&posterior->scaling);
    size_t count, square = 0;
    if (m > 0 && x == NULL) return hfi_refuse(ctx, "x is NULL, but has %zu rows", m);
    if (ldx < own)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of x are %zu apart, but there are %zu inputs", ldx, own);
    if (!hfi_size_mul(m, outputs, &count) || (covariance != NULL && !hfi_size_mul(count, outputs, &square)))
        return hfi_out_of_memory(ctx);
    double *rows = hfi_alloc(ctx, count, d * sizeof *rows);
    double *aside = hfi_alloc(ctx, square, sizeof *aside);
    hf_status status = rows != NULL && aside != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        spread_rows(&posterior->scaling, m, x, ldx, rows);
        status = hfi_posterior_check_rows(ctx, posterior, count, rows, d);
    }
    if (status >= 0 && covariance != NULL) status = covariances(ctx, posterior, m, rows, aside);
    if (status >= 0) {
        const hf_status predicted =
            hf_predict(ctx, posterior, count, rows, d, mean, var_latent, var_observed);
        status = hfi_worse(predicted, status);
    }
    if (status >= 0 && covariance != NULL) memcpy(covariance, aside, square * sizeof *covariance);
    HFI_FREE(ctx, rows, aside);
    return status;
}
