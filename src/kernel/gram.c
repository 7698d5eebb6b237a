/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of covariances and their adjoint, tile by tile. */
#include "kernel/kernel.h"
#include "kernel/tile.h"
#include "linalg/linalg.h"

#include <float.h>
#include <string.h>

#define BLOCK 64u /* slow points of one job */

static size_t blocks(size_t n)
{
    return n / BLOCK + (n % BLOCK != 0);
}

/* ---- Gram matrix ----------------------------------------------------------------------------- */

typedef struct gram_job {
    const hf_kernel *kernel;
    size_t n;
    const double *x;
    size_t ldx;
    double *k;
    size_t ldk;
    double *scratch;
    size_t scratch_each;
} gram_job;

/* Entries (fast, slow), fast >= slow, of one strip: slow points from `slow`, fast points from `fast`. */
static void write_strip(const gram_job *job, const hfi_tile *tile, const double *value, size_t slow,
                        size_t fast)
{
    const size_t width = tile->points.width, end = fast + tile->count;
    for (size_t r = 0; r < tile->points.rows; r++) {
        const size_t j = slow + r, from = j > fast ? j : fast;
        if (from >= end) continue;
        memcpy(job->k + j * job->ldk + from, value + r * width + (from - fast),
               (end - from) * sizeof(double));
    }
}

static void gram_strip(const gram_job *job, hfi_tile *tile, size_t slow, size_t panel)
{
    tile->points.x = job->x + slow * job->ldx;
    /* Tiles wholly above the diagonal, with the last of their points before the strip, are skipped. */
    const size_t first = slow > panel ? (slow - panel) / HFI_TILE * HFI_TILE : 0;
    for (size_t f = first; f < tile->loaded; f += HFI_TILE) {
        hfi_tile_take(tile, f);
        tile->diagonal = (ptrdiff_t)slow - (ptrdiff_t)(panel + f);
        const bool whole = tile->count == tile->points.width && slow + tile->points.rows <= panel + f + 1;
        if (whole && hfi_tile_write(tile, job->k + slow * job->ldk + panel + f, job->ldk)) continue;
        write_strip(job, tile, hfi_tile_value(tile), slow, panel + f);
    }
}

static void gram_block(size_t index, int thread, void *arg)
{
    const gram_job *job = arg;
    const size_t begin = index * BLOCK, end = hfi_smaller(job->n, begin + BLOCK);
    hfi_tile tile;
    hfi_tile_begin(&tile, job->kernel, job->scratch + (size_t)thread * job->scratch_each);
    tile.points.ldx = job->ldx;
    tile.same = true;
    for (size_t panel = begin; panel < job->n; panel += tile.loaded) {
        hfi_tile_load(&tile, job->n - panel, job->x + panel * job->ldx, job->ldx);
        for (size_t slow = begin; slow < end; slow += HFI_STRIP) {
            tile.points.rows = hfi_smaller(HFI_STRIP, end - slow);
            gram_strip(job, &tile, slow, panel);
        }
    }
}

static hf_status run_gram(hf_context *ctx, gram_job *job)
{
    if (job->n == 0) return HF_OK;
    job->scratch = hfi_kernel_scratch_alloc(ctx, job->kernel, &job->scratch_each);
    if (!job->scratch) return HF_ERR_MEMORY;
    hfi_parallel_for(ctx, blocks(job->n), gram_block, job);
    hfi_free(ctx, job->scratch);
    return HF_OK;
}

hf_status hfi_kernel_gram_lower(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                size_t ldx, double *k, size_t ldk)
{
    gram_job job = {.kernel = kernel, .n = n, .x = x, .ldx = ldx, .k = k, .ldk = ldk};
    return run_gram(ctx, &job);
}

/* ---- cross-covariances ----------------------------------------------------------------------- */

void hfi_kernel_cross_block(const hf_kernel *kernel, size_t m, const double *x, size_t ldx, size_t n,
                            const double *z, size_t ldz, double *k, size_t ldk, double *scratch)
{
    hfi_tile tile;
    hfi_tile_begin(&tile, kernel, scratch);
    tile.points.ldx = ldx;
    for (size_t panel = 0; panel < n; panel += tile.loaded) {
        hfi_tile_load(&tile, n - panel, z + panel * ldz, ldz);
        for (size_t slow = 0; slow < m; slow += HFI_STRIP) {
            tile.points.rows = hfi_smaller(HFI_STRIP, m - slow);
            tile.points.x = x + slow * ldx;
            for (size_t f = 0; f < tile.loaded; f += HFI_TILE) {
                hfi_tile_take(&tile, f);
                double *to = k + slow * ldk + panel + f;
                if (tile.count == tile.points.width && hfi_tile_write(&tile, to, ldk)) continue;
                const double *value = hfi_tile_value(&tile);
                for (size_t r = 0; r < tile.points.rows; r++)
                    memcpy(to + r * ldk, value + r * tile.points.width, tile.count * sizeof(double));
            }
        }
    }
}

typedef struct cross_job {
    const hf_kernel *kernel;
    size_t m, n;
    const double *x, *z;
    size_t ldx, ldz;
    double *k;
    size_t ldk;
    double *scratch;
    size_t scratch_each;
} cross_job;

static void cross_rows(size_t index, int thread, void *arg)
{
    const cross_job *job = arg;
    const size_t begin = index * BLOCK;
    hfi_kernel_cross_block(job->kernel, hfi_smaller(BLOCK, job->m - begin), job->x + begin * job->ldx,
                           job->ldx, job->n, job->z, job->ldz, job->k + begin * job->ldk, job->ldk,
                           job->scratch + (size_t)thread * job->scratch_each);
}

/* ---- public ---------------------------------------------------------------------------------- */

static hf_status check_points(hf_context *ctx, const char *what, size_t n, size_t d, const double *x,
                              size_t ldx)
{
    if (n > 0 && !x) return hfi_refuse(ctx, "%s is NULL", what);
    if (ldx < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of %s are %zu apart, but the kernel has %zu inputs",
                        what, ldx, d);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < d; j++) {
            const double value = x[i * ldx + j];
            if (!(value - value == 0.0))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "%s: row %zu, input %zu is %g", what, i + 1, j + 1,
                                value);
        }
    }
    return HF_OK;
}

/* Covariances with the row itself bound all others, and every factor and partial sum on the way:
 * where these are far from overflowing nothing is. Rows have a say of their own in linear kernels,
 * swells and tilts only. */
static hf_status check_size(hf_context *ctx, const char *what, const hf_kernel *kernel, size_t n,
                            const double *x, size_t ldx)
{
    bool varies = false;
    for (size_t l = 0; l < kernel->leaf_count; l++)
        varies = varies || hfi_form_varies(kernel->leaves[l].form);
    for (size_t i = 0; i < n && (i == 0 || varies); i++) {
        const double value = hfi_kernel_value(kernel, x + i * ldx, x + i * ldx, true);
        if (!(value <= 0.25 * DBL_MAX))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "%s: the covariance of row %zu with itself is too large for a number; give the "
                            "inputs or the kernel smaller units",
                            what, i + 1);
    }
    return HF_OK;
}

hf_status hf_kernel_gram(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x, size_t ldx,
                         double *k, size_t ldk)
{
    if (!ctx || !kernel || (n > 0 && !k))
        return hfi_refuse(ctx, "hf_kernel_gram needs a context, a kernel and room for the result");
    if (ldk < n)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of K are %zu apart, but have %zu entries", ldk, n);
    hf_status s = check_points(ctx, "x", n, kernel->d, x, ldx);
    if (s >= 0) s = check_size(ctx, "x", kernel, n, x, ldx);
    if (s < 0) return s;
    s = hfi_kernel_gram_lower(ctx, kernel, n, x, ldx, k, ldk);
    if (s >= 0) hfi_symmetrise(ctx, n, k, ldk);
    return s;
}

hf_status hf_kernel_cross(hf_context *ctx, const hf_kernel *kernel, size_t m, const double *x, size_t ldx,
                          size_t n, const double *z, size_t ldz, double *k, size_t ldk)
{
    if (!ctx || !kernel || (m > 0 && n > 0 && !k))
        return hfi_refuse(ctx, "hf_kernel_cross needs a context, a kernel and room for the result");
    if (ldk < n)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of K are %zu apart, but have %zu entries", ldk, n);
    hf_status s = check_points(ctx, "x", m, kernel->d, x, ldx);
    if (s >= 0) s = check_points(ctx, "z", n, kernel->d, z, ldz);
    if (s >= 0) s = check_size(ctx, "x", kernel, m, x, ldx);
    if (s >= 0) s = check_size(ctx, "z", kernel, n, z, ldz);
    if (s < 0 || m == 0 || n == 0) return s;
    cross_job job = {
        .kernel = kernel, .m = m, .n = n, .x = x, .z = z, .ldx = ldx, .ldz = ldz, .k = k, .ldk = ldk};
    job.scratch = hfi_kernel_scratch_alloc(ctx, kernel, &job.scratch_each);
    if (!job.scratch) return HF_ERR_MEMORY;
    hfi_parallel_for(ctx, blocks(m), cross_rows, &job);
    hfi_free(ctx, job.scratch);
    return HF_OK;
}
