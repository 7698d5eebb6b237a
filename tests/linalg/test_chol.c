/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/matrices.h"

static void the_residual_is_at_rounding(void **state)
{
    (void)state;
    hf_context *ctx = test_context(2);
    for (size_t c = 0; c < TEST_ORDER_COUNT; c++) {
        size_t n = TEST_ORDERS[c], lda = n + 5;
        double *a = test_covariance(n, 1e-3, n), *l = test_lower(n, a, lda);
        assert_int_equal(hfi_chol(ctx, n, l, lda), HF_OK);
        /* Backward error of Cholesky: (n + 1) eps times the largest diagonal entry. */
        assert_true(test_factor_residual(n, a, l, lda) <= (double)(n + 1) * DBL_EPSILON * 1.001);
        assert_true(test_only_lower_written(n, l, lda));
        free(l);
        free(a);
    }
    hf_context_free(ctx);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    for (size_t c = 0; c < TEST_ORDER_COUNT; c++) {
        size_t n = TEST_ORDERS[c];
        double *a = test_covariance(n, 1e-3, n + 1), *first = NULL;
        for (int threads = 1; threads <= 4; threads++) {
            hf_context *ctx = test_context(threads);
            double *l = test_lower(n, a, n);
            assert_int_equal(hfi_chol(ctx, n, l, n), HF_OK);
            if (first == NULL)
                first = l;
            else {
                assert_memory_equal(first, l, n * n * sizeof *l);
                free(l);
            }
            hf_context_free(ctx);
        }
        free(first);
        free(a);
    }
}

typedef struct nested {
    const hf_context *ctx;
    size_t n;
    double *l[4];
    hf_status status[4];
} nested;

static void factor_one(size_t index, int thread, void *arg)
{
    (void)thread;
    nested *job = arg;
    job->status[index] = hfi_chol(job->ctx, job->n, job->l[index], job->n);
}

/* Inside a parallel loop the factor must be finished when the call returns, and be the same. */
static void inside_a_parallel_loop_it_is_the_same(void **state)
{
    (void)state;
    hf_context *ctx = test_context(4);
    nested job = {.ctx = ctx, .n = 500};
    double *a = test_covariance(job.n, 1e-3, 3), *expected = test_lower(job.n, a, job.n);
    for (int i = 0; i < 4; i++) job.l[i] = test_lower(job.n, a, job.n);
    hfi_parallel_for(ctx, 4, factor_one, &job);
    assert_int_equal(hfi_chol(ctx, job.n, expected, job.n), HF_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(job.status[i], HF_OK);
        assert_memory_equal(job.l[i], expected, job.n * job.n * sizeof *expected);
        free(job.l[i]);
    }
    free(expected);
    free(a);
    hf_context_free(ctx);
}

static void a_known_factor(void **state)
{
    (void)state;
    hf_context *ctx = test_context(1);
    double a[9] = {4.0, 2.0, -2.0, 99.0, 10.0, 5.0, 99.0, 99.0, 14.0};
    assert_int_equal(hfi_chol(ctx, 3, a, 3), HF_OK);
    const double l[6] = {2.0, 1.0, -1.0, 3.0, 2.0, 3.0};
    assert_near(a[0], l[0], 1e-15);
    assert_near(a[1], l[1], 1e-15);
    assert_near(a[2], l[2], 1e-15);
    assert_near(a[4], l[3], 1e-15);
    assert_near(a[5], l[4], 1e-15);
    assert_near(a[8], l[5], 1e-15);
    assert_int_equal(hfi_chol(ctx, 0, NULL, 1), HF_OK);
    hf_context_free(ctx);
}

static void what_is_not_positive_definite_is_refused(void **state)
{
    (void)state;
    const size_t orders[] = {1, 2, 100, 300, 500};
    for (size_t c = 0; c < 5; c++)
        for (int where = 0; where < 3; where++) {
            size_t n = orders[c], bad = where == 0 ? 0 : where == 1 ? n / 2 : n - 1;
            double *a = test_covariance(n, 1e-3, n);
            a[bad + bad * n] = -1.0;
            for (int threads = 1; threads <= 3; threads++) {
                hf_context *ctx = test_context(threads);
                double *l = test_lower(n, a, n);
                assert_int_equal(hfi_chol(ctx, n, l, n), HF_ERR_NOT_POSITIVE_DEFINITE);
                free(l);
                hf_context_free(ctx);
            }
            free(a);
        }
}

static void nan_and_infinity_are_refused_and_do_not_hang(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    const size_t n = 500, rows[] = {0, 499, 250, 499, 300}, columns[] = {0, 499, 250, 0, 100};
    double *a = test_covariance(n, 1e-3, 4);
    for (int threads = 1; threads <= 2; threads++)
        for (size_t place = 0; place < 5; place++)
            for (size_t b = 0; b < 3; b++) {
                hf_context *ctx = test_context(threads);
                double *l = test_lower(n, a, n);
                l[rows[place] + columns[place] * n] = bad[b];
                assert_int_equal(hfi_chol(ctx, n, l, n), HF_ERR_NOT_POSITIVE_DEFINITE);
                free(l);
                hf_context_free(ctx);
            }
    free(a);
}

static void scale_does_not_matter(void **state)
{
    (void)state;
    const double scales[] = {0x1p-1000, 0x1p900};
    size_t n = 300;
    hf_context *ctx = test_context(2);
    double *a = test_covariance(n, 1e-2, 5), *plain = test_lower(n, a, n);
    assert_int_equal(hfi_chol(ctx, n, plain, n), HF_OK);
    for (int s = 0; s < 2; s++) {
        double *l = test_lower(n, a, n);
        for (size_t j = 0; j < n; j++)
            for (size_t i = j; i < n; i++) l[i + j * n] *= scales[s];
        assert_int_equal(hfi_chol(ctx, n, l, n), HF_OK);
        for (size_t j = 0; j < n; j++)
            for (size_t i = j; i < n; i++)
                assert_near(l[i + j * n] / sqrt(scales[s]), plain[i + j * n], 1e-13);
        free(l);
    }
    free(plain);
    free(a);
    hf_context_free(ctx);
}

static void more_than_blas_can_count_is_refused(void **state)
{
    (void)state;
    hf_context *ctx = test_context(1);
    double one = 1.0;
    assert_int_equal(hfi_chol(ctx, (size_t)1 << 31, &one, (size_t)1 << 31), HF_ERR_TOO_LARGE);
    assert_int_equal(hfi_chol(ctx, 1, &one, (size_t)1 << 31), HF_ERR_TOO_LARGE);
    assert_true(one == 1.0);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_residual_is_at_rounding),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(inside_a_parallel_loop_it_is_the_same),
        cmocka_unit_test(a_known_factor),
        cmocka_unit_test(what_is_not_positive_definite_is_refused),
        cmocka_unit_test(nan_and_infinity_are_refused_and_do_not_hang),
        cmocka_unit_test(scale_does_not_matter),
        cmocka_unit_test(more_than_blas_can_count_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
