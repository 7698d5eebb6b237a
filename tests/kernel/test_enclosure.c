/* SPDX-License-Identifier: Apache-2.0 */
/* Enclosures of covariances against the double code and against themselves; tests/oracle/test_enclosure.py
 * compares with 50 digits. */
#include "kernel/kernel_testing.h"

#include "kernel/enclosure.h"
#include "kernel/expression.h"

#include <float.h>

#define POINTS 12u

static hfi_interval enclose(const hf_kernel *kernel, const double *x, const double *z, bool same)
{
    hfi_interval value = {1.0L, -1.0L};
    assert_true(hfi_kernel_enclose(kernel, x, z, same, &value.lower, &value.upper));
    assert_true(value.lower <= value.upper);
    return value;
}

/* The double code is within its own rounding of the interval; the scale is that of the largest term, as sums
 * and cosines cancel. */
static void check_pair(const char *expression, const hf_kernel *kernel, const double *x, const double *z,
                       bool same)
{
    const hfi_interval value = enclose(kernel, x, z, same);
    const double ours = hfi_kernel_value(kernel, x, z, same);
    double scale = fmax(hfi_kernel_value(kernel, x, x, same), hfi_kernel_value(kernel, z, z, same));
    if (strstr(expression, "swell")) scale = fmax(scale, 1.0); /* rounded like 1 where it is 0 */
    const double tolerance = 1e-14 * scale + 1e-300;
    assert_close(expression, 0, ours, (double)value.lower, tolerance);
    assert_close(expression, 1, ours, (double)value.upper, tolerance);
    if (LDBL_MANT_DIG >= 64) assert_true(value.upper - value.lower <= 1e-17L * (long double)scale);
    const hfi_interval swapped = enclose(kernel, z, x, same);
    assert_true(swapped.lower <= value.upper && value.lower <= swapped.upper);
}

static void every_kernel_is_where_the_double_code_is(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        double *x = make_points(POINTS, INPUTS, e);
        shake(kernel, e);
        for (size_t i = 0; i < POINTS; i++)
            for (size_t j = 0; j < POINTS; j++)
                check_pair(EXPRESSIONS[e], kernel, x + i * INPUTS, x + j * INPUTS, i == j);
        free(x);
        hf_kernel_free(kernel);
    }
}

/* Distance 0 is exact: k(x, x) is the outputscale and nothing else. */
static void equal_rows_are_exact(void **state)
{
    static const char *const STATIONARY[] = {"se",          "se(ard)",       "matern12", "matern32(ard)",
                                             "matern52",    "rq(ard)",       "periodic", "se*periodic",
                                             "se*matern12", "rq(x1)*se(x2)", "constant"};
    const double x[] = {0.1, -3e7, 1e-9};
    for (size_t e = 0; e < sizeof STATIONARY / sizeof *STATIONARY; e++) {
        hf_kernel *kernel = parse(*state, STATIONARY[e], INPUTS);
        shake(kernel, e);
        hf_parameter scale;
        assert_int_equal(hf_kernel_parameter(kernel, 0, &scale), HF_OK);
        const hfi_interval value = enclose(kernel, x, x, true);
        assert_true(hfi_interval_is(value, scale.value));
        hf_kernel_free(kernel);
    }
    hf_kernel *kernel = parse(*state, "se + white", INPUTS);
    assert_true(enclose(kernel, x, x, false).upper == 1.0L);
    assert_true(enclose(kernel, x, x, true).lower > 2.0L - 1e-15L);
    hf_kernel_free(kernel);
}

/* A kernel of 0 <= k <= its scale falls with distance: enclosures of ever farther points never rise by more
 * than they are wide. */
static void radial_kernels_fall_with_distance(void **state)
{
    static const char *const RADIAL[] = {"se", "matern12", "matern32", "matern52", "rq"};
    for (size_t e = 0; e < 5; e++) {
        hf_kernel *kernel = parse(*state, RADIAL[e], 1);
        long double before = 1.0L;
        for (int k = 0; k < 400; k++) {
            const double x = 0.0, t = 1e-12 * pow(3.7, k);
            const hfi_interval value = enclose(kernel, &x, &t, false);
            assert_true(value.lower >= 0.0L && value.upper <= 1.0L && value.lower <= before);
            before = value.upper;
        }
        hf_kernel_free(kernel);
    }
}

static void extremes_are_sound(void **state)
{
    const double far[] = {-DBL_MAX, DBL_MAX, 0.0}, near[] = {DBL_MAX, -DBL_MAX, DBL_TRUE_MIN};
    static const char *const BOUNDED[] = {"se(ard)", "matern12", "matern32(ard)", "matern52", "rq", "sm"};
    for (size_t e = 0; e < 6; e++) {
        hf_kernel *kernel = parse(*state, BOUNDED[e], INPUTS);
        const hfi_interval value = enclose(kernel, far, near, false);
        /* rq with alpha = 1 falls by the square of the distance only: 1e-616 is a long double. */
        assert_true(value.lower > -1e-300L && value.upper < 1e-300L && value.upper > 0.0L);
        hf_kernel_free(kernel);
    }
    hf_kernel *kernel = parse(*state, "periodic", INPUTS);
    const hfi_interval wave = enclose(kernel, far, near, false);
    assert_true(wave.lower <= expl(-3.9L) && wave.upper == 1.0L);
    hf_kernel_free(kernel);
    kernel = parse(*state, "linear", INPUTS);
    const hfi_interval product = enclose(kernel, far, near, false);
    assert_true(product.upper < -(long double)DBL_MAX);
    hf_kernel_free(kernel);
}

static void what_is_not_finite_is_refused(void **state)
{
    hf_kernel *kernel = parse(*state, "se", 1);
    const double bad[] = {NAN, INFINITY, -INFINITY}, x = 0.0;
    long double lower = 7.0L, upper = 8.0L;
    for (size_t i = 0; i < 3; i++) {
        assert_false(hfi_kernel_enclose(kernel, &x, &bad[i], false, &lower, &upper));
        assert_false(hfi_kernel_enclose(kernel, &bad[i], &x, false, &lower, &upper));
    }
    assert_true(lower == 7.0L && upper == 8.0L);
    hf_kernel_free(kernel);
}

int main(void)
{
    if (!hfi_interval_usable()) return 77; /* under valgrind */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_is_where_the_double_code_is),
        cmocka_unit_test(equal_rows_are_exact),
        cmocka_unit_test(radial_kernels_fall_with_distance),
        cmocka_unit_test(extremes_are_sound),
        cmocka_unit_test(what_is_not_finite_is_refused),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
