/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/matrices.h"

static void eigenvectors_diagonalise(void **state)
{
    (void)state;
    hf_context *ctx = test_context(2);
    const size_t orders[] = {1, 2, 5, 64, 200};
    for (int c = 0; c < 5; c++) {
        size_t n = orders[c];
        double *a = test_covariance(n, 0.0, n), *v = test_lower(n, a, n), *values = test_vector(n);
        assert_int_equal(hfi_symmetric_eigen(ctx, n, v, n, values), HF_OK);
        double *product = test_product(n, a, v), bound = 10.0 * (double)n * DBL_EPSILON * (double)n;
        for (size_t j = 0; j < n; j++) {
            if (j > 0) assert_true(values[j] >= values[j - 1]);
            for (size_t i = 0; i < n; i++) {
                assert_near(product[i + j * n], values[j] * v[i + j * n], bound);
                assert_near(hfi_dot(n, v + i * n, v + j * n), i == j ? 1.0 : 0.0, bound);
            }
        }
        free(product);
        free(values);
        free(v);
        free(a);
    }
    hf_context_free(ctx);
}

/* Second differences: 2 - 2 cos(k pi / (n + 1)). */
static void known_eigenvalues(void **state)
{
    (void)state;
    hf_context *ctx = test_context(1);
    enum {
        N = 50
    };
    static const double scales[] = {1.0, 1e-200, 1e200};
    for (int s = 0; s < 3; s++) {
        double a[N * N] = {0.0}, values[N];
        for (size_t i = 0; i < N; i++) {
            a[i + i * N] = 2.0 * scales[s];
            if (i + 1 < N) a[i + 1 + i * N] = -scales[s];
        }
        assert_int_equal(hfi_symmetric_eigen(ctx, N, a, N, values), HF_OK);
        for (size_t k = 0; k < N; k++)
            assert_near(values[k] / scales[s], 2.0 - 2.0 * cos((double)(k + 1) * HFI_PI / (N + 1)), 1e-13);
    }
    hf_context_free(ctx);
}

static void bad_input_is_an_error_and_untouched(void **state)
{
    (void)state;
    hf_context *ctx = test_context(1);
    double a[4] = {1.0, NAN, 0.0, 1.0}, values[2] = {SENTINEL, SENTINEL};
    assert_int_equal(hfi_symmetric_eigen(ctx, 2, a, 2, values), HF_ERR_NOT_FINITE);
    assert_true(values[0] == SENTINEL && a[0] == 1.0 && a[3] == 1.0);
    assert_int_equal(hfi_symmetric_eigen(ctx, 0, NULL, 1, NULL), HF_OK);
    assert_int_equal(hfi_symmetric_eigen(ctx, 40000, a, 40000, values), HF_ERR_TOO_LARGE);
    assert_int_equal(hfi_symmetric_eigen(ctx, SIZE_MAX / 4, a, 1, values), HF_ERR_TOO_LARGE);
    hf_context_free(ctx);
}

typedef struct budget {
    int left;
    int alive;
} budget;

static void *spend(size_t bytes, void *user)
{
    budget *b = user;
    if (b->left-- <= 0) return NULL;
    b->alive++;
    return malloc(bytes);
}

static void give_back(void *memory, void *user)
{
    ((budget *)user)->alive--;
    free(memory);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    for (int allowed = 1; allowed <= 3; allowed++) {
        budget b = {.left = allowed};
        const hf_allocator allocator = {.allocate = spend, .release = give_back, .user = &b};
        hf_context *ctx = hf_context_create_with(&allocator);
        assert_non_null(ctx);
        double a[4] = {2.0, 1.0, 0.0, 2.0}, values[2] = {SENTINEL, SENTINEL};
        hf_status status = hfi_symmetric_eigen(ctx, 2, a, 2, values);
        assert_int_equal(status, allowed < 3 ? HF_ERR_MEMORY : HF_OK);
        if (allowed < 3) assert_true(a[0] == 2.0 && a[1] == 1.0 && values[0] == SENTINEL);
        if (allowed == 3) assert_near(values[1], 3.0, 1e-15);
        assert_int_equal(b.alive, 1);
        hf_context_free(ctx);
        assert_int_equal(b.alive, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eigenvectors_diagonalise),
        cmocka_unit_test(known_eigenvalues),
        cmocka_unit_test(bad_input_is_an_error_and_untouched),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
