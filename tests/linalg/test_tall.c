/* SPDX-License-Identifier: Apache-2.0 */
/* Tall matrices and the basis that grows, against plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "linalg/matrices.h"

/* Rows and columns on both sides of the blocks' edges (512 and 64). */
static const size_t ROWS[] = {0, 1, 7, 511, 512, 513, 1300}, COLUMNS[] = {1, 5, 64, 65, 130};
enum {
    ROW_COUNT = sizeof ROWS / sizeof *ROWS,
    COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS
};

static hf_context *threaded(int threads)
{
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    assert_int_equal(hf_context_set_threads(ctx, threads), HF_OK);
    return ctx;
}

static double plain_inner(size_t n, const double *a, const double *b, const double *w)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i] * (w ? w[i] : 1.0);
    return sum;
}

static void inner_products(void **state)
{
    (void)state;
    hf_context *ctx = threaded(3), *alone = threaded(1);
    for (size_t r = 0; r < ROW_COUNT; r++)
        for (size_t k = 0; k < COLUMN_COUNT; k++) {
            const size_t n = ROWS[r], p = COLUMNS[k], q = COLUMNS[COLUMN_COUNT - 1 - k], ld = n + 3;
            double *a = test_normals(ld * p, 1), *b = test_normals(ld * q, 2), *w = test_normals(n, 3);
            double *c = test_vector(p * q), *square = test_vector(p * p), *again = test_vector(p * p);
            for (size_t i = 0; i < p * p; i++) square[i] = again[i] = NAN;
            assert_int_equal(hfi_tall_inner(ctx, n, p, a, ld, q, b, ld, c, p), HF_OK);
            for (size_t i = 0; i < p; i++)
                for (size_t j = 0; j < q; j++)
                    assert_near(c[i + j * p], plain_inner(n, a + i * ld, b + j * ld, NULL), 1e-11);
            for (int weighted = 0; weighted < 2; weighted++) {
                const double *weight = weighted ? w : NULL;
                assert_int_equal(hfi_tall_square(ctx, n, p, a, ld, weight, square, p), HF_OK);
                assert_int_equal(hfi_tall_square(alone, n, p, a, ld, weight, again, p), HF_OK);
                for (size_t j = 0; j < p; j++) {
                    assert_memory_equal(square + j + j * p, again + j + j * p, (p - j) * sizeof *square);
                    for (size_t i = j; i < p; i++)
                        assert_near(square[i + j * p], plain_inner(n, a + i * ld, a + j * ld, weight), 1e-11);
                }
            }
            free(a);
            free(b);
            free(w);
            free(c);
            free(square);
            free(again);
        }
    hf_context_free(ctx);
    hf_context_free(alone);
}

static void products_added(void **state)
{
    (void)state;
    hf_context *ctx = threaded(3);
    for (size_t r = 0; r < ROW_COUNT; r++)
        for (size_t k = 0; k < 3; k++) {
            const size_t n = ROWS[r], p = COLUMNS[k], q = COLUMNS[(k + 1) % 3], ld = n + 2;
            double *a = test_normals(ld * p, 4), *b = test_normals(p * q, 5), *c = test_normals(ld * q, 6);
            double *before = test_vector(ld * q);
            memcpy(before, c, ld * q * sizeof *c);
            hfi_tall_add(ctx, n, p, q, -0.7, a, ld, b, p, c, ld);
            for (size_t i = 0; i < ld; i++)
                for (size_t j = 0; j < q; j++) {
                    double sum = before[i + j * ld];
                    for (size_t m = 0; m < p && i < n; m++) sum -= 0.7 * a[i + m * ld] * b[m + j * p];
                    assert_near(c[i + j * ld], sum, 1e-12);
                }
            free(a);
            free(b);
            free(c);
            free(before);
        }
    hf_context_free(ctx);
}

static void rows_divided(void **state)
{
    (void)state;
    hf_context *ctx = threaded(3);
    for (size_t r = 0; r < ROW_COUNT; r++)
        for (int transposed = 0; transposed < 2; transposed++) {
            const size_t n = ROWS[r], q = 9, ld = n + 1;
            double *k = test_covariance(q, 0.1, 7), *l = test_lower(q, k, q), *b = test_normals(ld * q, 8);
            double *before = test_vector(ld * q);
            assert_int_equal(hfi_chol(ctx, q, l, q), HF_OK);
            memcpy(before, b, ld * q * sizeof *b);
            hfi_tall_divide(ctx, n, q, l, q, transposed, b, ld);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < q; j++) {
                    double sum = 0.0; /* of the result times L' or L */
                    for (size_t m = 0; m < q; m++)
                        sum += b[i + m * ld] *
                               (transposed ? (m <= j ? l[j + m * q] : 0.0) : (m >= j ? l[m + j * q] : 0.0));
                    assert_near(sum, before[i + j * ld], 1e-12);
                }
            free(k);
            free(l);
            free(b);
            free(before);
        }
    hf_context_free(ctx);
}

static void assert_orthonormal(size_t n, size_t count, const double *q, size_t ld)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++)
            assert_near(plain_inner(n, q + i * ld, q + j * ld, NULL), i == j ? 1.0 : 0.0, 1e-14 * 50);
}

/* Nearly dependent columns, as those of a smooth kernel are, in several batches. */
static void basis_is_orthonormal_and_spans(void **state)
{
    (void)state;
    enum {
        N = 600,
        M = 90
    };
    hf_context *ctx = threaded(2);
    double *q = test_vector(N * M), *original = test_vector(N * M);
    for (size_t j = 0; j < M; j++)
        for (size_t i = 0; i < N; i++) {
            const double t = (double)i / N - (double)j / M;
            original[i + j * N] = q[i + j * N] = exp(-20.0 * t * t) + 1e-9 * sin((double)(i * (j + 3)));
        }
    size_t total = 0;
    assert_int_equal(hfi_orthonormalise(ctx, N, 0, 40, q, N, 1e-13, &total), HF_OK);
    assert_int_equal(total, 40);
    assert_int_equal(hfi_orthonormalise(ctx, N, 40, 50, q, N, 1e-13, &total), HF_OK);
    assert_int_equal(total, M);
    assert_orthonormal(N, total, q, N);
    for (size_t j = 0; j < M; j++) {
        double left[N], off = 0.0;
        memcpy(left, original + j * N, sizeof left);
        for (size_t k = 0; k < total; k++)
            hfi_axpy(N, -plain_inner(N, q + k * N, original + j * N, NULL), q + k * N, left);
        for (size_t i = 0; i < N; i++) off = fmax(off, fabs(left[i]));
        assert_true(off < 1e-13);
    }
    free(q);
    free(original);
    hf_context_free(ctx);
}

static void basis_drops_what_is_not_new(void **state)
{
    (void)state;
    enum {
        N = 40,
        M = 8
    };
    hf_context *ctx = threaded(1);
    double *q = test_normals(N * M, 10);
    for (size_t i = 0; i < N; i++) {
        q[i + 1 * N] = 0.0;
        q[i + 3 * N] = 2.0 * q[i] - q[i + 2 * N];
        q[i + 4 * N] = i == 3 ? NAN : 1.0;
        q[i + 5 * N] *= 1e200; /* its square overflows */
        q[i + 6 * N] *= 1e-200;
    }
    size_t total = 0;
    assert_int_equal(hfi_orthonormalise(ctx, N, 0, M, q, N, 1e-12, &total), HF_OK);
    assert_int_equal(total, 5); /* 0, 2, 5, 6, 7 */
    assert_orthonormal(N, total, q, N);
    /* More columns than rows: the space is full. */
    double *wide = test_normals(6 * 20, 11);
    assert_int_equal(hfi_orthonormalise(ctx, 6, 0, 20, wide, 6, 1e-12, &total), HF_OK);
    assert_int_equal(total, 6);
    assert_orthonormal(6, total, wide, 6);
    free(q);
    free(wide);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inner_products),
        cmocka_unit_test(products_added),
        cmocka_unit_test(rows_divided),
        cmocka_unit_test(basis_is_orthonormal_and_spans),
        cmocka_unit_test(basis_drops_what_is_not_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
