/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file matrices.h
 * @brief Matrices for the tests of linear algebra, and slow products to check the fast ones with.
 *
 * All are column-major with leading dimension n unless said otherwise. Include after <cmocka.h>.
 */
#ifndef HF_TEST_MATRICES_H
#define HF_TEST_MATRICES_H

#include "core/assert_near.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Stands where nothing may be read or written. */
#define SENTINEL (-7.25e77)

static inline double *test_vector(size_t count)
{
    double *v = malloc((count > 0 ? count : 1) * sizeof *v);
    assert_non_null(v);
    return v;
}

static inline double *test_normals(size_t count, uint64_t seed)
{
    double *v = test_vector(count);
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, count);
    for (size_t i = 0; i < count; i++) v[i] = hfi_stream_normal(&stream);
    return v;
}

/** Exponential kernel at random points plus `noise`: positive definite, both triangles filled. */
static inline double *test_covariance(size_t n, double noise, uint64_t seed)
{
    double *x = test_normals(n, seed), *a = test_vector(n * n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            a[i + j * n] = exp(-fabs(x[i] - x[j])) + (i == j ? noise : 0.0);
    free(x);
    return a;
}

/** A copy of the lower triangle with leading dimension lda; everything else is SENTINEL. */
static inline double *test_lower(size_t n, const double *a, size_t lda)
{
    double *copy = test_vector(n * lda);
    for (size_t k = 0; k < n * lda; k++) copy[k] = SENTINEL;
    for (size_t j = 0; j < n; j++) memcpy(copy + j + j * lda, a + j + j * n, (n - j) * sizeof *a);
    return copy;
}

/** True if all but the lower triangle is still SENTINEL. */
static inline bool test_only_lower_written(size_t n, const double *a, size_t lda)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < lda; i++)
            if ((i < j || i >= n) && a[i + j * lda] != SENTINEL) return false;
    return true;
}

/** Largest entry of lower(A - L L'). */
static inline double test_factor_residual(size_t n, const double *a, const double *l, size_t ldl)
{
    double *column = test_vector(n), worst = 0.0;
    for (size_t j = 0; j < n; j++) {
        memcpy(column + j, a + j + j * n, (n - j) * sizeof *a);
        for (size_t k = 0; k <= j; k++)
            for (size_t i = j; i < n; i++) column[i] -= l[i + k * ldl] * l[j + k * ldl];
        for (size_t i = j; i < n; i++)
            if (!(fabs(column[i]) <= worst)) worst = fabs(column[i]);
    }
    free(column);
    return worst;
}

/** C := A B, all n x n. */
static inline double *test_product(size_t n, const double *a, const double *b)
{
    double *c = test_vector(n * n);
    memset(c, 0, n * n * sizeof *c);
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < n; i++) c[i + j * n] += a[i + k * n] * b[k + j * n];
    return c;
}

static inline hf_context *test_context(int threads)
{
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    assert_int_equal(hf_context_set_threads(ctx, threads), HF_OK);
    return ctx;
}

/** Orders on, just beside and between the edges of tiles of any plausible size. */
static const size_t TEST_ORDERS[] = {1,   2,   3,   31,  127, 128, 129, 223,
                                     224, 225, 300, 448, 449, 513, 700};
enum {
    TEST_ORDER_COUNT = sizeof TEST_ORDERS / sizeof *TEST_ORDERS
};

#endif
