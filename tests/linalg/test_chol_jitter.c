/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/matrices.h"

typedef struct source {
    size_t n;
    const double *a;
    hf_status status;
    int calls;
} source;

static hf_status fill(void *arg, double *a, size_t lda)
{
    source *s = arg;
    s->calls++;
    if (s->status < 0) return s->status;
    for (size_t j = 0; j < s->n; j++) memcpy(a + j + j * lda, s->a + j + j * s->n, (s->n - j) * sizeof *a);
    return HF_OK;
}

static void a_good_matrix_gets_none(void **state)
{
    (void)state;
    hf_context *ctx = test_context(2);
    const size_t orders[] = {0, 1, 50, 300};
    for (int c = 0; c < 4; c++) {
        size_t n = orders[c];
        double *a = test_covariance(n, 1e-3, n), *l = test_vector(n * n), *plain = test_lower(n, a, n),
               jitter = -1.0;
        source s = {.n = n, .a = a};
        assert_int_equal(hfi_chol_jitter(ctx, n, l, n, 1.0, fill, &s, &jitter), HF_OK);
        assert_true(jitter == 0.0);
        assert_int_equal(s.calls, 1);
        assert_int_equal(hfi_chol(ctx, n, plain, n), HF_OK);
        for (size_t j = 0; j < n; j++)
            assert_memory_equal(l + j + j * n, plain + j + j * n, (n - j) * sizeof *l);
        free(plain);
        free(l);
        free(a);
    }
    hf_context_free(ctx);
}

/* Rows 2k and 2k + 1 are the same point: rank n/2. */
static double *duplicate_rows(size_t n, double scale)
{
    double *half = test_covariance(n / 2, 0.0, n), *a = test_vector(n * n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[i + j * n] = scale * half[i / 2 + j / 2 * (n / 2)];
    free(half);
    return a;
}

static void duplicate_rows_get_little_and_it_is_reported(void **state)
{
    (void)state;
    hf_context *ctx = test_context(2);
    const double scales[] = {1.0, 1e-20, 1e20};
    for (int k = 0; k < 3; k++) {
        const size_t n = 300;
        double *a = duplicate_rows(n, scales[k]), *l = test_vector(n * n), jitter = -1.0;
        a[n * n - 1] *= 1.0 - 1e-12; /* certainly indefinite: the 2 x 2 block of the last pair */
        source s = {.n = n, .a = a};
        assert_int_equal(hfi_chol_jitter(ctx, n, l, n, scales[k], fill, &s, &jitter), HF_WARN_JITTER);
        assert_true(jitter > 0.0 && jitter <= 1.001e-8 * scales[k]);
        assert_true(s.calls >= 2);
        assert_non_null(strstr(hf_context_message(ctx), "jitter"));
        for (size_t i = 0; i < n; i++) a[i + i * n] += jitter;
        assert_true(test_factor_residual(n, a, l, n) <= (double)(n + 1) * DBL_EPSILON * scales[k] * 1.01);
        free(l);
        free(a);
    }
    hf_context_free(ctx);
}

/* [[1, c], [c, 1]] with c = 1 + 10^-k has the eigenvalue -10^-k: the step must be the first above it. */
static void the_steps_are_powers_of_ten(void **state)
{
    (void)state;
    hf_context *ctx = test_context(1);
    for (int k = 9; k >= 3; k--) {
        double a[4] = {1.0, 1.0 + pow(10.0, -k), 0.0, 1.0}, l[4], jitter = -1.0, step = pow(10.0, 1 - k);
        if (k == 9) a[1] = 1.0 + 0.5e-10;
        if (k == 9) step = 1e-10;
        source s = {.n = 2, .a = a};
        assert_int_equal(hfi_chol_jitter(ctx, 2, l, 2, 1.0, fill, &s, &jitter), HF_WARN_JITTER);
        /* At -10^-k exactly, rounding may let the equal step pass. */
        bool equal_step = fabs(jitter - step / 10.0) <= 1e-6 * step && k != 9;
        if (!equal_step) assert_near(jitter, step, 1e-6 * step);
    }
    hf_context_free(ctx);
}

static void an_indefinite_matrix_is_an_error(void **state)
{
    (void)state;
    hf_context *ctx = test_context(2);
    const size_t n = 250;
    double *a = test_covariance(n, 1e-3, n), *l = test_vector(n * n), jitter = -1.0;
    a[100 + 100 * n] = -0.5;
    source s = {.n = n, .a = a};
    assert_int_equal(hfi_chol_jitter(ctx, n, l, n, 1.0, fill, &s, &jitter), HF_ERR_NOT_POSITIVE_DEFINITE);
    assert_true(jitter == -1.0);
    assert_int_equal(s.calls, 10);
    assert_non_null(strstr(hf_context_message(ctx), "250 x 250"));
    free(l);
    free(a);
    hf_context_free(ctx);
}

static void what_is_not_finite_is_found_wherever_it_is(void **state)
{
    (void)state;
    hf_context *ctx = test_context(2);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    const size_t n = 250, rows[] = {0, 249, 249, 130}, columns[] = {0, 249, 0, 70};
    double *a = test_covariance(n, 1e-3, n), *l = test_vector(n * n);
    for (int place = 0; place < 4; place++)
        for (int b = 0; b < 3; b++) {
            double *entry = a + rows[place] + columns[place] * n, good = *entry, jitter = -1.0;
            *entry = bad[b];
            source s = {.n = n, .a = a};
            assert_int_equal(hfi_chol_jitter(ctx, n, l, n, 1.0, fill, &s, &jitter), HF_ERR_NOT_FINITE);
            assert_int_equal(s.calls, 1);
            assert_true(jitter == -1.0);
            *entry = good;
        }
    /* The largest number is finite; and the upper triangle is nobody's business. */
    double two[4] = {DBL_MAX, 0.0, NAN, DBL_MAX}, jitter = -1.0;
    source s = {.n = 2, .a = two};
    assert_int_equal(hfi_chol_jitter(ctx, 2, l, 2, DBL_MAX, fill, &s, &jitter), HF_OK);
    free(l);
    free(a);
    hf_context_free(ctx);
}

static void bad_scales_and_failing_fills_are_passed_on(void **state)
{
    (void)state;
    hf_context *ctx = test_context(1);
    const double scales[] = {0.0, -1.0, NAN, INFINITY};
    double a = 1.0, l = 5.0, jitter = -1.0;
    source s = {.n = 1, .a = &a};
    for (int k = 0; k < 4; k++)
        assert_int_equal(hfi_chol_jitter(ctx, 1, &l, 1, scales[k], fill, &s, &jitter), HF_ERR_ARGUMENT);
    s.status = HF_ERR_CANCELLED;
    assert_int_equal(hfi_chol_jitter(ctx, 1, &l, 1, 1.0, fill, &s, &jitter), HF_ERR_CANCELLED);
    assert_true(jitter == -1.0 && l == 5.0);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_matrix_gets_none),
        cmocka_unit_test(duplicate_rows_get_little_and_it_is_reported),
        cmocka_unit_test(the_steps_are_powers_of_ten),
        cmocka_unit_test(an_indefinite_matrix_is_an_error),
        cmocka_unit_test(what_is_not_finite_is_found_wherever_it_is),
        cmocka_unit_test(bad_scales_and_failing_fills_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
