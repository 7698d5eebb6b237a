/* SPDX-License-Identifier: Apache-2.0 */
#include "mean/mean.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "mean/failing_allocator.h"

enum {
    N = 7,
    D = 3,
    LDX = 5
};

static const hf_mean_kind KINDS[] = {HF_MEAN_ZERO, HF_MEAN_CONSTANT, HF_MEAN_MEDIAN, HF_MEAN_LINEAR};
static const size_t COUNTS[] = {0, 1, 1, D + 1};

/* Rows with a stride; the gaps are NaN, so that reading one shows. */
static void make_rows(double *x)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 1, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < (size_t)N * LDX; i++) x[i] = i % LDX < D ? hfi_stream_normal(&stream) : NAN;
}

static int setup(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int teardown(void **state)
{
    hf_context_free(*state);
    return 0;
}

static void names_go_there_and_back(void **state)
{
    hf_context *ctx = *state;
    for (size_t k = 0; k < 4; k++) {
        hf_mean_kind kind = HF_MEAN_ZERO;
        assert_int_equal(
            hf_enum_parse(ctx, HF_ENUM_MEAN_KIND, hf_enum_name(HF_ENUM_MEAN_KIND, KINDS[k]), &kind), HF_OK);
        assert_int_equal(kind, KINDS[k]);
    }
    assert_string_equal(hf_enum_name(HF_ENUM_MEAN_KIND, (unsigned)99), "unknown");
}

static void an_unknown_name_lists_the_valid_ones(void **state)
{
    hf_context *ctx = *state;
    hf_mean_kind kind = HF_MEAN_LINEAR;
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_MEAN_KIND, "quadratic", &kind), HF_ERR_ARGUMENT);
    assert_int_equal(kind, HF_MEAN_LINEAR);
    for (size_t k = 0; k < 4; k++)
        assert_non_null(strstr(hf_context_message(ctx), hf_enum_name(HF_ENUM_MEAN_KIND, KINDS[k])));
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_MEAN_KIND, NULL, &kind), HF_ERR_ARGUMENT);
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_MEAN_KIND, "", &kind), HF_ERR_ARGUMENT);
}

static void a_new_mean_is_zero_everywhere(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX], m[N];
    make_rows(x);
    for (size_t k = 0; k < 4; k++) {
        hf_mean *mean = NULL;
        assert_int_equal(hf_mean_create(ctx, KINDS[k], D, &mean), HF_OK);
        assert_int_equal(hf_mean_get_kind(mean), KINDS[k]);
        assert_int_equal(hf_mean_coefficients(mean), COUNTS[k]);
        assert_false(hf_mean_held(mean));
        hf_mean_evaluate(mean, N, x, LDX, m);
        for (size_t i = 0; i < N; i++) assert_true(m[i] == 0.0);
        hf_mean_free(mean);
    }
}

static void values_follow_the_formula(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX], m[N];
    const double b[D + 1] = {1.5, -2.0, 0.25, 3.0};
    make_rows(x);
    for (size_t k = 0; k < 4; k++) {
        hf_mean *mean = NULL;
        assert_int_equal(hf_mean_create(ctx, KINDS[k], D, &mean), HF_OK);
        assert_int_equal(hf_mean_set(ctx, mean, b, false), HF_OK);
        hf_mean_evaluate(mean, N, x, LDX, m);
        for (size_t i = 0; i < N; i++) {
            const double *row = x + i * LDX;
            double expected = COUNTS[k] > 0 ? b[0] : 0.0;
            if (KINDS[k] == HF_MEAN_LINEAR) expected += b[1] * row[0] + b[2] * row[1] + b[3] * row[2];
            assert_near(m[i], expected, 1e-14);
        }
        hf_mean_free(mean);
    }
}

/* sum_i w_i m(x_i), whose gradient in the coefficients is what the adjoint adds. */
static double weighted_sum(const hf_mean *mean, const double *x, const double *w)
{
    double m[N], sum = 0.0;
    hf_mean_evaluate(mean, N, x, LDX, m);
    for (size_t i = 0; i < N; i++) sum += w[i] * m[i];
    return sum;
}

static void adjoint_agrees_with_differences(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX];
    const double w[N] = {0.3, -1.0, 2.0, 0.0, 0.7, -0.2, 1.1};
    make_rows(x);
    for (size_t k = 0; k < 4; k++) {
        double b[D + 1] = {0.5, 1.0, -1.0, 2.0}, grad[D + 1] = {10.0, 20.0, 30.0, 40.0};
        hf_mean *mean = NULL;
        assert_int_equal(hf_mean_create(ctx, KINDS[k], D, &mean), HF_OK);
        hfi_mean_adjoint(mean, N, x, LDX, w, grad);
        for (size_t j = 0; j < D + 1; j++) {
            double slope = 0.0;
            if (j < COUNTS[k]) { /* m is linear in b, so a step of 1 differentiates exactly */
                double kept = b[j];
                b[j] = kept + 1.0;
                assert_int_equal(hf_mean_set(ctx, mean, b, false), HF_OK);
                slope = weighted_sum(mean, x, w);
                b[j] = kept;
                assert_int_equal(hf_mean_set(ctx, mean, b, false), HF_OK);
                slope -= weighted_sum(mean, x, w);
            }
            assert_near(grad[j], 10.0 * (double)(j + 1) + slope, 1e-13);
        }
        hf_mean_free(mean);
    }
}

static void input_gradient_agrees_with_differences(void **state)
{
    hf_context *ctx = *state;
    const double b[D + 1] = {0.5, 1.25, -1.0, 2.0};
    for (size_t k = 0; k < 4; k++) {
        hf_mean *mean = NULL;
        double x[D] = {0.3, -0.4, 0.9}, grad[D] = {1.0, 2.0, 3.0}, before, after;
        assert_int_equal(hf_mean_create(ctx, KINDS[k], D, &mean), HF_OK);
        assert_int_equal(hf_mean_set(ctx, mean, b, false), HF_OK);
        hfi_mean_input_gradient(mean, grad);
        for (size_t j = 0; j < D; j++) {
            hf_mean_evaluate(mean, 1, x, D, &before);
            x[j] += 1.0;
            hf_mean_evaluate(mean, 1, x, D, &after);
            x[j] -= 1.0;
            assert_near(grad[j], (double)(j + 1) + after - before, 1e-14);
        }
        hf_mean_free(mean);
    }
}

static void start_values_come_from_the_present_readings(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX];
    const double y[N] = {1.0, 2.0, 100.0, 4.0, NAN, 6.0, -50.0};
    const bool present[N] = {true, true, false, true, true, true, false};
    const double expected[] = {0.0, 13.0 / 4.0, 3.0, 13.0 / 4.0};
    const double expected_all[] = {0.0, 63.0 / 6.0, 3.0, 63.0 / 6.0};
    make_rows(x);
    for (size_t k = 0; k < 4; k++) {
        hf_mean *mean = NULL;
        const double b[D + 1] = {9.0, 9.0, 9.0, 9.0};
        assert_int_equal(hf_mean_create(ctx, KINDS[k], D, &mean), HF_OK);
        assert_int_equal(hf_mean_set(ctx, mean, b, false), HF_OK);
        assert_int_equal(hfi_mean_start(ctx, mean, N, x, LDX, y, present), HF_OK);
        for (size_t j = 0; j < COUNTS[k]; j++)
            assert_near(hf_mean_values(mean)[j], j == 0 ? expected[k] : 0.0, 1e-14);
        assert_int_equal(hfi_mean_start(ctx, mean, N, x, LDX, y, NULL), HF_OK);
        if (COUNTS[k] > 0) assert_near(hf_mean_values(mean)[0], expected_all[k], 1e-13);
        hf_mean_free(mean);
    }
}

static void held_coefficients_are_left_alone(void **state)
{
    hf_context *ctx = *state;
    const double y[2] = {1.0, 2.0}, x[2 * D] = {0.0}, b[D + 1] = {9.0, 8.0, 7.0, 6.0};
    for (size_t k = 0; k < 4; k++) {
        hf_mean *mean = NULL, *copy = NULL;
        assert_int_equal(hf_mean_create(ctx, KINDS[k], D, &mean), HF_OK);
        assert_int_equal(hf_mean_set(ctx, mean, b, true), HF_OK);
        assert_int_equal(hfi_mean_start(ctx, mean, 2, x, D, y, NULL), HF_OK);
        assert_int_equal(hf_mean_copy(ctx, mean, &copy), HF_OK);
        assert_true(hf_mean_held(copy));
        assert_int_equal(hf_mean_get_kind(copy), KINDS[k]);
        for (size_t j = 0; j < COUNTS[k]; j++) {
            assert_true(hf_mean_values(mean)[j] == b[j]);
            assert_true(hf_mean_values(copy)[j] == b[j]);
        }
        hf_mean_free(copy);
        hf_mean_free(mean);
    }
}

static void starts_of_huge_readings_do_not_overflow(void **state)
{
    hf_context *ctx = *state;
    const double y[3] = {1.5e308, 1.6e308, 1.7e308}, tiny[2] = {4e-320, 8e-320}, x[3] = {0.0};
    hf_mean *mean = NULL;
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_CONSTANT, 1, &mean), HF_OK);
    assert_int_equal(hfi_mean_start(ctx, mean, 3, x, 1, y, NULL), HF_OK);
    assert_near(hf_mean_values(mean)[0], 1.6e308, 1e293);
    assert_int_equal(hfi_mean_start(ctx, mean, 2, x, 1, tiny, NULL), HF_OK);
    assert_near(hf_mean_values(mean)[0], 6e-320, 1e-322);
    hf_mean_free(mean);
}

static void errors_say_what_is_wrong(void **state)
{
    hf_context *ctx = *state;
    hf_mean *mean = NULL;
    const double x[2] = {0.0, 0.0}, none[2] = {NAN, NAN}, bad[2] = {1.0, INFINITY};
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_LINEAR, 0, &mean), HF_ERR_ARGUMENT);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_LINEAR, SIZE_MAX, &mean), HF_ERR_ARGUMENT);
    assert_int_equal(hf_mean_create(ctx, (hf_mean_kind)77, 1, &mean), HF_ERR_ARGUMENT);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_LINEAR, SIZE_MAX / 4, &mean), HF_ERR_MEMORY);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_LINEAR, 1, NULL), HF_ERR_ARGUMENT);
    assert_null(mean);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_LINEAR, 1, &mean), HF_OK);
    assert_int_equal(hf_mean_set(ctx, mean, bad, true), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "coefficient 1"));
    assert_true(hf_mean_values(mean)[0] == 0.0 && !hf_mean_held(mean)); /* untouched */
    assert_int_equal(hf_mean_set(ctx, mean, NULL, true), HF_ERR_ARGUMENT);
    assert_int_equal(hf_mean_set(ctx, NULL, bad, true), HF_ERR_ARGUMENT);
    assert_int_equal(hf_mean_copy(ctx, NULL, &mean), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_mean_start(ctx, mean, 2, x, 1, none, NULL), HF_ERR_NO_DATA);
    assert_int_equal(hfi_mean_start(ctx, mean, 0, x, 1, none, NULL), HF_ERR_NO_DATA);
    hf_mean_free(mean);
    hf_mean_free(NULL);
    assert_int_equal(hf_mean_coefficients(NULL), 0);
    assert_null(hf_mean_values(NULL));
}

static hf_status every_allocation(hf_context *ctx)
{
    const double x[2] = {0.0, 1.0}, y[2] = {3.0, 4.0};
    hf_mean *mean = NULL, *copy = NULL;
    hf_status status = hf_mean_create(ctx, HF_MEAN_LINEAR, 1, &mean);
    if (status >= 0) status = hfi_mean_start(ctx, mean, 2, x, 1, y, NULL);
    if (status >= 0) status = hf_mean_copy(ctx, mean, &copy);
    hf_mean_free(copy);
    hf_mean_free(mean);
    return status;
}

static void survives_every_failing_allocation(void **state)
{
    (void)state;
    failing_sweep(every_allocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_there_and_back),
        cmocka_unit_test(an_unknown_name_lists_the_valid_ones),
        cmocka_unit_test(a_new_mean_is_zero_everywhere),
        cmocka_unit_test(values_follow_the_formula),
        cmocka_unit_test(adjoint_agrees_with_differences),
        cmocka_unit_test(input_gradient_agrees_with_differences),
        cmocka_unit_test(start_values_come_from_the_present_readings),
        cmocka_unit_test(held_coefficients_are_left_alone),
        cmocka_unit_test(starts_of_huge_readings_do_not_overflow),
        cmocka_unit_test(errors_say_what_is_wrong),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
