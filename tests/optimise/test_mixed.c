/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes with lattices and categories: what is refused, what is inside, how they are filled, and that the
 * largest value is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimise/bounds.h"
#include <holdfast/trust_region.h>

/* ---- domains ------------------------------------------------------------------------------------------- */

static const double lower[] = {0.0, -1.0, 2.0, 0.0}, upper[] = {0.35, 1.0, 2.9, 3.0},
                    step[] = {0.1, 0.0, 0.5, 0.0};
static const bool category[] = {false, false, false, true};
static const hf_domain mixed = {
    .dimension = 4, .lower = lower, .upper = upper, .step = step, .category = category};

static void refused(hf_context *ctx, hf_domain domain, const char *word)
{
    assert_int_equal(hf_domain_check(ctx, &domain), HF_ERR_ARGUMENT);
    if (strstr(hf_context_message(ctx), word) == NULL)
        fail_msg("'%s' does not say '%s'", hf_context_message(ctx), word);
}

static void steps_without_sense_are_refused(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const double negative[] = {0.1, -0.5, 0.0, 0.0}, none[] = {NAN, 0.0, 0.0, 0.0},
                 wide[] = {0.1, 0.0, 0.0, 2.0}, fine[] = {1e-11, 0.0, 0.0, 0.0};
    const double many[] = {0.35, 1.0, 2.9, 1024.0}, most[] = {0.35, 1.0, 2.9, 1023.0};
    hf_domain d;
    assert_int_equal(hf_domain_check(ctx, &mixed), HF_OK);
    d = mixed, d.step = negative, refused(ctx, d, "input 1 (counted from 0) is -0.5");
    d = mixed, d.step = none, refused(ctx, d, "input 0");
    d = mixed, d.step = wide, refused(ctx, d, "that of a category");
    d = mixed, d.step = fine, refused(ctx, d, "continuous");
    d = mixed, d.upper = many, refused(ctx, d, "1025 categories");
    d = mixed, d.upper = most, assert_int_equal(hf_domain_check(ctx, &d), HF_OK);
    hf_context_free(ctx);
}

static void the_values_are_those_of_the_lattice(void **state)
{
    (void)state;
    const double in[][4] = {{0.0, 0.123, 2.0, 0.0}, {0.1 + 0.2, -1.0, 2.5, 3.0}, {0.3, 1.0, 2.5, 2.0}};
    const double out[][4] = {{0.35, 0.0, 2.0, 0.0}, {0.4, 0.0, 2.0, 0.0},  {0.1, 1.1, 2.0, 0.0},
                             {0.1, 0.0, 2.9, 0.0},  {0.1, 0.0, 2.0, 4.0},  {0.1, 0.0, 2.0, 1.0 + 1e-12},
                             {NAN, 0.0, 2.0, 0.0},  {0.1, 0.0, NAN, 0.0},  {0.1, 0.0, 2.0, INFINITY},
                             {-0.1, 0.0, 2.0, 0.0}, {0.1, 0.0, 2.0, -1.0}, {0.101, 0.0, 2.0, 1.0}};
    for (size_t k = 0; k < sizeof in / sizeof *in; k++) assert_true(hf_domain_contains(&mixed, in[k], NULL));
    for (size_t k = 0; k < sizeof out / sizeof *out; k++)
        assert_false(hf_domain_contains(&mixed, out[k], NULL));
    const size_t levels[] = {4, 0, 2, 4};
    for (size_t j = 0; j < 4; j++) {
        assert_int_equal(hfi_domain_levels(&mixed, j), levels[j]);
        for (size_t k = 0; k < levels[j]; k++)
            assert_int_equal(hfi_domain_level_of(&mixed, j, hfi_domain_level(&mixed, j, k)), k);
    }
    assert_near(hfi_domain_nearest(&mixed, 0, 0.24), 0.2, 1e-15);
    assert_near(hfi_domain_nearest(&mixed, 0, 9.0), 0.3, 1e-15);
    assert_near(hfi_domain_nearest(&mixed, 1, 9.0), 1.0, 0.0);
}

/* Every value is taken equally often, within what a sequence of low discrepancy owes. */
static void lattices_are_filled_evenly(void **state)
{
    (void)state;
    enum {
        N = 400
    };
    static double x[4 * N];
    size_t taken[4][4] = {{0}};
    hf_domain_quasirandom(&mixed, 3, N, x);
    for (size_t i = 0; i < N; i++) {
        assert_true(hf_domain_contains(&mixed, x + 4 * i, NULL));
        for (size_t j = 0; j < 4; j++)
            if (j != 1) taken[j][hfi_domain_level_of(&mixed, j, x[4 * i + j])]++;
    }
    for (size_t j = 0; j < 4; j++)
        for (size_t k = 0; k < hfi_domain_levels(&mixed, j); k++) {
            const double each = (double)N / (double)hfi_domain_levels(&mixed, j);
            assert_true(fabs((double)taken[j][k] - each) < 0.06 * N);
        }
}

/* One, two, four steps up and down, and every other code; each differs from where it is in one input. */
static void neighbours_are_a_few_steps_away(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const double up[] = {10.0, 1.0, 3.0}, down[] = {0.0, 0.0, 0.0}, each[] = {1.0, 0.0, 0.0};
    const bool codes[] = {false, false, true};
    const hf_domain d = {.dimension = 3, .lower = down, .upper = up, .step = each, .category = codes};
    const size_t inputs[] = {0, 2};
    const double here[] = {3.0, 0.5, 1.0};
    const double expected[][2] = {{2.0, 1.0}, {4.0, 1.0}, {1.0, 1.0}, {5.0, 1.0},
                                  {7.0, 1.0}, {3.0, 0.0}, {3.0, 2.0}, {3.0, 3.0}};
    hfi_walk walk;
    assert_int_equal(hfi_walk_begin(ctx, &d, 2, inputs, &walk), HF_OK);
    assert_int_equal(hfi_walk_neighbours(&walk, here), 8);
    for (size_t k = 0; k < 8; k++) {
        assert_near(walk.points[3 * k], expected[k][0], 0.0);
        assert_near(walk.points[3 * k + 1], 0.5, 0.0);
        assert_near(walk.points[3 * k + 2], expected[k][1], 0.0);
    }
    hfi_walk_end(ctx, &walk);
    hf_context_free(ctx);
}

/* ---- the largest value --------------------------------------------------------------------------------- */

/* A lattice of few points is searched wholly. */
static void small_lattices_are_searched_wholly(void **state)
{
    (void)state;
    const double from[] = {-2.0, -2.0, 0.0}, to[] = {2.0, 1.7, 2.0}, by[] = {0.5, 0.3, 0.0};
    const bool codes[] = {false, false, true};
    const hf_domain lattice = {.dimension = 3, .lower = from, .upper = to, .step = by, .category = codes};
    for (size_t c = 0; c < 8; c++) {
        pair w = pair_open(c % 2 ? "se(lengthscale=0.3)" : "matern32(lengthscale=0.9)", 20 + c, 3, false);
        const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .beta = 0.5 * (double)c - 1.0};
        double x[3], best = -INFINITY;
        const hf_argmax found = maximise(&w, &bound, &lattice, NULL, x);
        for (size_t i = 0; i < 9 * 13 * 3; i++) {
            const double at[] = {-2.0 + 0.5 * (double)(i % 9), -2.0 + 0.3 * (double)(i / 9 % 13),
                                 (double)(i / 117)};
            best = fmax(best, value_at(&w, &bound, 3, at));
        }
        assert_near(found.value, best, 1e-9);
        assert_int_equal(found.evaluations >= 351, true);
        pair_close(&w);
    }
}

/* Continuous and discrete inputs together: no point of a dense grid under any combination is better. */
static void no_combination_is_better(void **state)
{
    (void)state;
    const double from[] = {-2.0, 0.0, -2.0}, to[] = {2.0, 3.0, 2.0}, by[] = {0.0, 0.0, 0.25};
    const bool codes[] = {false, true, false};
    const hf_domain box = {.dimension = 3, .lower = from, .upper = to, .step = by, .category = codes};
    for (size_t c = 0; c < 6; c++) {
        pair w = pair_open(c % 2 ? "se(lengthscale=0.5)" : "matern52(lengthscale=0.8)", 30, 3, false);
        const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .beta = 0.4 * (double)c};
        double x[3], best = -INFINITY;
        const hf_argmax found = maximise(&w, &bound, &box, NULL, x);
        for (size_t k = 0; k < 4; k++)
            for (size_t l = 0; l < 17; l++)
                for (size_t i = 0; i <= 100; i++) {
                    const double at[] = {-2.0 + 0.04 * (double)i, (double)k, -2.0 + 0.25 * (double)l};
                    best = fmax(best, value_at(&w, &bound, 3, at));
                }
        if (!(found.value >= best - 1e-12))
            fail_msg("case %zu: %.9g, the grid has %.9g", c, found.value, best);
        assert_true(found.gradient < 1e-3);
        pair_close(&w);
    }
}

/* A lattice too fine to be searched wholly, from one start: steps lead to the top, from both sides, and stop where no
 * neighbour is better. */
static void steps_lead_to_the_top(void **state)
{
    (void)state;
    const double from[] = {-2.0, -2.0}, to[] = {2.0, 2.0}, by[] = {0.001, 0.001};
    const hf_domain fine = {.dimension = 2, .lower = from, .upper = to, .step = by}, box = cube(2);
    hf_search_settings settings = hf_search_settings_default();
    settings.samples = 64;
    pair w = pair_open("se(lengthscale=0.9)", 30, 2, false);
    for (size_t c = 0; c < 4; c++) {
        const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .beta = 0.7 * (double)c};
        double x[2], y[2];
        const hf_argmax top = maximise(&w, &bound, &box, NULL, y);
        settings.starts = 0;
        const double looked = maximise(&w, &bound, &fine, &settings, x).value;
        settings.starts = 6;
        const hf_argmax found = maximise(&w, &bound, &fine, &settings, x);
        assert_true(found.value > looked && found.climbs == 0);
        assert_near(found.value, top.value, 2e-5);
    }
    pair_close(&w);
}

/* Fixed ones among them, guesses off the lattice, threads. */
static void answers_are_of_the_domain_whatever_is_asked(void **state)
{
    (void)state;
    pair w = pair_open("matern52(lengthscale=0.8)", 30, 4, false);
    const double from[] = {-2.0, 1.0, -2.0, 0.5}, to[] = {2.0, 1.0, 2.0, 0.7}, by[] = {0.7, 0.0, 0.0, 1.0};
    const bool codes[] = {false, true, false, false};
    const hf_domain box = {.dimension = 4, .lower = from, .upper = to, .step = by, .category = codes};
    const double guesses[] = {0.33, 5.0, 0.1, 0.6};
    const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .beta = 1.0};
    hf_argmax found[2];
    double x[2][4];
    for (int t = 0; t < 2; t++) {
        assert_int_equal(hf_context_set_threads(w.ctx, 1 + 3 * t), HF_OK);
        assert_int_equal(hf_maximise_ucb(w.ctx, &bound, &box, NULL, 1, guesses, x[t], found + t), HF_OK);
        assert_true(hf_domain_contains(&box, x[t], NULL));
        assert_true(x[t][1] == 1.0 && x[t][3] == 0.5);
        found[t].seconds = 0.0;
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(found, found + 1, sizeof *found);
    pair_close(&w);
}

/* The box of a trust region ends on the lattice, so that its own lattice is part of the whole one; a category
 * stays whole. */
static void trust_regions_keep_to_the_lattice(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const double from[] = {0.0, -1.0, 0.0}, to[] = {1.0, 1.0, 4.0}, by[] = {0.1, 0.0, 0.0},
                 centre[] = {0.5, 0.2, 3.0};
    const bool codes[] = {false, false, true};
    const hf_domain whole = {.dimension = 3, .lower = from, .upper = to, .step = by, .category = codes};
    const hf_trust_region region = {.side = 0.25, .failures_allowed = 3};
    double low_end[3], high_end[3], x[3 * 50];
    assert_int_equal(hf_trust_region_box(ctx, &region, &whole, centre, NULL, low_end, high_end), HF_OK);
    assert_near(low_end[0], 0.4, 1e-12);
    assert_near(high_end[0], 0.6, 1e-12);
    assert_near(low_end[1], -0.05, 1e-12);
    assert_true(low_end[2] == 0.0 && high_end[2] == 4.0);
    const hf_domain part = {
        .dimension = 3, .lower = low_end, .upper = high_end, .step = by, .category = codes};
    hf_domain_quasirandom(&part, 0, 50, x);
    for (size_t i = 0; i < 50; i++) assert_true(hf_domain_contains(&whole, x + 3 * i, NULL));
    assert_int_equal(hf_trust_candidates(ctx, &part, centre, 1, 50, x), HF_OK);
    for (size_t i = 0; i < 50; i++) assert_true(hf_domain_contains(&whole, x + 3 * i, NULL));
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_without_sense_are_refused),
        cmocka_unit_test(the_values_are_those_of_the_lattice),
        cmocka_unit_test(lattices_are_filled_evenly),
        cmocka_unit_test(neighbours_are_a_few_steps_away),
        cmocka_unit_test(small_lattices_are_searched_wholly),
        cmocka_unit_test(no_combination_is_better),
        cmocka_unit_test(steps_lead_to_the_top),
        cmocka_unit_test(answers_are_of_the_domain_whatever_is_asked),
        cmocka_unit_test(trust_regions_keep_to_the_lattice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
