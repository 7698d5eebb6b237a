/* SPDX-License-Identifier: Apache-2.0 */
/* Products with the matrix of covariances of all rows, which is never stored. */
#include "kernel/block_stream.h"
#include "kernel/expression.h"

#include <string.h>

/* Memory of one call; released whatever happens. */
typedef struct room {
    hf_context *ctx;
    double *scratch, *s_bar, *theta;
    uint32_t *owner;
    size_t chunks;
} room;

static void room_free(room *r)
{
    hfi_free(r->ctx, r->scratch);
    hfi_free(r->ctx, r->s_bar);
    hfi_free(r->ctx, r->theta);
    hfi_free(r->ctx, r->owner);
}

static hf_status room_scratch(room *r, const hf_kernel *kernel)
{
    size_t total = 0;
    if (!hfi_size_mul(hfi_kernel_scratch(kernel), (size_t)hf_context_threads(r->ctx), &total))
        return hfi_out_of_memory(r->ctx);
    r->scratch = hfi_alloc(r->ctx, total, sizeof *r->scratch);
    return r->scratch ? HF_OK : HF_ERR_MEMORY;
}

static hf_status room_owner(room *r, size_t n, size_t blocks, const size_t *first)
{
    r->owner = hfi_alloc(r->ctx, n, sizeof *r->owner);
    if (!r->owner) return HF_ERR_MEMORY;
    for (size_t a = 0; a < blocks; a++)
        for (size_t l = first[a]; l < first[a + 1]; l++) r->owner[l] = (uint32_t)a;
    return HF_OK;
}

hf_status hfi_kernel_block_product(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                   size_t ldx, size_t blocks, const size_t *first, const double *s,
                                   hfi_precision precision, double *b, size_t ldb)
{
    (void)precision;
    if (n == 0) return HF_OK;
    room r = {.ctx = ctx};
    hf_status status = room_owner(&r, n, blocks, first);
    if (status >= 0) status = room_scratch(&r, kernel);
    if (status >= 0) {
        for (size_t a = 0; a < blocks; a++) memset(b + a * ldb, 0, n * sizeof *b);
        const hfi_block_job job = {
            .kernel = kernel, .n = n, .x = x, .ldx = ldx, .owner = r.owner, .s = s, .b = b, .ldb = ldb};
        status = hfi_block_tiles(ctx, &job, r.scratch);
    }
    room_free(&r);
    return status;
}

/* Results are collected aside: a call that fails or is cancelled leaves the caller's alone. */
static hf_status room_results(room *r, const hf_kernel *kernel, size_t n, bool s_bar, bool theta)
{
    size_t total = 0;
    r->chunks = (n + HFI_BLOCK_CHUNK - 1) / HFI_BLOCK_CHUNK;
    if (!hfi_size_mul(r->chunks, kernel->parameters, &total)) return hfi_out_of_memory(r->ctx);
    if (s_bar) r->s_bar = hfi_alloc(r->ctx, n, sizeof *r->s_bar);
    if (theta) r->theta = hfi_alloc(r->ctx, total, sizeof *r->theta);
    return (s_bar && !r->s_bar) || (theta && !r->theta) ? HF_ERR_MEMORY : HF_OK;
}

hf_status hfi_kernel_block_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                   size_t ldx, size_t blocks, const size_t *first, const double *s,
                                   hfi_precision precision, const double *b_bar, size_t ldb, double *s_bar,
                                   double *theta)
{
    (void)precision;
    if (n == 0 || (!s_bar && !theta)) return HF_OK;
    room r = {.ctx = ctx};
    hf_status status = room_owner(&r, n, blocks, first);
    if (status >= 0) status = room_scratch(&r, kernel);
    if (status >= 0) status = room_results(&r, kernel, n, s_bar != NULL, theta != NULL);
    if (status >= 0) {
        const hfi_block_job job = {.kernel = kernel,
                                   .n = n,
                                   .x = x,
                                   .ldx = ldx,
                                   .owner = r.owner,
                                   .s = s,
                                   .b_bar = b_bar,
                                   .ldb = ldb,
                                   .s_bar = r.s_bar,
                                   .theta = r.theta};
        status = hfi_block_tiles(ctx, &job, r.scratch);
    }
    if (status >= 0) {
        for (size_t j = 0; s_bar && j < n; j++) s_bar[j] += r.s_bar[j];
        for (size_t c = 0; theta && c < r.chunks; c++)
            for (size_t p = 0; p < kernel->parameters; p++) theta[p] += r.theta[c * kernel->parameters + p];
    }
    room_free(&r);
    return status;
}

hf_status hfi_kernel_dense_product(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                   size_t ldx, size_t c, const double *v, size_t ldv, hfi_precision precision,
                                   double *p, size_t ldp)
{
    (void)precision;
    if (n == 0 || c == 0) return HF_OK;
    room r = {.ctx = ctx};
    hf_status status = room_scratch(&r, kernel);
    if (status >= 0) {
        for (size_t q = 0; q < c; q++) memset(p + q * ldp, 0, n * sizeof *p);
        const hfi_block_job job = {.kernel = kernel,
                                   .n = n,
                                   .x = x,
                                   .ldx = ldx,
                                   .columns = c,
                                   .v = v,
                                   .ldv = ldv,
                                   .p = p,
                                   .ldp = ldp};
        status = hfi_block_tiles(ctx, &job, r.scratch);
    }
    room_free(&r);
    return status;
}
