/* SPDX-License-Identifier: Apache-2.0 */
/* Acquisition functions of a mean and a standard deviation: names, integrals, slopes, limits, what has no value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include <float.h>
#include <holdfast/acquire.h>
#include <holdfast/enums.h>
#include <math.h>
#include <string.h>

static const hf_acquisition kinds[] = {HF_ACQUIRE_LOG_EI, HF_ACQUIRE_EI, HF_ACQUIRE_UCB, HF_ACQUIRE_LOG_PI,
                                       HF_ACQUIRE_PI};
enum {
    KINDS = sizeof kinds / sizeof *kinds
};

static double value(hf_acquisition kind, double mean, double sd, double best)
{
    return hf_acquisition_value(kind, mean, sd, best, 2.0, NULL, NULL);
}

static void names_are_read_and_written(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_acquisition kind;
    for (size_t k = 0; k < KINDS; k++) {
        assert_int_equal(
            hf_enum_parse(ctx, HF_ENUM_ACQUISITION, hf_enum_name(HF_ENUM_ACQUISITION, kinds[k]), &kind),
            HF_OK);
        assert_int_equal(kind, kinds[k]);
    }
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_ACQUISITION, "expected", &kind), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "log-ei, ei, ucb, log-pi or pi"));
    assert_string_equal(hf_enum_name(HF_ENUM_ACQUISITION, (unsigned)77), "unknown");
    hf_context_free(ctx);
}

/* E[max(f - best, 0)] and P(f > best) by the trapezoidal rule in standard units, which a normal density makes exact. */
static void they_are_what_they_are_called(void **state)
{
    (void)state;
    for (double mean = -2.0; mean <= 2.0; mean += 0.37)
        for (double sd = 0.3; sd < 3.0; sd *= 1.9) {
            const double best = 0.25, step = 1e-3;
            double improvement = 0.0;
            for (double z = fmax((best - mean) / sd, -12.0), at = z; at < 12.0; at += step) {
                const double density = exp(-0.5 * at * at) / sqrt(2.0 * acos(-1.0));
                improvement += (at == z ? 0.5 : 1.0) * (mean + sd * at - best) * density * step;
            }
            assert_near(value(HF_ACQUIRE_EI, mean, sd, best), improvement, 1e-6);
            assert_near(value(HF_ACQUIRE_PI, mean, sd, best), 0.5 * erfc((best - mean) / sd / sqrt(2.0)),
                        1e-14);
            assert_near(value(HF_ACQUIRE_LOG_EI, mean, sd, best), log(value(HF_ACQUIRE_EI, mean, sd, best)),
                        1e-12);
            assert_near(value(HF_ACQUIRE_LOG_PI, mean, sd, best), log(value(HF_ACQUIRE_PI, mean, sd, best)),
                        1e-12);
            assert_near(value(HF_ACQUIRE_UCB, mean, sd, best), mean + 2.0 * sd, 1e-15);
        }
}

static void slopes_are_those_of_the_values(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++)
        for (double z = -30.0; z < 30.0; z += 0.71)
            for (double sd = 0.1; sd < 20.0; sd *= 7.0) {
                const double best = 1.3, mean = best + z * sd, h = 1e-5 * sd;
                double dmean, dsd;
                const double here = hf_acquisition_value(kinds[k], mean, sd, best, 2.0, &dmean, &dsd);
                const double along =
                    (value(kinds[k], mean + h, sd, best) - value(kinds[k], mean - h, sd, best)) / (2 * h);
                const double across =
                    (value(kinds[k], mean, sd + h, best) - value(kinds[k], mean, sd - h, best)) / (2 * h);
                const double off = 1e-9 * (1.0 + fabs(here)) / sd;
                assert_near(dmean, along, 1e-7 * fabs(dmean) + off);
                assert_near(dsd, across, 1e-7 * fabs(dsd) + off);
            }
}

/* f + c and best + c: the same; s f: ei grows by s, its logarithm by log s, probabilities stay. */
static void shifts_and_scales_do_what_they_should(void **state)
{
    (void)state;
    for (double z = -20.0; z < 20.0; z += 1.3) {
        const double a = value(HF_ACQUIRE_LOG_EI, z, 1.0, 0.0);
        assert_near(value(HF_ACQUIRE_LOG_EI, z + 64.0, 1.0, 64.0), a, 1e-11 * (1.0 + fabs(a)));
        assert_near(value(HF_ACQUIRE_LOG_EI, 8.0 * z, 8.0, 0.0), a + log(8.0), 1e-12 * (1.0 + fabs(a)));
        assert_near(value(HF_ACQUIRE_EI, 8.0 * z, 8.0, 0.0), 8.0 * value(HF_ACQUIRE_EI, z, 1.0, 0.0), 0.0);
        assert_near(value(HF_ACQUIRE_LOG_PI, 8.0 * z, 8.0, 0.0), value(HF_ACQUIRE_LOG_PI, z, 1.0, 0.0), 0.0);
    }
}

static void where_nothing_is_uncertain_the_limits_are_returned(void **state)
{
    (void)state;
    const struct {
        hf_acquisition kind;
        double mean, value, dmean, dsd; /* best is 1 */
    } rows[] = {{HF_ACQUIRE_EI, 3.0, 2.0, 1.0, 0.0},
                {HF_ACQUIRE_EI, 0.0, 0.0, 0.0, 0.0},
                {HF_ACQUIRE_EI, 1.0, 0.0, 0.5, 0.39894228040143267794},
                {HF_ACQUIRE_LOG_EI, 3.0, 0.69314718055994530942, 0.5, 0.0},
                {HF_ACQUIRE_LOG_EI, 0.0, -DBL_MAX, 0.0, 0.0},
                {HF_ACQUIRE_LOG_EI, 1.0, -DBL_MAX, 0.0, 0.0},
                {HF_ACQUIRE_PI, 3.0, 1.0, 0.0, 0.0},
                {HF_ACQUIRE_PI, 0.0, 0.0, 0.0, 0.0},
                {HF_ACQUIRE_LOG_PI, 3.0, 0.0, 0.0, 0.0},
                {HF_ACQUIRE_LOG_PI, 0.0, -DBL_MAX, 0.0, 0.0},
                {HF_ACQUIRE_UCB, 3.0, 3.0, 1.0, 2.0}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double dmean, dsd;
        const double at = hf_acquisition_value(rows[k].kind, rows[k].mean, 0.0, 1.0, 2.0, &dmean, &dsd);
        assert_near(at, rows[k].value, 1e-15);
        assert_near(dmean, rows[k].dmean, 1e-15);
        assert_near(dsd, rows[k].dsd, 1e-15);
    }
    for (double sd = 1e-3; sd > 0.0;
         sd *= 1e-9) { /* and they are approached without a word that is no number */
        for (size_t k = 0; k < KINDS; k++)
            for (double mean = 0.0; mean <= 2.0; mean += 1.0) {
                double dmean, dsd;
                const double at = hf_acquisition_value(kinds[k], mean, sd, 1.0, 2.0, &dmean, &dsd);
                assert_true(isfinite(at) && isfinite(dmean) && isfinite(dsd));
            }
        assert_near(value(HF_ACQUIRE_LOG_EI, 3.0, sd, 1.0), log(2.0), 1e-14);
    }
}

static void arguments_without_sense_have_no_value(void **state)
{
    (void)state;
    double slope = 0.0;
    for (size_t k = 0; k < KINDS; k++) {
        assert_true(isnan(value(kinds[k], NAN, 1.0, 0.0)));
        assert_true(isnan(value(kinds[k], INFINITY, 1.0, 0.0)));
        assert_true(isnan(value(kinds[k], 0.0, -1.0, 0.0)));
        assert_true(isnan(value(kinds[k], 0.0, NAN, 0.0)));
        assert_true(isnan(value(kinds[k], 0.0, INFINITY, 0.0)));
        assert_true(isnan(value(kinds[k], 0.0, 1.0, NAN)) == (kinds[k] != HF_ACQUIRE_UCB));
    }
    assert_true(isnan(hf_acquisition_value(HF_ACQUIRE_UCB, 0.0, 1.0, 0.0, INFINITY, NULL, NULL)));
    assert_true(isnan(hf_acquisition_value((hf_acquisition)77, 0.0, 1.0, 0.0, 0.0, &slope, &slope)));
    assert_true(isnan(slope));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_and_written),
        cmocka_unit_test(they_are_what_they_are_called),
        cmocka_unit_test(slopes_are_those_of_the_values),
        cmocka_unit_test(shifts_and_scales_do_what_they_should),
        cmocka_unit_test(where_nothing_is_uncertain_the_limits_are_returned),
        cmocka_unit_test(arguments_without_sense_have_no_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
