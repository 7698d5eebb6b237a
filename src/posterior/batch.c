/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction at many points: blocks of queries, each a matrix of cross-covariances that goes through one
 * triangular solve with many right-hand sides. */
#include "posterior/posterior.h"

#include "linalg/linalg.h"
#include <math.h>

enum {
    BLOCK = 256,     /* queries of a task: so many that reading the factor costs little beside using it */
    MEAN_BLOCK = 48, /* without the factor: so few that their covariances stay in the cache */
    SMALL_BLOCK = 32,
    TASKS = 32,         /* aimed at when the queries are few, for the sake of the threads */
    TASKS_PER_WAVE = 4, /* of every thread between two reports of progress */
    LINE = 8            /* doubles in a cache line */
};

/* Doubles of inputs and covariances that a thread may hold; only far beyond 10 000 anchors or inputs does it
 * make blocks smaller. */
#define ARENA_DOUBLES ((size_t)1 << 23)

/* One call. The blocks depend on the number of queries but not on the number of threads, so that no digit
 * does. */
typedef struct batch {
    const hf_posterior *posterior;
    size_t m;
    const double *x;
    size_t ldx;
    size_t block;  /* queries in a task */
    size_t stride; /* of the cross-covariances, >= anchors */
    size_t first;  /* task the wave begins with */
    double *arena; /* per thread: scaled inputs, cross-covariances, whitened ones, the kernel's scratch */
    size_t arena_size;
    double *mean;     /* m, scaled units */
    double *variance; /* m latent ones, scaled units, or NULL: the mean-only path */
} batch;

static void predict_block(size_t task, int thread, void *arg)
{
    const batch *job = arg;
    const hf_posterior *p = job->posterior;
    const hfi_solution *s = &p->solution;
    size_t begin = (job->first + task) * job->block;
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

static void plan(batch *job)
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

/* All tasks, in waves: only the thread that called may report progress. */
static hf_status run(hf_context *ctx, batch *job)
{
    size_t tasks = (job->m + job->block - 1) / job->block;
    size_t threads = (size_t)hf_context_threads(ctx), wave = TASKS_PER_WAVE * threads;
    job->arena = hfi_alloc(ctx, threads < tasks ? threads : tasks, job->arena_size * sizeof *job->arena);
    if (job->arena == NULL) return HF_ERR_MEMORY;
    hf_status status = HF_OK;
    for (size_t first = 0; first < tasks && status >= 0; first += wave) {
        job->first = first;
        if (!hfi_progress(ctx, "predict", (double)first / (double)tasks, NAN))
            status = hfi_cancelled(ctx);
        else
            hfi_parallel_for(ctx, tasks - first < wave ? tasks - first : wave, predict_block, job);
    }
    hfi_free(ctx, job->arena);
    return status;
}

/* Scaled results to the caller's arrays, or the first one that overflowed. */
static hf_status deliver(hf_context *ctx, const batch *job, double *mean, double *var_latent,
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
    batch job = {.posterior = posterior, .m = m, .x = x, .ldx = ldx};
    /* Collected aside, because a cancelled call leaves the caller's arrays alone. */
    job.mean = hfi_alloc(ctx, m, sizeof *job.mean);
    job.variance = variance ? hfi_alloc(ctx, m, sizeof *job.variance) : NULL;
    if (job.mean == NULL || (variance && job.variance == NULL)) {
        status = HF_ERR_MEMORY;
    } else {
        plan(&job);
        status = run(ctx, &job);
        if (status >= 0) status = deliver(ctx, &job, mean, var_latent, var_observed);
    }
    HFI_FREE(ctx, job.mean, job.variance);
    return status;
}
