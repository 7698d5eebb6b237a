/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/assert_near.h"

static void quantiles_of_a_known_sample(void **state)
{
    (void)state;
    /* Type 7 by hand: position (n - 1) p between the order statistics. */
    double values[] = {7.0, 1.0, 3.0, 10.0, 2.0};
    assert_true(hfi_quantile(values, 5, 0.0) == 1.0);
    assert_true(hfi_quantile(values, 5, 1.0) == 10.0);
    assert_true(hfi_quantile(values, 5, 0.25) == 2.0);
    assert_true(hfi_quantile(values, 5, 0.5) == 3.0);
    assert_near(hfi_quantile(values, 5, 0.9), 7.0 + 0.6 * 3.0, 1e-14);
    for (int i = 0; i < 4; i++) assert_true(values[i] <= values[i + 1]);
}

static void median_even_odd_and_single(void **state)
{
    (void)state;
    double even[] = {4.0, 1.0, 3.0, 2.0}, odd[] = {5.0, -1.0, 2.0}, one[] = {-3.5};
    assert_true(hfi_median(even, 4) == 2.5);
    assert_true(hfi_median(odd, 3) == 2.0);
    assert_true(hfi_median(one, 1) == -3.5);
    assert_true(hfi_quantile(one, 1, 0.123) == -3.5);
}

static void quantiles_are_monotone_and_keep_ties_exact(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 0);
    double values[101], ties[7] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    for (size_t i = 0; i < 101; i++) values[i] = hfi_stream_normal(&stream);
    double last = -INFINITY;
    for (int p = 0; p <= 1000; p++) {
        double q = hfi_quantile(values, 101, p / 1000.0);
        assert_true(q >= last);
        last = q;
        assert_true(hfi_quantile(ties, 7, p / 1000.0) == 0.1);
    }
}

static void extreme_values_do_not_overflow(void **state)
{
    (void)state;
    double wide[] = {DBL_MAX, -DBL_MAX};
    assert_true(hfi_median(wide, 2) == 0.0);
    double high[] = {1.0, INFINITY, 2.0};
    assert_true(hfi_median(high, 3) == 2.0);
    assert_true(isinf(hfi_quantile(high, 3, 0.75)));
}

static void nan_and_nothing_give_nan(void **state)
{
    (void)state;
    double values[] = {1.0, NAN, 2.0};
    assert_true(isnan(hfi_quantile(values, 3, 0.0)));
    assert_true(values[0] == 1.0 && values[1] == 2.0 && isnan(values[2]));
    assert_true(isnan(hfi_median(values, 0)));
    assert_true(isnan(hfi_quantile(values, 2, NAN)));
}

static void mad_resists_an_outlier_and_leaves_its_input(void **state)
{
    (void)state;
    const double values[] = {1.0, 2.0, 3.0, 4.0, 1e300};
    double scratch[5];
    /* median 3, deviations 2 1 0 1 huge: their median is 1 */
    assert_near(hfi_mad(values, 5, scratch), 1.4826, 1e-5);
    assert_true(values[0] == 1.0 && values[4] == 1e300);
}

static void mad_estimates_the_standard_deviation(void **state)
{
    (void)state;
    enum {
        COUNT = 20000
    };
    double *values = malloc(2 * COUNT * sizeof *values);
    assert_non_null(values);
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < COUNT; i++) values[i] = 5.0 + 3.0 * hfi_stream_normal(&stream);
    /* sd of the estimate is about 1.17 sigma / sqrt(n) = 0.025 */
    assert_near(hfi_mad(values, COUNT, values + COUNT), 3.0, 0.1);
    free(values);
}

static void sorted_sums_do_not_see_the_order(void **state)
{
    (void)state;
    double up[] = {1e16, 1.0, -1e16, 0.3, 7.7}, down[] = {7.7, 0.3, -1e16, 1.0, 1e16};
    const double sum = hfi_sum_sorted(up, 5);
    assert_true(sum == hfi_sum_sorted(down, 5));
    assert_true(up[0] == -1e16 && up[4] == 1e16);
    assert_near(hfi_sum_sorted(up + 1, 3), 9.0, 1e-15);
    assert_true(hfi_sum_sorted(NULL, 0) == 0.0);
}

/* Far from 0, where sums of squares would cancel. */
static void tallies_are_those_of_the_definition(void **state)
{
    (void)state;
    const double far = 1e9, value[] = {far + 1.0, far + 4.0, far - 2.0, far + 9.0};
    hfi_tally m = {.count = 0.0};
    assert_true(isnan(hfi_tally_error(&m)));
    for (size_t i = 0; i < 4; i++) hfi_tally_add(&m, value[i]);
    assert_near(m.count, 4.0, 0.0);
    assert_near(m.mean - far, 3.0, 1e-6);
    assert_near(m.squares, 66.0, 1e-5); /* 4 + 1 + 25 + 36 */
    assert_near(hfi_tally_error(&m), sqrt(66.0 / 3.0 / 4.0), 1e-6);
    hfi_tally one = {.count = 0.0};
    hfi_tally_add(&one, 7.0);
    assert_true(one.mean == 7.0 && isnan(hfi_tally_error(&one)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_a_known_sample),
        cmocka_unit_test(median_even_odd_and_single),
        cmocka_unit_test(quantiles_are_monotone_and_keep_ties_exact),
        cmocka_unit_test(extreme_values_do_not_overflow),
        cmocka_unit_test(nan_and_nothing_give_nan),
        cmocka_unit_test(mad_resists_an_outlier_and_leaves_its_input),
        cmocka_unit_test(mad_estimates_the_standard_deviation),
        cmocka_unit_test(sorted_sums_do_not_see_the_order),
        cmocka_unit_test(tallies_are_those_of_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
