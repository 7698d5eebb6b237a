/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/matrices.h"

static double *factor(const hf_context *ctx, size_t n, const double *a, size_t lda)
{
    double *l = test_lower(n, a, lda);
    assert_int_equal(hfi_chol(ctx, n, l, lda), HF_OK);
    return l;
}

/* A G = I to n eps cond(A); the exponential kernel plus noise s has eigenvalues in [s, n + s]. */
static void the_inverse_times_the_matrix_is_the_identity(void **state)
{
    (void)state;
    hf_context *ctx = test_context(2);
    const double noise = 0.1;
    for (size_t c = 0; c < TEST_ORDER_COUNT; c++) {
        size_t n = TEST_ORDERS[c], lda = n + 3;
        double *a = test_covariance(n, noise, n), *g = factor(ctx, n, a, lda);
        hfi_chol_inverse(ctx, n, g, lda);
        assert_true(test_only_lower_written(n, g, lda));
        double *column = test_vector(n), bound = (double)n * DBL_EPSILON * ((double)n + noise) / noise;
        for (size_t j = 0; j<n; j += n> 150 ? 7 : 1) { /* column j of A G */
            for (size_t i = 0; i < n; i++) column[i] = 0.0;
            for (size_t k = 0; k < n; k++)
                hfi_axpy(n, k >= j ? g[k + j * lda] : g[j + k * lda], a + k * n, column);
            for (size_t i = 0; i < n; i++) assert_near(column[i], i == j ? 1.0 : 0.0, bound);
        }
        free(column);
        free(g);
        free(a);
    }
    hf_context_free(ctx);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    for (size_t c = 0; c < TEST_ORDER_COUNT; c++) {
        size_t n = TEST_ORDERS[c];
        double *a = test_covariance(n, 1e-2, n + 2), *first = NULL, *first_diagonal = NULL;
        for (int threads = 1; threads <= 4; threads++) {
            hf_context *ctx = test_context(threads);
            double *g = factor(ctx, n, a, n), *diagonal = test_vector(n), *work = test_vector(n * n);
            hfi_chol_inverse_diagonal(ctx, n, g, n, work, diagonal);
            hfi_chol_inverse(ctx, n, g, n);
            if (first == NULL) {
                first = g;
                first_diagonal = diagonal;
            } else {
                assert_memory_equal(first, g, n * n * sizeof *g);
                assert_memory_equal(first_diagonal, diagonal, n * sizeof *g);
                free(g);
                free(diagonal);
            }
            free(work);
            hf_context_free(ctx);
        }
        free(first);
        free(first_diagonal);
        free(a);
    }
}

static void its_diagonal_alone_is_the_same(void **state)
{
    (void)state;
    hf_context *ctx = test_context(2);
    for (size_t c = 0; c < TEST_ORDER_COUNT; c++) {
        size_t n = TEST_ORDERS[c], lda = n + 2;
        double *a = test_covariance(n, 0.1, n), *g = factor(ctx, n, a, lda), *before = test_vector(n * lda);
        double *work = test_vector(n * n), *diagonal = test_vector(n);
        memcpy(before, g, n * lda * sizeof *g);
        hfi_chol_inverse_diagonal(ctx, n, g, lda, work, diagonal);
        assert_memory_equal(before, g, n * lda * sizeof *g);
        hfi_chol_inverse(ctx, n, g, lda);
        for (size_t i = 0; i < n; i++) assert_near(diagonal[i], g[i + i * lda], 1e-12 * diagonal[i]);
        free(diagonal);
        free(work);
        free(before);
        free(g);
        free(a);
    }
    hf_context_free(ctx);
}

/* An ill-conditioned matrix with a known inverse: the smallest eigenvalue of the factor's matrix decides the
 * error. */
/* With its diagonal on the way, and then the rest, the inverse is the same to the last bit. */
static void in_two_steps_it_is_the_same(void **state)
{
    (void)state;
    for (size_t c = 0; c < TEST_ORDER_COUNT; c++) {
        hf_context *ctx = test_context((int)(1 + c % 3));
        size_t n = TEST_ORDERS[c];
        double *a = test_covariance(n, 1e-2, n + 2), *whole = factor(ctx, n, a, n);
        double *steps = factor(ctx, n, a, n), *work = test_vector(n * n), *diagonal = test_vector(n);
        double *aside = test_vector(n);
        hfi_chol_inverse_diagonal(ctx, n, whole, n, work, aside);
        hfi_chol_inverse(ctx, n, whole, n);
        hfi_chol_inverse_diagonal(ctx, n, steps, n, steps, diagonal);
        hfi_triangle_square(ctx, n, steps, n);
        assert_memory_equal(diagonal, aside, n * sizeof *aside);
        assert_memory_equal(steps, whole, n * n * sizeof *whole);
        free(aside);
        free(diagonal);
        free(work);
        free(steps);
        free(whole);
        free(a);
        hf_context_free(ctx);
    }
    hf_context *ctx = test_context(1);
    hfi_triangle_square(ctx, 0, NULL, 1);
    hf_context_free(ctx);
}

static void ill_conditioned_matrices_lose_no_more_than_they_must(void **state)
{
    (void)state;
    hf_context *ctx = test_context(2);
    const size_t n = 500;
    const double noise = 1e-8;
    double *a = test_covariance(n, noise, 6), *l = factor(ctx, n, a, n), *g = test_vector(n * n);
    memcpy(g, l, n * n * sizeof *g);
    hfi_chol_inverse(ctx, n, g, n);
    double *column = test_vector(n), norm = 0.0, worst = 0.0;
    for (size_t j = 0; j < n; j += 37) { /* solves are backward stable: a reference */
        for (size_t i = 0; i < n; i++) column[i] = i == j ? 1.0 : 0.0;
        hfi_chol_solve(n, l, n, column);
        for (size_t i = j; i < n; i++) {
            norm = fmax(norm, fabs(column[i]));
            worst = fmax(worst, fabs(column[i] - g[i + j * n]));
        }
    }
    double *work = test_vector(3 * n);
    int *iwork = malloc(n * sizeof *iwork);
    double condition = hfi_chol_condition(n, l, n, hfi_symmetric_norm1(n, a, n, work), work, iwork);
    assert_true(condition > 1e4);
    assert_true(worst <= 10.0 * condition * DBL_EPSILON * norm);
    free(iwork);
    free(work);
    free(column);
    free(g);
    free(l);
    free(a);
    hf_context_free(ctx);
}

static void nothing_to_invert(void **state)
{
    (void)state;
    hf_context *ctx = test_context(2);
    hfi_chol_inverse(ctx, 0, NULL, 1);
    hfi_chol_inverse_diagonal(ctx, 0, NULL, 1, NULL, NULL);
    double one = 4.0, work, diagonal;
    hfi_chol_inverse_diagonal(ctx, 1, &one, 1, &work, &diagonal);
    assert_true(diagonal == 0.0625);
    hfi_chol_inverse(ctx, 1, &one, 1);
    assert_true(one == 0.0625);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_inverse_times_the_matrix_is_the_identity),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(its_diagonal_alone_is_the_same),
        cmocka_unit_test(in_two_steps_it_is_the_same),
        cmocka_unit_test(ill_conditioned_matrices_lose_no_more_than_they_must),
        cmocka_unit_test(nothing_to_invert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
