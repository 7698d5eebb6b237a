/* SPDX-License-Identifier: Apache-2.0 */
/* Acquisition functions over points: values, gradients, constraints, where they are largest, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimise/bounds.h"
#include <float.h>
#include <holdfast/acquire.h>

static const hf_acquisition kinds[] = {HF_ACQUIRE_LOG_EI, HF_ACQUIRE_EI, HF_ACQUIRE_UCB, HF_ACQUIRE_LOG_PI,
                                       HF_ACQUIRE_PI};
enum {
    KINDS = sizeof kinds / sizeof *kinds
};

static bool is_log(hf_acquisition kind)
{
    return kind == HF_ACQUIRE_LOG_EI || kind == HF_ACQUIRE_LOG_PI;
}

/* f under one constraint that half of the place violates, or none. */
static hf_acquire acquire_of(const pair *w, hf_acquisition kind, bool constrained, const double *limit)
{
    static const hf_posterior *constraint[1];
    constraint[0] = w->spread;
    hf_acquire a = {.size = sizeof a, .kind = kind, .posterior = w->mean, .best = 0.4, .beta = 1.5};
    if (constrained) {
        a.constraints = 1;
        a.constraint = constraint;
        a.limit = limit;
    }
    return a;
}

static double one_value(const pair *w, const hf_acquire *a, const double *x, double *gradient)
{
    double value = NAN;
    const hf_status status = hf_acquire_evaluate(w->ctx, a, 1, x, &value, gradient);
    if (status < 0) fail_msg("%s", hf_context_message(w->ctx));
    return value;
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* By the closed forms, from the moments that the posteriors predict. */
static void values_are_the_formulas(void **state)
{
    (void)state;
    enum {
        M = 40
    };
    const double limit = 0.1;
    for (size_t c = 0; c < 2 * KINDS; c++) {
        const hf_acquisition kind = kinds[c / 2];
        if (c % 2 == 1 && kind == HF_ACQUIRE_UCB) continue;
        pair w = pair_open("se(lengthscale=0.7)", 20, 2, c % 3 == 1);
        const hf_acquire a = acquire_of(&w, kind, c % 2 == 1, &limit);
        double *x = problem_inputs(M, 2, 5), mean[M], var[M], cm[M], cv[M], values[M];
        assert_int_equal(hf_acquire_evaluate(w.ctx, &a, M, x, values, NULL), HF_OK);
        assert_int_equal(hf_predict(w.ctx, w.mean, M, x, 2, mean, var, NULL), HF_OK);
        assert_int_equal(hf_predict(w.ctx, w.spread, M, x, 2, cm, cv, NULL), HF_OK);
        for (size_t i = 0; i < M; i++) {
            double expected = hf_acquisition_value(kind, mean[i], sqrt(var[i]), a.best, a.beta, NULL, NULL);
            const double p = 0.5 * erfc((cm[i] - limit) / sqrt(2.0 * cv[i]));
            if (c % 2 == 1) expected = is_log(kind) ? expected + log(p) : expected * p;
            assert_near(values[i], expected, 1e-9 * (1.0 + fabs(expected)));
        }
        free(x);
        pair_close(&w);
    }
}

static void gradients_are_those_of_the_values(void **state)
{
    (void)state;
    const double limit = 0.1;
    for (size_t c = 0; c < 2 * KINDS; c++) {
        const hf_acquisition kind = kinds[c / 2];
        if (c % 2 == 1 && kind == HF_ACQUIRE_UCB) continue;
        pair w =
            pair_open(c % 3 ? "matern52(lengthscale=0.8)" : "se(lengthscale=0.7) + 0.1*linear", 15, 3, false);
        const hf_acquire a = acquire_of(&w, kind, c % 2 == 1, &limit);
        double *x = problem_inputs(10, 3, 6), values[10], gradients[30], moved[3], no_gradients[10];
        assert_int_equal(hf_acquire_evaluate(w.ctx, &a, 10, x, values, gradients), HF_OK);
        assert_int_equal(hf_acquire_evaluate(w.ctx, &a, 10, x, no_gradients, NULL), HF_OK);
        for (size_t i = 0; i < 10; i++) {
            assert_near(values[i], no_gradients[i], 1e-10 * (1.0 + fabs(values[i])));
            for (size_t j = 0; j < 3; j++) {
                const double h = 1e-5;
                memcpy(moved, x + 3 * i, sizeof moved);
                moved[j] += h;
                const double up = one_value(&w, &a, moved, NULL);
                moved[j] -= 2.0 * h;
                const double slope = (up - one_value(&w, &a, moved, NULL)) / (2.0 * h);
                assert_near(gradients[3 * i + j], slope, 2e-6 * (1.0 + fabs(slope)));
            }
        }
        free(x);
        pair_close(&w);
    }
}

/* y + c and best + c: nothing changes; s y: log-ei grows by log s; inputs in other units: gradients in theirs. */
static void units_do_not_matter(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.7)", 20, 2, false),
         scaled = pair_open("se(lengthscale=0.7)", 20, 2, true);
    hfi_scaling scaling = support_scaling(w.ctx, 2);
    const hf_acquire a = {.size = sizeof a, .posterior = w.mean, .best = 0.3},
                     b = {.size = sizeof b,
                          .posterior = scaled.mean,
                          .best = 0.3 * scaling.y_scale + scaling.y_shift};
    double *x = problem_inputs(10, 2, 9);
    for (size_t i = 0; i < 10; i++) {
        double there[2], g[2], h[2];
        support_to_user(&scaling, x + 2 * i, there);
        const double here = one_value(&w, &a, x + 2 * i, g), value = one_value(&scaled, &b, there, h);
        assert_near(value, here + log(scaling.y_scale), 1e-9 * (1.0 + fabs(here)));
        for (size_t j = 0; j < 2; j++)
            assert_near(h[j] * scaling.x_scale[j], g[j], 1e-8 * (1.0 + fabs(g[j])));
    }
    free(x);
    hfi_scaling_free(&scaling);
    pair_close(&scaled);
    pair_close(&w);
}

/* Without a feasible point only the constraints count. A constraint that is surely kept changes nothing; one
 * that surely is not is still climbed towards. */
static void feasibility_comes_first(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.7)", 20, 2, false);
    const hf_domain box = cube(2);
    const double limits[] = {-0.8, 60.0, -60.0};
    hf_acquire none = acquire_of(&w, HF_ACQUIRE_LOG_EI, true, limits), plain = none;
    double x[2], y[2], mean, var, g[2];
    hf_argmax found, other;
    none.best = -INFINITY;
    assert_int_equal(hf_acquire_maximise(w.ctx, &none, &box, NULL, 0, NULL, x, &found), HF_OK);
    assert_int_equal(hf_predict_latent(w.spread, w.spread_room, x, &mean, &var, NULL, NULL), HF_OK);
    assert_near(found.value, log(0.5 * erfc((mean - limits[0]) / sqrt(2.0 * var))), 1e-10);
    none.kind = HF_ACQUIRE_EI;
    assert_near(one_value(&w, &none, x, NULL), exp(found.value), 1e-12);
    plain.constraints = 0;
    none = acquire_of(&w, HF_ACQUIRE_LOG_EI, true, limits + 1);
    assert_int_equal(hf_acquire_maximise(w.ctx, &none, &box, NULL, 0, NULL, x, &found), HF_OK);
    assert_int_equal(hf_acquire_maximise(w.ctx, &plain, &box, NULL, 0, NULL, y, &other), HF_OK);
    assert_near(found.value, other.value, 1e-10);
    none.limit = limits + 2;
    assert_true(isfinite(one_value(&w, &none, x, g)) && hypot(g[0], g[1]) > 0.0);
    pair_close(&w);
}

/* ---- the largest --------------------------------------------------------------------------------------- */

static void no_place_of_a_grid_is_better(void **state)
{
    (void)state;
    const double limit = 0.3;
    for (size_t c = 0; c < 2 * KINDS; c++) {
        const hf_acquisition kind = kinds[c / 2];
        if (c % 2 == 1 && kind == HF_ACQUIRE_UCB) continue;
        pair w = pair_open(c % 4 ? "matern52(lengthscale=0.5)" : "se(lengthscale=0.4)", 25, 2, false);
        const hf_domain box = cube(2);
        const hf_acquire a = acquire_of(&w, kind, c % 2 == 1, &limit);
        enum {
            SIDE = 61
        };
        static double grid[2 * SIDE * SIDE], values[SIDE * SIDE];
        for (size_t i = 0; i < SIDE * SIDE; i++) {
            grid[2 * i] = -2.0 + 4.0 * (double)(i % SIDE) / (SIDE - 1);
            grid[2 * i + 1] = -2.0 + 4.0 * (double)(i / SIDE) / (SIDE - 1);
        }
        double x[2], mean, var;
        hf_argmax found;
        assert_int_equal(hf_acquire_evaluate(w.ctx, &a, SIDE * SIDE, grid, values, NULL), HF_OK);
        assert_int_equal(hf_acquire_maximise(w.ctx, &a, &box, NULL, 0, NULL, x, &found), HF_OK);
        for (size_t i = 0; i < SIDE * SIDE; i++)
            if (!(found.value >= values[i] - 1e-9))
                fail_msg("case %zu: %.9g at (%g, %g), the grid has %.9g", c, found.value, x[0], x[1],
                         values[i]);
        assert_near(found.value, one_value(&w, &a, x, NULL), 1e-9 * (1.0 + fabs(found.value)));
        assert_int_equal(hf_predict_latent(w.mean, w.mean_room, x, &mean, &var, NULL, NULL), HF_OK);
        assert_near(found.mean, mean, 0.0);
        assert_near(found.sd, sqrt(var), 0.0);
        assert_true(found.seconds >= 0.0 && found.climbs > 0);
        pair_close(&w);
    }
}

/* ei is rounded to 0 where its logarithm still shows the way. */
static void the_logarithm_finds_what_rounding_hides(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.2)", 40, 2, false);
    const hf_domain box = cube(2);
    hf_acquire a = {.size = sizeof a, .posterior = w.mean, .best = 60.0};
    double x[2];
    hf_argmax found;
    assert_int_equal(hf_acquire_maximise(w.ctx, &a, &box, NULL, 0, NULL, x, &found), HF_OK);
    assert_true(found.value < -800.0 && found.climbs > 0 && found.sd > 0.9);
    a.kind = HF_ACQUIRE_EI;
    assert_int_equal(hf_acquire_maximise(w.ctx, &a, &box, NULL, 0, NULL, x, &found), HF_OK);
    assert_true(found.value == 0.0 && found.climbs == 0);
    pair_close(&w);
}

/* Candidates, lattices, thread counts. */
static void every_domain_and_any_number_of_threads(void **state)
{
    (void)state;
    pair w = pair_open("matern52(lengthscale=0.6)", 90, 2, false);
    const double from[] = {-2.0, 0.0}, to[] = {2.0, 2.0}, by[] = {0.25, 0.0}, limit = 0.3;
    const bool codes[] = {false, true};
    double *points = problem_inputs(500, 2, 8);
    const hf_domain domains[] = {cube(2),
                                 {.dimension = 2, .candidates = 500, .points = points},
                                 {.dimension = 2, .lower = from, .upper = to, .step = by, .category = codes}};
    const hf_acquire a = acquire_of(&w, HF_ACQUIRE_LOG_EI, true, &limit);
    for (size_t k = 0; k < 3; k++) {
        hf_argmax found[2];
        double x[2][2], value[1];
        for (int t = 0; t < 2; t++) {
            assert_int_equal(hf_context_set_threads(w.ctx, 1 + 3 * t), HF_OK);
            assert_int_equal(hf_acquire_maximise(w.ctx, &a, &domains[k], NULL, 0, NULL, x[t], found + t),
                             HF_OK);
            found[t].seconds = 0.0;
        }
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        assert_memory_equal(found, found + 1, sizeof *found);
        assert_true(hf_domain_contains(&domains[k], x[0], NULL));
        for (size_t i = 0; k == 1 && i < 500; i++) {
            assert_int_equal(hf_acquire_evaluate(w.ctx, &a, 1, points + 2 * i, value, NULL), HF_OK);
            assert_true(*value <= found->value + 1e-9 * fabs(*value));
        }
        for (size_t i = 0; k == 2 && i < 17 * 3; i++) {
            const double at[] = {-2.0 + 0.25 * (double)(i % 17), (double)(i / 17)};
            assert_true(one_value(&w, &a, at, NULL) <= found->value + 1e-9 * fabs(found->value));
        }
    }
    free(points);
    pair_close(&w);
}

/* ---- what is refused ----------------------------------------------------------------------------------- */

static void refused(const pair *w, hf_acquire a, hf_status expected, const char *word)
{
    const hf_domain box = cube(2);
    const double at[] = {0.0, 0.0};
    double x[2] = {7.0, 7.0}, value = 7.0;
    hf_argmax found = {.evaluations = 77};
    for (int k = 0; k < 2; k++) {
        const hf_status status = k ? hf_acquire_evaluate(w->ctx, &a, 1, at, &value, NULL)
                                   : hf_acquire_maximise(w->ctx, &a, &box, NULL, 0, NULL, x, &found);
        const char *message = hf_context_message(w->ctx);
        if (status != expected || strstr(message, word) == NULL)
            fail_msg("%s: '%s' does not say '%s'", hf_status_name(status), message, word);
    }
    assert_true(x[0] == 7.0 && value == 7.0 && found.evaluations == 77);
}

static void nonsense_is_refused_and_nothing_touched(void **state)
{
    (void)state;
    pair w = pair_open("se", 8, 2, false), other = pair_open("se", 8, 3, false);
    const double limits[] = {0.1, NAN};
    const hf_posterior *broken[] = {w.spread, NULL}, *odd[] = {other.mean};
    const hf_acquire good = acquire_of(&w, HF_ACQUIRE_LOG_EI, true, limits);
    hf_acquire a;
    a = good, a.posterior = NULL, refused(&w, a, HF_ERR_ARGUMENT, "NULL");
    a = good, a.kind = (hf_acquisition)9, refused(&w, a, HF_ERR_ARGUMENT, "number 9");
    a = good, a.best = NAN, refused(&w, a, HF_ERR_NOT_FINITE, "best");
    a = good, a.best = INFINITY, refused(&w, a, HF_ERR_NOT_FINITE, "best");
    a = good, a.constraints = 0, a.best = -INFINITY, refused(&w, a, HF_ERR_ARGUMENT, "no constraints");
    a = good, a.constraints = 2, a.constraint = broken, refused(&w, a, HF_ERR_ARGUMENT, "constraint 1");
    a.constraints = 1, a.constraint = odd, refused(&w, a, HF_ERR_DIMENSION, "3 inputs");
    a = good, a.limit = limits + 1, refused(&w, a, HF_ERR_NOT_FINITE, "limit 0");
    a = good, a.limit = NULL, refused(&w, a, HF_ERR_ARGUMENT, "NULL");
    a = good, a.kind = HF_ACQUIRE_UCB, refused(&w, a, HF_ERR_ARGUMENT, "log-ei");
    a.constraints = 0, a.beta = NAN, refused(&w, a, HF_ERR_NOT_FINITE, "beta");
    double x[2] = {7.0, 7.0};
    const hf_domain box = cube(3);
    assert_int_equal(hf_acquire_maximise(w.ctx, &good, &box, NULL, 0, NULL, x, NULL), HF_ERR_DIMENSION);
    assert_int_equal(hf_acquire_evaluate(w.ctx, &good, 0, NULL, NULL, NULL), HF_OK);
    pair_close(&other);
    pair_close(&w);
}

static bool stop(const char *stage, double done, double value, void *user)
{
    (void)done, (void)value;
    return strcmp(stage, user) != 0;
}

static void calls_can_be_cancelled(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.5)", 20, 2, false);
    const hf_domain box = cube(2);
    const hf_acquire a = {.size = sizeof a, .posterior = w.mean, .best = 0.2};
    const double at[] = {0.0, 0.0};
    char stages[][9] = {"predict", "maximise", "acquire"};
    for (size_t k = 0; k < 3; k++) {
        double x[2] = {7.0, 7.0}, value = 7.0, g[2] = {7.0, 7.0};
        hf_context_set_progress(w.ctx, stop, stages[k]);
        const hf_status status = k < 2 ? hf_acquire_maximise(w.ctx, &a, &box, NULL, 0, NULL, x, NULL)
                                       : hf_acquire_evaluate(w.ctx, &a, 1, at, &value, g);
        assert_int_equal(status, HF_ERR_CANCELLED);
        assert_true(x[0] == 7.0 && value == 7.0 && g[0] == 7.0);
    }
    pair_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_formulas),
        cmocka_unit_test(gradients_are_those_of_the_values),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(feasibility_comes_first),
        cmocka_unit_test(no_place_of_a_grid_is_better),
        cmocka_unit_test(the_logarithm_finds_what_rounding_hides),
        cmocka_unit_test(every_domain_and_any_number_of_threads),
        cmocka_unit_test(nonsense_is_refused_and_nothing_touched),
        cmocka_unit_test(calls_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
