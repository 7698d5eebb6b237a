/* SPDX-License-Identifier: Apache-2.0 */
/* Closed forms: the optimal envelope lies within each of them, and so does every consistent function; jitter
 * and rounding widen. The formulas themselves are compared with numpy in
 * tests/oracle/test_closed_envelope.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "envelope/support.h"
#include <holdfast/closed_envelope.h>

enum {
    QUERIES = 12,
    INPUTS = 2
};

static const hf_closed_method SURE[] = {HF_CLOSED_RIDGE, HF_CLOSED_MINIMUM_NORM, HF_CLOSED_ELLIPSOID};

typedef struct sheet {
    double x[QUERIES * INPUTS];
    double lower[QUERIES], upper[QUERIES], centre[QUERIES];
} sheet;

static void set_queries(const support_world *world, sheet *s)
{
    for (size_t q = 0; q < QUERIES; q++) support_query(world, q, s->x + q * world->d);
    memcpy(s->x, world->x, world->d * sizeof *s->x); /* one of them at a reading */
}

static void ask(hf_context *ctx, const hf_closed_envelope *closed, size_t d, sheet *s)
{
    assert_int_equal(hf_closed_envelope_bounds(ctx, closed, QUERIES, s->x, d, s->lower, s->upper, s->centre),
                     HF_OK);
}

static hf_closed_envelope *make(hf_context *ctx, const hf_envelope *envelope, hf_closed_method method)
{
    hf_closed_envelope *closed = NULL;
    if (hf_closed_envelope_create(ctx, envelope, method, NULL, &closed) < 0)
        fail_msg("%s", hf_context_message(ctx));
    return closed;
}

/* The optimum is known between the bound and the bound less its gap. */
static void assert_holds(const sheet *s, size_t q, const hf_bound *best, double scale, const char *what)
{
    const double slack = 1e-10 * scale;
    if (s->upper[q] < best->upper - best->gap_upper - slack ||
        s->lower[q] > best->lower + best->gap_lower + slack)
        fail_msg("%s, query %zu: [%.12g, %.12g] does not hold [%.12g, %.12g]", what, q, s->lower[q],
                 s->upper[q], best->lower, best->upper);
}

static void compare(const support_problem *p)
{
    static const char *const NAMES[] = {"ridge", "minimum norm", "ellipsoid"};
    const double scale = p->world->norm * sqrt(hfi_kernel_typical_variance(p->world->kernel));
    hf_bound best[QUERIES];
    sheet s;
    set_queries(p->world, &s);
    for (size_t q = 0; q < QUERIES; q++)
        assert_true(hf_envelope_bounds(p->envelope, p->workspace, s.x + q * p->world->d, NULL, &best[q], NULL,
                                       NULL) >= 0);
    for (size_t k = 0; k < 3; k++) {
        hf_closed_envelope *closed = make(p->ctx, p->envelope, SURE[k]);
        ask(p->ctx, closed, p->world->d, &s);
        for (size_t q = 0; q < QUERIES; q++) {
            const double truth = support_truth(p->world, s.x + q * p->world->d);
            assert_holds(&s, q, &best[q], scale, NAMES[k]);
            assert_true(s.lower[q] <= truth && truth <= s.upper[q]);
            assert_near(s.centre[q], 0.5 * (s.lower[q] + s.upper[q]), 1e-12 * scale);
            if (SURE[k] == HF_CLOSED_MINIMUM_NORM) {
                assert_true(s.centre[q] <= best[q].upper + 1e-9 * scale);
                assert_true(s.centre[q] >= best[q].lower - 1e-9 * scale);
            }
        }
        hf_closed_envelope_free(closed);
    }
}

static void the_optimal_envelope_lies_within_each(void **state)
{
    (void)state;
    static const char *const KERNELS[] = {"matern52", "se(lengthscale=0.7)", "3*matern12 + 0.5*linear",
                                          "matern32(ard)", "2*rq"};
    for (size_t problem = 0; problem < 1000; problem++) {
        const double noise = pow(10.0, -3.0 + 0.5 * (double)(problem % 7));
        const double slack = problem % 3 == 0 ? 1.0 + 1e-6 : problem % 3 == 1 ? 1.2 : 3.0;
        support_problem p =
            support_open(KERNELS[problem % 5], 1 + problem % 23, INPUTS, noise, slack, problem);
        compare(&p);
        support_close(&p);
    }
}

/* Around any model, good or bad. */
static void any_model_has_one(void **state)
{
    (void)state;
    support_problem p = support_open("matern52", 15, INPUTS, 0.05, 1.5, 3);
    hfi_stream stream;
    hfi_stream_init(&stream, 4, HFI_PURPOSE_TEST, 0);
    for (int k = 0; k < 20; k++) {
        double alpha[15];
        hf_closed_envelope *closed = NULL;
        sheet s;
        set_queries(p.world, &s);
        for (size_t i = 0; i < 15; i++) alpha[i] = hfi_stream_normal(&stream);
        assert_int_equal(hf_closed_envelope_model(p.ctx, p.envelope, alpha, &closed), HF_OK);
        ask(p.ctx, closed, INPUTS, &s);
        for (size_t q = 0; q < QUERIES; q++) {
            double model = 0.0;
            for (size_t i = 0; i < 15; i++)
                model +=
                    alpha[i] * hfi_kernel_value(p.kernel, p.world->x + i * INPUTS, s.x + q * INPUTS, false);
            assert_near(s.centre[q], model, 1e-12);
            const hf_bound best = support_bound(&p, s.x + q * INPUTS);
            assert_holds(&s, q, &best, p.world->norm, "a model");
        }
        hf_closed_envelope_free(closed);
    }
    support_close(&p);
}

/* How much of h = k(., c) can be added to the truth until a reading or the norm is broken. */
static double room_for(const support_world *world, const double *c)
{
    double most = INFINITY, cross = 0.0;
    const double own = hfi_kernel_value(world->kernel, c, c, false);
    for (size_t i = 0; i < world->readings.n; i++) {
        const double *x = world->x + i * world->d, h = hfi_kernel_value(world->kernel, x, c, false);
        const double f = support_truth(world, x);
        const double room = h > 0.0 ? world->y[i] + world->readings.noise_bound - f
                                    : f - (world->y[i] - world->readings.noise_bound);
        if (h != 0.0) most = fmin(most, room / fabs(h));
    }
    cross = support_truth(world, c);
    const double truth = support_truth_norm(world);
    const double spare = world->norm * world->norm - truth * truth;
    return fmin(most, (-cross + sqrt(cross * cross + own * spare)) / own);
}

static void closed_forms_hold_other_consistent_functions(void **state)
{
    (void)state;
    size_t moved = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        support_problem p = support_open("se(lengthscale=0.8)", 12, INPUTS, 0.3, 2.0, seed);
        for (size_t k = 0; k < 3; k++) {
            hf_closed_envelope *closed = make(p.ctx, p.envelope, SURE[k]);
            sheet s;
            set_queries(p.world, &s);
            ask(p.ctx, closed, INPUTS, &s);
            for (size_t j = 0; j < QUERIES; j++) {
                const double *c = s.x + j * INPUTS, share = room_for(p.world, c);
                moved += share > 0.01;
                for (size_t q = 0; q < QUERIES; q++) {
                    const double f = support_truth(p.world, s.x + q * INPUTS) +
                                     share * hfi_kernel_value(p.kernel, c, s.x + q * INPUTS, false);
                    assert_true(s.lower[q] <= f && f <= s.upper[q]);
                }
            }
            hf_closed_envelope_free(closed);
        }
        support_close(&p);
    }
    assert_true(moved > 500);
}

/* Inputs so near to each other that K has no factor without jitter. */
static void jitter_widens_and_stays_true(void **state)
{
    (void)state;
    size_t warned = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        support_problem p = support_open("se(lengthscale=3)", 60, INPUTS, 1e-3, 1.1, seed);
        for (size_t k = 0; k < 3; k++) {
            hf_closed_envelope *closed = NULL;
            const hf_status status = hf_closed_envelope_create(p.ctx, p.envelope, SURE[k], NULL, &closed);
            assert_true(status >= 0);
            warned += status == HF_WARN_JITTER;
            sheet s;
            set_queries(p.world, &s);
            ask(p.ctx, closed, INPUTS, &s);
            for (size_t q = 0; q < QUERIES; q++) {
                const double truth = support_truth(p.world, s.x + q * INPUTS);
                assert_true(s.lower[q] <= truth && truth <= s.upper[q]);
                /* The ellipsoid's own sites keep its factor well: it still says something. */
                assert_true(SURE[k] != HF_CLOSED_ELLIPSOID || s.upper[q] - s.lower[q] <= 0.5 * p.world->norm);
            }
            hf_closed_envelope_free(closed);
        }
        support_close(&p);
    }
    assert_true(warned >= 20);
}

static void readings_with_one_limit_are_left_out(void **state)
{
    (void)state;
    enum {
        N = 14
    };
    for (size_t alone = 0; alone <= N; alone += N / 2) {
        support_problem p = support_begin("matern52", N, INPUTS, 0.1, 1.5, 9 + alone);
        double below[N], above[N];
        for (size_t i = 0; i < N; i++) {
            below[i] = i < alone && i % 2 ? INFINITY : 0.1;
            above[i] = i < alone && i % 2 == 0 ? INFINITY : 0.1;
        }
        p.world->readings.below = below;
        p.world->readings.above = above;
        support_build(&p);
        compare(&p);
        if (alone == N) { /* nothing is left but the norm */
            hf_closed_envelope *closed = make(p.ctx, p.envelope, HF_CLOSED_ELLIPSOID);
            sheet s;
            set_queries(p.world, &s);
            ask(p.ctx, closed, INPUTS, &s);
            for (size_t q = 0; q < QUERIES; q++)
                assert_near(s.upper[q], p.world->norm, 1e-12 * p.world->norm);
            hf_closed_envelope_free(closed);
        }
        support_close(&p);
    }
}

/* Exact readings: Proposition 3 is the ball around the interpolant, which is optimal. */
static void exact_readings_make_the_optimal_ball(void **state)
{
    (void)state;
    support_problem p = support_open("matern32", 10, INPUTS, 0.0, 1.4, 21);
    hf_closed_envelope *closed = make(p.ctx, p.envelope, HF_CLOSED_MINIMUM_NORM);
    hf_closed_envelope *ellipsoid = make(p.ctx, p.envelope, HF_CLOSED_ELLIPSOID);
    const double radius = sqrt(p.world->norm * p.world->norm - pow(hf_envelope_minimum_norm(p.envelope), 2));
    assert_near(hf_closed_envelope_radius(closed), radius, 1e-9);
    sheet s, around;
    set_queries(p.world, &s);
    set_queries(p.world, &around);
    ask(p.ctx, closed, INPUTS, &s);
    ask(p.ctx, ellipsoid, INPUTS, &around);
    for (size_t q = 0; q < QUERIES; q++) {
        const hf_bound best = support_bound(&p, s.x + q * INPUTS);
        assert_near(s.upper[q], best.upper, 1e-5);
        assert_near(s.lower[q], best.lower, 1e-5);
        assert_near(around.upper[q], best.upper, 1e-3);
        assert_near(around.lower[q], best.lower, 1e-3);
    }
    hf_closed_envelope_free(ellipsoid);
    hf_closed_envelope_free(closed);
    hf_closed_settings settings = hf_closed_settings_default();
    hf_closed_envelope *none = NULL;
    assert_int_equal(hf_closed_envelope_create(p.ctx, p.envelope, HF_CLOSED_GP, NULL, &none),
                     HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(p.ctx), "exact"));
    settings.noise_sd = 0.1;
    assert_int_equal(hf_closed_envelope_create(p.ctx, p.envelope, HF_CLOSED_GP, &settings, &none), HF_OK);
    hf_closed_envelope_free(none);
    support_close(&p);
}

/* The chosen site is nearly the best of all for queries all over, dense readings or sparse, much noise or little. */
static void the_chosen_site_suits_queries_anywhere(void **state)
{
    (void)state;
    enum {
        N = 30,
        MANY = 200
    };
    for (uint64_t seed = 0; seed < 12; seed++) {
        const double noise = seed % 3 == 0 ? 0.2 : 0.01;
        support_problem p = support_begin(seed % 2 ? "se" : "matern52(lengthscale=0.5)", N, INPUTS, noise,
                                          seed % 4 < 2 ? 1.2 : 3.0, seed);
        double unequal[N], chosen = 0.0, best = INFINITY, lower[MANY], upper[MANY], x[MANY * INPUTS];
        for (size_t i = 0; i < N; i++) unequal[i] = noise * (double)(1 + i % 3);
        if (seed % 5 == 0) p.world->readings.below = p.world->readings.above = unequal;
        for (size_t q = 0; q < MANY; q++) support_query(p.world, q, x + q * INPUTS);
        support_build(&p);
        hf_closed_settings settings = hf_closed_settings_default();
        for (int k = -1; k < 27; k++) {
            hf_closed_envelope *closed = NULL;
            double mean = 0.0;
            settings.site = k < 0 ? 0.0 : N * pow(10.0, -3.0 + 0.3 * k);
            assert_true(
                hf_closed_envelope_create(p.ctx, p.envelope, HF_CLOSED_ELLIPSOID, &settings, &closed) >= 0);
            assert_int_equal(hf_closed_envelope_bounds(p.ctx, closed, MANY, x, INPUTS, lower, upper, NULL),
                             HF_OK);
            for (size_t q = 0; q < MANY; q++) mean += (upper[q] - lower[q]) / MANY;
            if (k < 0) chosen = mean;
            best = fmin(best, mean);
            hf_closed_envelope_free(closed);
        }
        if (chosen > 1.2 * best) fail_msg("seed %d: %g, but %g is possible", (int)seed, chosen, best);
        support_close(&p);
    }
}

static bool stop_at_once(const char *stage, double done, double value, void *user)
{
    (void)user;
    (void)stage;
    (void)done;
    (void)value;
    return false;
}

static void threads_change_nothing_and_cancelling_leaves_alone(void **state)
{
    (void)state;
    enum {
        MANY = 501
    };
    support_problem p = support_open("matern52(ard)", 80, INPUTS, 0.1, 1.5, 2);
    hf_context *one = p.ctx, *four = support_context(4);
    double *x = calloc(MANY, INPUTS * sizeof *x), *a = calloc(MANY, 2 * sizeof *a);
    assert_true(x && a);
    double *b = a + MANY;
    for (size_t q = 0; q < MANY; q++) support_query(p.world, q, x + q * INPUTS);
    for (size_t k = 0; k < 3; k++) {
        hf_closed_envelope *serial = make(one, p.envelope, SURE[k]),
                           *threaded = make(four, p.envelope, SURE[k]);
        assert_int_equal(hf_closed_envelope_bounds(one, serial, MANY, x, INPUTS, NULL, a, NULL), HF_OK);
        assert_int_equal(hf_closed_envelope_bounds(four, threaded, MANY, x, INPUTS, NULL, b, NULL), HF_OK);
        assert_memory_equal(a, b, MANY * sizeof *a);
        hf_context_set_progress(four, stop_at_once, NULL);
        b[0] = -77.0;
        assert_int_equal(hf_closed_envelope_bounds(four, threaded, MANY, x, INPUTS, NULL, b, NULL),
                         HF_ERR_CANCELLED);
        assert_true(b[0] == -77.0);
        hf_closed_envelope *none = NULL;
        assert_int_equal(hf_closed_envelope_create(four, p.envelope, SURE[k], NULL, &none), HF_ERR_CANCELLED);
        assert_null(none);
        hf_context_set_progress(four, NULL, NULL);
        hf_closed_envelope_free(serial);
        hf_closed_envelope_free(threaded);
    }
    free(x);
    free(a);
    support_close(&p);
    hf_context_free(four);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_optimal_envelope_lies_within_each),
        cmocka_unit_test(any_model_has_one),
        cmocka_unit_test(closed_forms_hold_other_consistent_functions),
        cmocka_unit_test(jitter_widens_and_stays_true),
        cmocka_unit_test(readings_with_one_limit_are_left_out),
        cmocka_unit_test(exact_readings_make_the_optimal_ball),
        cmocka_unit_test(the_chosen_site_suits_queries_anywhere),
        cmocka_unit_test(threads_change_nothing_and_cancelling_leaves_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
