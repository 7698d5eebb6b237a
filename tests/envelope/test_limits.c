/* SPDX-License-Identifier: Apache-2.0 */
/* Readings that are off by all of their noise bound, as they are written: rounding of a decimal, or
 * of y - e, is never a contradiction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "envelope/support.h"
#include <holdfast/closed_envelope.h>

#include <stdio.h>

enum {
    PAIRS = 2000,
    REPEATS = 5
};

/* The double that a table holds where somebody wrote `hundredths` / 100, times ten to the `power`. */
static double written(long hundredths, int power)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%lde%d", hundredths, power - 2);
    return strtod(text, NULL);
}

/* One input with a truth and readings at both ends of the noise, another with some reading. */
typedef struct pair {
    double x[4], y[4], below[4], above[4], truth, norm;
    hf_bounded_readings readings;
} pair;

static void draw(hfi_stream *stream, int power, bool lopsided, pair *p)
{
    const long truth = (long)hfi_stream_below(stream, 2001) - 1000,
               down = 1 + (long)hfi_stream_below(stream, 300);
    const long up = lopsided ? 1 + (long)hfi_stream_below(stream, 300) : down;
    /* f = y - down and f = y + up; the last two say less. */
    const long y[4] = {truth + down, truth - up, truth, 37};
    for (size_t i = 0; i < 4; i++) {
        p->x[i] = i < 3 ? 0.0 : 1.0;
        p->y[i] = written(y[i], power);
        p->below[i] = written(down, power);
        p->above[i] = written(up, power);
    }
    p->truth = written(truth, power);
    p->norm = written(5000, power);
    p->readings = (hf_bounded_readings){.n = 4, .x = p->x, .ldx = 1, .y = p->y, .noise_bound = p->below[0]};
    if (lopsided) {
        p->readings.below = p->below;
        p->readings.above = p->above;
    }
}

static void assert_holds(const pair *p, double lower, double upper)
{
    if (!(lower <= p->truth && p->truth <= upper))
        fail_msg("%.17g is not in [%.17g, %.17g]", p->truth, lower, upper);
}

/* The envelope holds the truth and is narrow there: the readings leave one value. */
static void ask_envelope(hf_context *ctx, const pair *p, const hf_envelope *envelope, bool rigorous)
{
    hf_envelope_workspace *workspace = hf_envelope_workspace_create(ctx, envelope);
    hf_bound bound;
    const double x = 0.0;
    assert_int_equal(hf_envelope_bounds(envelope, workspace, &x, NULL, &bound, NULL, NULL), HF_OK);
    assert_holds(p, bound.lower, bound.upper);
    assert_true(bound.upper - bound.lower <= 2e-15 * (fabs(p->y[0]) + fabs(p->y[1])));
    const double between = 0.5;
    assert_int_equal(hf_envelope_bounds(envelope, workspace, &between, NULL, &bound, NULL, NULL), HF_OK);
    assert_true(bound.upper - bound.lower > 1e-3 * p->norm && bound.upper - bound.lower < p->norm);
    if (rigorous) assert_true(fmax(bound.gap_lower, bound.gap_upper) < 1e-9 * p->norm);
    hf_envelope_workspace_free(workspace);
}

static void ask_closed(hf_context *ctx, const pair *p, const hf_envelope *envelope)
{
    const hf_closed_method methods[] = {HF_CLOSED_RIDGE, HF_CLOSED_MINIMUM_NORM, HF_CLOSED_ELLIPSOID};
    for (size_t k = 0; k < 3; k++) {
        hf_closed_envelope *closed = NULL;
        const double x = 0.0;
        double lower, upper;
        assert_true(hf_closed_envelope_create(ctx, envelope, methods[k], NULL, &closed) >= 0);
        assert_int_equal(hf_closed_envelope_bounds(ctx, closed, 1, &x, 1, &lower, &upper, NULL), HF_OK);
        assert_holds(p, lower, upper);
        hf_closed_envelope_free(closed);
    }
}

/* The second reading comes later. */
static void add_one(hf_context *ctx, const hf_kernel *kernel, const pair *p,
                    const hf_envelope_settings *settings)
{
    hf_bounded_readings first = p->readings;
    hf_envelope *envelope = NULL;
    first.n = 1;
    assert_int_equal(hf_envelope_create(ctx, kernel, &first, p->norm, settings, &envelope), HF_OK);
    for (size_t i = 1; i < 4; i++)
        if (hf_envelope_add(ctx, envelope, p->x + i, p->y[i], p->below[i], p->above[i]) != HF_OK)
            fail_msg("%s", hf_context_message(ctx));
    ask_envelope(ctx, p, envelope, settings->rigorous);
    hf_envelope_free(envelope);
}

static void check_pair(hf_context *ctx, const hf_kernel *kernel, const pair *p, bool rigorous)
{
    hf_envelope_settings settings = hf_envelope_settings_default();
    settings.rigorous = rigorous;
    hf_envelope *envelope = NULL;
    if (hf_envelope_create(ctx, kernel, &p->readings, p->norm, &settings, &envelope) != HF_OK)
        fail_msg("%.17g and %.17g: %s", p->y[0], p->y[1], hf_context_message(ctx));
    ask_envelope(ctx, p, envelope, rigorous);
    ask_closed(ctx, p, envelope);
    hf_envelope_free(envelope);
    hf_consistency report;
    assert_int_equal(hf_envelope_consistency(ctx, kernel, &p->readings, p->norm, &report, NULL), HF_OK);
    assert_int_equal(report.conflicting, 0);
    assert_true(report.noise_factor <= 1.0 && report.minimum_norm <= p->norm);
    add_one(ctx, kernel, p, &settings);
}

static void written_readings_agree(void **state)
{
    (void)state;
    static const int powers[] = {0, 0, 3, -3, 150, -150};
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "se", 1);
    hfi_stream stream;
    hfi_stream_init(&stream, 1, HFI_PURPOSE_TEST, 31);
    for (size_t t = 0; t < PAIRS; t++) {
        pair p;
        draw(&stream, powers[t % 6], t % 2 == 1, &p);
        check_pair(ctx, kernel, &p, t % 3 == 1);
    }
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* The ends of the range of doubles: what overflows is refused, what is denormal is no contradiction. */
static void ends_of_the_range(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "se", 1);
    const double x[2] = {0.0, 0.0}, y[2] = {8e-320, 6e-320};
    hf_bounded_readings readings = {.n = 2, .x = x, .ldx = 1, .y = y, .noise_bound = 1e-320};
    hf_consistency report;
    assert_int_equal(hf_envelope_consistency(ctx, kernel, &readings, INFINITY, &report, NULL), HF_OK);
    assert_int_equal(report.conflicting, 0);
    const double large[1] = {1.7e308};
    readings = (hf_bounded_readings){.n = 1, .x = x, .ldx = 1, .y = large, .noise_bound = 1e307};
    hf_envelope *envelope = NULL;
    assert_int_equal(hf_envelope_create(ctx, kernel, &readings, 1e308, NULL, &envelope), HF_ERR_NOT_FINITE);
    readings.noise_bound = 1.0;
    readings.y = x;
    assert_int_equal(hf_envelope_create(ctx, kernel, &readings, 1.0, NULL, &envelope), HF_OK);
    assert_int_equal(hf_envelope_add(ctx, envelope, x, 1.7e308, 1e307, 1e307), HF_ERR_NOT_FINITE);
    hf_envelope_free(envelope);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* The figure of several readings at every input: each at either end of the noise, or anywhere
 * between. Where both ends were met the truth is known, and everywhere it is held. */
static void several_readings_at_one_input(void **state)
{
    (void)state;
    enum {
        INPUTS = 12,
        ROWS = INPUTS * REPEATS
    };
    for (uint64_t seed = 0; seed < 40; seed++) {
        support_problem p = support_begin(seed % 2 ? "se" : "matern52", ROWS, 1, 0.0, 1.2, 900 + seed);
        hf_bounded_readings *readings = &p.world->readings;
        const double noise = 0.1 * (double)(1 + seed % 7);
        hfi_stream stream;
        hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 32);
        for (size_t i = 0; i < ROWS; i++) {
            p.world->x[i] = p.world->x[i % INPUTS];
            const double f = support_truth(p.world, p.world->x + i), end[] = {-1.0, 1.0, 0.3};
            p.world->y[i] = f + noise * end[i < 2 * INPUTS ? i / INPUTS : hfi_stream_below(&stream, 3)];
        }
        readings->noise_bound = noise;
        support_build(&p);
        assert_int_equal(hf_envelope_readings(p.envelope), INPUTS);
        for (size_t q = 0; q < 40; q++) {
            double x[1];
            support_query(p.world, q, x);
            if (q < INPUTS) x[0] = p.world->x[q];
            hf_bound bound;
            const hf_status status = hf_envelope_bounds(p.envelope, p.workspace, x, NULL, &bound, NULL, NULL);
            /* A dozen exact values of a smooth function are more than a double can tell. */
            assert_true(status == HF_OK || (seed % 2 && status == HF_WARN_NOT_CONVERGED));
            const double truth = support_truth(p.world, x);
            assert_true(bound.lower <= truth && truth <= bound.upper);
            if (q < INPUTS) assert_true(bound.upper - bound.lower <= 1e-14 * (fabs(truth) + noise));
        }
        support_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(written_readings_agree),
                                       cmocka_unit_test(ends_of_the_range),
                                       cmocka_unit_test(several_readings_at_one_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
