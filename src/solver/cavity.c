/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cavity N(c_i, v_i) of f_i is what all other readings say about it, relative to the prior mean. Two formulas,
 * exact both, with A = K + D + jitter, G = A^-1 and d_i including the jitter:
 *
 *     closed:  v_i = 1 / G_ii - d_i                 c_i = r_i - t_i / G_ii             for all i at once
 *     direct:  v_i = K_ii + sum_j K_ij q_j          c_i = sum_j K_ij (t_j - q_j t_i),  q_j = G_ji / G_ii,  j != i
 *
 * (-q is the solution of A_-i q = k_-i, by the inverse of a 2 x 2 block matrix.) The closed one has errors of
 * a few eps (d_i + |r_i|). That is nothing for an ordinary reading, but a robust site of a reading at 1e12
 * has d_i of 1e24 and would leave pure rounding; the direct one, with errors of a few eps K_ii, costs two
 * solves and serves those.
 */
#include "solver/solver.h"

#include "linalg/linalg.h"
#include <string.h>

enum {
    BLOCK = 32 /* anchors of a task in the direct formula */
};

/* Site variance over prior variance from which the closed formula would lose this factor in digits. */
static const double WEAK = 1e4;

/* Below zero only by rounding; NaN stays. */
static double clamp(double variance)
{
    return variance < 0.0 ? 0.0 : variance;
}

/* From diag(G), which may be `variance`. */
static void closed_form(const hfi_solution *solution, const double *diagonal, double *mean, double *variance)
{
    for (size_t i = 0; i < solution->n; i++) {
        const double own = diagonal[i];
        mean[i] = solution->residual[i] - solution->t[i] / own;
        variance[i] = clamp(1.0 / own - solution->variance[i] - solution->jitter);
    }
}

/* `work`: n x n, or the factor itself, which is then lost. */
static void find_diagonal(hf_context *ctx, const hfi_solution *solution, double *work, double *diagonal)
{
    hfi_chol_inverse_diagonal(ctx, solution->n, solution->factor, solution->capacity, work, diagonal);
}

static hf_status find_diagonal_aside(hf_context *ctx, const hfi_solution *solution, double *diagonal)
{
    const size_t n = solution->n;
    const hf_status status =
        hfi_require_memory(ctx, "leave-one-out", n, (double)sizeof(double) * (double)n * (double)n);
    if (status < 0) return status;
    double *work = hfi_alloc_unset(ctx, n, n * sizeof *work);
    if (work == NULL) return HF_ERR_MEMORY;
    find_diagonal(ctx, solution, work, diagonal);
    hfi_free(ctx, work);
    return HF_OK;
}

/* Anchors for the direct formula. */
typedef struct direct {
    const hf_kernel *kernel;
    const hfi_solution *solution;
    size_t count;
    const size_t *index;
    const double *prior; /* K_ii of every anchor */
    double *arena;       /* per thread: rows of Z, columns of G, columns of K, the kernel's scratch */
    size_t arena_size;
    double *mean; /* of every anchor; those in index are written */
    double *variance;
} direct;

static void direct_block(size_t task, int thread, void *arg)
{
    const direct *job = arg;
    const hfi_solution *s = job->solution;
    size_t n = s->n, d = s->d, begin = task * BLOCK;
    size_t count = job->count - begin < BLOCK ? job->count - begin : BLOCK;
    const size_t *index = job->index + begin;
    double *z = job->arena + (size_t)thread * job->arena_size;
    double *g = z + BLOCK * d, *k = g + BLOCK * n, *scratch = k + BLOCK * n;
    memset(g, 0, count * n * sizeof *g);
    for (size_t q = 0; q < count; q++) {
        memcpy(z + q * d, s->z + index[q] * d, d * sizeof *z);
        g[q * n + index[q]] = 1.0;
    }
    hfi_chol_forward_block(n, count, s->factor, s->capacity, g, n);
    hfi_chol_backward_block(n, count, s->factor, s->capacity, g, n);
    hfi_kernel_cross_block(job->kernel, count, z, d, n, s->z, d, k, n, scratch);
    for (size_t q = 0; q < count; q++) {
        size_t i = index[q];
        const double *column = g + q * n;
        double *cross = k + q * n;
        cross[i] = 0.0;
        double share = hfi_dot(n, cross, column) / column[i];
        job->mean[i] = hfi_dot(n, cross, s->t) - share * s->t[i];
        job->variance[i] = clamp(job->prior[i] + share);
    }
}

static hf_status run_direct(hf_context *ctx, direct *job)
{
    const hfi_solution *s = job->solution;
    size_t tasks = (job->count + BLOCK - 1) / BLOCK, threads = (size_t)hf_context_threads(ctx);
    if (tasks == 0) return HF_OK;
    job->arena_size = BLOCK * (s->d + 2 * s->n) + hfi_kernel_scratch(job->kernel);
    job->arena =
        hfi_alloc_unset(ctx, threads < tasks ? threads : tasks, job->arena_size * sizeof *job->arena);
    if (job->arena == NULL) return HF_ERR_MEMORY;
    hfi_parallel_for(ctx, tasks, direct_block, job);
    hfi_free(ctx, job->arena);
    return HF_OK;
}

/* `known`: diag(G), NULL where it is not; `spend`: the factor is not needed any more. */
static hf_status find_cavities(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s,
                               const double *known, bool spend, double *mean, double *variance)
{
    size_t *weak = hfi_alloc(ctx, s->n, sizeof *weak);
    double *prior = hfi_alloc(ctx, s->n, sizeof *prior);
    hf_status status = HF_ERR_MEMORY;
    if (weak != NULL && prior != NULL) {
        direct job = {.kernel = kernel,
                      .solution = s,
                      .index = weak,
                      .prior = prior,
                      .mean = mean,
                      .variance = variance};
        hfi_kernel_diagonal(kernel, s->n, s->z, s->d, true, prior);
        for (size_t i = 0; i < s->n; i++)
            if (s->variance[i] > WEAK * prior[i]) weak[job.count++] = i;
        status = HF_OK;
        if (!known && spend && job.count == 0 && s->capacity == s->n)
            find_diagonal(ctx, s, s->factor, variance);
        else if (!known)
            status = find_diagonal_aside(ctx, s, variance);
        if (status >= 0) closed_form(s, known ? known : variance, mean, variance);
        if (status >= 0) status = run_direct(ctx, &job);
    }
    HFI_FREE(ctx, weak, prior);
    return status;
}

hf_status hfi_solution_cavities(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s, double *mean,
                                double *variance)
{
    return find_cavities(ctx, kernel, s, NULL, false, mean, variance);
}

hf_status hfi_last_cavities(hf_context *ctx, const hf_kernel *kernel, hfi_solution *s, double *mean,
                            double *variance)
{
    return find_cavities(ctx, kernel, s, NULL, true, mean, variance);
}

hf_status hfi_known_cavities(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s,
                             const double *diagonal, double *mean, double *variance)
{
    return find_cavities(ctx, kernel, s, diagonal, false, mean, variance);
}

hf_status hfi_solution_cavity(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s, size_t i,
                              double *mean, double *variance)
{
    double *g = hfi_alloc(ctx, s->n, sizeof *g), *k = hfi_alloc(ctx, s->n, sizeof *k);
    double *scratch = hfi_alloc(ctx, hfi_kernel_scratch(kernel), sizeof *scratch);
    hf_status status = HF_ERR_MEMORY;
    if (g != NULL && k != NULL && scratch != NULL) {
        const double *z = s->z + i * s->d;
        double prior;
        hfi_kernel_diagonal(kernel, 1, z, s->d, true, &prior);
        g[i] = 1.0;
        hfi_chol_solve(s->n, s->factor, s->capacity, g);
        if (s->variance[i] > WEAK * prior) {
            hfi_kernel_cross_block(kernel, 1, z, s->d, s->n, s->z, s->d, k, s->n, scratch);
            k[i] = 0.0;
            double share = hfi_dot(s->n, k, g) / g[i];
            *mean = hfi_dot(s->n, k, s->t) - share * s->t[i];
            *variance = clamp(prior + share);
        } else {
            *mean = s->residual[i] - s->t[i] / g[i];
            *variance = clamp(1.0 / g[i] - s->variance[i] - s->jitter);
        }
        status = HF_OK;
    }
    HFI_FREE(ctx, g, k, scratch);
    return status;
}
