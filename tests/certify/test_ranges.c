/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges: as tight as asked, the exact value at points, fixed inputs, one output of several, decisions, one
 * end alone, many boxes and threads. */
#include "bound/box_testing.h"

static hf_range ask(const cert *c, hf_certify_what what, const hf_certify_settings *settings)
{
    hf_range range;
    if (hf_certify(c->ctx, c->posterior, what, settings, c->lower, c->upper, &range, NULL, NULL) < 0)
        fail_msg("%s", hf_context_message(c->ctx));
    return range;
}

static cert wavy(hf_context *ctx, const char *expression, double half)
{
    cert c = cert_make(ctx, expression, 60, 5, CERT_EXACT, false);
    hfi_stream stream;
    hfi_stream_init(&stream, 43, HFI_PURPOSE_TEST, 0);
    cert_place(&c, expression, half, &stream);
    return c;
}

/* Extremes over a grid of 25 x 25 x 25 points, sides and corners among them. */
static void sample(const cert *c, hf_certify_what what, double beta, double *low, double *high)
{
    const size_t side = 25;
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t k = 0; k < side * side * side; k++) {
        const size_t at[INPUTS] = {k % side, k / side % side, k / side / side};
        double x[INPUTS];
        for (size_t j = 0; j < INPUTS; j++)
            x[j] = c->lower[j] + (c->upper[j] - c->lower[j]) * (double)at[j] / (double)(side - 1);
        const double value = cert_value(c, what, beta, x, NULL);
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

static void ranges_are_as_tight_as_asked(void **state)
{
    const char *const kernels[] = {"se(ard)", "matern52(ard)", "rq + 0.3*se(x1)", "matern32(ard)",
                                   "se*periodic(x3, period~3)"};
    for (size_t e = 0; e < sizeof kernels / sizeof *kernels; e++) {
        cert c = wavy(*state, kernels[e], 0.3);
        for (int w = 0; w <= (int)HF_CERTIFY_MEAN_PLUS; w++) {
            const hf_certify_what what = (hf_certify_what)w;
            hf_certify_settings settings = hf_certify_settings_default();
            double low, high;
            settings.tolerance = 0.1;
            settings.node_limit = 200000;
            if (e >= 3 && what != HF_CERTIFY_MEAN) continue; /* rough features: their sd takes its time */
            sample(&c, what, settings.beta, &low, &high);
            const hf_range range = ask(&c, what, &settings);
            assert_int_equal(range.stop, HF_CERTIFY_TOLERANCE);
            assert_false(range.rigorous);
            assert_true(range.lower <= low && high <= range.upper);
            assert_true(range.lower_attained <= low + 0.1 && range.upper_attained >= high - 0.1);
            assert_true(range.lower >= range.lower_attained - 0.1 &&
                        range.upper <= range.upper_attained + 0.1);
            assert_true(range.rounding > 0.0 && range.rounding < 1e-2);
        }
        cert_drop(&c);
    }
}

/* A box of half-width 0.1 takes little more than what is attained, without any splitting; wider bounds would not. */
static void one_box_is_narrow(void **state)
{
    cert c = wavy(*state, "se(ard)", 0.05);
    hf_certify_settings settings = hf_certify_settings_default();
    settings.node_limit = 1;
    const hf_range third = ask(&c, HF_CERTIFY_MEAN, &settings);
    const double attained = third.upper_attained - third.lower_attained;
    assert_int_equal(third.nodes, 2);
    assert_true(third.upper - third.lower < 1.2 * attained);
    settings.bounds = HF_BOUND_DECOMPOSITION;
    const hf_range decomposed = ask(&c, HF_CERTIFY_MEAN, &settings);
    assert_true(decomposed.lower <= third.lower_attained && decomposed.upper >= third.upper_attained);
    assert_true(decomposed.upper - decomposed.lower > 3.0 * (third.upper - third.lower));
    cert_drop(&c);
}

static void points_are_exact(void **state)
{
    cert c = wavy(*state, "matern52 + linear", 0.3);
    const hf_certify_settings settings = hf_certify_settings_default();
    for (int w = 0; w <= (int)HF_CERTIFY_MEAN_PLUS; w++) {
        const hf_certify_what what = (hf_certify_what)w;
        memcpy(c.upper, c.lower, sizeof c.upper);
        const hf_range range = ask(&c, what, &settings);
        const double value = cert_value(&c, what, settings.beta, c.lower, NULL);
        assert_true(range.lower <= value && range.upper >= value && range.upper - range.lower < 1e-8);
        assert_true(range.rounding == fmax(value - range.lower, range.upper - value));
        assert_true(range.lower_attained == value && range.upper_attained == value && range.nodes == 0);
        assert_int_equal(range.stop, HF_CERTIFY_TOLERANCE);
    }
    cert_drop(&c);
}

/* A range over one moving input is inside that over three, and its extremes are where the other inputs are. */
static void fixed_inputs_do_not_move(void **state)
{
    cert c = wavy(*state, "rq(ard)*matern52(x2, x3)", 0.4);
    const hf_certify_settings settings = hf_certify_settings_default();
    const hf_range all = ask(&c, HF_CERTIFY_MEAN, &settings);
    double argmin[INPUTS], argmax[INPUTS];
    c.upper[0] = c.lower[0];
    c.lower[2] = c.upper[2];
    hf_range some;
    assert_true(hf_certify(c.ctx, c.posterior, HF_CERTIFY_MEAN, &settings, c.lower, c.upper, &some, argmin,
                           argmax) >= 0);
    assert_true(some.lower_attained >= all.lower && some.upper_attained <= all.upper);
    assert_true(argmin[0] == c.lower[0] && argmin[2] == c.lower[2] && argmax[0] == c.lower[0] &&
                argmax[2] == c.lower[2]);
    cert_drop(&c);
}

/* One category at a time; of each a range that holds what is there. */
static void one_category_of_several(void **state)
{
    static const char *const KERNELS[] = {"se(x1, x2)*category(x3)", "matern52(ard)*category(x3) + rq(x1)",
                                          "se(x1)*periodic(x2)*category(x3)"};
    for (size_t e = 0; e < sizeof KERNELS / sizeof *KERNELS; e++)
        for (int solver = 0; solver < (int)CERT_SOLVERS; solver++) {
            cert c = cert_make(*state, KERNELS[e], 40, 8 + e, (cert_solver)solver, false);
            hf_certify_settings settings = hf_certify_settings_default();
            hf_range range;
            hfi_stream stream;
            hfi_stream_init(&stream, 43, HFI_PURPOSE_TEST, e);
            settings.tolerance = 1e-2;
            settings.node_limit = 200;
            for (int bounds = 0; bounds < 2; bounds++) {
                settings.bounds = bounds ? HF_BOUND_DECOMPOSITION : HF_BOUND_ALL;
                cert_place(&c, KERNELS[e], 0.4, &stream);
                assert_true(hf_certify(c.ctx, c.posterior, HF_CERTIFY_MEAN, &settings, c.lower, c.upper,
                                       &range, NULL, NULL) >= 0);
                for (size_t k = 0; k < 50; k++) {
                    double x[INPUTS];
                    cert_random_point(&c, &stream, x);
                    const double value = cert_value(&c, HF_CERTIFY_MEAN, 0.0, x, NULL);
                    assert_true(range.lower <= value && value <= range.upper);
                }
            }
            c.upper[2] = c.lower[2] + 1.0;
            assert_int_equal(
                hf_certify(c.ctx, c.posterior, HF_CERTIFY_MEAN, NULL, c.lower, c.upper, &range, NULL, NULL),
                HF_ERR_ARGUMENT);
            assert_non_null(strstr(hf_context_message(c.ctx), "category"));
            cert_drop(&c);
        }
}

/* An output is asked for by its number; the range is that of the box with that column fixed. */
static void one_output_of_several(void **state)
{
    cert c = cert_make(*state, "coregion(x3, outputs=2)*se(x1, x2)", 50, 8, CERT_EXACT, false);
    const double lower[2] = {-0.4, 0.1}, upper[2] = {0.3, 0.6}, shifts[2] = {1.0, -4.0},
                 scales[2] = {2.0, 0.5};
    hf_range own[2], fixed;
    hf_certify_settings settings = hf_certify_settings_default();
    settings.tolerance = 1e-3;
    for (size_t t = 0; t < 2; t++) {
        memcpy(c.lower, lower, sizeof lower);
        memcpy(c.upper, upper, sizeof upper);
        c.lower[2] = c.upper[2] = (double)t;
        own[t] = ask(&c, HF_CERTIFY_MEAN, &settings);
    }
    c.upper[2] = 1.0;
    c.lower[2] = 0.0;
    assert_int_equal(
        hf_certify(c.ctx, c.posterior, HF_CERTIFY_MEAN, NULL, c.lower, c.upper, &fixed, NULL, NULL),
        HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(c.ctx), "number of an output"));
    assert_int_equal(hfi_scaling_set_outputs(c.ctx, &c.posterior->scaling, 2, shifts, scales), HF_OK);
    for (size_t t = 0; t < 2; t++) {
        settings.output = t;
        settings.tolerance = 1e-3 * scales[t];
        assert_true(hf_certify(c.ctx, c.posterior, HF_CERTIFY_MEAN, &settings, lower, upper, &fixed, NULL,
                               NULL) >= 0);
        assert_close("lower", t, fixed.lower, shifts[t] + scales[t] * own[t].lower, 1e-9);
        assert_close("upper", t, fixed.upper, shifts[t] + scales[t] * own[t].upper, 1e-9);
    }
    cert_drop(&c);
}

static void decisions_stop_early(void **state)
{
    cert c = wavy(*state, "se(ard)", 0.5);
    hf_certify_settings settings = hf_certify_settings_default();
    settings.tolerance = 1e-4;
    const hf_range full = ask(&c, HF_CERTIFY_MEAN, &settings);
    const double at[] = {full.lower - 0.5, 0.5 * (full.lower + full.upper), full.upper + 0.5};
    for (size_t k = 0; k < 3; k++) {
        settings.decide_at = at[k];
        const hf_range range = ask(&c, HF_CERTIFY_MEAN, &settings);
        assert_int_equal(range.stop, HF_CERTIFY_DECIDED);
        assert_true(range.nodes < full.nodes);
        assert_true(range.lower <= full.lower_attained && range.upper >= full.upper_attained);
        if (k == 0) assert_true(range.lower > at[k]);
        if (k == 1) assert_true(range.lower_attained < at[k] && range.upper_attained > at[k]);
        if (k == 2) assert_true(range.upper < at[k]);
    }
    cert_drop(&c);
}

static void one_end_alone(void **state)
{
    cert c = wavy(*state, "se(ard)", 0.4);
    hf_certify_settings settings = hf_certify_settings_default();
    const hf_range both = ask(&c, HF_CERTIFY_MEAN, &settings);
    settings.lower_only = true;
    const hf_range low = ask(&c, HF_CERTIFY_MEAN, &settings);
    settings.lower_only = false;
    settings.upper_only = true;
    const hf_range high = ask(&c, HF_CERTIFY_MEAN, &settings);
    assert_true(low.lower == both.lower && isinf(low.upper) && isnan(low.upper_attained));
    assert_true(high.upper == both.upper && isinf(high.lower) && isnan(high.lower_attained));
    assert_int_equal(low.nodes + high.nodes, both.nodes);
    cert_drop(&c);
}

static void limits_leave_ranges_that_hold(void **state)
{
    cert c = wavy(*state, "matern32(ard)", 1.0);
    hf_certify_settings settings = hf_certify_settings_default();
    hf_range range;
    settings.tolerance = 1e-9;
    settings.time_limit = 0.02;
    assert_int_equal(
        hf_certify(c.ctx, c.posterior, HF_CERTIFY_MEAN, &settings, c.lower, c.upper, &range, NULL, NULL),
        HF_WARN_NOT_CONVERGED);
    assert_int_equal(range.stop, HF_CERTIFY_TIME);
    assert_non_null(strstr(hf_context_message(c.ctx), "time limit"));
    double low, high;
    sample(&c, HF_CERTIFY_MEAN, 0.0, &low, &high);
    assert_true(range.lower <= low && high <= range.upper);
    /* Less than rounding cannot be had, and is not pretended. */
    settings.time_limit = 0.0;
    settings.tolerance = 1e-18;
    settings.node_limit = 20000;
    for (size_t j = 0; j < INPUTS; j++) c.upper[j] = c.lower[j] + 1e-9 * c.posterior->scaling.x_scale[j];
    range = ask(&c, HF_CERTIFY_MEAN, &settings);
    assert_int_equal(range.stop, HF_CERTIFY_ROUNDING);
    assert_true(range.upper - range.lower < 1e-6);
    cert_drop(&c);
}

static void threads_and_company_change_no_digit(void **state)
{
    enum {
        BOXES = 7
    };
    cert c = wavy(*state, "se(ard) + matern52", 0.4);
    double lower[BOXES * INPUTS], upper[BOXES * INPUTS], argmin[2][BOXES * INPUTS], argmax[2][BOXES * INPUTS];
    hf_range ranges[2][BOXES];
    hfi_stream stream;
    hfi_stream_init(&stream, 44, HFI_PURPOSE_TEST, 0);
    for (size_t k = 0; k < BOXES; k++) {
        cert_place(&c, "se", 0.1 + 0.1 * (double)k, &stream);
        memcpy(lower + k * INPUTS, c.lower, sizeof c.lower);
        memcpy(upper + k * INPUTS, c.upper, sizeof c.upper);
    }
    for (int t = 0; t < 2; t++) {
        assert_int_equal(hf_context_set_threads(c.ctx, t == 0 ? 1 : 3), HF_OK);
        assert_true(hf_certify_boxes(c.ctx, c.posterior, HF_CERTIFY_MEAN, NULL, BOXES, lower, upper,
                                     ranges[t], argmin[t], argmax[t]) >= 0);
    }
    for (size_t k = 0; k < BOXES; k++) {
        hf_range alone;
        assert_true(hf_certify(c.ctx, c.posterior, HF_CERTIFY_MEAN, NULL, lower + k * INPUTS,
                               upper + k * INPUTS, &alone, NULL, NULL) >= 0);
        for (int t = 0; t < 2; t++) {
            assert_true(ranges[t][k].lower == alone.lower && ranges[t][k].upper == alone.upper);
            assert_int_equal(ranges[t][k].nodes, alone.nodes);
        }
    }
    assert_memory_equal(argmin[0], argmin[1], sizeof argmin[0]);
    assert_memory_equal(argmax[0], argmax[1], sizeof argmax[0]);
    cert_drop(&c);
}

static bool stop_at_once(const char *stage, double done, double value, void *user)
{
    (void)done;
    (void)value;
    (*(size_t *)user)++;
    return strcmp(stage, "certify") != 0;
}

static void boxes_can_be_cancelled(void **state)
{
    cert c = wavy(*state, "se", 0.1);
    hf_range ranges[2] = {{.lower = -77.0}, {.lower = -77.0}};
    double lower[2 * INPUTS], upper[2 * INPUTS];
    size_t calls = 0;
    for (size_t k = 0; k < 2; k++) {
        memcpy(lower + k * INPUTS, c.lower, sizeof c.lower);
        memcpy(upper + k * INPUTS, c.upper, sizeof c.upper);
    }
    hf_context_set_progress(c.ctx, stop_at_once, &calls);
    assert_int_equal(
        hf_certify_boxes(c.ctx, c.posterior, HF_CERTIFY_MEAN, NULL, 2, lower, upper, ranges, NULL, NULL),
        HF_ERR_CANCELLED);
    hf_context_set_progress(c.ctx, NULL, NULL);
    assert_true(calls > 0 && ranges[0].lower == -77.0);
    cert_drop(&c);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ranges_are_as_tight_as_asked),
        TEST(one_box_is_narrow),
        TEST(points_are_exact),
        TEST(fixed_inputs_do_not_move),
        TEST(one_output_of_several),
        TEST(one_category_of_several),
        TEST(decisions_stop_early),
        TEST(one_end_alone),
        TEST(limits_leave_ranges_that_hold),
        TEST(boxes_can_be_cancelled),
        TEST(threads_and_company_change_no_digit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
