/* SPDX-License-Identifier: Apache-2.0 */
/* Life of a solution, and what can be read off it without the kernel. */
#include "solver/solver.h"

#include "linalg/linalg.h"
#include <string.h>

hf_status hfi_solution_alloc(hf_context *ctx, size_t n, size_t d, hfi_solution *out)
{
    hfi_solution s = {.memory = hfi_context_memory(ctx), .n = n, .d = d, .capacity = n};
    memset(out, 0, sizeof *out);
    size_t row_bytes;
    if (!hfi_size_mul(n, sizeof *s.factor, &row_bytes))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu readings are more than memory can be addressed for", n);
    s.z = hfi_alloc(ctx, n, d * sizeof *s.z);
    s.residual = hfi_alloc(ctx, n, sizeof *s.residual);
    s.variance = hfi_alloc(ctx, n, sizeof *s.variance);
    s.t = hfi_alloc(ctx, n, sizeof *s.t);
    s.factor = hfi_alloc(ctx, n, row_bytes);
    if (s.z == NULL || s.residual == NULL || s.variance == NULL || s.t == NULL || s.factor == NULL) {
        hfi_solution_free(&s);
        return HF_ERR_MEMORY;
    }
    *out = s;
    return HF_OK;
}

void hfi_solution_free(hfi_solution *solution)
{
    if (solution->memory.release != NULL) { /* a zeroed solution owns nothing, not even an allocator */
        hfi_memory_free(&solution->memory, solution->z);
        hfi_memory_free(&solution->memory, solution->residual);
        hfi_memory_free(&solution->memory, solution->variance);
        hfi_memory_free(&solution->memory, solution->t);
        hfi_memory_free(&solution->memory, solution->factor);
    }
    memset(solution, 0, sizeof *solution);
}

void hfi_solution_apply(const hfi_solution *solution, size_t m, double *v, size_t ldv)
{
    if (m == 1)
        hfi_chol_forward(solution->n, solution->factor, solution->capacity, v);
    else
        hfi_chol_forward_block(solution->n, m, solution->factor, solution->capacity, v, ldv);
}

void hfi_solution_apply_r(const hfi_solution *solution, double *w)
{
    hfi_chol_backward(solution->n, solution->factor, solution->capacity, w);
}

void hfi_solution_apply_s(const hfi_solution *solution, double *w)
{
    hfi_chol_solve(solution->n, solution->factor, solution->capacity, w);
}

double hfi_solution_log_evidence(const hfi_solution *solution)
{
    double fit = hfi_dot(solution->n, solution->residual, solution->t);
    return -0.5 * (fit + solution->log_det) - (double)solution->n * HFI_HALF_LOG_2PI;
}
