/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/matrices.h"

/* lower(C) + A B' by three loops, with what rounding allows. */
static void check(size_t m, size_t n, const double *a, size_t lda, const double *b, size_t ldb,
                  const double *before, const double *c, size_t ldc)
{
    for (size_t j = 0; j < m; j++)
        for (size_t i = j; i < m; i++) {
            double sum = before[i + j * ldc], size = fabs(sum);
            for (size_t k = 0; k < n; k++) {
                sum += a[i + k * lda] * b[j + k * ldb];
                size += fabs(a[i + k * lda] * b[j + k * ldb]);
            }
            assert_near(c[i + j * ldc], sum, (double)(n + 5) * DBL_EPSILON * size);
        }
}

static void it_agrees_with_three_loops(void **state)
{
    (void)state;
    const size_t orders[] = {1, 2, 127, 128, 129, 257}, columns[] = {1, 3, 130};
    hf_context *ctx = test_context(2);
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (size_t q = 0; q < sizeof columns / sizeof *columns; q++)
            for (int same = 0; same < 2; same++) {
                const size_t m = orders[o], n = columns[q], lda = m + 1, ldb = same ? lda : m + 2,
                             ldc = m + 3;
                double *a = test_normals(lda * n, 1), *b = same ? a : test_normals(ldb * n, 2);
                double *before = test_normals(ldc * m, 3), *c = test_vector(ldc * m);
                memcpy(c, before, ldc * m * sizeof *c);
                hfi_lower_product(ctx, m, n, a, lda, b, ldb, c, ldc);
                check(m, n, a, lda, b, ldb, before, c, ldc);
                for (size_t j = 0; j < m; j++) /* below the matrix nothing is touched */
                    for (size_t i = m; i < ldc; i++) assert_true(c[i + j * ldc] == before[i + j * ldc]);
                if (!same) free(b);
                free(a);
                free(before);
                free(c);
            }
    hf_context_free(ctx);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    const size_t m = 391, n = 300;
    double *a = test_normals(m * n, 1), *b = test_normals(m * n, 2), *results[4];
    for (int threads = 1; threads <= 4; threads++) {
        hf_context *ctx = test_context(threads);
        double *c = results[threads - 1] = test_vector(m * m);
        for (size_t k = 0; k < m * m; k++) c[k] = 0.25;
        hfi_lower_product(ctx, m, n, a, m, b, m, c, m);
        hfi_lower_product(ctx, m, n, a, m, a, m, c, m);
        for (size_t j = 0; j < m; j++)
            assert_memory_equal(c + j + j * m, results[0] + j + j * m, (m - j) * sizeof *c);
        hf_context_free(ctx);
    }
    for (int t = 0; t < 4; t++) free(results[t]);
    free(a);
    free(b);
}

static void nothing_to_add(void **state)
{
    (void)state;
    hf_context *ctx = test_context(1);
    double c[4] = {1.0, 2.0, 3.0, 4.0};
    hfi_lower_product(ctx, 2, 0, NULL, 2, NULL, 2, c, 2);
    hfi_lower_product(ctx, 0, 5, NULL, 1, NULL, 1, NULL, 1);
    assert_true(c[0] == 1.0 && c[1] == 2.0 && c[2] == 3.0 && c[3] == 4.0);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_three_loops),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(nothing_to_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
