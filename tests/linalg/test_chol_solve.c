/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/matrices.h"

static double *factor(size_t n, const double *a, size_t lda)
{
    hf_context *ctx = test_context(1);
    double *l = test_lower(n, a, lda);
    assert_int_equal(hfi_chol(ctx, n, l, lda), HF_OK);
    hf_context_free(ctx);
    return l;
}

/* || L x - b || <= c n eps || |L| |x| ||, row by row; transposed when asked. */
static void check_triangular(size_t n, const double *l, size_t ldl, bool transposed, const double *x,
                             const double *b)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0, size = 0.0;
        for (size_t j = transposed ? i : 0; transposed ? j < n : j <= i; j++) {
            double term = (transposed ? l[j + i * ldl] : l[i + j * ldl]) * x[j];
            sum += term;
            size += fabs(term);
        }
        assert_near(sum, b[i], 4.0 * (double)n * DBL_EPSILON * (size + fabs(b[i])));
    }
}

static void triangular_solves_have_small_residuals(void **state)
{
    (void)state;
    for (size_t c = 0; c < TEST_ORDER_COUNT; c++) {
        size_t n = TEST_ORDERS[c], ldl = n + 2;
        double *a = test_covariance(n, 1e-4, n), *l = factor(n, a, ldl), *b = test_normals(n, 1),
               *x = test_vector(n);
        memcpy(x, b, n * sizeof *x);
        hfi_chol_forward(n, l, ldl, x);
        check_triangular(n, l, ldl, false, x, b);
        memcpy(x, b, n * sizeof *x);
        hfi_chol_backward(n, l, ldl, x);
        check_triangular(n, l, ldl, true, x, b);
        free(x);
        free(b);
        free(l);
        free(a);
    }
}

static void the_full_solve_gives_the_right_side_back(void **state)
{
    (void)state;
    for (size_t c = 0; c < TEST_ORDER_COUNT; c++) {
        size_t n = TEST_ORDERS[c];
        double *a = test_covariance(n, 0.1, n), *l = factor(n, a, n), *b = test_normals(n, 2),
               *x = test_vector(n);
        memcpy(x, b, n * sizeof *x);
        hfi_chol_solve(n, l, n, x);
        double size = 0.0;
        for (size_t i = 0; i < n; i++) size += fabs(x[i]);
        for (size_t i = 0; i < n; i++) {
            double sum = -b[i];
            for (size_t j = 0; j < n; j++) sum += a[i + j * n] * x[j];
            assert_near(sum, 0.0, 4.0 * (double)n * DBL_EPSILON * (1.1 * size + fabs(b[i])));
        }
        free(x);
        free(b);
        free(l);
        free(a);
    }
}

static void blocks_agree_with_single_columns(void **state)
{
    (void)state;
    const size_t n = 300, ldl = 301, ldb = 305, counts[] = {0, 1, 2, 3, 17, 64};
    double *a = test_covariance(n, 1e-2, n), *l = factor(n, a, ldl);
    for (int c = 0; c < 6; c++)
        for (int backward = 0; backward < 2; backward++) {
            size_t m = counts[c];
            double *b = test_normals(ldb * (m + 1), 3), *x = test_vector(ldb * (m + 1));
            memcpy(x, b, ldb * (m + 1) * sizeof *x);
            if (backward)
                hfi_chol_backward_block(n, m, l, ldl, x, ldb);
            else
                hfi_chol_forward_block(n, m, l, ldl, x, ldb);
            for (size_t q = 0; q < m; q++) {
                check_triangular(n, l, ldl, backward, x + q * ldb, b + q * ldb);
                assert_memory_equal(x + q * ldb + n, b + q * ldb + n, (ldb - n) * sizeof *x);
            }
            assert_memory_equal(x + m * ldb, b + m * ldb, ldb * sizeof *x);
            free(x);
            free(b);
        }
    free(l);
    free(a);
}

static void the_log_determinant(void **state)
{
    (void)state;
    /* Exponential kernel on a line at distance d: det = (1 - exp(-2 d))^(n - 1). */
    const size_t n = 200;
    const double d = 0.3;
    double *a = test_vector(n * n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[i + j * n] = exp(-d * fabs((double)i - (double)j));
    double *l = factor(n, a, n);
    assert_near(hfi_chol_logdet(n, l, n), (double)(n - 1) * log(1.0 - exp(-2.0 * d)), 1e-11);
    assert_true(hfi_chol_logdet(0, NULL, 1) == 0.0);
    for (size_t i = 0; i < n; i++) l[i + i * n] = 1e150; /* the product would overflow */
    assert_near(hfi_chol_logdet(n, l, n), 2.0 * (double)n * 150.0 * log(10.0), 1e-9);
    free(l);
    free(a);
}

static void the_condition_is_estimated_from_below(void **state)
{
    (void)state;
    hf_context *ctx = test_context(1);
    const size_t orders[] = {1, 2, 50, 300};
    const double noises[] = {1.0, 1e-3, 1e-7};
    for (int c = 0; c < 4; c++)
        for (int k = 0; k < 3; k++) {
            size_t n = orders[c];
            double *a = test_covariance(n, noises[k], n), *l = factor(n, a, n), *work = test_vector(3 * n);
            int *iwork = malloc(n * sizeof *iwork);
            double norm = hfi_symmetric_norm1(n, a, n, work), reference = 0.0;
            for (size_t j = 0; j < n; j++) {
                double sum = 0.0;
                for (size_t i = 0; i < n; i++) sum += fabs(a[i + j * n]);
                reference = fmax(reference, sum);
            }
            assert_near(norm, reference, 1e-13 * reference);
            double estimate = hfi_chol_condition(n, l, n, norm, work, iwork), worst = 0.0;
            hfi_chol_inverse(ctx, n, l, n);
            for (size_t j = 0; j < n; j++) {
                double sum = 0.0;
                for (size_t i = 0; i < n; i++) sum += fabs(i >= j ? l[i + j * n] : l[j + i * n]);
                worst = fmax(worst, sum);
            }
            double truth = norm * worst;
            assert_true(estimate <= 1.01 * truth);
            assert_true(estimate >= truth / 10.0 && estimate >= truth / (double)n);
            free(iwork);
            free(work);
            free(l);
            free(a);
        }
    hf_context_free(ctx);
}

static void norms_of_odd_matrices(void **state)
{
    (void)state;
    double work[2], a[4] = {1.0, -3.0, SENTINEL, 2.0};
    assert_true(hfi_symmetric_norm1(2, a, 2, work) == 5.0);
    a[1] = NAN;
    assert_true(isnan(hfi_symmetric_norm1(2, a, 2, work)));
    assert_true(hfi_symmetric_norm1(0, NULL, 1, NULL) == 0.0);
    assert_true(hfi_chol_condition(0, NULL, 1, 0.0, NULL, NULL) == 1.0);
}

static void nothing_to_solve(void **state)
{
    (void)state;
    hfi_chol_solve(0, NULL, 1, NULL);
    hfi_chol_forward_block(0, 3, NULL, 1, NULL, 1);
    hfi_chol_backward_block(0, 0, NULL, 1, NULL, 1);
    double l = 2.0, b = 8.0;
    hfi_chol_solve(1, &l, 1, &b);
    assert_true(b == 2.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangular_solves_have_small_residuals),
        cmocka_unit_test(the_full_solve_gives_the_right_side_back),
        cmocka_unit_test(blocks_agree_with_single_columns),
        cmocka_unit_test(the_log_determinant),
        cmocka_unit_test(the_condition_is_estimated_from_below),
        cmocka_unit_test(norms_of_odd_matrices),
        cmocka_unit_test(nothing_to_solve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
