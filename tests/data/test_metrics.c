/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics against values worked out by hand, definitions and numerical integration. */
#include "data/support.h"

#include "core/core.h"

#include <holdfast/metrics.h>

#include <math.h>

static int make_context(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int free_context(void **state)
{
    hf_context_free(*state);
    return 0;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

static hf_metrics score(hf_context *ctx, size_t n, const double *y, const double *mean, const double *sd)
{
    hf_metrics m = {0};
    if (hf_metrics_gaussian(ctx, n, y, mean, sd, &m) != HF_OK) fail_msg("%s", hf_context_message(ctx));
    return m;
}

static double cdf(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

static void half_widths_hold_what_they_say(void **state)
{
    (void)state;
    assert_near(cdf(HF_HALF_WIDTH_50) - cdf(-HF_HALF_WIDTH_50), 0.5, 4e-16);
    assert_near(cdf(HF_HALF_WIDTH_90) - cdf(-HF_HALF_WIDTH_90), 0.9, 4e-16);
    assert_near(cdf(HF_HALF_WIDTH_95) - cdf(-HF_HALF_WIDTH_95), 0.95, 4e-16);
}

static void worked_by_hand(void **state)
{
    static const double y[] = {1, 2, 3, -1}, mean[] = {0, 2, 5, -4}, sd[] = {1, 2, 1, 3};
    /* errors 1, 0, -2, 3; z = 1, 0, 2, 1 */
    hf_metrics m = score(*state, 4, y, mean, sd);
    assert_int_equal(m.n, 4);
    assert_near(m.mae, 1.5, 1e-15);
    assert_near(m.rmse, sqrt(14.0 / 4), 1e-15);
    assert_near(m.nlpd, 0.5 * log(2 * HFI_PI) + (log(2) + log(3)) / 4 + (0.5 + 0 + 2 + 0.5) / 4, 1e-15);
    assert_near(m.coverage50, 0.25, 0);
    assert_near(m.coverage90, 0.75, 0);
    assert_near(m.coverage95, 0.75, 0);
}

static void interval_ends_are_inside(void **state)
{
    static const double width[] = {HF_HALF_WIDTH_50, HF_HALF_WIDTH_90, HF_HALF_WIDTH_95};
    for (int k = 0; k < 3; k++) {
        for (int side = -1; side <= 1; side += 2) {
            double mean = 0, sd = 1, inside = side * width[k], outside = nextafter(inside, 2 * inside);
            hf_metrics at = score(*state, 1, &inside, &mean, &sd),
                       beyond = score(*state, 1, &outside, &mean, &sd);
            double covered[] = {at.coverage50, at.coverage90, at.coverage95};
            double missed[] = {beyond.coverage50, beyond.coverage90, beyond.coverage95};
            assert_true(covered[k] == 1 && missed[k] == 0);
        }
    }
}

/* The definition of the CRPS: the integral of (F(t) - [t >= y])^2, by the trapezium rule on either side of y.
 */
static double crps_by_integration(double y, double mean, double sd)
{
    enum {
        STEPS = 40000
    };
    double below = fmin(mean - 12 * sd, y - sd), above = fmax(mean + 12 * sd, y + sd), sum = 0;
    for (int side = 0; side < 2; side++) {
        double from = side == 0 ? below : y, to = side == 0 ? y : above, step = (to - from) / STEPS;
        for (int k = 0; k <= STEPS; k++) {
            double f = cdf((from + k * step - mean) / sd) - side;
            sum += f * f * step * (k == 0 || k == STEPS ? 0.5 : 1);
        }
    }
    return sum;
}

static void crps_is_its_integral(void **state)
{
    static const double y[] = {0, 1, -3, 10, 2.5}, mean[] = {0, 0.5, 1, -10, 2}, sd[] = {1, 0.1, 2, 3, 7};
    double total = 0;
    for (size_t i = 0; i < 5; i++) {
        hf_metrics m = score(*state, 1, &y[i], &mean[i], &sd[i]);
        double expected = crps_by_integration(y[i], mean[i], sd[i]);
        assert_near(m.crps, expected, 1e-6);
        total += expected;
    }
    assert_near(score(*state, 5, y, mean, sd).crps, total / 5, 1e-6);
    /* exactly predicted: sd (sqrt 2 - 1) / sqrt pi */
    assert_near(score(*state, 1, y, mean, sd).crps, (sqrt(2) - 1) / sqrt(HFI_PI), 1e-15);
}

/* Readings drawn from the predictions: coverage, and NLPD at the entropy, within five standard errors. */
static void right_predictions_are_calibrated(void **state)
{
    enum {
        N = 20000
    };
    static double y[N], mean[N], sd[N];
    hfi_stream stream;
    hfi_stream_init(&stream, 8, HFI_PURPOSE_TEST, 0);
    double log_sd = 0;
    for (size_t i = 0; i < N; i++) {
        mean[i] = 10 * hfi_stream_normal(&stream);
        sd[i] = exp(hfi_stream_normal(&stream));
        y[i] = mean[i] + sd[i] * hfi_stream_normal(&stream);
        log_sd += log(sd[i]) / N;
    }
    hf_metrics m = score(*state, N, y, mean, sd);
    assert_near(m.coverage50, 0.5, 5 * sqrt(0.25 / N));
    assert_near(m.coverage90, 0.9, 5 * sqrt(0.09 / N));
    assert_near(m.coverage95, 0.95, 5 * sqrt(0.0475 / N));
    assert_near(m.nlpd, HFI_HALF_LOG_2PI + log_sd + 0.5, 5 * sqrt(0.5 / N));
}

static void units_only_rescale(void **state)
{
    static const double y[] = {1, 2.5, -3}, mean[] = {0.5, 2, -1}, sd[] = {1, 0.5, 2};
    double y2[3], mean2[3], sd2[3], c = 1e3;
    for (size_t i = 0; i < 3; i++) {
        y2[i] = c * y[i] + 7e3;
        mean2[i] = c * mean[i] + 7e3;
        sd2[i] = c * sd[i];
    }
    hf_metrics a = score(*state, 3, y, mean, sd), b = score(*state, 3, y2, mean2, sd2);
    assert_near(b.mae, c * a.mae, 1e-13);
    assert_near(b.rmse, c * a.rmse, 1e-13);
    assert_near(b.crps, c * a.crps, 1e-13);
    assert_near(b.nlpd, a.nlpd + log(c), 1e-13);
    assert_true(a.coverage50 == b.coverage50 && a.coverage95 == b.coverage95);
}

static void huge_and_tiny_numbers(void **state)
{
    static const double y[] = {3e300, 0, 1}, mean[] = {0, 4e300, 1}, wide[] = {1e300, 1e300, 1e300};
    static const double narrow[] = {1e-10, 1e-10, 1e-10};
    hf_metrics m = score(*state, 3, y, mean, wide);
    assert_near(m.mae / 1e300, 7.0 / 3, 1e-14);
    assert_near(m.rmse / 1e300, 5 / sqrt(3), 1e-14);
    assert_near(m.nlpd, HFI_HALF_LOG_2PI + 300 * log(10) + (9.0 + 16) / 6, 1e-14);
    assert_true(isfinite(m.crps));
    m = score(*state, 3, y, mean, narrow);
    assert_true(m.nlpd == INFINITY);
    assert_near(m.rmse / 1e300, 5 / sqrt(3), 1e-14);
    assert_near(m.crps / 1e300, 7.0 / 3, 1e-14);
    double perfect = 2, tiny = 1e-320;
    m = score(*state, 1, &perfect, &perfect, &tiny);
    assert_true(m.mae == 0 && m.rmse == 0 && m.coverage50 == 1);
    assert_near(m.nlpd, HFI_HALF_LOG_2PI + log(tiny), 1e-14);
}

static void missing_rows_are_left_out(void **state)
{
    static const double y[] = {1, NAN, 3, 4}, mean[] = {0, 0, NAN, 2}, sd[] = {1, 1, 1, 1};
    hf_metrics m = {0};
    assert_int_equal(hf_metrics_gaussian(*state, 4, y, mean, sd, &m), HF_WARN_ROWS_SKIPPED);
    assert_contains(hf_context_message(*state), "2 of 4 rows have no target or no prediction");
    assert_int_equal(m.n, 2);
    assert_near(m.mae, 1.5, 1e-15);
}

static void errors_leave_the_result_alone(void **state)
{
    static const struct {
        double y, mean, sd;
        hf_status status;
        const char *message;
    } cases[] = {
        {1, 0, 0, HF_ERR_ARGUMENT, "the standard deviation of row 2 is 0; it must be positive and finite"},
        {1, 0, -1, HF_ERR_ARGUMENT, "the standard deviation of row 2 is -1"},
        {1, 0, INFINITY, HF_ERR_ARGUMENT, "the standard deviation of row 2 is inf"},
        {INFINITY, 0, 1, HF_ERR_NOT_FINITE, "row 2 has target inf and prediction 0"},
        {0, -INFINITY, 1, HF_ERR_NOT_FINITE, "row 2 has target 0 and prediction -inf"},
        {1.7e308, -1.7e308, 1, HF_ERR_NOT_FINITE, "their difference is not finite"},
    };
    hf_metrics m = {.n = 77};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double y[] = {1, cases[k].y}, mean[] = {1, cases[k].mean}, sd[] = {1, cases[k].sd};
        assert_int_equal(hf_metrics_gaussian(*state, 2, y, mean, sd, &m), cases[k].status);
        assert_contains(hf_context_message(*state), cases[k].message);
        assert_int_equal(m.n, 77);
    }
    double nothing = NAN, one = 1;
    assert_int_equal(hf_metrics_gaussian(*state, 0, NULL, NULL, NULL, &m), HF_ERR_NO_DATA);
    assert_int_equal(hf_metrics_gaussian(*state, 1, &nothing, &one, &one, &m), HF_ERR_NO_DATA);
    assert_int_equal(hf_metrics_gaussian(*state, 1, NULL, &one, &one, &m), HF_ERR_ARGUMENT);
    assert_int_equal(hf_metrics_gaussian(*state, 1, &one, &one, &one, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(m.n, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_widths_hold_what_they_say),
        cmocka_unit_test(worked_by_hand),
        cmocka_unit_test(interval_ends_are_inside),
        cmocka_unit_test(crps_is_its_integral),
        cmocka_unit_test(right_predictions_are_calibrated),
        cmocka_unit_test(units_only_rescale),
        cmocka_unit_test(huge_and_tiny_numbers),
        cmocka_unit_test(missing_rows_are_left_out),
        cmocka_unit_test(errors_leave_the_result_alone),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
