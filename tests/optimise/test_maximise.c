/* SPDX-License-Identifier: Apache-2.0 */
/* The largest confidence bound: against grids and brute force, lattices, degenerate boxes, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimise/bounds.h"

/* ---- boxes against grids ------------------------------------------------------------------------------- */

/* The best of a grid with both ends in each of one or two inputs. */
static double best_of_grid(const pair *w, const hf_ucb *bound, const hf_domain *box, size_t side)
{
    const size_t d = box->dimension, count = d == 1 ? side : side * side;
    double *x = naive_zeros(count * d), *mean = naive_zeros(count), *var = naive_zeros(count),
           best = -INFINITY;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < d; j++)
            x[i * d + j] = box->lower[j] + (box->upper[j] - box->lower[j]) *
                                               (double)(j ? i / side : i % side) / (double)(side - 1);
    assert_int_equal(hf_predict(w->ctx, bound->mean, count, x, d, mean, bound->spread ? NULL : var, NULL),
                     HF_OK);
    if (bound->spread != NULL)
        assert_int_equal(hf_predict(w->ctx, bound->spread, count, x, d, NULL, var, NULL), HF_OK);
    for (size_t i = 0; i < count; i++) best = fmax(best, mean[i] + bound->beta * sqrt(var[i]));
    free(x), free(mean), free(var);
    return best;
}

static void no_place_of_a_dense_grid_is_better(void **state)
{
    (void)state;
    const char *const kernels[] = {"se(lengthscale=0.2)", "matern32(lengthscale=0.6)",
                                   "matern52(lengthscale=1)", "se(lengthscale=0.7) + 0.2*linear"};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t d = 1; d <= 2; d++) {
            pair w = pair_open(kernels[k], 12 + 9 * d, d, false);
            const hf_domain box = cube(d);
            for (size_t c = 0; c < 6; c++) {
                const hf_ucb bound = {.size = sizeof bound,
                                      .mean = w.mean,
                                      .spread = c % 2 ? w.spread : NULL,
                                      .beta = 0.7 * (double)c - 1.0};
                double x[2];
                const hf_argmax found = maximise(&w, &bound, &box, NULL, x);
                const double grid = best_of_grid(&w, &bound, &box, d == 1 ? 20001 : 101);
                if (!(found.value >= grid - 1e-12))
                    fail_msg("%s, %zu inputs, case %zu: %.9g, the grid has %.9g", kernels[k], d, c,
                             found.value, grid);
                assert_true(found.evaluations > 256 && found.climbs >= 1 && found.climbs <= 6);
                assert_int_equal(found.index, 0);
                assert_true(found.gradient >= 0.0 && found.gradient < 1e-3);
            }
            pair_close(&w);
        }
}

/* Among many tops of nearly one height it is the highest one that is climbed to its end. */
static void climbs_stay_on_their_hills(void **state)
{
    (void)state;
    const char *const kernels[] = {"se(lengthscale=0.2)", "matern32(lengthscale=0.4)",
                                   "matern52(lengthscale=0.25)"};
    const hf_domain box = cube(1);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        pair w = pair_open(kernels[k], 60, 1, false);
        for (size_t c = 0; c < 12; c++) {
            const hf_ucb bound = {.size = sizeof bound,
                                  .mean = w.mean,
                                  .spread = c % 2 ? w.spread : NULL,
                                  .beta = 2.0 * (double)c + 6.0};
            double x;
            const hf_argmax found = maximise(&w, &bound, &box, NULL, &x);
            const double grid = best_of_grid(&w, &bound, &box, 20001);
            if (!(found.value >= grid - 1e-10) || !(found.gradient < 1e-3))
                fail_msg("%s, case %zu: %.9g, the grid has %.9g; gradient %g", kernels[k], c, found.value,
                         grid, found.gradient);
        }
        pair_close(&w);
    }
}

/* The inputs behind the domain's decide where it is, and are the ones given. */
static void contexts_are_held(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.8)", 30, 2, false);
    const hf_domain line = cube(1);
    for (size_t c = 0; c < 5; c++) {
        const double context = -1.8 + 0.9 * (double)c;
        const double lower[] = {-2.0, context}, upper[] = {2.0, context};
        const hf_domain slice = {.dimension = 2, .lower = lower, .upper = upper};
        const hf_ucb held = {
            .size = sizeof held, .mean = w.mean, .beta = 1.0, .contexts = 1, .context = &context};
        const hf_ucb fixed = {.size = sizeof fixed, .mean = w.mean, .beta = 1.0};
        double x, both[2];
        const hf_argmax a = maximise(&w, &held, &line, NULL, &x),
                        b = maximise(&w, &fixed, &slice, NULL, both);
        assert_near(a.value, b.value, 1e-9);
        assert_near(x, both[0], 1e-4);
        assert_true(both[1] == context);
        double best = -INFINITY;
        for (size_t i = 0; i <= 4000; i++) {
            const double at = -2.0 + 0.001 * (double)i;
            best = fmax(best, value_at(&w, &held, 1, &at));
        }
        assert_true(a.value >= best - 1e-12);
    }
    pair_close(&w);
}

/* The default finds what a search with very many starts finds in four inputs. */
static void more_inputs_are_searched_as_well(void **state)
{
    (void)state;
    for (size_t d = 3; d <= 4; d++) {
        pair w = pair_open("matern52(lengthscale=1.2)", 40, d, false);
        const hf_domain box = cube(d);
        const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .beta = 1.0};
        hf_search_settings thorough = hf_search_settings_default();
        thorough.samples = 5000;
        thorough.starts = 60;
        thorough.iterations = 200;
        double x[4], y[4];
        const hf_argmax found = maximise(&w, &bound, &box, NULL, x),
                        best = maximise(&w, &bound, &box, &thorough, y);
        assert_near(found.value, best.value, 1e-7);
        pair_close(&w);
    }
}

/* Tops so narrow that no sample comes near them are at the readings, and these are looked at, in the users' units. */
static void narrow_tops_at_readings_are_found(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.05)", 40, 4, true);
    hfi_scaling scaling = support_scaling(w.ctx, 4);
    double lower[4], upper[4], x[4], best = -INFINITY;
    support_to_user(&scaling, low, lower);
    support_to_user(&scaling, high, upper);
    const hf_domain box = {.dimension = 4, .lower = lower, .upper = upper};
    const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .beta = 0.1};
    for (size_t i = 0; i < w.p.n; i++) {
        support_to_user(&scaling, w.p.x + 4 * i, x);
        best = fmax(best, value_at(&w, &bound, 4, x));
    }
    assert_true(maximise(&w, &bound, &box, NULL, x).value >= best);
    hfi_scaling_free(&scaling);
    pair_close(&w);
}

/* The best, but for those within 2 % of the sides of a better one, whether that is a start itself or not. */
static void starts_keep_their_distance(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const double points[] = {0.0, 0.0, 0.06, 0.0, 0.07, 0.0, 0.17, 0.0,
                             1.0, 1.0, 0.07, 0.5, 2.0,  2.0, 2.0,  2.0};
    const double values[] = {5.0, 9.0, 8.0, 1.0, 2.0, 7.0, 2.0, 2.0};
    const hf_domain box = {.dimension = 2, .lower = low, .upper = high};
    size_t starts[8], chosen;
    assert_int_equal(hfi_choose_starts(ctx, &box, 8, points, values, 8, starts, &chosen), HF_OK);
    /* Near is up to 0.08: 2 is near 1, and 0 near both; 3 is not; 5 differs in the other input; 7 is where 6 is. */
    const size_t expected[] = {1, 5, 4, 6, 3};
    assert_int_equal(chosen, 5);
    assert_memory_equal(starts, expected, sizeof expected);
    assert_int_equal(hfi_choose_starts(ctx, &box, 8, points, values, 2, starts, &chosen), HF_OK);
    assert_int_equal(chosen, 2);
    assert_memory_equal(starts, expected, 2 * sizeof *expected);
    hf_context_free(ctx);
}

/* ---- candidates ---------------------------------------------------------------------------------------- */

static void candidates_are_all_looked_at(void **state)
{
    (void)state;
    enum {
        N = 300
    };
    pair w = pair_open("matern32(lengthscale=0.5)", 25, 3, false);
    double *points = problem_inputs(N, 2, 44), context = 0.7;
    const hf_domain list = {.dimension = 2, .candidates = N, .points = points};
    for (size_t c = 0; c < 8; c++) {
        const hf_ucb bound = {.size = sizeof bound,
                              .mean = w.mean,
                              .spread = c % 2 ? w.spread : NULL,
                              .beta = 0.5 * (double)c - 1.0,
                              .contexts = 1,
                              .context = &context};
        size_t best = 0;
        for (size_t i = 1; i < N; i++)
            if (value_at(&w, &bound, 2, points + 2 * i) > value_at(&w, &bound, 2, points + 2 * best))
                best = i;
        double x[2];
        const hf_argmax found = maximise(&w, &bound, &list, NULL, x);
        assert_int_equal(found.index, best);
        assert_memory_equal(x, points + 2 * best, sizeof x);
        assert_int_equal(found.evaluations, N);
        assert_int_equal(found.climbs, 0);
        assert_true(found.gradient == 0.0);
        /* The same again behind it, at another place in the blocks: the first of the two it is. */
        double *twice = naive_zeros(4 * N + 2);
        memcpy(twice, points, 2 * N * sizeof *twice);
        twice[2 * N] = 5.0;
        memcpy(twice + 2 * N + 2, points, 2 * N * sizeof *twice);
        const hf_domain longer = {.dimension = 2, .candidates = 2 * N + 1, .points = twice};
        assert_int_equal(maximise(&w, &bound, &longer, NULL, x).index, best);
        free(twice);
    }
    free(points);
    pair_close(&w);
}

/* Two mirror images of a symmetrical posterior differ by rounding, if at all. */
static void ties_that_were_rounded_are_ties(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const double x[] = {-1.3, -0.7, -0.2, 0.2, 0.7, 1.3}, y[] = {0.3, -0.2, 1.0, 1.0, -0.2, 0.3};
    problem p = {.ctx = ctx};
    hf_posterior *posterior;
    assert_int_equal(hf_kernel_parse(ctx, "se(lengthscale=0.6)", NULL, 1, &p.kernel), HF_OK);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, 1, &p.mean), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, 6, y, 0.01, NULL, &p.sites), HF_OK);
    assert_int_equal(hf_solve_exact(ctx, p.kernel, p.mean, p.sites, x, 1, &posterior), HF_OK);
    const hf_ucb bound = {.size = sizeof bound, .mean = posterior, .beta = 1.0};
    for (int k = 1; k < 60; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double points[] = {sign * 0.01 * k, -sign * 0.01 * k};
            const hf_domain list = {.dimension = 1, .candidates = 2, .points = points};
            hf_argmax found;
            double at;
            assert_int_equal(hf_maximise_ucb(ctx, &bound, &list, NULL, 0, NULL, &at, &found), HF_OK);
            assert_true(found.index == 0 && at == points[0]);
        }
    hf_posterior_free(posterior);
    hf_sites_free(p.sites);
    hf_mean_free(p.mean);
    hf_kernel_free(p.kernel);
    hf_context_free(ctx);
}

/* Before there is anything to tell them apart the first one is taken. */
static void of_equals_the_first_wins(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.01)", 5, 1, false);
    const double points[] = {50.0, 60.0, 70.0, 80.0};
    double zero = 0.0, x;
    hf_mean *flat;
    hf_posterior *posterior;
    assert_int_equal(hf_mean_create(w.ctx, HF_MEAN_ZERO, 1, &flat), HF_OK);
    assert_int_equal(hf_solve_exact(w.ctx, w.p.kernel, flat, w.p.sites, w.p.x, 1, &posterior), HF_OK);
    const hf_ucb bound = {.size = sizeof bound, .mean = posterior, .beta = 1.0};
    const hf_domain list = {.dimension = 1, .candidates = 4, .points = points};
    const hf_domain box = {.dimension = 1, .lower = points, .upper = points + 3};
    hf_argmax found;
    assert_int_equal(hf_maximise_ucb(w.ctx, &bound, &list, NULL, 0, NULL, &x, &found), HF_OK);
    assert_true(found.index == 0 && x == 50.0 && found.value == 1.0);
    /* The first sample of a box, and no climb, for there is no way up. */
    hf_domain_quasirandom(&box, 0, 1, &zero);
    assert_int_equal(hf_maximise_ucb(w.ctx, &bound, &box, NULL, 0, NULL, &x, &found), HF_OK);
    assert_true(x == zero && found.climbs == 0 && found.gradient == 0.0);
    hf_posterior_free(posterior);
    hf_mean_free(flat);
    pair_close(&w);
}

/* ---- lattices and degenerate boxes --------------------------------------------------------------------- */

static void answers_lie_on_the_lattice(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.6)", 25, 2, false);
    const double steps[] = {0.5, 0.35, 0.3, 0.1, 1.0 / 2048.0, 1e-5};
    const double lower[] = {-1.9, -0.7}, upper[] = {1.3, 2.0};
    const hf_domain box = {.dimension = 2, .lower = lower, .upper = upper};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        for (size_t c = 0; c < 12; c++) {
            const hf_ucb bound = {.size = sizeof bound,
                                  .mean = w.mean,
                                  .spread = c % 2 ? w.spread : NULL,
                                  .beta = (double)c - 5.0};
            hf_search_settings settings = hf_search_settings_default();
            double exact[2], x[2];
            maximise(&w, &bound, &box, &settings, exact);
            settings.resolution = steps[k];
            maximise(&w, &bound, &box, &settings, x);
            for (size_t j = 0; j < 2; j++) {
                const double side = upper[j] - lower[j], number = (x[j] - lower[j]) / side / steps[k];
                assert_near(number, nearbyint(number), 1e-9);
                /* The nearest that is inside. */
                const double last = floor(1.0 / steps[k] + 1e-9) * steps[k] * side + lower[j];
                assert_near(x[j], fmin(exact[j], last), 0.5 * steps[k] * side + 1e-6);
            }
        }
    pair_close(&w);
}

/* With a slope through the whole box the answer is a corner; with a lattice that ends before it, the
 * lattice's last point. */
static void the_edge_of_a_box_belongs_to_it(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const double x[] = {0.0, 1.0, 2.0}, y[] = {0.0, 1.0, 2.0}, lower[] = {-0.1, 0.3}, upper[] = {0.7, 0.3};
    problem p = {.ctx = ctx};
    hf_posterior *posterior;
    assert_int_equal(hf_kernel_parse(ctx, "linear", NULL, 1, &p.kernel), HF_OK);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, 1, &p.mean), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, 3, y, 0.01, NULL, &p.sites), HF_OK);
    assert_int_equal(hf_solve_exact(ctx, p.kernel, p.mean, p.sites, x, 1, &posterior), HF_OK);
    const hf_domain box = {.dimension = 1, .lower = lower, .upper = upper};
    hf_search_settings settings = hf_search_settings_default();
    for (int sign = -1; sign <= 1; sign += 2) {
        const hf_ucb bound = {.size = sizeof bound, .mean = posterior, .beta = sign > 0 ? 1.0 : -400.0};
        const double steps[] = {0.0, 0.1, 0.25, 1.0 / 3.0, 0.3, 0.45, 1.0 / 2048.0};
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            double at;
            hf_argmax found;
            settings.resolution = steps[k];
            assert_int_equal(hf_maximise_ucb(ctx, &bound, &box, &settings, 0, NULL, &at, &found), HF_OK);
            if (sign > 0) assert_true(found.gradient == 0.0); /* it pushes out of the box */
            /* With -400 sd, which is largest at the ends, the best is where the readings' 0 lies. */
            if (sign > 0)
                assert_true(steps[k] == 0.3 || steps[k] == 0.45 ? fabs(at - (lower[0] + 0.9 * 0.8)) < 1e-12
                                                                : at == upper[0]);
            else
                assert_near(at, 0.0, steps[k] > 0.0 ? 0.5 * steps[k] * 0.8 + 1e-6 : 1e-6);
        }
    }
    hf_posterior_free(posterior);
    hf_sites_free(p.sites);
    hf_mean_free(p.mean);
    hf_kernel_free(p.kernel);
    hf_context_free(ctx);
}

/* Corners are looked at: with one sample and no climb the slope's end is found all the same. */
static void corners_are_looked_at(void **state)
{
    (void)state;
    pair w = pair_open("linear", 30, 4, false);
    hf_search_settings settings = hf_search_settings_default();
    settings.samples = 1;
    settings.starts = 0;
    for (size_t d = 1; d <= 4; d++) {
        const double context[] = {0.1, 0.2, 0.3};
        const hf_domain box = cube(d);
        const hf_ucb bound = {
            .size = sizeof bound, .mean = w.mean, .beta = 0.0, .contexts = 4 - d, .context = context};
        double x[4], best = -INFINITY;
        const hf_argmax found = maximise(&w, &bound, &box, &settings, x);
        for (size_t c = 0; c < (size_t)1 << d; c++) {
            double corner[4];
            for (size_t j = 0; j < d; j++) corner[j] = c >> j & 1 ? high[j] : low[j];
            best = fmax(best, value_at(&w, &bound, d, corner));
        }
        assert_true(found.value == best && found.climbs == 0);
    }
    pair_close(&w);
}

static void fixed_inputs_stay(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.8)", 25, 3, false);
    const double lower[] = {0.3, -2.0, 1.1}, upper[] = {0.3, 2.0, 1.1},
                 hair[] = {nextafter(0.3, 1.0), 2.0, 1.1};
    const hf_domain line = {.dimension = 3, .lower = lower, .upper = upper};
    const hf_domain point = {.dimension = 3, .lower = lower, .upper = lower};
    const hf_domain thin = {.dimension = 3, .lower = lower, .upper = hair};
    const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .beta = 2.0};
    hf_search_settings settings = hf_search_settings_default();
    for (size_t k = 0; k < 2; k++) {
        double x[3], best = -INFINITY;
        settings.resolution = k ? 1e-4 : 0.0;
        const hf_argmax found = maximise(&w, &bound, &line, &settings, x);
        for (size_t i = 0; i <= 4000; i++)
            best = fmax(best, value_at(&w, &bound, 3, (double[]){0.3, -2.0 + 0.001 * (double)i, 1.1}));
        assert_true(x[0] == 0.3 && x[2] == 1.1);
        assert_true(found.value >= best - (k ? 1e-5 : 1e-12));
        const hf_argmax only = maximise(&w, &bound, &point, &settings, x);
        assert_memory_equal(x, lower, sizeof x);
        assert_true(only.climbs == 0 && only.gradient == 0.0);
        assert_true(maximise(&w, &bound, &thin, &settings, x).value >= found.value - 1e-3);
    }
    pair_close(&w);
}

/* ---- what is asked for --------------------------------------------------------------------------------- */

/* With no climbs and one sample the answer is the best of what is looked at, and a guess can be it. */
static void guesses_are_looked_at_and_climbed_from(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.3)", 15, 2, false);
    const hf_domain box = cube(2);
    const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .beta = 3.0};
    hf_search_settings settings = hf_search_settings_default();
    double best[2], x[2];
    const hf_argmax top = maximise(&w, &bound, &box, NULL, best);
    settings.samples = 1;
    settings.starts = 0;
    const hf_argmax poor = maximise(&w, &bound, &box, &settings, x);
    assert_true(poor.value < top.value - 0.01 && poor.climbs == 0);
    const double guesses[] = {9.0, 9.0, best[0], best[1]}, near[] = {best[0] + 0.05, best[1] - 0.05};
    hf_argmax found;
    assert_int_equal(hf_maximise_ucb(w.ctx, &bound, &box, &settings, 2, guesses, x, &found), HF_OK);
    assert_memory_equal(x, best, sizeof x);
    assert_int_equal(found.evaluations, poor.evaluations + 2);
    settings.starts = 1;
    assert_int_equal(hf_maximise_ucb(w.ctx, &bound, &box, &settings, 1, near, x, &found), HF_OK);
    assert_near(found.value, top.value, 1e-9);
    assert_int_equal(found.climbs, 1);
    /* Outside, it is put into the box. */
    const double left[] = {-2.0, -2.0}, small[] = {-1.999, -1.999}, outside[] = {-7.0, -7.0};
    const hf_domain corner = {.dimension = 2, .lower = left, .upper = small};
    assert_int_equal(hf_maximise_ucb(w.ctx, &bound, &corner, NULL, 1, outside, x, NULL), HF_OK);
    assert_true(hf_domain_contains(&corner, x, NULL));
    pair_close(&w);
}

static void threads_change_no_digit(void **state)
{
    (void)state;
    pair w = pair_open("matern52(ard) + linear", 90, 2, false);
    const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .spread = w.spread, .beta = 1.0},
                 alone = {.size = sizeof alone, .mean = w.mean, .beta = 1.0};
    double *points = problem_inputs(2000, 2, 8), x[2][2];
    const hf_domain domains[] = {cube(2), {.dimension = 2, .candidates = 2000, .points = points}};
    hf_search_settings settings = hf_search_settings_default();
    settings.samples = 2000; /* 90^2 times that: more than what is done by one thread */
    for (size_t k = 0; k < 4; k++) {
        hf_argmax found[2];
        for (int t = 0; t < 2; t++) {
            assert_int_equal(hf_context_set_threads(w.ctx, 1 + 3 * t), HF_OK);
            assert_int_equal(hf_maximise_ucb(w.ctx, k < 2 ? &bound : &alone, domains + k % 2, &settings, 0,
                                             NULL, x[t], found + t),
                             HF_OK);
            assert_int_equal(hf_context_threads(w.ctx), 1 + 3 * t);
            found[t].seconds = 0.0;
        }
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        assert_memory_equal(found, found + 1, sizeof *found);
    }
    free(points);
    pair_close(&w);
}

typedef struct watch {
    const char *stage; /* to be cancelled */
    size_t seen, after;
} watch;

static bool look(const char *stage, double done, double value, void *user)
{
    watch *w = user;
    (void)value;
    assert_true(done >= 0.0 && done <= 1.0);
    return strcmp(stage, w->stage) != 0 || w->seen++ < w->after;
}

static void a_search_can_be_cancelled(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.2)", 20, 1, false);
    const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .spread = w.spread, .beta = 1.0};
    const double points[] = {0.0, 1.0};
    const hf_domain box = cube(1), list = {.dimension = 1, .candidates = 2, .points = points};
    const struct {
        const char *stage;
        size_t after;
        const hf_domain *domain;
    } cases[] = {{"predict", 0, &box},
                 {"predict", 1, &box},
                 {"maximise", 0, &box},
                 {"maximise", 2, &box},
                 {"predict", 0, &list}};
    assert_int_equal(hf_context_set_threads(w.ctx, 3), HF_OK);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        watch stop = {.stage = cases[k].stage, .after = cases[k].after};
        double x = 7.0;
        hf_argmax found = {.evaluations = 77};
        hf_context_set_progress(w.ctx, look, &stop);
        assert_int_equal(hf_maximise_ucb(w.ctx, &bound, cases[k].domain, NULL, 0, NULL, &x, &found),
                         HF_ERR_CANCELLED);
        assert_true(x == 7.0 && found.evaluations == 77);
        assert_int_equal(stop.seen, cases[k].after + 1);
        assert_int_equal(hf_context_threads(w.ctx), 3);
    }
    pair_close(&w);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.5)", 12, 2, false);
    const double points[] = {0.0, 1.0, -1.0, 0.5}, guess[] = {0.1}, context = 0.2;
    const hf_domain box = cube(1), list = {.dimension = 1, .candidates = 4, .points = points};
    const hf_ucb bound = {.size = sizeof bound,
                          .mean = w.mean,
                          .spread = w.spread,
                          .beta = 1.0,
                          .contexts = 1,
                          .context = &context};
    counter c = {0};
    hf_context *ctx = counter_context(&c);
    const long live = c.live;
    for (size_t k = 0; k < 2; k++) {
        hf_status status = HF_ERR_MEMORY;
        size_t failed = 0;
        while (status == HF_ERR_MEMORY) {
            double x = 7.0;
            hf_argmax found = {.evaluations = 77};
            c.fail = c.calls + ++failed;
            status = hf_maximise_ucb(ctx, &bound, k ? &list : &box, NULL, 1, guess, &x, &found);
            c.fail = 0;
            assert_int_equal(c.live, live);
            assert_true((status == HF_ERR_MEMORY) == (x == 7.0) && (status < 0) == (found.evaluations == 77));
            if (status < 0) assert_non_null(strstr(hf_context_message(ctx), "out of memory"));
        }
        assert_int_equal(status, HF_OK);
        assert_true(failed > 15);
    }
    hf_context_free(ctx);
    pair_close(&w);
}

/* ---- what is refused ----------------------------------------------------------------------------------- */

typedef struct request {
    hf_ucb bound;
    hf_domain domain;
    hf_search_settings settings;
    size_t guess_count;
    const double *guesses;
} request;

static void refused(const pair *w, request r, hf_status expected, const char *word)
{
    double x[2] = {7.0, 8.0};
    hf_argmax found = {.evaluations = 77};
    const hf_status status =
        hf_maximise_ucb(w->ctx, &r.bound, &r.domain, &r.settings, r.guess_count, r.guesses, x, &found);
    const char *message = hf_context_message(w->ctx);
    if (status != expected || strstr(message, word) == NULL)
        fail_msg("%s: '%s' does not say '%s'", hf_status_name(status), message, word);
    assert_true(x[0] == 7.0 && x[1] == 8.0 && found.evaluations == 77);
}

static void nonsense_is_refused_and_nothing_touched(void **state)
{
    (void)state;
    pair w = pair_open("9*se", 8, 2, false), other = pair_open("se", 8, 3, false);
    const double none[] = {NAN, 0.0}, upside[] = {-3.0, 2.0}, wild[] = {0.0, 0.0, 0.0, INFINITY};
    const request good = {{.size = sizeof(hf_ucb), .mean = w.mean, .beta = 1.0},
                          cube(2),
                          hf_search_settings_default(),
                          0,
                          NULL};
    const hf_domain list = {.dimension = 2, .candidates = 2, .points = wild};
    request r;
    r = good, r.bound.mean = NULL, refused(&w, r, HF_ERR_ARGUMENT, "NULL");
    r = good, r.bound.beta = NAN, refused(&w, r, HF_ERR_NOT_FINITE, "beta");
    r = good, r.bound.beta = INFINITY, refused(&w, r, HF_ERR_NOT_FINITE, "beta");
    r = good, r.bound.beta = 1.7e308, refused(&w, r, HF_ERR_NOT_FINITE, "overflows");
    r = good, r.bound.spread = other.mean, refused(&w, r, HF_ERR_DIMENSION, "deviation has 3");
    r = good, r.bound.mean = other.mean, refused(&w, r, HF_ERR_DIMENSION, "mean has 3");
    r = good, r.domain = cube(3), refused(&w, r, HF_ERR_DIMENSION, "2 inputs");
    r = good, r.bound.contexts = 1, r.bound.context = wild, refused(&w, r, HF_ERR_DIMENSION, "1 follow");
    r.domain = cube(1), r.bound.context = none, refused(&w, r, HF_ERR_NOT_FINITE, "behind");
    r.bound.context = NULL, refused(&w, r, HF_ERR_ARGUMENT, "NULL");
    r.bound.contexts = SIZE_MAX, r.bound.context = wild, refused(&w, r, HF_ERR_DIMENSION, "follow");
    r = good, r.domain.dimension = 0, refused(&w, r, HF_ERR_ARGUMENT, "no inputs");
    r = good, r.domain.upper = upside, r.domain.lower = none, refused(&w, r, HF_ERR_NOT_FINITE, "input 0");
    r = good, r.domain.upper = upside, refused(&w, r, HF_ERR_ARGUMENT, "input 0");
    r = good, r.domain = list, refused(&w, r, HF_ERR_NOT_FINITE, "candidate 1");
    r = good, r.settings.resolution = NAN, refused(&w, r, HF_ERR_ARGUMENT, "resolution");
    r = good, r.settings.resolution = -0.1, refused(&w, r, HF_ERR_ARGUMENT, "resolution");
    r = good, r.settings.resolution = 0.51, refused(&w, r, HF_ERR_ARGUMENT, "resolution");
    r = good, r.settings.iterations = 0, refused(&w, r, HF_ERR_ARGUMENT, "iterations");
    r = good, r.settings.samples = SIZE_MAX, refused(&w, r, HF_ERR_MEMORY, "memory");
    r = good, r.settings.samples = SIZE_MAX / 16, refused(&w, r, HF_ERR_MEMORY, "memory");
    r = good, r.guess_count = 1, refused(&w, r, HF_ERR_ARGUMENT, "NULL");
    r = good, r.guess_count = 2, r.guesses = wild, refused(&w, r, HF_ERR_NOT_FINITE, "guess 1");
    double x[2] = {7.0, 8.0};
    assert_int_equal(hf_maximise_ucb(w.ctx, NULL, &good.domain, NULL, 0, NULL, x, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_maximise_ucb(w.ctx, &good.bound, NULL, NULL, 0, NULL, x, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_maximise_ucb(w.ctx, &good.bound, &good.domain, NULL, 0, NULL, NULL, NULL),
                     HF_ERR_ARGUMENT);
    assert_true(x[0] == 7.0 && x[1] == 8.0);
    pair_close(&other);
    pair_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_place_of_a_dense_grid_is_better),
        cmocka_unit_test(climbs_stay_on_their_hills),
        cmocka_unit_test(contexts_are_held),
        cmocka_unit_test(more_inputs_are_searched_as_well),
        cmocka_unit_test(narrow_tops_at_readings_are_found),
        cmocka_unit_test(starts_keep_their_distance),
        cmocka_unit_test(candidates_are_all_looked_at),
        cmocka_unit_test(ties_that_were_rounded_are_ties),
        cmocka_unit_test(of_equals_the_first_wins),
        cmocka_unit_test(answers_lie_on_the_lattice),
        cmocka_unit_test(the_edge_of_a_box_belongs_to_it),
        cmocka_unit_test(corners_are_looked_at),
        cmocka_unit_test(fixed_inputs_stay),
        cmocka_unit_test(guesses_are_looked_at_and_climbed_from),
        cmocka_unit_test(threads_change_no_digit),
        cmocka_unit_test(a_search_can_be_cancelled),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(nonsense_is_refused_and_nothing_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
