/* SPDX-License-Identifier: Apache-2.0 */
/* Life of a solution, and what can be read off it without the kernel. */
#include "solver/solver.h"

#include "linalg/linalg.h"
#include <string.h>

const hfi_solver_kind *hfi_solver_kind_of(hf_solver solver)
{
    static const hfi_solver_kind kinds[] = {
        [HF_SOLVER_AUTO] = {.readings = false},
        [HF_SOLVER_EXACT] = {.form[HFI_FORM_EXACT] = true, .readings = true, .leaves_out = true},
        [HF_SOLVER_INDUCING] = {.form[HFI_FORM_DENSE] = true},
        [HF_SOLVER_PROJECTED] = {.form = {[HFI_FORM_DENSE] = true, [HFI_FORM_BLOCKS] = true},
                                 .readings = true}};
    return &kinds[(size_t)solver < sizeof kinds / sizeof *kinds ? solver : HF_SOLVER_AUTO];
}

hf_status hfi_solution_alloc(hf_context *ctx, size_t n, size_t d, hfi_solution *out)
{
    hfi_solution s = {.memory = hfi_context_memory(ctx),
                      .form = HFI_FORM_EXACT,
                      .solver = HF_SOLVER_EXACT,
                      .n = n,
                      .d = d,
                      .capacity = n};
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
        HFI_MEMORY_FREE(&solution->memory, solution->z, solution->residual, solution->variance, solution->t,
                        solution->factor, solution->r, solution->block, solution->entry);
    }
    memset(solution, 0, sizeof *solution);
}

hf_status hfi_solution_alloc_low_rank(hf_context *ctx, hfi_factor_form form, size_t n, size_t d, size_t rank,
                                      bool readings, hfi_solution *out)
{
    hfi_solution s = {
        .memory = hfi_context_memory(ctx), .form = form, .n = n, .d = d, .capacity = n, .rank = rank};
    memset(out, 0, sizeof *out);
    const bool dense = form == HFI_FORM_DENSE;
    const size_t rows = dense ? n : rank;
    size_t row_bytes;
    if (!hfi_size_mul(rows, sizeof(double), &row_bytes)) return hfi_out_of_memory(ctx);
    s.z = hfi_alloc(ctx, n, d * sizeof *s.z);
    s.t = hfi_alloc(ctx, n, sizeof *s.t);
    double *matrix = hfi_alloc(ctx, rank, row_bytes);
    if (dense)
        s.r = matrix;
    else
        s.factor = matrix;
    bool ok = s.z != NULL && s.t != NULL && matrix != NULL;
    if (!dense) {
        s.block = hfi_alloc(ctx, n, sizeof *s.block);
        s.entry = hfi_alloc(ctx, n, sizeof *s.entry);
        ok = ok && s.block != NULL && s.entry != NULL;
    }
    if (readings) {
        s.residual = hfi_alloc(ctx, n, sizeof *s.residual);
        s.variance = hfi_alloc(ctx, n, sizeof *s.variance);
        ok = ok && s.residual != NULL && s.variance != NULL;
    }
    if (!ok) {
        hfi_solution_free(&s);
        return HF_ERR_MEMORY;
    }
    *out = s;
    return HF_OK;
}

size_t hfi_solution_rank(const hfi_solution *solution)
{
    return solution->form == HFI_FORM_EXACT ? solution->n : solution->rank;
}

size_t hfi_solution_room(const hfi_solution *solution, size_t m)
{
    return solution->form == HFI_FORM_EXACT ? 0 : solution->rank * m;
}

/* A'v for one column: every entry of the result is a sum over its block, in row order. */
static void gather_blocks(const hfi_solution *s, const double *v, double *out)
{
    memset(out, 0, s->rank * sizeof *out);
    for (size_t l = 0; l < s->n; l++) out[s->block[l]] += s->entry[l] * v[l];
}

double *hfi_solution_whiten(const hfi_solution *s, size_t m, double *v, size_t ldv, double *room, size_t *ld)
{
    if (s->form == HFI_FORM_EXACT) {
        *ld = ldv;
        if (m == 1)
            hfi_chol_forward(s->n, s->factor, s->capacity, v);
        else
            hfi_chol_forward_block(s->n, m, s->factor, s->capacity, v, ldv);
        return v;
    }
    *ld = s->rank;
    if (s->form == HFI_FORM_DENSE && m == 1) {
        hfi_gemv_t(s->n, s->rank, 1.0, s->r, s->n, v, 0.0, room);
    } else if (s->form == HFI_FORM_DENSE) {
        hfi_gemm_tn(s->rank, m, s->n, 1.0, s->r, s->n, v, ldv, 0.0, room, s->rank);
    } else {
        for (size_t q = 0; q < m; q++) gather_blocks(s, v + q * ldv, room + q * s->rank);
        if (m == 1)
            hfi_chol_forward(s->rank, s->factor, s->rank, room);
        else
            hfi_chol_forward_block(s->rank, m, s->factor, s->rank, room, s->rank);
    }
    return room;
}

void hfi_solution_spread(const hfi_solution *s, double *w, double *out)
{
    if (s->form == HFI_FORM_DENSE) {
        hfi_gemv(s->n, s->rank, 1.0, s->r, s->n, w, 0.0, out);
        return;
    }
    if (s->form == HFI_FORM_EXACT) {
        if (out != w) memcpy(out, w, s->n * sizeof *out);
        hfi_chol_backward(s->n, s->factor, s->capacity, out);
        return;
    }
    hfi_chol_backward(s->rank, s->factor, s->rank, w);
    for (size_t l = 0; l < s->n; l++) out[l] = s->entry[l] * w[s->block[l]];
}

double hfi_solution_log_evidence(const hfi_solution *solution)
{
    double fit = hfi_dot(solution->n, solution->residual, solution->t);
    return -0.5 * (fit + solution->log_det) - (double)solution->n * HFI_HALF_LOG_2PI;
}
