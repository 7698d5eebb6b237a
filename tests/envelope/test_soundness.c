/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing that meets readings and norm bound is ever outside, however early the search is stopped and however
 * ill the inputs are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "envelope/support.h"

enum {
    WORLDS = 40,
    READINGS = 30,
    QUERIES = 25,
    FUNCTIONS = 1000,
    POOL = 8
};

/* A random function that meets everything: the known one plus a random one, scaled down until it does. Values
 * at the queries into `at`. */
static void draw(const support_world *world, const double *basis_x, const double *basis_q, const double *gram,
                 const double *truth_x, const double *truth_q, const double *mixed, double square,
                 hfi_stream *stream, double *at)
{
    double weight[POOL], own = 0.0, cross = 0.0, most = 1.0;
    for (size_t j = 0; j < POOL; j++)
        weight[j] = hfi_stream_normal(stream) * exp(2.0 * hfi_stream_normal(stream));
    for (size_t i = 0; i < POOL; i++) {
        cross += weight[i] * mixed[i];
        for (size_t j = 0; j < POOL; j++) own += weight[i] * weight[j] * gram[i * POOL + j];
    }
    /* |f + c g|^2 = square + 2 c cross + c^2 own <= G^2, and every reading */
    const double room = world->norm * world->norm - square;
    most = (sqrt(cross * cross + own * room) - cross) / own;
    for (size_t i = 0; i < world->readings.n; i++) {
        double g = 0.0;
        for (size_t j = 0; j < POOL; j++) g += weight[j] * basis_x[i * POOL + j];
        const double error = truth_x[i] - world->y[i], noise = world->readings.noise_bound;
        const double reach = (noise - (g > 0.0 ? error : -error)) / fmax(fabs(g), 1e-300);
        most = fmin(most, reach);
    }
    most *= 1.0 - 1e-9;
    for (size_t q = 0; q < QUERIES; q++) {
        at[q] = truth_q[q];
        for (size_t j = 0; j < POOL; j++) at[q] += most * weight[j] * basis_q[q * POOL + j];
    }
}

typedef struct extremes {
    double least[QUERIES], most[QUERIES];
} extremes;

static void sample(const support_world *world, const double *query, size_t functions, extremes *seen)
{
    const size_t d = world->d, n = world->readings.n;
    double pool[POOL * 3], basis_x[READINGS * POOL], basis_q[QUERIES * POOL], gram[POOL * POOL], mixed[POOL];
    double truth_x[READINGS], truth_q[QUERIES], at[QUERIES];
    hfi_stream stream;
    hfi_stream_init(&stream, world->seed, HFI_PURPOSE_TEST, 77);
    const double truth_norm = support_truth_norm(world);
    for (size_t i = 0; i < n; i++) truth_x[i] = support_truth(world, world->x + i * d);
    for (size_t q = 0; q < QUERIES; q++) {
        truth_q[q] = support_truth(world, query + q * d);
        seen->least[q] = INFINITY;
        seen->most[q] = -INFINITY;
    }
    for (size_t k = 0; k < functions; k++) {
        if (k % 50 == 0) { /* other basis functions, at a query, at readings, and anywhere */
            for (size_t j = 0; j < POOL; j++)
                for (size_t c = 0; c < d; c++)
                    pool[j * d + c] = j == 0  ? query[(k / 50 % QUERIES) * d + c]
                                      : j < 4 ? world->x[hfi_stream_below(&stream, n) * d + c]
                                              : 6.0 * hfi_stream_uniform(&stream) - 3.0;
            for (size_t j = 0; j < POOL; j++) {
                const double *z = pool + j * d;
                for (size_t i = 0; i < n; i++)
                    basis_x[i * POOL + j] = hfi_kernel_value(world->kernel, z, world->x + i * d, false);
                for (size_t q = 0; q < QUERIES; q++)
                    basis_q[q * POOL + j] = hfi_kernel_value(world->kernel, z, query + q * d, false);
                for (size_t i = 0; i < POOL; i++)
                    gram[i * POOL + j] = hfi_kernel_value(world->kernel, z, pool + i * d, false);
                mixed[j] = support_truth(world, z);
            }
        }
        draw(world, basis_x, basis_q, gram, truth_x, truth_q, mixed, truth_norm * truth_norm, &stream, at);
        for (size_t q = 0; q < QUERIES; q++) {
            seen->least[q] = fmin(seen->least[q], at[q]);
            seen->most[q] = fmax(seen->most[q], at[q]);
        }
    }
}

static void check_bounds(const support_problem *p, const double *query, const extremes *seen, size_t pivots)
{
    const hf_envelope_limits limits = {.size = sizeof limits, .pivots = pivots};
    /* Error of the values of f that are compared with. */
    const double rounding = 1e-12 * p->world->norm;
    for (size_t q = 0; q < QUERIES; q++) {
        hf_bound bound;
        hf_envelope_workspace_reset(p->workspace);
        const hf_status status = hf_envelope_bounds(p->envelope, p->workspace, query + q * p->world->d,
                                                    &limits, &bound, NULL, NULL);
        assert_true(status == HF_OK || (status == HF_WARN_NOT_CONVERGED && pivots > 0));
        if (pivots > 0) assert_true(bound.pivots <= 2 * pivots);
        if (seen->least[q] < bound.lower - rounding || seen->most[q] > bound.upper + rounding)
            fail_msg("a function is in [%.17g, %.17g], the bounds are %.17g and %.17g", seen->least[q],
                     seen->most[q], bound.lower, bound.upper);
        /* The gap leads to a function that meets everything: not beyond the optimum. */
        assert_true(bound.upper - bound.gap_upper <= bound.upper && bound.gap_upper >= 0.0 &&
                    bound.gap_lower >= 0.0);
    }
}

static void no_function_is_outside(void **state)
{
    (void)state;
    const char *const kernels[] = {"matern52", "se", "2*matern12(lengthscale=0.5)", "rq + 0.3*linear"};
    for (uint64_t w = 0; w < WORLDS; w++) {
        support_problem p = support_open(kernels[w % 4], READINGS, 1 + w % 3, w % 5 == 0 ? 1e-3 : 0.2,
                                         w % 3 == 0 ? 1.01 : 2.0, 1000 + w);
        double query[QUERIES * 3];
        for (size_t q = 0; q < QUERIES; q++) support_query(p.world, q, query + q * p.world->d);
        memcpy(query, p.world->x, p.world->d * sizeof *query);
        extremes seen;
        sample(p.world, query, FUNCTIONS, &seen); /* WORLDS x FUNCTIONS x QUERIES = 10^6 values */
        check_bounds(&p, query, &seen, 0);
        for (size_t pivots = 1; pivots < 40; pivots = pivots < 4 ? pivots + 1 : 2 * pivots)
            check_bounds(&p, query, &seen, pivots);
        support_close(&p);
    }
}

/* Bounds get no looser with every pivot that is allowed, and end in the optimum. */
static void more_pivots_are_no_worse(void **state)
{
    (void)state;
    support_problem p = support_open("matern52", 80, 2, 0.02, 1.5, 9);
    for (size_t q = 0; q < 20; q++) {
        double x[2], before = INFINITY;
        hf_bound bound;
        support_query(p.world, q, x);
        hf_envelope_workspace_reset(p.workspace);
        const hf_bound best = support_bound(&p, x);
        for (size_t pivots = 1;; pivots++) {
            const hf_envelope_limits limits = {.size = sizeof limits, .pivots = pivots};
            hf_envelope_workspace_reset(p.workspace);
            const hf_status status =
                hf_envelope_bounds(p.envelope, p.workspace, x, &limits, &bound, NULL, NULL);
            assert_true(bound.upper - bound.lower <= before * (1.0 + 1e-12));
            assert_true(bound.upper >= best.upper - 1e-11 && bound.lower <= best.lower + 1e-11);
            /* The gap is an upper bound on what is missing. */
            assert_true(bound.gap_upper >= bound.upper - best.upper - 1e-9);
            assert_true(bound.gap_lower >= best.lower - bound.lower - 1e-9);
            before = bound.upper - bound.lower;
            if (status == HF_OK) break;
            assert_int_equal(status, HF_WARN_NOT_CONVERGED);
            assert_true(pivots < 1000);
        }
        assert_near(bound.upper, best.upper, 1e-12);
        const hf_envelope_limits close = {.size = sizeof close, .gap = 0.1};
        hf_envelope_workspace_reset(p.workspace);
        assert_int_equal(hf_envelope_bounds(p.envelope, p.workspace, x, &close, &bound, NULL, NULL), HF_OK);
        assert_true(bound.gap_upper <= 0.1 && bound.gap_lower <= 0.1);
        assert_true(bound.upper <= best.upper + 0.1);
        const hf_envelope_limits hurried = {.size = sizeof hurried,
                                            .seconds = 1e-12}; /* one pivot, then the clock is looked at */
        hf_envelope_workspace_reset(p.workspace);
        assert_int_equal(hf_envelope_bounds(p.envelope, p.workspace, x, &hurried, &bound, NULL, NULL),
                         HF_WARN_NOT_CONVERGED);
        assert_int_equal(bound.pivots, 2);
        assert_true(bound.upper >= best.upper - 1e-11 && bound.lower <= best.lower + 1e-11);
    }
    support_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_function_is_outside),
                                       cmocka_unit_test(more_pivots_are_no_worse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
