/* SPDX-License-Identifier: Apache-2.0 */
/* Eigenvalues and eigenvectors of a symmetric matrix. */
#include "linalg/blas.h"

#include <math.h>

static bool lower_is_finite(size_t n, const double *a, size_t lda)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            if (!isfinite(a[i + j * lda])) return false;
    return true;
}

/* Divide and conquer wants 2 n^2 numbers of workspace, which must be counted in an int. */
static bool workspace_sizes(size_t n, size_t *reals, size_t *integers)
{
    size_t square;
    if (n > HFI_BLAS_MAX / 8 || !hfi_size_mul(n, n, &square) || square > HFI_BLAS_MAX / 2 - 4 * n)
        return false;
    *reals = 1 + 6 * n + 2 * square;
    *integers = 3 + 5 * n;
    return *reals <= HFI_BLAS_MAX;
}

hf_status hfi_symmetric_eigen(hf_context *ctx, size_t n, double *a, size_t lda, double *values)
{
    if (n == 0) return HF_OK;
    size_t reals, integers;
    if (lda > HFI_BLAS_MAX || !workspace_sizes(n, &reals, &integers))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "a %zu x %zu matrix is too large for its eigenvalues", n, n);
    if (!lower_is_finite(n, a, lda))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the %zu x %zu matrix has entries that are not finite", n, n);
    hf_status status = hfi_blas_reserve(ctx);
    if (status < 0) return status;
    double *work = hfi_alloc(ctx, reals, sizeof *work);
    int *iwork = hfi_alloc(ctx, integers, sizeof *iwork);
    if (work == NULL || iwork == NULL) {
        status = HF_ERR_MEMORY;
    } else {
        int order = hfi_blas_int(n), stride = hfi_blas_int(lda), info = 0;
        int lwork = hfi_blas_int(reals), liwork = hfi_blas_int(integers);
        int before = hfi_blas_enter();
        dsyevd_("V", "L", &order, a, &stride, values, work, &lwork, iwork, &liwork, &info, 1, 1);
        hfi_blas_leave(before);
        if (info != 0)
            status = hfi_fail(ctx, HF_ERR_INTERNAL, "eigenvalues of a %zu x %zu matrix: dsyevd gave %d", n, n,
                              info);
    }
    HFI_FREE(ctx, iwork, work);
    return status;
}
