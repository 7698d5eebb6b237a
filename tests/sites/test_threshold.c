/* SPDX-License-Identifier: Apache-2.0 */
#include "sites/sites.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "mean/failing_allocator.h"

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

static double threshold(hf_context *ctx, hf_threshold_rule rule, size_t n, const double *y,
                        const double *centre, double eps)
{
    double c = NAN;
    assert_int_equal(hf_robust_threshold(ctx, rule, n, y, centre, eps, &c), HF_OK);
    return c;
}

static void quantile_interpolates_order_statistics(void **state)
{
    hf_context *ctx = *state;
    /* |r| = 1, 2, 3, 4, 10 in some order; a missing reading in between. */
    const double centre[] = {1.0, 1.0, NAN, 1.0, 1.0, 1.0}, y[] = {-1.0, 5.0, NAN, 2.0, -9.0, 4.0};
    assert_near(threshold(ctx, HF_THRESHOLD_QUANTILE, 6, y, centre, 0.5), 3.0, 1e-14);
    assert_near(threshold(ctx, HF_THRESHOLD_QUANTILE, 6, y, centre, 0.1), 4.0 + 0.6 * 6.0, 1e-13);
    assert_near(threshold(ctx, HF_THRESHOLD_QUANTILE, 6, y, centre, 0.75), 2.0, 1e-14);
}

static void mad_is_about_the_median_residual(void **state)
{
    hf_context *ctx = *state;
    /* r = 0, 1, 2, 4, 100: median 2, absolute deviations 2, 1, 0, 2, 98. */
    const double centre[5] = {0.0}, y[5] = {4.0, 0.0, 100.0, 1.0, 2.0};
    assert_near(threshold(ctx, HF_THRESHOLD_MAD, 5, y, centre, NAN), 3.0 * 1.482602218505602 * 2.0, 1e-13);
}

static void a_given_threshold_is_kept(void **state)
{
    hf_context *ctx = *state;
    double c = 0.125;
    assert_int_equal(hf_robust_threshold(ctx, HF_THRESHOLD_GIVEN, 0, NULL, NULL, NAN, &c), HF_OK);
    assert_true(c == 0.125);
    c = -1.0;
    assert_int_equal(hf_robust_threshold(ctx, HF_THRESHOLD_GIVEN, 0, NULL, NULL, NAN, &c), HF_ERR_ARGUMENT);
    assert_true(c == -1.0);
}

static void it_is_never_zero_or_infinite(void **state)
{
    hf_context *ctx = *state;
    const double zeros[4] = {0.0}, one_off[4] = {0.0, 0.0, 0.0, 8.0};
    const double wide[3] = {DBL_MAX, -DBL_MAX, DBL_MAX}, against[3] = {-DBL_MAX, DBL_MAX, -DBL_MAX};
    const double subnormal[2] = {5e-324, -5e-324};
    for (int rule = HF_THRESHOLD_QUANTILE; rule <= HF_THRESHOLD_MAD; rule++) {
        hf_threshold_rule r = (hf_threshold_rule)rule;
        assert_true(threshold(ctx, r, 4, zeros, zeros, 0.1) == 1.0);
        double c = threshold(ctx, r, 4, one_off, zeros, 0.6);
        assert_true(c > 0.0 && c < 1e-3 * 8.0);
        c = threshold(ctx, r, 3, wide, against, 0.1);
        assert_true(c > 0.0 && isfinite(c));
        c = threshold(ctx, r, 2, subnormal, zeros, 0.1);
        assert_true(c >= DBL_MIN && isfinite(c));
        assert_true(threshold(ctx, r, 1, one_off + 3, zeros, 0.1) > 0.0);
    }
}

/* Exact data have no residuals to speak of; c then hangs on the readings' spread, not on a wild one. */
static void one_wild_reading_does_not_move_it(void **state)
{
    hf_context *ctx = *state;
    double y[9], centre[9];
    for (size_t i = 0; i < 9; i++) y[i] = centre[i] = (double)i;
    double exact = threshold(ctx, HF_THRESHOLD_MAD, 9, y, centre, 0.1);
    assert_near(exact, 1e-6 * 1.482602218505602 * 2.0, 1e-18);
    for (double wild = 1e3; wild < 1e300; wild *= 1e30) {
        y[8] = wild;
        assert_true(threshold(ctx, HF_THRESHOLD_MAD, 9, y, centre, 0.1) == exact);
        assert_true(threshold(ctx, HF_THRESHOLD_QUANTILE, 9, y, centre, 0.2) == exact);
    }
}

static void shift_does_nothing_and_scale_scales(void **state)
{
    hf_context *ctx = *state;
    hfi_stream stream;
    hfi_stream_init(&stream, 2, HFI_PURPOSE_TEST, 0);
    double y[31], centre[31], y2[31], centre2[31];
    for (size_t i = 0; i < 31; i++) {
        y[i] = hfi_stream_normal(&stream);
        centre[i] = 0.1 * hfi_stream_normal(&stream);
        y2[i] = -8.0 * y[i] + 64.0;
        centre2[i] = -8.0 * centre[i] + 64.0;
    }
    for (int rule = HF_THRESHOLD_QUANTILE; rule <= HF_THRESHOLD_MAD; rule++) {
        hf_threshold_rule r = (hf_threshold_rule)rule;
        double c = threshold(ctx, r, 31, y, centre, 0.1);
        assert_near(threshold(ctx, r, 31, y2, centre2, 0.1), 8.0 * c, 1e-12);
    }
}

static void errors_say_what_is_wrong(void **state)
{
    hf_context *ctx = *state;
    const double y[2] = {1.0, 2.0}, bad[2] = {1.0, NAN}, inf[2] = {INFINITY, 0.0};
    double c = 7.0;
    const double shares[] = {1.0, -0.1, 1.5, NAN};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(hf_robust_threshold(ctx, HF_THRESHOLD_QUANTILE, 2, y, y, shares[i], &c),
                         HF_ERR_ARGUMENT);
    assert_int_equal(hf_robust_threshold(ctx, HF_THRESHOLD_MAD, 2, y, bad, 0.1, &c), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_robust_threshold(ctx, HF_THRESHOLD_MAD, 2, inf, y, 0.1, &c), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_robust_threshold(ctx, HF_THRESHOLD_MAD, 1, bad + 1, y, 0.1, &c), HF_ERR_NO_DATA);
    assert_int_equal(hf_robust_threshold(ctx, HF_THRESHOLD_MAD, 0, NULL, NULL, 0.1, &c), HF_ERR_NO_DATA);
    assert_int_equal(hf_robust_threshold(ctx, HF_THRESHOLD_MAD, 2, NULL, y, 0.1, &c), HF_ERR_ARGUMENT);
    assert_int_equal(hf_robust_threshold(ctx, HF_THRESHOLD_MAD, 2, y, NULL, 0.1, &c), HF_ERR_ARGUMENT);
    assert_int_equal(hf_robust_threshold(ctx, HF_THRESHOLD_MAD, 2, y, y, 0.1, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_robust_threshold(ctx, (hf_threshold_rule)8, 2, y, y, 0.1, &c), HF_ERR_ARGUMENT);
    assert_true(c == 7.0);
}

static hf_status every_allocation(hf_context *ctx)
{
    const double y[3] = {1.0, 2.0, 4.0}, centre[3] = {0.0};
    double c = 7.0;
    hf_status status = hf_robust_threshold(ctx, HF_THRESHOLD_MAD, 3, y, centre, 0.1, &c);
    assert_true(status >= 0 || c == 7.0);
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
        cmocka_unit_test(quantile_interpolates_order_statistics),
        cmocka_unit_test(mad_is_about_the_median_residual),
        cmocka_unit_test(a_given_threshold_is_kept),
        cmocka_unit_test(it_is_never_zero_or_infinite),
        cmocka_unit_test(one_wild_reading_does_not_move_it),
        cmocka_unit_test(shift_does_nothing_and_scale_scales),
        cmocka_unit_test(errors_say_what_is_wrong),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
