/* SPDX-License-Identifier: Apache-2.0 */
/* Products with the matrix of covariances of all rows, which is never stored. The processes of a group
 * compute a part each, and add up. */
#include "kernel/block_stream.h"

#include <string.h>

/* This process's share, by the path for radial kernels where that can be. */
static hf_status run_block_job(hf_context *ctx, const hfi_block_job *job, hfi_precision precision)
{
    if (!hfi_block_plan_fits(job->kernel)) return hfi_block_tiles(ctx, job);
    hfi_block_plan plan;
    hf_status status = hfi_block_plan_make(ctx, job, &plan);
    if (status >= 0) {
        if (precision == HFI_SINGLE && plan.reach <= HFI_REACH_SINGLE)
            status = hfi_block_radial_single(ctx, job, &plan);
        else if (plan.reach <= HFI_REACH_DOUBLE)
            status = hfi_block_radial_double(ctx, job, &plan);
        else
            status = hfi_block_tiles(ctx, job);
    }
    hfi_block_plan_free(ctx, &plan);
    return status;
}

/* Sums of all processes, column by column unless they lie one after the other. */
static hf_status add_columns(hf_context *ctx, size_t n, size_t columns, double *values, size_t ld)
{
    if (ld == n || hfi_group_size(ctx) == 1) return hfi_group_sum(ctx, n * columns, values);
    hf_status status = HF_OK;
    for (size_t q = 0; q < columns && status >= 0; q++) status = hfi_group_sum(ctx, n, values + q * ld);
    return status;
}

static uint32_t *owners(hf_context *ctx, size_t n, size_t blocks, const size_t *first)
{
    uint32_t *owner = hfi_alloc(ctx, n, sizeof *owner);
    for (size_t a = 0; owner && a < blocks; a++)
        for (size_t l = first[a]; l < first[a + 1]; l++) owner[l] = (uint32_t)a;
    return owner;
}

hf_status hfi_kernel_block_product(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                   size_t ldx, size_t blocks, const size_t *first, const double *s,
                                   hfi_precision precision, double *b, size_t ldb)
{
    if (n == 0) return HF_OK;
    uint32_t *owner = owners(ctx, n, blocks, first);
    for (size_t a = 0; a < blocks; a++) memset(b + a * ldb, 0, n * sizeof *b);
    const hfi_block_job job = {.kernel = kernel,
                               .n = n,
                               .x = x,
                               .ldx = ldx,
                               .blocks = blocks,
                               .first = first,
                               .owner = owner,
                               .s = s,
                               .b = b,
                               .ldb = ldb};
    hf_status status = hfi_group_agree(ctx, owner ? run_block_job(ctx, &job, precision) : HF_ERR_MEMORY);
    if (status >= 0) status = add_columns(ctx, n, blocks, b, ldb);
    hfi_free(ctx, owner);
    return status;
}

/* `to` may be NULL, where nothing was asked for. */
static void add_wanted_sums(size_t count, const double *from, double *to)
{
    for (size_t k = 0; to && k < count; k++) to[k] += from[k];
}

hf_status hfi_kernel_block_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                   size_t ldx, size_t blocks, const size_t *first, const double *s,
                                   hfi_precision precision, const double *b_bar, size_t ldb, double *s_bar,
                                   double *theta)
{
    if (n == 0 || (!s_bar && !theta)) return HF_OK;
    hfi_block_job job = {.kernel = kernel,
                         .n = n,
                         .x = x,
                         .ldx = ldx,
                         .blocks = blocks,
                         .first = first,
                         .s = s,
                         .b_bar = b_bar,
                         .ldb = ldb};
    /* Results are collected aside: a call that fails or is cancelled leaves the caller's alone. */
    uint32_t *owner = owners(ctx, n, blocks, first);
    if (s_bar) job.s_bar = hfi_alloc(ctx, n, sizeof *s_bar);
    if (theta) job.theta = hfi_alloc(ctx, kernel->parameters, sizeof *theta);
    job.owner = owner;
    const bool ready = owner && (job.s_bar || !s_bar) && (job.theta || !theta);
    hf_status status = hfi_group_agree(ctx, ready ? run_block_job(ctx, &job, precision) : HF_ERR_MEMORY);
    if (status >= 0 && s_bar) status = hfi_group_sum(ctx, n, job.s_bar);
    if (status >= 0 && theta) status = hfi_group_sum(ctx, kernel->parameters, job.theta);
    if (status >= 0) {
        add_wanted_sums(n, job.s_bar, s_bar);
        add_wanted_sums(kernel->parameters, job.theta, theta);
    }
    HFI_FREE(ctx, owner, job.s_bar, job.theta);
    return status;
}

hf_status hfi_kernel_dense_product(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                   size_t ldx, size_t c, const double *v, size_t ldv, hfi_precision precision,
                                   double *p, size_t ldp)
{
    const size_t whole[2] = {0, n};
    if (n == 0 || c == 0) return HF_OK;
    /* One column is a block action whose one block is everything. */
    if (c == 1) return hfi_kernel_block_product(ctx, kernel, n, x, ldx, 1, whole, v, precision, p, ldp);
    for (size_t q = 0; q < c; q++) memset(p + q * ldp, 0, n * sizeof *p);
    const hfi_block_job job = {.kernel = kernel,
                               .n = n,
                               .x = x,
                               .ldx = ldx,
                               .blocks = 1,
                               .first = whole,
                               .columns = c,
                               .v = v,
                               .ldv = ldv,
                               .p = p,
                               .ldp = ldp};
    const hf_status status = hfi_group_agree(ctx, run_block_job(ctx, &job, precision));
    return status >= 0 ? add_columns(ctx, n, c, p, ldp) : status;
}
