/* SPDX-License-Identifier: Apache-2.0 */
/* Adjoints of cross-covariances, and of a Gram matrix in its inputs: what a solver with inducing inputs
 * differentiates with. */
#include "kernel/kernel.h"
#include "kernel/tile.h"

#include <string.h>

#define BLOCK  64u /* slow points of one job, whose sums are kept apart and added in order */
#define INPUTS 16u /* points of one job when the gradient is in the points: each sum has one owner */

static size_t jobs(size_t count, size_t each)
{
    return count / each + (count % each != 0);
}

/* The two arrays of points and the weights between them, as the public functions are given them. */
typedef struct cross_job {
    const hf_kernel *kernel;
    size_t m, n;
    const double *x, *z;
    size_t ldx, ldz;
    const double *w;
    size_t ldw;
    double *scratch;
    size_t scratch_each;
    double *partial; /* gradients in the parameters: one row for each block of slow points */
    double *z_grad;
} cross_job;

static hf_status make_scratch(hf_context *ctx, cross_job *job)
{
    job->scratch = hfi_kernel_scratch_alloc(ctx, job->kernel, &job->scratch_each);
    return job->scratch ? HF_OK : HF_ERR_MEMORY;
}

/* ---- in the parameters ----------------------------------------------------------------------- */

static void load_rows(const cross_job *job, hfi_tile *tile, size_t slow, size_t fast)
{
    double *weights = hfi_tile_weights(tile);
    const size_t width = tile->points.width;
    for (size_t r = 0; r < tile->points.rows; r++) {
        double *row = weights + r * width;
        memcpy(row, job->w + (slow + r) * job->ldw + fast, tile->count * sizeof *row);
        for (size_t c = tile->count; c < width; c++) row[c] = 0.0;
    }
}

static void parameter_block(size_t index, int thread, void *arg)
{
    const cross_job *job = arg;
    const size_t begin = index * BLOCK, end = hfi_smaller(job->m, begin + BLOCK);
    hfi_tile tile;
    hfi_tile_begin(&tile, job->kernel, job->scratch + (size_t)thread * job->scratch_each);
    tile.points.ldx = job->ldx;
    for (size_t panel = 0; panel < job->n; panel += tile.loaded) {
        hfi_tile_load(&tile, job->n - panel, job->z + panel * job->ldz, job->ldz);
        for (size_t slow = begin; slow < end; slow += HFI_STRIP) {
            tile.points.rows = hfi_smaller(HFI_STRIP, end - slow);
            tile.points.x = job->x + slow * job->ldx;
            for (size_t f = 0; f < tile.loaded; f += HFI_TILE) {
                hfi_tile_take(&tile, f);
                load_rows(job, &tile, slow, panel + f);
                hfi_tile_adjoint(&tile, job->partial + index * job->kernel->parameters);
            }
        }
    }
}

static hf_status by_parameter(hf_context *ctx, cross_job *job, double *theta)
{
    const size_t blocks = jobs(job->m, BLOCK), parameters = job->kernel->parameters;
    size_t total;
    if (!hfi_size_mul(blocks, parameters, &total)) return hfi_out_of_memory(ctx);
    job->partial = hfi_alloc(ctx, total, sizeof(double));
    if (!job->partial) return HF_ERR_MEMORY;
    hfi_parallel_for(ctx, blocks, parameter_block, job);
    for (size_t b = 0; b < blocks; b++)
        for (size_t p = 0; p < parameters; p++) theta[p] += job->partial[b * parameters + p];
    hfi_free(ctx, job->partial);
    return HF_OK;
}

/* ---- in the inputs --------------------------------------------------------------------------- */

/* A tile pulls at its slow point, so that here the inducing inputs are the slow ones. */
static void input_block(size_t index, int thread, void *arg)
{
    const cross_job *job = arg;
    const size_t d = job->kernel->d, begin = index * INPUTS, end = hfi_smaller(job->n, begin + INPUTS);
    hfi_tile tile;
    hfi_tile_begin(&tile, job->kernel, job->scratch + (size_t)thread * job->scratch_each);
    tile.points.rows = 1;
    tile.points.ldx = job->ldz;
    for (size_t panel = 0; panel < job->m; panel += tile.loaded) {
        hfi_tile_load(&tile, job->m - panel, job->x + panel * job->ldx, job->ldx);
        for (size_t f = 0; f < tile.loaded; f += HFI_TILE) {
            hfi_tile_take(&tile, f);
            for (size_t j = begin; j < end; j++) {
                double *row = hfi_tile_weights(&tile);
                for (size_t c = 0; c < tile.count; c++) row[c] = job->w[(panel + f + c) * job->ldw + j];
                for (size_t c = tile.count; c < tile.points.width; c++) row[c] = 0.0;
                tile.points.x = job->z + j * job->ldz;
                hfi_tile_pull(&tile, job->z_grad + j * d);
            }
        }
    }
}

hf_status hfi_kernel_cross_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t m, const double *x,
                                   size_t ldx, size_t n, const double *z, size_t ldz, const double *w,
                                   size_t ldw, double *theta, double *z_grad)
{
    cross_job job = {.kernel = kernel,
                     .m = m,
                     .n = n,
                     .x = x,
                     .z = z,
                     .ldx = ldx,
                     .ldz = ldz,
                     .w = w,
                     .ldw = ldw,
                     .z_grad = z_grad};
    if (m == 0 || n == 0 || (!theta && !z_grad)) return HF_OK;
    hf_status status = make_scratch(ctx, &job);
    if (status >= 0 && theta) status = by_parameter(ctx, &job, theta);
    if (status >= 0 && z_grad) hfi_parallel_for(ctx, jobs(n, INPUTS), input_block, &job);
    hfi_free(ctx, job.scratch);
    return status;
}

/* ---- in the inputs of a Gram matrix ---------------------------------------------------------- */

/* An input moves the covariances of its row and of its column, which are the same; its own variance is not
 * among them. */
static void load_pairs(const cross_job *job, hfi_tile *tile, size_t i, size_t fast)
{
    double *row = hfi_tile_weights(tile);
    for (size_t c = 0; c < tile->count; c++) {
        const size_t k = fast + c;
        row[c] = k == i ? 0.0 : 2.0 * (k < i ? job->w[i + k * job->ldw] : job->w[k + i * job->ldw]);
    }
    for (size_t c = tile->count; c < tile->points.width; c++) row[c] = 0.0;
}

static void gram_input_block(size_t index, int thread, void *arg)
{
    const cross_job *job = arg;
    const size_t d = job->kernel->d, begin = index * INPUTS, end = hfi_smaller(job->n, begin + INPUTS);
    double *own = job->partial + (size_t)thread * d;
    hfi_tile tile;
    hfi_tile_begin(&tile, job->kernel, job->scratch + (size_t)thread * job->scratch_each);
    tile.points.rows = 1;
    tile.points.ldx = job->ldz;
    for (size_t panel = 0; panel < job->n; panel += tile.loaded) {
        hfi_tile_load(&tile, job->n - panel, job->z + panel * job->ldz, job->ldz);
        for (size_t f = 0; f < tile.loaded; f += HFI_TILE) {
            hfi_tile_take(&tile, f);
            for (size_t i = begin; i < end; i++) {
                load_pairs(job, &tile, i, panel + f);
                tile.points.x = job->z + i * job->ldz;
                hfi_tile_pull(&tile, job->z_grad + i * d);
            }
        }
    }
    for (size_t i = begin; i < end; i++) {
        memset(own, 0, d * sizeof *own);
        hfi_kernel_diagonal_input_gradient(job->kernel, job->z + i * job->ldz, own);
        for (size_t c = 0; c < d; c++) job->z_grad[i * d + c] += job->w[i + i * job->ldw] * own[c];
    }
}

hf_status hfi_kernel_gram_input_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *z,
                                        size_t ldz, const double *w, size_t ldw, double *z_grad)
{
    cross_job job = {.kernel = kernel, .n = n, .z = z, .ldz = ldz, .w = w, .ldw = ldw, .z_grad = z_grad};
    if (n == 0) return HF_OK;
    hf_status status = make_scratch(ctx, &job);
    if (status >= 0) {
        job.partial = hfi_alloc(ctx, (size_t)hf_context_threads(ctx), kernel->d * sizeof(double));
        status = job.partial ? HF_OK : HF_ERR_MEMORY;
    }
    if (status >= 0) hfi_parallel_for(ctx, jobs(n, INPUTS), gram_input_block, &job);
    HFI_FREE(ctx, job.partial, job.scratch);
    return status;
}
