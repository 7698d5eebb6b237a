/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/matrices.h"

static const size_t LENGTHS[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 100, 1001};
enum {
    LENGTH_COUNT = sizeof LENGTHS / sizeof *LENGTHS
};

static void dot_and_axpy(void **state)
{
    (void)state;
    for (int c = 0; c < LENGTH_COUNT; c++) {
        size_t n = LENGTHS[c];
        double *x = test_normals(n, 1), *y = test_normals(n, 2), *z = test_vector(n), sum = 0.0, size = 0.0;
        for (size_t i = 0; i < n; i++) {
            sum += x[i] * y[i];
            size += fabs(x[i] * y[i]);
            z[i] = y[i];
        }
        assert_near(hfi_dot(n, x, y), sum, (double)(n + 1) * DBL_EPSILON * size);
        hfi_axpy(n, -1.5, x, z);
        for (size_t i = 0; i < n; i++)
            assert_near(z[i], y[i] - 1.5 * x[i], 2.0 * DBL_EPSILON * (fabs(y[i]) + 1.5 * fabs(x[i])));
        free(z);
        free(y);
        free(x);
    }
}

static void a_symmetric_matrix_times_a_vector(void **state)
{
    (void)state;
    for (int c = 0; c < LENGTH_COUNT; c++) {
        size_t n = LENGTHS[c], lda = n + 1;
        if (n > 300) continue;
        double *a = test_covariance(n, 0.1, n), *half = test_lower(n, a, lda), *x = test_normals(n, 3);
        double *y = test_vector(n);
        for (size_t i = 0; i < n; i++) y[i] = NAN; /* must be overwritten, not scaled */
        hfi_symv(n, half, lda, x, y);
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0, size = 0.0;
            for (size_t j = 0; j < n; j++) {
                sum += a[i + j * n] * x[j];
                size += fabs(a[i + j * n] * x[j]);
            }
            assert_near(y[i], sum, (double)(n + 1) * DBL_EPSILON * size);
        }
        free(y);
        free(x);
        free(half);
        free(a);
    }
}

static void check_gemv(size_t rows, size_t cols, bool transposed, double alpha, double beta)
{
    size_t lda = rows + 2, in = transposed ? rows : cols, out = transposed ? cols : rows;
    double *a = test_normals(lda * cols, 4), *x = test_normals(in, 5), *y = test_normals(out, 6);
    double *before = test_vector(out);
    if (beta == 0.0)
        for (size_t i = 0; i < out; i++) y[i] = NAN;
    memcpy(before, y, out * sizeof *y);
    if (transposed)
        hfi_gemv_t(rows, cols, alpha, a, lda, x, beta, y);
    else
        hfi_gemv(rows, cols, alpha, a, lda, x, beta, y);
    for (size_t i = 0; i < out; i++) {
        double sum = beta == 0.0 ? 0.0 : beta * before[i], size = fabs(sum);
        for (size_t j = 0; j < in; j++) {
            double term = alpha * (transposed ? a[j + i * lda] : a[i + j * lda]) * x[j];
            sum += term;
            size += fabs(term);
        }
        assert_near(y[i], sum, (double)(in + 3) * DBL_EPSILON * size);
    }
    free(before);
    free(y);
    free(x);
    free(a);
}

static void matrices_times_vectors(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 2, 9, 130};
    const double factors[] = {0.0, 1.0, -2.5};
    for (int r = 0; r < 5; r++)
        for (int c = 0; c < 5; c++)
            for (int f = 0; f < 9; f++)
                for (int transposed = 0; transposed < 2; transposed++)
                    check_gemv(sizes[r], sizes[c], transposed, factors[f % 3], factors[f / 3]);
}

static void check_gemm(size_t m, size_t n, size_t k, double alpha, double beta)
{
    size_t lda = k + 1, ldb = k + 2, ldc = m + 3;
    double *a = test_normals(lda * m, 7), *b = test_normals(ldb * n, 8), *c = test_normals(ldc * n, 9);
    double *before = test_vector(ldc * n);
    if (beta == 0.0)
        for (size_t i = 0; i < ldc * n; i++) c[i] = NAN;
    memcpy(before, c, ldc * n * sizeof *c);
    hfi_gemm_tn(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < m; i++) {
            double sum = beta == 0.0 ? 0.0 : beta * before[i + j * ldc], size = fabs(sum);
            for (size_t q = 0; q < k; q++) {
                double term = alpha * a[q + i * lda] * b[q + j * ldb];
                sum += term;
                size += fabs(term);
            }
            assert_near(c[i + j * ldc], sum, (double)(k + 3) * DBL_EPSILON * size);
        }
        assert_memory_equal(c + m + j * ldc, before + m + j * ldc, 3 * sizeof *c);
    }
    free(before);
    free(c);
    free(b);
    free(a);
}

static void matrices_times_matrices(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 3, 33, 130};
    for (int m = 0; m < 5; m++)
        for (int n = 0; n < 5; n++)
            for (int k = 0; k < 5; k++) {
                check_gemm(sizes[m], sizes[n], sizes[k], 1.0, 0.0);
                check_gemm(sizes[m], sizes[n], sizes[k], -0.5, 2.0);
            }
}

static void the_upper_triangle_mirrors_the_lower(void **state)
{
    (void)state;
    hf_context *ctx = test_context(3);
    const size_t orders[] = {0, 1, 2, 63, 64, 65, 200};
    for (int c = 0; c < 7; c++) {
        size_t n = orders[c], lda = n + 1;
        double *full = test_covariance(n, 0.1, n), *a = test_lower(n, full, lda);
        hfi_symmetrise(ctx, n, a, lda);
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i < n; i++) assert_true(a[i + j * lda] == full[i + j * n]);
            assert_true(a[n + j * lda] == SENTINEL);
        }
        free(a);
        free(full);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot_and_axpy),
        cmocka_unit_test(a_symmetric_matrix_times_a_vector),
        cmocka_unit_test(matrices_times_vectors),
        cmocka_unit_test(matrices_times_matrices),
        cmocka_unit_test(the_upper_triangle_mirrors_the_lower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
