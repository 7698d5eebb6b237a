/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of sums of covariances: in the parameters (over a whole Gram matrix) and in one input. */
#include "kernel/kernel.h"
#include "kernel/tile.h"

#include <string.h>

#define BLOCK 64u /* slow points of one job, whose sums are kept apart and added in order */

typedef struct adjoint_job {
    const hf_kernel *kernel;
    size_t n;
    const double *x;
    size_t ldx;
    const double *w;
    size_t ldw;
    double *scratch;
    size_t scratch_each;
    double *partial; /* one row of parameters for each block */
} adjoint_job;

/* Entries below the diagonal stand for two; those above are left to their mirror images. */
static void load_weights(const adjoint_job *job, hfi_tile *tile, size_t slow, size_t fast)
{
    double *weights = hfi_tile_weights(tile);
    const size_t width = tile->points.width;
    for (size_t r = 0; r < tile->points.rows; r++) {
        const size_t j = slow + r;
        const double *column = job->w + j * job->ldw + fast;
        double *row = weights + r * width;
        const size_t from = j > fast ? hfi_smaller(j - fast, tile->count) : 0;
        for (size_t c = 0; c < from; c++) row[c] = 0.0;
        for (size_t c = from; c < tile->count; c++) row[c] = 2.0 * column[c];
        for (size_t c = tile->count; c < width; c++) row[c] = 0.0;
        if (j >= fast && j - fast < tile->count) row[j - fast] = column[j - fast];
    }
}

static void adjoint_strip(const adjoint_job *job, hfi_tile *tile, size_t slow, size_t panel, double *grad)
{
    tile->points.x = job->x + slow * job->ldx;
    const size_t first = slow > panel ? (slow - panel) / HFI_TILE * HFI_TILE : 0;
    for (size_t f = first; f < tile->loaded; f += HFI_TILE) {
        hfi_tile_take(tile, f);
        tile->diagonal = (ptrdiff_t)slow - (ptrdiff_t)(panel + f);
        load_weights(job, tile, slow, panel + f);
        hfi_tile_adjoint(tile, grad);
    }
}

static void adjoint_block(size_t index, int thread, void *arg)
{
    const adjoint_job *job = arg;
    const size_t begin = index * BLOCK, end = hfi_smaller(job->n, begin + BLOCK);
    hfi_tile tile;
    hfi_tile_begin(&tile, job->kernel, job->scratch + (size_t)thread * job->scratch_each);
    tile.points.ldx = job->ldx;
    tile.same = true;
    for (size_t panel = begin; panel < job->n; panel += tile.loaded) {
        hfi_tile_load(&tile, job->n - panel, job->x + panel * job->ldx, job->ldx);
        for (size_t slow = begin; slow < end; slow += HFI_STRIP) {
            tile.points.rows = hfi_smaller(HFI_STRIP, end - slow);
            adjoint_strip(job, &tile, slow, panel, job->partial + index * job->kernel->parameters);
        }
    }
}

hf_status hfi_kernel_gram_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                  size_t ldx, const double *w, size_t ldw, double *grad)
{
    const size_t blocks = n / BLOCK + (n % BLOCK != 0), parameters = kernel->parameters;
    adjoint_job job = {.kernel = kernel, .n = n, .x = x, .ldx = ldx, .w = w, .ldw = ldw};
    size_t partial = 0;
    if (n == 0) return HF_OK;
    if (!hfi_size_mul(blocks, parameters, &partial)) return hfi_out_of_memory(ctx);
    job.scratch = hfi_kernel_scratch_alloc(ctx, kernel, &job.scratch_each);
    job.partial = job.scratch ? hfi_alloc(ctx, partial, sizeof(double)) : NULL;
    const bool ready = job.scratch && job.partial;
    if (ready) {
        hfi_parallel_for(ctx, blocks, adjoint_block, &job);
        for (size_t b = 0; b < blocks; b++)
            for (size_t p = 0; p < parameters; p++) grad[p] += job.partial[b * parameters + p];
    }
    HFI_FREE(ctx, job.partial, job.scratch);
    return ready ? HF_OK : HF_ERR_MEMORY;
}

void hfi_kernel_input_gradient(const hf_kernel *kernel, const double *x, size_t n, const double *z,
                               size_t ldz, const double *weights, double *grad, double *scratch)
{
    hfi_tile tile;
    hfi_tile_begin(&tile, kernel, scratch);
    tile.points.rows = 1;
    tile.points.x = x;
    tile.points.ldx = kernel->d;
    for (size_t panel = 0; panel < n; panel += tile.loaded) {
        hfi_tile_load(&tile, n - panel, z + panel * ldz, ldz);
        for (size_t f = 0; f < tile.loaded; f += HFI_TILE) {
            hfi_tile_take(&tile, f);
            double *row = hfi_tile_weights(&tile);
            memcpy(row, weights + panel + f, tile.count * sizeof(double));
            for (size_t c = tile.count; c < tile.points.width; c++) row[c] = 0.0;
            hfi_tile_pull(&tile, grad);
        }
    }
}

/* ---- products with derivatives of the Gram matrix --------------------------------------------------------- */

typedef struct slope_job {
    const hf_kernel *kernel;
    size_t n;
    const double *x;
    size_t ldx;
    const double *a;
    double *scratch;
    size_t scratch_each;
    double *v; /* parameters x n */
} slope_job;

static void slope_row(const slope_job *job, hfi_tile *tile, size_t row, size_t panel)
{
    tile->points.x = job->x + row * job->ldx;
    for (size_t f = 0; f < tile->loaded; f += HFI_TILE) {
        hfi_tile_take(tile, f);
        tile->diagonal = (ptrdiff_t)row - (ptrdiff_t)(panel + f);
        double *weights = hfi_tile_weights(tile);
        memcpy(weights, job->a + panel + f, tile->count * sizeof *weights);
        for (size_t c = tile->count; c < tile->points.width; c++) weights[c] = 0.0;
        hfi_tile_adjoint(tile, job->v + row * job->kernel->parameters);
    }
}

static void slope_block(size_t index, int thread, void *arg)
{
    const slope_job *job = arg;
    const size_t begin = index * BLOCK, end = hfi_smaller(job->n, begin + BLOCK);
    hfi_tile tile;
    hfi_tile_begin(&tile, job->kernel, job->scratch + (size_t)thread * job->scratch_each);
    tile.points.ldx = job->ldx;
    tile.points.rows = 1;
    tile.same = true;
    for (size_t panel = 0; panel < job->n; panel += tile.loaded) {
        hfi_tile_load(&tile, job->n - panel, job->x + panel * job->ldx, job->ldx);
        for (size_t row = begin; row < end; row++) slope_row(job, &tile, row, panel);
    }
}

hf_status hfi_kernel_gram_slopes(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                 size_t ldx, const double *a, double *v)
{
    slope_job job = {.kernel = kernel, .n = n, .x = x, .ldx = ldx, .a = a, .v = v};
    if (n == 0) return HF_OK;
    job.scratch = hfi_kernel_scratch_alloc(ctx, kernel, &job.scratch_each);
    if (!job.scratch) return HF_ERR_MEMORY;
    memset(v, 0, n * kernel->parameters * sizeof *v);
    hfi_parallel_for(ctx, n / BLOCK + (n % BLOCK != 0), slope_block, &job);
    hfi_free(ctx, job.scratch);
    return HF_OK;
}
