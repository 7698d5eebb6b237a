/* SPDX-License-Identifier: Apache-2.0 */
/* Products of vectors and matrices. Vectors can be longer than an int can count: they are taken in parts. */
#include "linalg/blas.h"

static const int ONE = 1;

double hfi_dot(size_t n, const double *x, const double *y)
{
    double sum = 0.0;
    while (n > HFI_BLAS_MAX) {
        int part = INT_MAX;
        sum += ddot_(&part, x, &ONE, y, &ONE);
        x += part;
        y += part;
        n -= HFI_BLAS_MAX;
    }
    int rest = hfi_blas_int(n);
    return sum + ddot_(&rest, x, &ONE, y, &ONE);
}

void hfi_axpy(size_t n, double alpha, const double *x, double *y)
{
    while (n > HFI_BLAS_MAX) {
        int part = INT_MAX;
        daxpy_(&part, &alpha, x, &ONE, y, &ONE);
        x += part;
        y += part;
        n -= HFI_BLAS_MAX;
    }
    int rest = hfi_blas_int(n);
    daxpy_(&rest, &alpha, x, &ONE, y, &ONE);
}

void hfi_symv(size_t n, const double *a, size_t lda, const double *x, double *y)
{
    const double one = 1.0, zero = 0.0;
    if (n == 0) return;
    int order = hfi_blas_int(n), stride = hfi_blas_int(lda);
    dsymv_("L", &order, &one, a, &stride, x, &ONE, &zero, y, &ONE, 1);
}

/* beta = 0 overwrites, whatever was there. */
static void scale(size_t n, double beta, double *y)
{
    for (size_t i = 0; i < n; i++) y[i] = beta == 0.0 ? 0.0 : beta * y[i];
}

static bool fits(size_t rows, size_t cols, size_t lda)
{
    return rows <= HFI_BLAS_MAX && cols <= HFI_BLAS_MAX && lda <= HFI_BLAS_MAX;
}

void hfi_gemv(size_t rows, size_t cols, double alpha, const double *a, size_t lda, const double *x,
              double beta, double *y)
{
    if (rows > 0 && cols > 0 && fits(rows, cols, lda)) {
        int m = hfi_blas_int(rows), n = hfi_blas_int(cols), stride = hfi_blas_int(lda);
        dgemv_("N", &m, &n, &alpha, a, &stride, x, &ONE, &beta, y, &ONE, 1);
        return;
    }
    /* Empty (BLAS would forget beta) or very long: column by column. */
    scale(rows, beta, y);
    for (size_t j = 0; j < cols; j++) hfi_axpy(rows, alpha * x[j], a + j * lda, y);
}

void hfi_gemv_t(size_t rows, size_t cols, double alpha, const double *a, size_t lda, const double *x,
                double beta, double *y)
{
    if (rows > 0 && cols > 0 && fits(rows, cols, lda)) {
        int m = hfi_blas_int(rows), n = hfi_blas_int(cols), stride = hfi_blas_int(lda);
        dgemv_("T", &m, &n, &alpha, a, &stride, x, &ONE, &beta, y, &ONE, 1);
        return;
    }
    scale(cols, beta, y);
    for (size_t j = 0; j < cols; j++) y[j] += alpha * hfi_dot(rows, a + j * lda, x);
}

void hfi_gemm_tn(size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda, const double *b,
                 size_t ldb, double beta, double *c, size_t ldc)
{
    if (k > 0 && fits(m, n, k) && fits(lda, ldb, ldc)) {
        if (m == 0 || n == 0) return;
        int rows = hfi_blas_int(m), cols = hfi_blas_int(n), inner = hfi_blas_int(k);
        int stride_a = hfi_blas_int(lda), stride_b = hfi_blas_int(ldb), stride_c = hfi_blas_int(ldc);
        int entered = hfi_blas_enter();
        dgemm_("T", "N", &rows, &cols, &inner, &alpha, a, &stride_a, b, &stride_b, &beta, c, &stride_c, 1, 1);
        hfi_blas_leave(entered);
        return;
    }
    for (size_t j = 0; j < n; j++) hfi_gemv_t(k, m, alpha, a, lda, b + j * ldb, beta, c + j * ldc);
}
