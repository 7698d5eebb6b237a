/* SPDX-License-Identifier: Apache-2.0 */
/* Adjoints of cross-covariances, and of a Gram matrix in its inputs: what a solver with inducing inputs
 * differentiates with. */
#include "kernel/kernel.h"
#include "kernel/tile.h"

#include <string.h>

#define INPUTS 16u /* points of one job when the gradient is in the points: each sum has one owner */

/* Sums over the pairs of inducing inputs z and the points p, which may be these inputs themselves. */
typedef struct backward_job {
    const hf_kernel *kernel;
    size_t points, n;
    const double *p, *z;
    size_t ldp, ldz;
    const double *w;
    size_t ldw;
    double *scratch;
    size_t scratch_each;
    double *own; /* for each thread: the gradient of a variance; NULL unless p is z */
    double *z_grad;
} backward_job;

/* ---- in the parameters ----------------------------------------------------------------------- */

static void load_rows(void *of, hfi_tile *tile, size_t slow, size_t fast)
{
    const backward_job *job = of;
    for (size_t r = 0; r < tile->points.rows; r++)
        hfi_tile_weigh(tile, r, job->w + (slow + r) * job->ldw + fast);
}

/* ---- in the inputs --------------------------------------------------------------------------- */

/* An input of a Gram matrix moves the covariances of its row and of its column, which are the same; its own
 * variance is not among them. */
static void load_pairs(const backward_job *job, hfi_tile *tile, size_t i, size_t fast)
{
    double *row = hfi_tile_weights(tile);
    for (size_t c = 0; c < tile->count; c++) {
        const size_t k = fast + c;
        if (!job->own)
            row[c] = job->w[k * job->ldw + i];
        else
            row[c] = k == i ? 0.0 : 2.0 * (k < i ? job->w[i + k * job->ldw] : job->w[k + i * job->ldw]);
    }
    for (size_t c = tile->count; c < tile->points.width; c++) row[c] = 0.0;
}

/* A tile pulls at its slow point, so that here the inducing inputs are the slow ones. */
static void input_block(size_t index, int thread, void *arg)
{
    const backward_job *job = arg;
    const size_t d = job->kernel->d, begin = index * INPUTS, end = hfi_smaller(job->n, begin + INPUTS);
    hfi_tile tile;
    hfi_tile_begin(&tile, job->kernel, job->scratch + (size_t)thread * job->scratch_each);
    tile.points.rows = 1;
    tile.points.ldx = job->ldz;
    for (size_t panel = 0; panel < job->points; panel += tile.loaded) {
        hfi_tile_load(&tile, job->points - panel, job->p + panel * job->ldp, job->ldp);
        for (size_t f = 0; f < tile.loaded; f += HFI_TILE) {
            hfi_tile_take(&tile, f);
            for (size_t j = begin; j < end; j++) {
                load_pairs(job, &tile, j, panel + f);
                tile.points.x = job->z + j * job->ldz;
                hfi_tile_backward(&tile, job->z_grad + j * d);
            }
        }
    }
    for (size_t j = begin; job->own && j < end; j++) {
        double *own = job->own + (size_t)thread * d;
        memset(own, 0, d * sizeof *own);
        hfi_kernel_diagonal_input_gradient(job->kernel, job->z + j * job->ldz, own);
        for (size_t c = 0; c < d; c++) job->z_grad[j * d + c] += job->w[j + j * job->ldw] * own[c];
    }
}

static hf_status by_input(hf_context *ctx, backward_job *job)
{
    job->scratch = hfi_kernel_scratch_alloc(ctx, job->kernel, &job->scratch_each);
    if (!job->scratch) return HF_ERR_MEMORY;
    hfi_parallel_for(ctx, job->n / INPUTS + (job->n % INPUTS != 0), input_block, job);
    hfi_free(ctx, job->scratch);
    return HF_OK;
}

hf_status hfi_kernel_cross_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t m, const double *x,
                                   size_t ldx, size_t n, const double *z, size_t ldz, const double *w,
                                   size_t ldw, double *theta, double *z_grad)
{
    backward_job job = {kernel, m, n, x, z, ldx, ldz, w, ldw, .z_grad = z_grad};
    const hfi_sweep pairs = {kernel, m, n, x, z, ldx, ldz, .visit = load_rows, .of = &job};
    if (m == 0 || n == 0) return HF_OK;
    const hf_status status = theta ? hfi_sweep_adjoint(ctx, &pairs, theta) : HF_OK;
    return status >= 0 && z_grad ? by_input(ctx, &job) : status;
}

hf_status hfi_kernel_gram_input_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *z,
                                        size_t ldz, const double *w, size_t ldw, double *z_grad)
{
    backward_job job = {kernel, n, n, z, z, ldz, ldz, w, ldw, .z_grad = z_grad};
    if (n == 0) return HF_OK;
    job.own = hfi_alloc(ctx, (size_t)hf_context_threads(ctx), kernel->d * sizeof(double));
    const hf_status status = job.own ? by_input(ctx, &job) : HF_ERR_MEMORY;
    hfi_free(ctx, job.own);
    return status;
}
