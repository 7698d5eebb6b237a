/* SPDX-License-Identifier: Apache-2.0 */
/* Data far from 0: an offset is the same problem somewhere else, to rounding, and a constant in the space
 * costs the norm that the header says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "envelope/support.h"
#include <holdfast/closed_envelope.h>
#include <holdfast/envelope_kernel.h>

#include <stdio.h>

enum {
    READINGS = 25,
    QUERIES = 40
};

static const double far_away = 1000.0;

/* The readings of a world, all of them `far_away` further up. */
static hf_bounded_readings moved(const support_world *world, double *y)
{
    hf_bounded_readings readings = world->readings;
    for (size_t i = 0; i < readings.n; i++) y[i] = world->y[i] + far_away;
    readings.y = y;
    readings.offset = far_away;
    return readings;
}

/* Tolerance for the rounding of readings near 1000 in a bound, whose slope in them is not above 30. */
static const double tolerance = 1e-10;

static void bounds_move_with_the_readings(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        support_problem p = support_open("matern52(lengthscale=0.8)", READINGS, 2, 0.05, 1.5, seed);
        double y[READINGS], x[2], gradient[4];
        const hf_bounded_readings readings = moved(p.world, y);
        hf_envelope *other = support_envelope(p.ctx, p.kernel, &readings, p.world->norm);
        hf_envelope_workspace *workspace = hf_envelope_workspace_create(p.ctx, other);
        assert_non_null(workspace);
        assert_true(hf_envelope_offset(other) == far_away && hf_envelope_offset(p.envelope) == 0.0);
        assert_near(hf_envelope_minimum_norm(other), hf_envelope_minimum_norm(p.envelope), 1e-9);
        for (int added = 0; added < 2; added++) {
            for (size_t q = 0; q < QUERIES; q++) {
                hf_bound there;
                support_query(p.world, q, x);
                const hf_bound here = support_bound(&p, x);
                assert_int_equal(
                    hf_envelope_bounds(other, workspace, x, NULL, &there, gradient, gradient + 2), HF_OK);
                assert_near(there.lower - far_away, here.lower, tolerance);
                assert_near(there.upper - far_away, here.upper, tolerance);
            }
            if (added) break;
            support_query(p.world, 0, x);
            const double value = support_truth(p.world, x);
            assert_int_equal(hf_envelope_add(p.ctx, p.envelope, x, value, 0.01, 0.02), HF_OK);
            assert_int_equal(hf_envelope_add(p.ctx, other, x, value + far_away, 0.01, 0.02), HF_OK);
            hf_envelope_workspace_free(workspace);
            hf_envelope_workspace_free(p.workspace);
            workspace = hf_envelope_workspace_create(p.ctx, other);
            p.workspace = hf_envelope_workspace_create(p.ctx, p.envelope);
            assert_true(workspace && p.workspace);
        }
        const double *input;
        double low, high;
        assert_int_equal(hf_envelope_reading(other, 0, &input, &low, &high), HF_OK);
        assert_true(low <= y[0] - 0.05 && high >= y[0] + 0.05);
        assert_near(high - low, 0.1, 1e-12);
        hf_envelope_workspace_free(workspace);
        hf_envelope_free(other);
        support_close(&p);
    }
}

static void closed_forms_move_with_the_readings(void **state)
{
    (void)state;
    support_problem p = support_open("matern52", READINGS, 1, 0.1, 1.5, 11);
    double y[READINGS], x[QUERIES], low[2][QUERIES], high[2][QUERIES], centre[2][QUERIES];
    const hf_bounded_readings readings = moved(p.world, y);
    hf_envelope *other = support_envelope(p.ctx, p.kernel, &readings, p.world->norm);
    for (size_t q = 0; q < QUERIES; q++) support_query(p.world, q, x + q);
    for (int method = HF_CLOSED_RIDGE; method <= HF_CLOSED_GP; method++) {
        const hf_envelope *of[2] = {p.envelope, other};
        for (int k = 0; k < 2; k++) {
            hf_closed_envelope *closed = NULL;
            assert_true(hf_closed_envelope_create(p.ctx, of[k], (hf_closed_method)method, NULL, &closed) >=
                        0);
            assert_true(hf_closed_envelope_bounds(p.ctx, closed, QUERIES, x, 1, low[k], high[k], centre[k]) >=
                        0);
            hf_closed_envelope_free(closed);
        }
        for (size_t q = 0; q < QUERIES; q++) {
            assert_near(low[1][q] - far_away, low[0][q], 1e-6);
            assert_near(high[1][q] - far_away, high[0][q], 1e-6);
            assert_near(centre[1][q] - far_away, centre[0][q], 1e-6);
        }
    }
    hf_envelope_free(other);
    support_close(&p);
}

static void norms_are_those_without_the_offset(void **state)
{
    (void)state;
    enum {
        POINTS = 4
    };
    support_problem p = support_open("se(lengthscale~0.8)", READINGS, 1, 0.05, 1.5, 5);
    double y[READINGS];
    const hf_bounded_readings readings = moved(p.world, y);
    hf_consistency here, there;
    const double little = 0.5 * hf_envelope_minimum_norm(p.envelope);
    assert_int_equal(hf_envelope_consistency(p.ctx, p.kernel, &p.world->readings, little, &here, NULL),
                     HF_OK);
    assert_int_equal(hf_envelope_consistency(p.ctx, p.kernel, &readings, little, &there, NULL), HF_OK);
    assert_true(here.conflicting > 0 && there.conflicting == here.conflicting);
    assert_near(there.minimum_norm, here.minimum_norm, 1e-8);
    assert_near(there.noise_factor, here.noise_factor, 1e-8);
    hf_norm_point curve[2][POINTS];
    assert_int_equal(hf_norm_estimate(p.ctx, p.kernel, &p.world->readings, POINTS, curve[0]), HF_OK);
    assert_int_equal(hf_norm_estimate(p.ctx, p.kernel, &readings, POINTS, curve[1]), HF_OK);
    for (size_t k = 0; k < POINTS; k++) assert_near(curve[1][k].norm, curve[0][k].norm, 1e-8);
    hf_kernel_search found[2];
    hf_kernel *kernel[2] = {support_kernel(p.ctx, "se", 1), support_kernel(p.ctx, "se", 1)};
    assert_int_equal(hf_envelope_kernel_search(p.ctx, kernel[0], &p.world->readings, &found[0]), HF_OK);
    assert_int_equal(hf_envelope_kernel_search(p.ctx, kernel[1], &readings, &found[1]), HF_OK);
    assert_near(found[1].error, found[0].error, 1e-6);
    for (int k = 0; k < 2; k++) hf_kernel_free(kernel[k]);
    support_close(&p);
}

/* Beyond the data the band goes to m -+ what the readings leave of G; with the norm that the same readings
 * ask for without an offset it holds 0. */
static void far_from_readings_it_is_the_offset(void **state)
{
    (void)state;
    support_problem p = support_open("se(lengthscale=1)", READINGS, 1, 0.05, 1.5, 7);
    double y[READINGS];
    hf_bounded_readings readings = moved(p.world, y);
    const double away = 1e3;
    hf_envelope *envelope = support_envelope(p.ctx, p.kernel, &readings, p.world->norm);
    hf_bound bound;
    assert_int_equal(hf_envelope_bounds_batch(p.ctx, envelope, 1, &away, 1, NULL, &bound), HF_OK);
    const double least = hf_envelope_minimum_norm(envelope),
                 rest = sqrt(p.world->norm * p.world->norm - least * least);
    assert_near(bound.lower, far_away - rest, 1e-6);
    assert_near(bound.upper, far_away + rest, 1e-6);
    hf_envelope_free(envelope);
    readings.offset = 0.0;
    hf_norm_point all;
    assert_int_equal(hf_norm_estimate(p.ctx, p.kernel, &readings, 1, &all), HF_OK);
    assert_true(all.norm > 1000.0);
    envelope = support_envelope(p.ctx, p.kernel, &readings, 1.2 * all.norm);
    assert_int_equal(hf_envelope_bounds_batch(p.ctx, envelope, 1, &away, 1, NULL, &bound), HF_OK);
    assert_true(bound.lower < -1000.0 && bound.upper > 1000.0);
    hf_envelope_free(envelope);
    support_close(&p);
}

/* Readings, offsets and bounds whose sums are no doubles: the truth is never outside by a unit of the last place. */
static void rounding_is_outwards(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        for (int rigorous = 0; rigorous < 2; rigorous++) {
            support_problem p = support_begin("matern32", 8, 1, 0.0, 2.0, 40 + seed);
            double y[8];
            hf_bounded_readings readings = p.world->readings;
            for (size_t i = 0; i < readings.n; i++) y[i] = p.world->y[i] + 1000.1;
            readings.y = y;
            readings.offset = 999.7 + 0.1 * (double)seed;
            const hf_envelope_settings settings = {.size = sizeof(hf_envelope_settings),
                                                   .rigorous = rigorous != 0};
            hf_envelope *envelope = NULL;
            assert_int_equal(hf_envelope_create(p.ctx, p.kernel, &readings, 2.0 * p.world->norm + 5.0,
                                                &settings, &envelope),
                             HF_OK);
            hf_bound bounds[8];
            assert_true(hf_envelope_bounds_batch(p.ctx, envelope, 8, p.world->x, 1, NULL, bounds) >= 0);
            for (size_t i = 0; i < 8; i++) {
                assert_true(bounds[i].lower <= y[i] && y[i] <= bounds[i].upper);
                assert_true(bounds[i].upper - bounds[i].lower < 1e-3);
            }
            hf_envelope_free(envelope);
            support_close(&p);
        }
    }
}

/* f = g + c with |g| <= A and |c| <= C is never outside, with G = sqrt(A^2 + C^2 / v) for se + v. */
static void a_constant_costs_what_the_header_says(void **state)
{
    (void)state;
    enum {
        FUNCTIONS = 30
    };
    const double level = 20.0, noise = 0.05;
    for (uint64_t seed = 1; seed <= FUNCTIONS; seed++) {
        support_problem p = support_begin("se(lengthscale=1)", 12, 1, 0.0, 1.0, 900 + seed);
        const double most = support_truth_norm(p.world), variance = pow(30.0 * level / most, 2.0),
                     c = level * (seed % 3 == 0   ? 1.0
                                  : seed % 3 == 1 ? -1.0
                                                  : 0.3);
        char expression[96];
        (void)snprintf(expression, sizeof expression, "se(lengthscale=1) + constant(variance=%.17g)",
                       variance);
        hf_kernel *kernel = support_kernel(p.ctx, expression, 1);
        const double norm = sqrt(most * most + level * level / variance);
        assert_true(norm < 1.0006 * most);
        double y[12], x[QUERIES];
        for (size_t i = 0; i < 12; i++) y[i] = p.world->y[i] + c + 300.0 + (i % 2 ? noise : -noise);
        hf_bounded_readings readings = p.world->readings;
        readings.y = y;
        readings.noise_bound = noise;
        readings.offset = 300.0;
        hf_envelope *envelope = support_envelope(p.ctx, kernel, &readings, norm);
        hf_bound bounds[QUERIES];
        for (size_t q = 0; q < QUERIES; q++) support_query(p.world, q, x + q);
        assert_true(hf_envelope_bounds_batch(p.ctx, envelope, QUERIES, x, 1, NULL, bounds) >= 0);
        for (size_t q = 0; q < QUERIES; q++) {
            const double f = support_truth(p.world, x + q) + c + 300.0;
            assert_true(bounds[q].lower <= f + 1e-9 && f - 1e-9 <= bounds[q].upper);
            assert_true(bounds[q].upper - bounds[q].lower < 2.0 * level); /* the level is known by now */
        }
        hf_envelope_free(envelope);
        hf_kernel_free(kernel);
        support_close(&p);
    }
}

static void an_offset_is_finite(void **state)
{
    (void)state;
    support_problem p = support_begin("se", 3, 1, 0.1, 2.0, 1);
    hf_envelope *envelope = NULL;
    const double bad[] = {INFINITY, -INFINITY, NAN};
    for (size_t k = 0; k < 3; k++) {
        p.world->readings.offset = bad[k];
        assert_int_equal(hf_envelope_create(p.ctx, p.kernel, &p.world->readings, 10.0, NULL, &envelope),
                         HF_ERR_ARGUMENT);
        assert_non_null(strstr(hf_context_message(p.ctx), "offset"));
    }
    p.world->readings.offset = 1e308;
    p.world->y[1] = -1e308;
    assert_int_equal(hf_envelope_create(p.ctx, p.kernel, &p.world->readings, 10.0, NULL, &envelope),
                     HF_ERR_NOT_FINITE);
    assert_null(envelope);
    assert_true(isnan(hf_envelope_offset(NULL)));
    support_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_move_with_the_readings),
                                       cmocka_unit_test(closed_forms_move_with_the_readings),
                                       cmocka_unit_test(norms_are_those_without_the_offset),
                                       cmocka_unit_test(far_from_readings_it_is_the_offset),
                                       cmocka_unit_test(rounding_is_outwards),
                                       cmocka_unit_test(a_constant_costs_what_the_header_says),
                                       cmocka_unit_test(an_offset_is_finite)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
