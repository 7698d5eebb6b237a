/* SPDX-License-Identifier: Apache-2.0 */
/* lower(G diag(w) G). */
#include "linalg/blas.h"

void hfi_weighted_square(const hf_context *ctx, size_t n, const double *g, size_t ldg, const double *w,
                         double *c, size_t ldc, double *work)
{
    (void)ctx;
    const double one = 1.0, zero = 0.0;
    if (n == 0) return;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) work[i + j * n] = w[j] * g[i + j * ldg];
    const size_t tile = 256;
    for (size_t j = 0; j < n; j += tile) {
        int rows = hfi_blas_int(n - j), cols = hfi_blas_int(n - j < tile ? n - j : tile),
            inner = hfi_blas_int(n);
        int stride_g = hfi_blas_int(ldg), stride_c = hfi_blas_int(ldc);
        dgemm_("N", "N", &rows, &cols, &inner, &one, work + j, &inner, g + j * ldg, &stride_g, &zero,
               c + j + j * ldc, &stride_c, 1, 1);
    }
}
