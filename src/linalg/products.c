/* SPDX-License-Identifier: Apache-2.0 */
/* Products of vectors and matrices. */
#include "linalg/blas.h"

static const int ONE = 1;

/* Products of vectors are written out: they are bound by memory, and a call and its section would cost more.
 * The sum must not depend on a library that splits long vectors among threads. */
enum {
    LANES = 8
};

/* Eight sums side by side, which the compiler keeps in vector registers. */
double hfi_dot(size_t n, const double *x, const double *y)
{
    double lane[LANES] = {0.0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++) lane[k] += x[i + k] * y[i + k];
    for (size_t k = 0; i + k < n; k++) lane[k] += x[i + k] * y[i + k];
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

void hfi_axpy(size_t n, double alpha, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++) y[i] += alpha * x[i];
}

void hfi_symv(size_t n, const double *a, size_t lda, const double *x, double *y)
{
    const double one = 1.0, zero = 0.0;
    if (n == 0) return;
    int order = hfi_blas_int(n), stride = hfi_blas_int(lda);
    int before = hfi_blas_enter();
    dsymv_("L", &order, &one, a, &stride, x, &ONE, &zero, y, &ONE, 1);
    hfi_blas_leave(before);
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
        int before = hfi_blas_enter();
        dgemv_("N", &m, &n, &alpha, a, &stride, x, &ONE, &beta, y, &ONE, 1);
        hfi_blas_leave(before);
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
        int before = hfi_blas_enter();
        dgemv_("T", &m, &n, &alpha, a, &stride, x, &ONE, &beta, y, &ONE, 1);
        hfi_blas_leave(before);
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
        int before = hfi_blas_enter();
        dgemm_("T", "N", &rows, &cols, &inner, &alpha, a, &stride_a, b, &stride_b, &beta, c, &stride_c, 1, 1);
        hfi_blas_leave(before);
        return;
    }
    for (size_t j = 0; j < n; j++) hfi_gemv_t(k, m, alpha, a, lda, b + j * ldb, beta, c + j * ldc);
}
