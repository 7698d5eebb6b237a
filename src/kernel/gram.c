/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of covariances and their adjoint, tile by tile. */
#include "kernel/kernel.h"
#include "kernel/tile.h"
#include "linalg/linalg.h"

#include <float.h>
#include <string.h>

/* A matrix of covariances: slow points have the columns. */
typedef struct matrix {
    double *k;
    size_t ldk;
} matrix;

/* Entries (fast, slow), fast >= slow, of one tile. */
static void write_lower(void *of, hfi_tile *tile, size_t slow, size_t fast)
{
    const matrix *to = of;
    const size_t width = tile->points.width, end = fast + tile->count;
    const bool whole = tile->count == width && slow + tile->points.rows <= fast + 1;
    if (whole && hfi_tile_write(tile, to->k + slow * to->ldk + fast, to->ldk)) return;
    const double *value = hfi_tile_value(tile);
    for (size_t r = 0; r < tile->points.rows; r++) {
        const size_t j = slow + r, from = j > fast ? j : fast;
        if (from >= end) continue;
        memcpy(to->k + j * to->ldk + from, value + r * width + (from - fast), (end - from) * sizeof(double));
    }
}

hf_status hfi_kernel_gram_lower(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                size_t ldx, double *k, size_t ldk)
{
    matrix to = {k, ldk};
    const hfi_sweep pairs = {
        kernel, n, n, x, x, ldx, ldx, .same = true, .lower = true, .visit = write_lower, .of = &to};
    return n == 0 ? HF_OK : hfi_sweep_run(ctx, &pairs);
}

static void write_all(void *of, hfi_tile *tile, size_t slow, size_t fast)
{
    const matrix *to = of;
    double *k = to->k + slow * to->ldk + fast;
    const size_t width = tile->points.width;
    if (tile->count == width && hfi_tile_write(tile, k, to->ldk)) return;
    const double *value = hfi_tile_value(tile);
    for (size_t r = 0; r < tile->points.rows; r++)
        memcpy(k + r * to->ldk, value + r * width, tile->count * sizeof *k);
}

void hfi_kernel_cross_block(const hf_kernel *kernel, size_t m, const double *x, size_t ldx, size_t n,
                            const double *z, size_t ldz, double *k, size_t ldk, double *scratch)
{
    matrix to = {k, ldk};
    const hfi_sweep pairs = {kernel, m, n, x, z, ldx, ldz, .visit = write_all, .of = &to};
    hfi_sweep_part(&pairs, 0, m, scratch);
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
 * swells, tilts and coregions only. */
static hf_status check_size(hf_context *ctx, const char *what, const hf_kernel *kernel, size_t n,
                            const double *x, size_t ldx)
{
    const bool varies = hfi_kernel_variance_varies(kernel);
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
    matrix to = {k, ldk};
    const hfi_sweep pairs = {kernel, m, n, x, z, ldx, ldz, .visit = write_all, .of = &to};
    return hfi_sweep_run(ctx, &pairs);
}
