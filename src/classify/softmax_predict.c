/* SPDX-License-Identifier: Apache-2.0 */
/* Class probabilities from the posterior of C outputs: at every point the joint distribution of the C latent
 * values, and what the link makes of it. */
#include "classify/classify.h"
#include "classify/softmax.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    BLOCK = 16, /* points of a task */
    LINE = 8    /* doubles in a cache line */
};

typedef struct softmax_queries {
    const hf_posterior *posterior;
    size_t classes, m;
    const double *x;
    size_t ldx;
    double *arena;
    size_t arena_size;
    /* results */
    double *probability, *mean, *var; /* m x C */
    double *error;                    /* m */
} softmax_queries;

/* Rows of a block of points, each with every class, in the solver's units. */
static void place_rows(const softmax_queries *job, size_t begin, size_t count, double *rows)
{
    const hfi_scaling *s = &job->posterior->scaling;
    const size_t d = s->d;
    for (size_t q = 0; q < count; q++) {
        for (size_t c = 0; c < job->classes; c++) {
            double *row = rows + (q * job->classes + c) * d;
            for (size_t j = 0; j + 1 < d; j++)
                row[j] = (job->x[(begin + q) * job->ldx + j] - s->x_shift[j]) / s->x_scale[j];
            row[d - 1] = (double)c;
        }
    }
}

/* Covariance (both triangles) of the classes at one point in the user's units. */
static void covariance_at(const softmax_queries *job, const double *rows, const double *whitened, size_t ld,
                          double *v)
{
    const hf_posterior *p = job->posterior;
    const size_t classes = job->classes, d = p->scaling.d, rank = hfi_solution_rank(&p->solution);
    for (size_t a = 0; a < classes; a++) {
        for (size_t b = 0; b <= a; b++) {
            double value = hfi_kernel_value(p->kernel, rows + a * d, rows + b * d, a == b) -
                           hfi_dot(rank, whitened + a * ld, whitened + b * ld);
            if (a == b) value = hfi_variance_clamp(value);
            value *= hfi_scaling_scale(&p->scaling, a) * hfi_scaling_scale(&p->scaling, b);
            v[a * classes + b] = v[b * classes + a] = value;
        }
    }
}

static void predict_block(size_t task, int thread, void *arg)
{
    const softmax_queries *job = arg;
    const hf_posterior *p = job->posterior;
    const hfi_solution *s = &p->solution;
    const size_t classes = job->classes, begin = task * BLOCK, d = s->d;
    const size_t count = job->m - begin < BLOCK ? job->m - begin : BLOCK, queries = count * classes;
    double *rows = job->arena + (size_t)thread * job->arena_size, *v = rows + BLOCK * classes * d;
    double *room = v + BLOCK * classes * s->n, *scratch = room + hfi_solution_room(s, BLOCK * classes);
    double *covariance = scratch + hfi_kernel_scratch(p->kernel), *spare = covariance + classes * classes;
    double *mean = job->mean + begin * classes;
    size_t ld;
    place_rows(job, begin, count, rows);
    hfi_kernel_cross_block(p->kernel, queries, rows, d, s->n, s->z, d, v, s->n, scratch);
    hf_mean_evaluate(p->mean, queries, rows, d, mean);
    for (size_t q = 0; q < queries; q++)
        mean[q] = hfi_scaling_mean(&p->scaling, q % classes, mean[q] + hfi_dot(s->n, v + q * s->n, s->t));
    const double *whitened = hfi_solution_whiten(s, queries, v, s->n, room, &ld);
    for (size_t q = 0; q < count; q++) {
        covariance_at(job, rows + q * classes * d, whitened + q * classes * ld, ld, covariance);
        for (size_t c = 0; c < classes; c++)
            job->var[(begin + q) * classes + c] = covariance[c * classes + c];
        hfi_softmax_probability(classes, mean + q * classes, covariance,
                                job->probability + (begin + q) * classes, job->error + begin + q, spare);
    }
}

static hf_status run_softmax_queries(hf_context *ctx, softmax_queries *job)
{
    const hfi_solution *s = &job->posterior->solution;
    const size_t tasks = (job->m + BLOCK - 1) / BLOCK, threads = (size_t)hf_context_threads(ctx),
                 rows = BLOCK * job->classes;
    job->arena_size = rows * (s->d + s->n) + hfi_solution_room(s, rows) +
                      hfi_kernel_scratch(job->posterior->kernel) + job->classes * job->classes +
                      hfi_softmax_scratch(job->classes) + LINE;
    job->arena = hfi_alloc(ctx, threads, job->arena_size * sizeof *job->arena);
    if (!job->arena) return HF_ERR_MEMORY;
    const hf_status status = hfi_parallel_rounds(ctx, "predict", tasks, predict_block, job);
    hfi_free(ctx, job->arena);
    return status;
}

static hf_status check_softmax_queries(hf_context *ctx, const softmax_queries *job)
{
    const size_t d = job->posterior->scaling.d - 1;
    if (job->posterior->scaling.outputs != job->classes)
        return hfi_refuse(ctx, "the posterior has %zu outputs, but there are %zu classes",
                          job->posterior->scaling.outputs, job->classes);
    if (job->m > 0 && !job->x) return hfi_refuse(ctx, "x is NULL");
    if (job->ldx < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of x are %zu apart, but there are %zu inputs", job->ldx,
                        d);
    for (size_t i = 0; i < job->m; i++)
        for (size_t j = 0; j < d; j++)
            if (!isfinite(job->x[i * job->ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu is %g", j + 1, i + 1,
                                job->x[i * job->ldx + j]);
    return HF_OK;
}

static hf_status check_result(hf_context *ctx, const softmax_queries *job)
{
    for (size_t i = 0; i < job->m; i++)
        for (size_t c = 0; c < job->classes; c++)
            if (!isfinite(job->probability[i * job->classes + c]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the prediction at row %zu is not finite", i + 1);
    return HF_OK;
}

/* The decision of the least expected loss; without a loss the largest probability. */
static size_t winner_of(size_t classes, const double *loss, const double *p, double *expected)
{
    size_t best = 0;
    if (loss) hf_class_expected_loss(classes, loss, p, expected);
    for (size_t c = 1; c < classes; c++)
        if (loss ? expected[c] < expected[best] : p[c] > p[best]) best = c;
    return best;
}

hf_status hfi_softmax_predict(hf_context *ctx, const hf_posterior *posterior, size_t classes,
                              const double *loss, size_t m, const double *x, size_t ldx, double *probability,
                              size_t *winner, double *latent_mean, double *latent_var, double *error)
{
    softmax_queries job = {.posterior = posterior, .classes = classes, .m = m, .x = x, .ldx = ldx};
    hf_status s = check_softmax_queries(ctx, &job);
    if (s < 0 || m == 0) return s;
    /* Collected aside, because a cancelled call leaves the caller's arrays alone. */
    const size_t cells = m * classes, bytes = cells * sizeof *job.mean;
    job.mean = hfi_alloc(ctx, m, (3 * classes + 1) * sizeof *job.mean);
    if (!job.mean) return HF_ERR_MEMORY;
    job.var = job.mean + cells;
    job.probability = job.var + cells;
    job.error = job.probability + cells;
    s = run_softmax_queries(ctx, &job);
    if (s >= 0) s = check_result(ctx, &job);
    if (s >= 0) {
        if (probability) memcpy(probability, job.probability, bytes);
        if (latent_mean) memcpy(latent_mean, job.mean, bytes);
        if (latent_var) memcpy(latent_var, job.var, bytes);
        if (error) memcpy(error, job.error, m * sizeof *error);
        for (size_t i = 0; winner && i < m; i++)
            winner[i] = winner_of(classes, loss, job.probability + i * classes, job.mean);
    }
    hfi_free(ctx, job.mean);
    return s;
}
