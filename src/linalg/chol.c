/* SPDX-License-Identifier: Apache-2.0 */
/* Cholesky factor. */
#include "linalg/blas.h"

#include <math.h>

hf_status hfi_chol(const hf_context *ctx, size_t n, double *a, size_t lda)
{
    (void)ctx;
    if (n == 0) return HF_OK;
    if (n > HFI_BLAS_MAX || lda > HFI_BLAS_MAX) return HF_ERR_TOO_LARGE;
    int order = hfi_blas_int(n), stride = hfi_blas_int(lda), info = 0;
    dpotrf_("L", &order, a, &stride, &info, 1);
    if (info != 0) return HF_ERR_NOT_POSITIVE_DEFINITE;
    /* Some libraries let NaN pass as positive. */
    for (size_t i = 0; i < n; i++)
        if (!(a[i + i * lda] > 0.0 && isfinite(a[i + i * lda]))) return HF_ERR_NOT_POSITIVE_DEFINITE;
    return HF_OK;
}
