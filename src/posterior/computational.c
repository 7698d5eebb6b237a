/* SPDX-License-Identifier: Apache-2.0 */
/* The variance that a projected posterior has not computed: |R'k|^2 of the exact solver less that of the projection.
 * Both are taken of the same covariances k, so that the prior variance does not enter and nothing of its size cancels
 * where both are small. */
#include "posterior/posterior.h"

#include "linalg/linalg.h"
#include <math.h>

enum {
    BLOCK = 64 /* points of a task */
};

typedef struct exact_comparison {
    const hf_posterior *posterior;
    hfi_solution exact; /* anchors borrowed from the posterior's solution, factor and weights its own */
    size_t m, ldx;
    const double *x;
    double *result; /* m, scaled units */
    double *arena;  /* per thread: scaled inputs, covariances, whitened ones, the kernel's scratch */
    size_t arena_size;
} exact_comparison;

static void compare_block_with_exact(size_t task, int thread, void *arg)
{
    const exact_comparison *job = arg;
    const hf_posterior *p = job->posterior;
    const hfi_solution *s = &p->solution;
    size_t begin = task * BLOCK, n = s->n, rank = hfi_solution_rank(s), ld;
    size_t count = job->m - begin < BLOCK ? job->m - begin : BLOCK;
    double *x = job->arena + (size_t)thread * job->arena_size, *v = x + BLOCK * s->d, *room = v + BLOCK * n,
           *scratch = room + hfi_solution_room(s, BLOCK), *result = job->result + begin;
    hfi_scaling_inputs(&p->scaling, count, job->x + begin * job->ldx, job->ldx, x);
    for (int exact = 0; exact < 2; exact++) { /* whitening destroys the covariances */
        const hfi_solution *now = exact != 0 ? &job->exact : s;
        hfi_kernel_cross_block(p->kernel, count, x, s->d, n, s->z, s->d, v, n, scratch);
        const double *whitened = hfi_solution_whiten(now, count, v, n, room, &ld);
        for (size_t q = 0; q < count; q++) {
            const double *column = whitened + q * ld;
            result[q] = exact != 0 ? hfi_variance_clamp(hfi_dot(n, column, column) - result[q])
                                   : hfi_dot(rank, column, column);
        }
    }
}

static hf_status compare_all(hf_context *ctx, exact_comparison *job)
{
    const hf_status status = hfi_parallel_rounds(ctx, "predict", job->m / BLOCK + (job->m % BLOCK != 0),
                                                 compare_block_with_exact, job);
    if (status < 0) return status;
    for (size_t q = 0; q < job->m; q++)
        if (!isfinite(job->result[q]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the prediction at row %zu (counted from 0) overflows",
                            q);
    return HF_OK;
}

hf_status hfi_solve_exactly(hf_context *ctx, const hf_posterior *posterior, hfi_solution *out)
{
    hfi_solution exact = posterior->solution;
    exact.memory = hfi_context_memory(ctx);
    exact.form = HFI_FORM_EXACT;
    exact.solver = HF_SOLVER_EXACT;
    exact.capacity = exact.n;
    exact.rank = 0;
    exact.t = exact.factor = exact.r = exact.entry = NULL;
    exact.block = NULL;
    hf_status status = hfi_solution_refresh(ctx, posterior->kernel, &exact);
    if (status >= 0) *out = exact;
    return status;
}

static hf_status predict_exact_difference(hf_context *ctx, exact_comparison *job, double *var)
{
    const hf_posterior *p = job->posterior;
    hf_status status = hfi_solve_exactly(ctx, p, &job->exact);
    if (status < 0) return status;
    const hfi_solution *s = &p->solution;
    job->arena_size = BLOCK * (s->d + s->n) + hfi_solution_room(s, BLOCK) + hfi_kernel_scratch(p->kernel);
    job->arena = hfi_alloc(ctx, (size_t)hf_context_threads(ctx), job->arena_size * sizeof *job->arena);
    job->result = hfi_alloc(ctx, job->m, sizeof *job->result);
    hf_status compared = HF_ERR_MEMORY;
    if (job->arena != NULL && job->result != NULL) compared = compare_all(ctx, job);
    for (size_t q = 0; q < job->m && compared >= 0; q++)
        var[q] = hfi_scaling_variance(&p->scaling, hfi_scaling_output(&p->scaling, job->x + q * job->ldx),
                                      job->result[q]);
    HFI_FREE(ctx, job->arena, job->result, job->exact.t, job->exact.factor);
    return hfi_worse(compared, status);
}

hf_status hf_predict_computational(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *x,
                                   size_t ldx, double *var)
{
    if (posterior == NULL) return hfi_refuse(ctx, "the posterior is NULL");
    if (var == NULL && m > 0) return hfi_refuse(ctx, "var is NULL");
    hf_status status = hfi_posterior_check_rows(ctx, posterior, m, x, ldx);
    if (status < 0) return status;
    const hfi_solution *s = &posterior->solution;
    if (s->form == HFI_FORM_EXACT) {
        for (size_t q = 0; q < m; q++) var[q] = 0.0;
        return HF_OK;
    }
    status = hfi_need_readings(ctx, posterior, "computational part of the variance");
    if (status < 0) return status;
    if (m == 0) return HF_OK;
    exact_comparison job = {.posterior = posterior, .m = m, .x = x, .ldx = ldx};
    return predict_exact_difference(ctx, &job, var);
}
