/* SPDX-License-Identifier: Apache-2.0 */
/* Inverse from a factor. */
#include "linalg/blas.h"

#include <string.h>

void hfi_chol_inverse(const hf_context *ctx, size_t n, double *l, size_t ldl)
{
    (void)ctx;
    if (n == 0) return;
    int order = hfi_blas_int(n), stride = hfi_blas_int(ldl), info = 0;
    dtrtri_("L", "N", &order, l, &stride, &info, 1, 1);
    dlauum_("L", &order, l, &stride, &info, 1);
}

void hfi_chol_inverse_diagonal(const hf_context *ctx, size_t n, const double *l, size_t ldl, double *work,
                               double *diagonal)
{
    (void)ctx;
    if (n == 0) return;
    int order = hfi_blas_int(n), info = 0;
    for (size_t j = 0; j < n; j++) memcpy(work + j * n + j, l + j * ldl + j, (n - j) * sizeof *l);
    dtrtri_("L", "N", &order, work, &order, &info, 1, 1);
    for (size_t j = 0; j < n; j++) diagonal[j] = hfi_dot(n - j, work + j * n + j, work + j * n + j);
}
