/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of a factor: solves, log-determinant, condition. */
#include "linalg/blas.h"

#include <math.h>

static const int ONE = 1;

double hfi_chol_logdet(size_t n, const double *l, size_t ldl)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += log(l[i + i * ldl]);
    return 2.0 * sum;
}

static void solve_vector(const char *trans, size_t n, const double *l, size_t ldl, double *b)
{
    if (n == 0) return;
    int order = hfi_blas_int(n), stride = hfi_blas_int(ldl);
    int before = hfi_blas_enter();
    dtrsv_("L", trans, "N", &order, l, &stride, b, &ONE, 1, 1, 1);
    hfi_blas_leave(before);
}

void hfi_chol_forward(size_t n, const double *l, size_t ldl, double *b)
{
    solve_vector("N", n, l, ldl, b);
}

void hfi_chol_backward(size_t n, const double *l, size_t ldl, double *b)
{
    solve_vector("T", n, l, ldl, b);
}

void hfi_chol_solve(size_t n, const double *l, size_t ldl, double *b)
{
    hfi_chol_forward(n, l, ldl, b);
    hfi_chol_backward(n, l, ldl, b);
}

static void solve_block(const char *trans, size_t n, size_t m, const double *l, size_t ldl, double *b,
                        size_t ldb)
{
    const double one = 1.0;
    if (n == 0) return;
    int order = hfi_blas_int(n), stride = hfi_blas_int(ldl), stride_b = hfi_blas_int(ldb);
    int before = hfi_blas_enter();
    while (m > 0) { /* more columns than an int can count */
        size_t part = m < HFI_BLAS_MAX ? m : HFI_BLAS_MAX;
        int columns = hfi_blas_int(part);
        dtrsm_("L", "L", trans, "N", &order, &columns, &one, l, &stride, b, &stride_b, 1, 1, 1, 1);
        b += part * ldb;
        m -= part;
    }
    hfi_blas_leave(before);
}

void hfi_chol_forward_block(size_t n, size_t m, const double *l, size_t ldl, double *b, size_t ldb)
{
    solve_block("N", n, m, l, ldl, b, ldb);
}

void hfi_chol_backward_block(size_t n, size_t m, const double *l, size_t ldl, double *b, size_t ldb)
{
    solve_block("T", n, m, l, ldl, b, ldb);
}

double hfi_chol_condition(size_t n, const double *l, size_t ldl, double norm1, double *work, int *iwork)
{
    if (n == 0) return 1.0;
    int order = hfi_blas_int(n), stride = hfi_blas_int(ldl), info = 0;
    double reciprocal = 0.0;
    int before = hfi_blas_enter();
    dpocon_("L", &order, l, &stride, &norm1, &reciprocal, work, iwork, &info, 1);
    hfi_blas_leave(before);
    return info == 0 && reciprocal > 0.0 ? 1.0 / reciprocal : INFINITY;
}

double hfi_symmetric_norm1(size_t n, const double *a, size_t lda, double *work)
{
    for (size_t i = 0; i < n; i++) work[i] = 0.0;
    for (size_t j = 0; j < n; j++) {
        const double *column = a + j * lda;
        double sum = fabs(column[j]);
        for (size_t i = j + 1; i < n; i++) {
            sum += fabs(column[i]);
            work[i] += fabs(column[i]);
        }
        work[j] += sum;
    }
    double norm = 0.0;
    for (size_t i = 0; i < n; i++)
        if (!(work[i] <= norm)) norm = work[i]; /* written so that NaN stays */
    return norm;
}
