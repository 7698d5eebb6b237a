/* SPDX-License-Identifier: Apache-2.0 */
/* Cholesky factor by tiles, right-looking: after tile column k is done, everything to its right is updated.
 */
#include "linalg/tiles.h"

#include <math.h>

static const double ONE = 1.0, MINUS_ONE = -1.0;

static bool has_failed(hfi_tiles *t)
{
    return __atomic_load_n(&t->failed, __ATOMIC_RELAXED) != 0;
}

static void factor_diagonal(hfi_tiles *t, size_t k)
{
    if (has_failed(t)) return;
    double *akk = hfi_tile(t, k, k);
    int size = hfi_tile_size(t, k), info = 0;
    dpotrf_("L", &size, akk, &t->stride, &info, 1);
    /* Not every library notices NaN: look again. */
    bool good = info == 0;
    for (size_t i = 0; i < (size_t)size && good; i++) {
        double pivot = akk[i + i * t->lda];
        good = pivot > 0.0 && isfinite(pivot);
    }
    if (!good) __atomic_store_n(&t->failed, 1, __ATOMIC_RELAXED);
}

/* A_ik := A_ik L_kk^-T */
static void solve_tile(hfi_tiles *t, size_t i, size_t k)
{
    if (has_failed(t)) return;
    int rows = hfi_tile_size(t, i), cols = hfi_tile_size(t, k);
    dtrsm_("R", "L", "T", "N", &rows, &cols, &ONE, hfi_tile(t, k, k), &t->stride, hfi_tile(t, i, k),
           &t->stride, 1, 1, 1, 1);
}

/* A_ij := A_ij - L_ik L_jk' */
static void update_tile(hfi_tiles *t, size_t i, size_t j, size_t k)
{
    if (has_failed(t)) return;
    int rows = hfi_tile_size(t, i), cols = hfi_tile_size(t, j), inner = hfi_tile_size(t, k);
    if (i == j)
        dsyrk_("L", "N", &rows, &inner, &MINUS_ONE, hfi_tile(t, i, k), &t->stride, &ONE, hfi_tile(t, i, i),
               &t->stride, 1, 1);
    else
        dgemm_("N", "T", &rows, &cols, &inner, &MINUS_ONE, hfi_tile(t, i, k), &t->stride, hfi_tile(t, j, k),
               &t->stride, &ONE, hfi_tile(t, i, j), &t->stride, 1, 1);
}

static void factor_tasks(hfi_tiles *t)
{
    for (size_t k = 0; k < t->count; k++) {
#pragma omp task depend(inout : *hfi_tile(t, k, k))
        factor_diagonal(t, k);
        for (size_t i = k + 1; i < t->count; i++) {
#pragma omp task depend(in : *hfi_tile(t, k, k)) depend(inout : *hfi_tile(t, i, k))
            solve_tile(t, i, k);
        }
        for (size_t j = k + 1; j < t->count; j++) {
            for (size_t i = j; i < t->count; i++) {
#pragma omp task depend(in : *hfi_tile(t, i, k), *hfi_tile(t, j, k)) depend(inout : *hfi_tile(t, i, j))
                update_tile(t, i, j, k);
            }
        }
    }
}

hf_status hfi_chol(const hf_context *ctx, size_t n, double *a, size_t lda)
{
    if (n == 0) return HF_OK;
    if (n > HFI_BLAS_MAX || lda > HFI_BLAS_MAX) return HF_ERR_TOO_LARGE;
    hfi_tiles t = hfi_tiles_make(n, a, lda);
    hfi_tiles_run(ctx, &t, factor_tasks);
    return t.failed ? HF_ERR_NOT_POSITIVE_DEFINITE : HF_OK;
}
