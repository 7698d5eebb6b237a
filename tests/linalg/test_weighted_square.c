/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/matrices.h"

static double *symmetric(size_t n, size_t ldg)
{
    double *half = test_normals(n * n, n), *g = test_vector(n * ldg);
    for (size_t k = 0; k < n * ldg; k++) g[k] = SENTINEL;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) g[i + j * ldg] = i >= j ? half[i + j * n] : half[j + i * n];
    free(half);
    return g;
}

/* Three loops. */
static void check_against_reference(size_t n, const double *g, size_t ldg, const double *w, const double *c,
                                    size_t ldc)
{
    double *sum = test_vector(n), *size = test_vector(n);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) sum[i] = size[i] = 0.0;
        for (size_t k = 0; k < n; k++)
            for (size_t i = j; i < n; i++) {
                double term = g[i + k * ldg] * w[k] * g[k + j * ldg];
                sum[i] += term;
                size[i] += fabs(term);
            }
        for (size_t i = j; i < n; i++)
            assert_near(c[i + j * ldc], sum[i], (double)(n + 5) * DBL_EPSILON * size[i]);
    }
    free(size);
    free(sum);
}

/* kind 0: mixed with zeros; 1: all positive; 2: all negative; 3: all zero */
static double *weights(size_t n, int kind)
{
    double *w = test_normals(n, n + 100);
    for (size_t i = 0; i < n; i++) {
        if (kind == 0 && i % 7 == 3) w[i] = 0.0;
        if (kind == 1) w[i] = fabs(w[i]);
        if (kind == 2) w[i] = -fabs(w[i]);
        if (kind == 3) w[i] = 0.0;
    }
    return w;
}

static void it_agrees_with_three_loops(void **state)
{
    (void)state;
    const size_t orders[] = {1, 2, 3, 127, 128, 129, 255, 256, 257, 300, 511, 513};
    hf_context *ctx = test_context(2);
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (int kind = 0; kind < 4; kind++) {
            if (kind > 0 && orders[o] > 150) continue;
            size_t n = orders[o], ldg = n + 1, ldc = n + 4;
            double *g = symmetric(n, ldg), *w = weights(n, kind), *c = test_vector(n * ldc);
            double *work = test_vector(n * n);
            for (size_t k = 0; k < n * ldc; k++) c[k] = SENTINEL;
            hfi_weighted_square(ctx, n, g, ldg, w, c, ldc, work);
            check_against_reference(n, g, ldg, w, c, ldc);
            assert_true(test_only_lower_written(n, c, ldc));
            free(work);
            free(c);
            free(w);
            free(g);
        }
    hf_context_free(ctx);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    const size_t orders[] = {1, 128, 257, 513, 1030};
    for (size_t o = 0; o < 5; o++) {
        size_t n = orders[o];
        double *g = symmetric(n, n), *w = weights(n, 0), *first = NULL, *work = test_vector(n * n);
        for (int threads = 1; threads <= 4; threads++) {
            hf_context *ctx = test_context(threads);
            double *c = test_vector(n * n);
            memset(c, 0, n * n * sizeof *c);
            hfi_weighted_square(ctx, n, g, n, w, c, n, work);
            if (first == NULL)
                first = c;
            else {
                assert_memory_equal(first, c, n * n * sizeof *c);
                free(c);
            }
            hf_context_free(ctx);
        }
        free(first);
        free(work);
        free(w);
        free(g);
    }
}

static void a_nan_weight_is_not_lost(void **state)
{
    (void)state;
    hf_context *ctx = test_context(2);
    const size_t n = 40;
    double *g = symmetric(n, n), *w = weights(n, 0), *c = test_vector(n * n), *work = test_vector(n * n);
    w[5] = NAN;
    hfi_weighted_square(ctx, n, g, n, w, c, n, work);
    for (size_t i = 0; i < n; i++) assert_true(isnan(c[i + i * n]));
    hfi_weighted_square(ctx, 0, NULL, 1, NULL, NULL, 1, NULL);
    free(work);
    free(c);
    free(w);
    free(g);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_three_loops),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(a_nan_weight_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
