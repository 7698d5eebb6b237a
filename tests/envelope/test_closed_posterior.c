/* SPDX-License-Identifier: Apache-2.0 */
/* The ellipsoid around a posterior: plain and robust sites, units, several outputs, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "envelope/support.h"
#include "posterior/posterior.h"
#include <holdfast/closed_envelope.h>

enum {
    N = 25,
    QUERIES = 40,
    INPUTS = 2
};

typedef struct scene {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    support_world *world;
    hf_sites *sites;
    double x[QUERIES * INPUTS];
} scene;

static scene open_scene(double noise, uint64_t seed)
{
    scene s = {.ctx = support_context(1)};
    s.kernel = support_kernel(s.ctx, "2*matern52(lengthscale=1.3)", INPUTS);
    s.world = support_make(s.kernel, N, INPUTS, noise, 1.2, seed);
    assert_int_equal(hf_mean_create(s.ctx, HF_MEAN_ZERO, INPUTS, &s.mean), HF_OK);
    for (size_t q = 0; q < QUERIES; q++) support_query(s.world, q, s.x + q * INPUTS);
    return s;
}

static void close_scene(scene *s)
{
    hf_sites_free(s->sites);
    support_free(s->world);
    hf_mean_free(s->mean);
    hf_kernel_free(s->kernel);
    hf_context_free(s->ctx);
}

static hf_posterior *solve(scene *s)
{
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_solve_exact(s->ctx, s->kernel, s->mean, s->sites, s->world->x, INPUTS, &posterior),
                     HF_OK);
    return posterior;
}

/* The formula of the header, from what the posterior says; and the truth is inside. */
static void plain_sites_follow_the_formula(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        scene s = open_scene(0.2, seed);
        const double variance = 0.01, g = s.world->norm;
        assert_int_equal(hf_sites_gaussian(s.ctx, N, s.world->y, variance, NULL, &s.sites), HF_OK);
        hf_posterior *posterior = solve(&s);
        hf_closed_envelope *closed = NULL;
        assert_int_equal(hf_closed_envelope_posterior(s.ctx, posterior, g, 0.2, NULL, &closed), HF_OK);
        double mean[QUERIES], var[QUERIES], lower[QUERIES], upper[QUERIES], centre[QUERIES];
        assert_int_equal(hf_predict(s.ctx, posterior, QUERIES, s.x, INPUTS, mean, var, NULL), HF_OK);
        double square = g * g + N * 0.04 / variance;
        for (size_t i = 0; i < N; i++) square -= posterior->solution.t[i] * s.world->y[i];
        assert_near(hf_closed_envelope_radius(closed), sqrt(square), 1e-10 * g);
        hf_posterior_free(posterior); /* nothing of it is needed */
        assert_int_equal(hf_closed_envelope_bounds(s.ctx, closed, QUERIES, s.x, INPUTS, lower, upper, centre),
                         HF_OK);
        for (size_t q = 0; q < QUERIES; q++) {
            const double truth = support_truth(s.world, s.x + q * INPUTS);
            assert_near(centre[q], mean[q], 1e-11 * g);
            assert_near(upper[q] - centre[q], sqrt(var[q] * square), 1e-6 * g);
            assert_near(centre[q] - lower[q], upper[q] - centre[q], 1e-11 * g);
            assert_true(lower[q] <= truth && truth <= upper[q]);
        }
        hf_closed_envelope_free(closed);
        close_scene(&s);
    }
}

/* Around the robust posterior, whose targets are moved and whose far readings hardly count. */
static void robust_sites_ask_for_their_bounds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        scene s = open_scene(0.1, seed);
        double centre[N] = {0.0}, bounds[N], noise[N];
        for (size_t i = 0; i < N; i++) noise[i] = 0.1;
        s.world->y[7] += 6.0; /* a bad reading, known to be bad by up to 6.1 */
        noise[7] = 6.1;
        assert_int_equal(hf_sites_robust(s.ctx, N, s.world->y, 0.01, NULL, centre, 1.0, &s.sites), HF_OK);
        hf_posterior *posterior = solve(&s);
        hf_closed_envelope *closed = NULL;
        assert_int_equal(hf_closed_envelope_posterior(s.ctx, posterior, s.world->norm, 0.1, NULL, &closed),
                         HF_ERR_ARGUMENT);
        assert_non_null(strstr(hf_context_message(s.ctx), "bound for each anchor"));
        for (size_t i = 0; i < N; i++)
            bounds[i] = noise[i] + fabs(hf_sites_targets(s.sites)[i] - s.world->y[i]);
        assert_int_equal(hf_closed_envelope_posterior(s.ctx, posterior, s.world->norm, NAN, bounds, &closed),
                         HF_OK);
        double mean[QUERIES], lower[QUERIES], upper[QUERIES], middle[QUERIES];
        assert_int_equal(hf_predict(s.ctx, posterior, QUERIES, s.x, INPUTS, mean, NULL, NULL), HF_OK);
        assert_int_equal(hf_closed_envelope_bounds(s.ctx, closed, QUERIES, s.x, INPUTS, lower, upper, middle),
                         HF_OK);
        for (size_t q = 0; q < QUERIES; q++) {
            const double truth = support_truth(s.world, s.x + q * INPUTS);
            assert_near(middle[q], mean[q], 1e-11 * s.world->norm);
            assert_true(lower[q] <= truth && truth <= upper[q]);
        }
        hf_closed_envelope_free(closed);
        hf_posterior_free(posterior);
        close_scene(&s);
    }
}

/* The same posterior in other units: standardised inside, user's outside; the calibration factor does not enter. */
static void units_are_the_users(void **state)
{
    (void)state;
    scene s = open_scene(0.2, 5);
    const double x_shift[INPUTS] = {3.0, -1.0}, x_scale[INPUTS] = {0.5, 20.0}, y_shift = 40.0, y_scale = 7.0;
    assert_int_equal(hf_sites_gaussian(s.ctx, N, s.world->y, 0.02, NULL, &s.sites), HF_OK);
    hf_posterior *plain = solve(&s), *scaled = NULL;
    hfi_solution solution;
    hfi_scaling scaling;
    assert_int_equal(hfi_exact_solve(s.ctx, s.kernel, s.mean, s.sites, INPUTS, s.world->x, INPUTS, &solution),
                     HF_OK);
    assert_int_equal(hfi_scaling_identity(s.ctx, INPUTS, &scaling), HF_OK);
    memcpy(scaling.x_shift, x_shift, sizeof x_shift);
    memcpy(scaling.x_scale, x_scale, sizeof x_scale);
    scaling.y_shift = y_shift;
    scaling.y_scale = y_scale;
    assert_int_equal(hfi_posterior_create(s.ctx, s.kernel, s.mean, &solution, &scaling, 0.02, 3.0, &scaled),
                     HF_OK);
    hfi_scaling_free(&scaling);
    hf_closed_envelope *a = NULL, *b = NULL;
    assert_int_equal(hf_closed_envelope_posterior(s.ctx, plain, s.world->norm, 0.2, NULL, &a), HF_OK);
    assert_int_equal(hf_closed_envelope_posterior(s.ctx, scaled, s.world->norm, 0.2 * y_scale, NULL, &b),
                     HF_OK);
    assert_near(hf_closed_envelope_radius(a), hf_closed_envelope_radius(b), 1e-12 * s.world->norm);
    double user[QUERIES * INPUTS], inner[2][QUERIES], outer[2][QUERIES];
    for (size_t q = 0; q < QUERIES * INPUTS; q++)
        user[q] = x_shift[q % INPUTS] + x_scale[q % INPUTS] * s.x[q];
    assert_int_equal(hf_closed_envelope_bounds(s.ctx, a, QUERIES, s.x, INPUTS, inner[0], inner[1], NULL),
                     HF_OK);
    assert_int_equal(hf_closed_envelope_bounds(s.ctx, b, QUERIES, user, INPUTS, outer[0], outer[1], NULL),
                     HF_OK);
    for (size_t q = 0; q < QUERIES; q++)
        for (size_t k = 0; k < 2; k++) assert_near(outer[k][q], y_shift + y_scale * inner[k][q], 1e-9);
    hf_closed_envelope_free(a);
    hf_closed_envelope_free(b);
    hf_posterior_free(plain);
    hf_posterior_free(scaled);
    close_scene(&s);
}

/* Two outputs, each with its own shift, scale and noise: one noise bound in the user's units is another for
 * each inside. */
static void outputs_have_their_own_units(void **state)
{
    (void)state;
    scene s = open_scene(0.1, 11);
    const double shifts[] = {10.0, -300.0}, scales[] = {2.0, 50.0}, noises[] = {0.02, 0.02}, bound = 4.0;
    hf_kernel_free(s.kernel);
    s.kernel = support_kernel(s.ctx, "coregion(x2, outputs=2)*matern52(x1)", INPUTS);
    for (size_t i = 0; i < N; i++) s.world->x[i * INPUTS + 1] = (double)(i % 2);
    for (size_t q = 0; q < QUERIES; q++) s.x[q * INPUTS + 1] = (double)(q % 2);
    assert_int_equal(hf_sites_gaussian(s.ctx, N, s.world->y, 0.02, NULL, &s.sites), HF_OK);
    hf_posterior *plain = solve(&s), *scaled = NULL;
    hfi_solution solution;
    hfi_scaling scaling;
    assert_int_equal(hfi_exact_solve(s.ctx, s.kernel, s.mean, s.sites, INPUTS, s.world->x, INPUTS, &solution),
                     HF_OK);
    assert_int_equal(hfi_scaling_identity(s.ctx, INPUTS, &scaling), HF_OK);
    assert_int_equal(hfi_scaling_set_outputs(s.ctx, &scaling, 2, shifts, scales), HF_OK);
    assert_int_equal(hfi_posterior_create(s.ctx, s.kernel, s.mean, &solution, &scaling, 0.02, 1.0, &scaled),
                     HF_OK);
    assert_int_equal(hfi_posterior_set_noises(s.ctx, scaled, noises), HF_OK);
    hfi_scaling_free(&scaling);
    double bounds[N], inner[2][QUERIES], outer[2][QUERIES];
    for (size_t i = 0; i < N; i++) bounds[i] = bound / scales[i % 2];
    hf_closed_envelope *a = NULL, *b = NULL;
    assert_int_equal(hf_closed_envelope_posterior(s.ctx, plain, 100.0, 0.0, bounds, &a), HF_OK);
    assert_int_equal(hf_closed_envelope_posterior(s.ctx, scaled, 100.0, bound, NULL, &b), HF_OK);
    assert_int_equal(hf_closed_envelope_bounds(s.ctx, a, QUERIES, s.x, INPUTS, inner[0], inner[1], NULL),
                     HF_OK);
    assert_int_equal(hf_closed_envelope_bounds(s.ctx, b, QUERIES, s.x, INPUTS, outer[0], outer[1], NULL),
                     HF_OK);
    for (size_t q = 0; q < QUERIES; q++)
        for (size_t k = 0; k < 2; k++)
            assert_near(outer[k][q], shifts[q % 2] + scales[q % 2] * inner[k][q], 1e-8);
    s.x[1] = 0.4; /* no output has that number */
    assert_int_equal(hf_closed_envelope_bounds(s.ctx, b, QUERIES, s.x, INPUTS, outer[0], NULL, NULL),
                     HF_ERR_ARGUMENT);
    hf_closed_envelope_free(a);
    hf_closed_envelope_free(b);
    hf_posterior_free(plain);
    hf_posterior_free(scaled);
    close_scene(&s);
}

/* A linear prior mean is part of the unknown: f = m + g. */
static void a_prior_mean_is_added(void **state)
{
    (void)state;
    scene s = open_scene(0.1, 6);
    const double coefficients[] = {5.0, -2.0, 0.7};
    hf_mean_free(s.mean);
    s.mean = NULL;
    assert_int_equal(hf_mean_create(s.ctx, HF_MEAN_LINEAR, INPUTS, &s.mean), HF_OK);
    assert_int_equal(hf_mean_set(s.ctx, s.mean, coefficients, true), HF_OK);
    double trend[N], above[QUERIES], lower[QUERIES], upper[QUERIES];
    hf_mean_evaluate(s.mean, N, s.world->x, INPUTS, trend);
    hf_mean_evaluate(s.mean, QUERIES, s.x, INPUTS, above);
    for (size_t i = 0; i < N; i++) trend[i] += s.world->y[i];
    assert_int_equal(hf_sites_gaussian(s.ctx, N, trend, 0.01, NULL, &s.sites), HF_OK);
    hf_posterior *posterior = solve(&s);
    hf_closed_envelope *closed = NULL;
    assert_int_equal(hf_closed_envelope_posterior(s.ctx, posterior, s.world->norm, 0.1, NULL, &closed),
                     HF_OK);
    assert_int_equal(hf_closed_envelope_bounds(s.ctx, closed, QUERIES, s.x, INPUTS, lower, upper, NULL),
                     HF_OK);
    for (size_t q = 0; q < QUERIES; q++) {
        const double truth = support_truth(s.world, s.x + q * INPUTS) + above[q];
        assert_true(lower[q] <= truth && truth <= upper[q] && upper[q] - lower[q] < 4.0 * s.world->norm);
    }
    hf_closed_envelope_free(closed);
    hf_posterior_free(posterior);
    close_scene(&s);
}

static void an_empty_ellipsoid_is_inconsistent(void **state)
{
    (void)state;
    scene s = open_scene(0.2, 8);
    assert_int_equal(hf_sites_gaussian(s.ctx, N, s.world->y, 0.01, NULL, &s.sites), HF_OK);
    hf_posterior *posterior = solve(&s);
    hf_closed_envelope *closed = NULL;
    assert_int_equal(hf_closed_envelope_posterior(s.ctx, posterior, 0.05, 1e-3, NULL, &closed),
                     HF_ERR_INCONSISTENT);
    assert_null(closed);
    assert_non_null(strstr(hf_context_message(s.ctx), "norm 0.05"));
    hf_posterior_free(posterior);
    close_scene(&s);
}

static void other_solvers_and_white_are_refused(void **state)
{
    (void)state;
    scene s = open_scene(0.2, 9);
    hf_closed_envelope *closed = NULL;
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_sites_gaussian(s.ctx, N, s.world->y, 0.01, NULL, &s.sites), HF_OK);
    assert_int_equal(hf_solve_inducing(s.ctx, s.kernel, s.mean, s.sites, s.world->x, INPUTS, HF_INDUCING_VFE,
                                       5, s.world->x, INPUTS, &posterior),
                     HF_OK);
    assert_int_equal(hf_closed_envelope_posterior(s.ctx, posterior, 10.0, 0.2, NULL, &closed),
                     HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(s.ctx), "exact solver"));
    hf_posterior_free(posterior);
    hf_kernel_free(s.kernel);
    s.kernel = support_kernel(s.ctx, "se + 0.1*white", INPUTS);
    posterior = solve(&s);
    assert_int_equal(hf_closed_envelope_posterior(s.ctx, posterior, 10.0, 0.2, NULL, &closed),
                     HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(s.ctx), "white"));
    hf_posterior_free(posterior);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_sites_follow_the_formula),
        cmocka_unit_test(robust_sites_ask_for_their_bounds),
        cmocka_unit_test(units_are_the_users),
        cmocka_unit_test(outputs_have_their_own_units),
        cmocka_unit_test(a_prior_mean_is_added),
        cmocka_unit_test(an_empty_ellipsoid_is_inconsistent),
        cmocka_unit_test(other_solvers_and_white_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
