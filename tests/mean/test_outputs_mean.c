/* SPDX-License-Identifier: Apache-2.0 */
/* One constant per output. */
#include "mean/mean.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 6,
    D = 2,
    T = 3
};

static const double rows[N * D] = {0.3, 0, 1.7, 2, -4.0, 1, 0.0, 0, 9.0, 2, 2.0, 0};

static hf_mean *make(hf_context *ctx)
{
    hf_mean *mean = NULL;
    const double values[T] = {1.5, -2.0, 0.25};
    assert_int_equal(hf_mean_create_outputs(ctx, D, T, &mean), HF_OK);
    assert_int_equal(hf_mean_get_kind(mean), HF_MEAN_OUTPUTS);
    assert_int_equal(hf_mean_coefficients(mean), T);
    assert_int_equal(hf_mean_set(ctx, mean, values, false), HF_OK);
    return mean;
}

static void test_values_and_adjoint(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_mean *mean = make(ctx), *copy = NULL;
    const double wanted[N] = {1.5, 0.25, -2.0, 1.5, 0.25, 1.5}, weights[N] = {1, 2, 4, 8, 16, 32};
    double out[N], grad[T] = {100.0, 0.0, 0.0}, slope[D] = {7.0, 8.0};
    assert_int_equal(hf_mean_copy(ctx, mean, &copy), HF_OK);
    hf_mean_evaluate(copy, N, rows, D, out);
    for (size_t i = 0; i < N; i++) assert_true(out[i] == wanted[i]);
    hfi_mean_adjoint(copy, N, rows, D, weights, grad);
    assert_true(grad[0] == 141.0 && grad[1] == 4.0 && grad[2] == 18.0);
    hfi_mean_input_gradient(copy, slope);
    assert_true(slope[0] == 7.0 && slope[1] == 8.0);
    hf_mean_free(mean);
    hf_mean_free(copy);
    hf_context_free(ctx);
}

static void test_starts_are_averages_of_present_readings(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_mean *mean = make(ctx);
    const double y[N] = {1.0, 10.0, NAN, 3.0, 20.0, 500.0};
    const bool present[N] = {true, true, true, true, true, false};
    assert_int_equal(hfi_mean_start(ctx, mean, N, rows, D, y, present), HF_OK);
    const double *b = hf_mean_values(mean);
    assert_true(b[0] == 2.0 && b[2] == 15.0);
    assert_true(fabs(b[1] - 34.0 / 4.0) < 1e-14); /* no reading of its own: the average of all */
    const bool none[N] = {false};
    assert_int_equal(hfi_mean_start(ctx, mean, N, rows, D, y, none), HF_ERR_NO_DATA);
    hf_mean_free(mean);
    hf_context_free(ctx);
}

static void test_errors(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_mean *mean = NULL;
    hf_mean_kind kind;
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_OUTPUTS, D, &mean), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "hf_mean_create_outputs"));
    assert_int_equal(hf_mean_create_outputs(ctx, D, 0, &mean), HF_ERR_ARGUMENT);
    assert_int_equal(hf_mean_create_outputs(ctx, 0, T, &mean), HF_ERR_ARGUMENT);
    assert_null(mean);
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_MEAN_KIND, "outputs", &kind), HF_OK);
    assert_int_equal(kind, HF_MEAN_OUTPUTS);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_and_adjoint),
        cmocka_unit_test(test_starts_are_averages_of_present_readings),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
