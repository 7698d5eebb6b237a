/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/matrices.h"

static const size_t ORDERS[] = {1, 2, 3, 50, 129, 300};
enum {
    ORDER_COUNT = sizeof ORDERS / sizeof *ORDERS
};

static double *factor(size_t n, const double *a, size_t lda)
{
    hf_context *ctx = test_context(1);
    double *l = test_lower(n, a, lda);
    assert_int_equal(hfi_chol(ctx, n, l, lda), HF_OK);
    hf_context_free(ctx);
    return l;
}

static void check_positive_diagonal(size_t n, const double *l, size_t ldl)
{
    for (size_t i = 0; i < n; i++) assert_true(l[i + i * ldl] > 0.0);
}

static void add_outer(size_t n, double *a, double sign, const double *x)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[i + j * n] += sign * x[i] * x[j];
}

static double largest_diagonal(size_t n, const double *a)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, a[i + i * n]);
    return largest;
}

static void an_update_is_the_factor_of_the_sum(void **state)
{
    (void)state;
    for (int c = 0; c < ORDER_COUNT; c++) {
        size_t n = ORDERS[c], ldl = n + 3;
        double *a = test_covariance(n, 1e-3, n), *l = factor(n, a, ldl), *x = test_normals(n, 9);
        add_outer(n, a, 1.0, x);
        hfi_chol_update(n, l, ldl, x);
        assert_true(test_factor_residual(n, a, l, ldl) <=
                    4.0 * (double)(n + 1) * DBL_EPSILON * largest_diagonal(n, a));
        check_positive_diagonal(n, l, ldl);
        assert_true(test_only_lower_written(n, l, ldl));
        free(x);
        free(l);
        free(a);
    }
}

static void a_downdate_undoes_an_update(void **state)
{
    (void)state;
    for (int c = 0; c < ORDER_COUNT; c++) {
        size_t n = ORDERS[c], ldl = n + 3;
        double *a = test_covariance(n, 1e-2, n), *x = test_normals(n, 10), *sum = test_vector(n * n);
        memcpy(sum, a, n * n * sizeof *a);
        add_outer(n, sum, 1.0, x);
        double *l = factor(n, sum, ldl), largest = largest_diagonal(n, sum);
        assert_int_equal(hfi_chol_downdate(n, l, ldl, x), HF_OK);
        assert_true(test_factor_residual(n, a, l, ldl) <= 8.0 * (double)(n + 1) * DBL_EPSILON * largest);
        check_positive_diagonal(n, l, ldl);
        assert_true(test_only_lower_written(n, l, ldl));
        free(l);
        free(sum);
        free(x);
        free(a);
    }
}

static void a_downdate_too_far_is_refused(void **state)
{
    (void)state;
    for (int c = 0; c < ORDER_COUNT; c++) {
        size_t n = ORDERS[c];
        double *a = test_covariance(n, 1e-2, n), *l = factor(n, a, n), *x = test_vector(n);
        for (size_t i = 0; i < n; i++) x[i] = a[i]; /* column 0: A - x x' / t is singular for t = a_00 */
        for (size_t i = 0; i < n; i++) x[i] *= sqrt(1.001 / a[0]);
        assert_int_equal(hfi_chol_downdate(n, l, n, x), HF_ERR_NOT_POSITIVE_DEFINITE);
        free(l);
        l = factor(n, a, n);
        for (size_t i = 0; i < n; i++) x[i] = a[i] * sqrt(0.999 / a[0]);
        assert_int_equal(hfi_chol_downdate(n, l, n, x), HF_OK);
        free(l);
        l = factor(n, a, n);
        x[0] = NAN;
        assert_int_equal(hfi_chol_downdate(n, l, n, x), HF_ERR_NOT_POSITIVE_DEFINITE);
        free(x);
        free(l);
        free(a);
    }
}

static void growing_row_by_row_is_the_factor(void **state)
{
    (void)state;
    const size_t n = 140, ldl = n + 1;
    double *a = test_covariance(n, 1e-3, n), *l = test_vector(n * ldl);
    for (size_t k = 0; k < n * ldl; k++) l[k] = SENTINEL;
    for (size_t m = 0; m < n; m++) {
        double column[140];
        memcpy(column, a + m * n, m * sizeof *column);
        assert_int_equal(hfi_chol_append(m, l, ldl, column, a[m + m * n]), HF_OK);
    }
    assert_true(test_factor_residual(n, a, l, ldl) <= (double)(n + 1) * DBL_EPSILON * 1.001);
    assert_true(test_only_lower_written(n, l, ldl));
    free(l);
    free(a);
}

static void a_row_that_does_not_fit_leaves_the_factor_alone(void **state)
{
    (void)state;
    const size_t n = 60, ldl = n + 1;
    double *a = test_covariance(n, 1e-3, n), *l = factor(n, a, ldl), *before = test_vector(n * n), column[60];
    l = realloc(l, (n + 1) * ldl * sizeof *l);
    assert_non_null(l);
    for (size_t j = 0; j < n; j++) memcpy(before + j * n, l + j * ldl, n * sizeof *l);
    memcpy(column, a + 7 * n, n * sizeof *a); /* a copy of row 7 with a smaller diagonal */
    const double diagonals[] = {0.5, -1.0, NAN, INFINITY};
    for (int k = 0; k < 4; k++) {
        assert_int_equal(hfi_chol_append(n, l, ldl, column, diagonals[k]), HF_ERR_NOT_POSITIVE_DEFINITE);
        for (size_t j = 0; j < n; j++) assert_memory_equal(before + j * n, l + j * ldl, n * sizeof *l);
    }
    column[3] = NAN;
    assert_int_equal(hfi_chol_append(n, l, ldl, column, 2.0), HF_ERR_NOT_POSITIVE_DEFINITE);
    free(before);
    free(l);
    free(a);
}

static double *without(size_t n, const double *a, size_t k)
{
    double *rest = test_vector(n * n), *next = rest;
    for (size_t j = 0; j + 1 < n; j++)
        for (size_t i = 0; i + 1 < n; i++) *next++ = a[(i < k ? i : i + 1) + (j < k ? j : j + 1) * n];
    return rest;
}

static void deleting_a_row_is_the_factor_of_the_rest(void **state)
{
    (void)state;
    for (int c = 0; c < ORDER_COUNT; c++)
        for (int where = 0; where < 3; where++) {
            size_t n = ORDERS[c], ldl = n + 2, k = where == 0 ? 0 : where == 1 ? n / 2 : n - 1;
            double *a = test_covariance(n, 1e-3, n), *l = factor(n, a, ldl), *work = test_vector(n);
            double *rest = without(n, a, k);
            hfi_chol_delete(n, l, ldl, k, work);
            assert_true(test_factor_residual(n - 1, rest, l, ldl) <=
                        4.0 * (double)(n + 1) * DBL_EPSILON * 1.001);
            check_positive_diagonal(n - 1, l, ldl);
            free(rest);
            free(work);
            free(l);
            free(a);
        }
}

/* A sliding window: the first row leaves and comes back at the end, often; errors must not pile up. */
static void a_thousand_changes_do_not_drift(void **state)
{
    (void)state;
    const size_t n = 40;
    double *a = test_covariance(n, 1e-2, 5), *l = factor(n, a, n), work[40], column[40];
    size_t order[40];
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (int step = 0; step < 1000; step++) {
        size_t first = order[0];
        hfi_chol_delete(n, l, n, 0, work);
        memmove(order, order + 1, (n - 1) * sizeof *order);
        order[n - 1] = first;
        for (size_t i = 0; i + 1 < n; i++) column[i] = a[order[i] + first * n];
        assert_int_equal(hfi_chol_append(n - 1, l, n, column, a[first + first * n]), HF_OK);
    }
    double *now = test_vector(n * n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) now[i + j * n] = a[order[i] + order[j] * n];
    assert_true(test_factor_residual(n, now, l, n) <= 1e-13);
    free(now);
    free(l);
    free(a);
}

static void tiny_and_huge_numbers_survive(void **state)
{
    (void)state;
    const double scales[] = {1e-150, 1e150};
    for (int k = 0; k < 2; k++) {
        double l[1] = {3.0 * scales[k]}, x[1] = {4.0 * scales[k]};
        hfi_chol_update(1, l, 1, x); /* the squares would underflow or overflow */
        assert_near(l[0] / scales[k], 5.0, 1e-14);
        x[0] = 4.0 * scales[k];
        assert_int_equal(hfi_chol_downdate(1, l, 1, x), HF_OK);
        assert_near(l[0] / scales[k], 3.0, 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_is_the_factor_of_the_sum),
        cmocka_unit_test(a_downdate_undoes_an_update),
        cmocka_unit_test(a_downdate_too_far_is_refused),
        cmocka_unit_test(growing_row_by_row_is_the_factor),
        cmocka_unit_test(a_row_that_does_not_fit_leaves_the_factor_alone),
        cmocka_unit_test(deleting_a_row_is_the_factor_of_the_rest),
        cmocka_unit_test(a_thousand_changes_do_not_drift),
        cmocka_unit_test(tiny_and_huge_numbers_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
