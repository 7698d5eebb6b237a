/* SPDX-License-Identifier: Apache-2.0 */
/* Trust regions: what success and failure do to them, their boxes, and the points inside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimise/optimise.h"
#include <holdfast/trust_region.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDE = 80
};

static hf_trust_region region_of(hf_context *ctx, const hf_trust_settings *s, size_t d, size_t batch)
{
    hf_trust_region region = {.side = 0.0};
    assert_int_equal(hf_trust_region_create(ctx, s, d, batch, &region), HF_OK);
    return region;
}

static hf_trust_event round_of(hf_context *ctx, const hf_trust_settings *s, hf_trust_region *region,
                               double before, double after, double scale)
{
    const hf_trust_outcome outcome = {.before = before, .after = after, .scale = scale};
    hf_trust_event event = HF_TRUST_KEPT;
    assert_int_equal(hf_trust_region_update(ctx, s, &outcome, region, &event), HF_OK);
    return event;
}

static void success_doubles_and_failure_halves(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_trust_settings s = hf_trust_settings_default();
    s.successes = 3;
    hf_trust_region region = region_of(ctx, &s, 6, 1);
    assert_int_equal(region.failures_allowed, 6);
    assert_int_equal(round_of(ctx, &s, &region, 0.0, 1.0, 1.0), HF_TRUST_KEPT);
    assert_int_equal(round_of(ctx, &s, &region, 0.0, 0.002, 1.0), HF_TRUST_KEPT);
    /* A failure between them: they are counted in a row. */
    assert_int_equal(round_of(ctx, &s, &region, 0.0, 0.0005, 1.0), HF_TRUST_KEPT);
    assert_int_equal(region.successes, 0);
    assert_int_equal(region.failures, 1);
    for (int k = 0; k < 2; k++) assert_int_equal(round_of(ctx, &s, &region, 0.0, 1.0, 1.0), HF_TRUST_KEPT);
    assert_int_equal(round_of(ctx, &s, &region, 0.0, 1.0, 1.0), HF_TRUST_GREW);
    assert_true(region.side == 1.6);
    for (int k = 0; k < 3; k++) /* no larger than the largest */
        assert_int_equal(round_of(ctx, &s, &region, 0.0, 1.0, 1.0), HF_TRUST_KEPT);
    assert_true(region.side == 1.6);
    size_t rounds = 0, shrunk = 0;
    hf_trust_event event = HF_TRUST_KEPT;
    while (event != HF_TRUST_ENDED) {
        event = round_of(ctx, &s, &region, 5.0, 4.0, 1.0);
        shrunk += event == HF_TRUST_SHRANK;
        rounds++;
        assert_true(rounds < 100);
    }
    assert_int_equal(shrunk, 7); /* 0.8 ... 0.0125; the eighth is below 2^-7 */
    assert_int_equal(rounds, 8 * 6);
    const hf_trust_outcome more = {.before = 0.0, .after = 1.0, .scale = 1.0};
    assert_int_equal(hf_trust_region_update(ctx, &s, &more, &region, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "restart"));
    assert_int_equal(hf_trust_region_restart(ctx, &s, &region), HF_OK);
    assert_true(region.side == 0.8);
    assert_int_equal(region.restarts, 1);
    assert_int_equal(region.failures, 0);
    assert_int_equal(hf_trust_region_update(ctx, &s, &more, &region, NULL), HF_OK);
    hf_context_free(ctx);
}

static void failures_and_improvements_follow_their_rules(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const size_t d[] = {1, 4, 6, 60, 60}, batch[] = {1, 3, 4, 10, 100}, expected[] = {4, 2, 2, 6, 1};
    for (size_t k = 0; k < 5; k++)
        assert_int_equal(region_of(ctx, NULL, d[k], batch[k]).failures_allowed, expected[k]);
    hf_trust_settings s = hf_trust_settings_default();
    s.failures = 32;
    assert_int_equal(region_of(ctx, &s, 6, 1).failures_allowed, 32);
    /* Without a unit the improvement is a share of the value, as published. */
    hf_trust_region region = region_of(ctx, &s, 2, 1);
    round_of(ctx, &s, &region, -1000.0, -999.5, 0.0);
    assert_int_equal(region.failures, 1);
    round_of(ctx, &s, &region, -1000.0, -998.5, 0.0);
    assert_int_equal(region.successes, 1);
    hf_context_free(ctx);
}

static void a_box_has_the_shape_of_the_lengthscales(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double lower[] = {0.0, -10.0, 2.0, 0.0}, upper[] = {1.0, 10.0, 2.0, 3.0};
    const hf_domain domain = {.dimension = 4, .lower = lower, .upper = upper};
    const double centre[] = {0.5, 0.0, 2.0, 1.0}, lengthscales[] = {0.4, 2.0, 0.1, INFINITY};
    hf_trust_region region = region_of(ctx, NULL, 3, 1);
    region.side = 0.25;
    double from[4], to[4];
    assert_int_equal(hf_trust_region_box(ctx, &region, &domain, centre, lengthscales, from, to), HF_OK);
    /* Shares 0.4 and 0.1 have the geometric mean 0.2: weights 2 and 1/2. */
    const double expected[] = {0.25, 1.25, 0.0};
    for (size_t j = 0; j < 3; j++) {
        assert_true(fabs(centre[j] - from[j] - expected[j]) < 1e-12);
        assert_true(fabs(to[j] - centre[j] - expected[j]) < 1e-12);
    }
    assert_true(from[3] == 0.0 && to[3] == 3.0);
    assert_int_equal(hf_trust_region_box(ctx, &region, &domain, centre, NULL, from, to), HF_OK);
    assert_true(fabs(to[1] - 2.5) < 1e-12 && fabs(to[3] - 1.375) < 1e-12 && fabs(from[0] - 0.375) < 1e-12);
    region.side = 1.6; /* cut at the domain's faces */
    assert_int_equal(hf_trust_region_box(ctx, &region, &domain, centre, NULL, from, to), HF_OK);
    for (size_t j = 0; j < 4; j++) assert_true(from[j] >= lower[j] && to[j] <= upper[j]);
    assert_true(from[0] == 0.0 && to[0] == 1.0 && to[3] == 3.0);
    hf_context_free(ctx);
}

static void candidates_keep_a_few_inputs(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    enum {
        COUNT = 200
    };
    double lower[WIDE], upper[WIDE], centre[WIDE];
    double *x = calloc((size_t)COUNT * WIDE, sizeof *x), *again = calloc((size_t)COUNT * WIDE, sizeof *x);
    assert_true(x != NULL && again != NULL);
    for (size_t j = 0; j < WIDE; j++) {
        lower[j] = -1.0;
        upper[j] = j == 3 ? -1.0 : 2.0;
        centre[j] = j == 3 ? -1.0 : 0.5;
    }
    const hf_domain box = {.dimension = WIDE, .lower = lower, .upper = upper};
    assert_int_equal(hf_trust_candidates(ctx, &box, centre, 1, COUNT, x), HF_OK);
    assert_int_equal(hf_trust_candidates(ctx, &box, centre, 1, COUNT, again), HF_OK);
    assert_memory_equal(x, again, (size_t)COUNT * WIDE * sizeof *x);
    assert_int_equal(hf_trust_candidates(ctx, &box, centre, 2, COUNT, again), HF_OK);
    assert_memory_not_equal(x, again, (size_t)COUNT * WIDE * sizeof *x);
    size_t moved = 0;
    for (size_t i = 0; i < COUNT; i++) {
        size_t here = 0;
        for (size_t j = 0; j < WIDE; j++) here += x[i * WIDE + j] != centre[j];
        assert_true(hf_domain_contains(&box, x + i * WIDE, NULL));
        assert_true(here > 0);
        moved += here;
    }
    /* 20 of 79 on average: over 200 points the mean has sd 0.28. */
    assert_true(fabs((double)moved / COUNT - 20.0) < 1.5);
    const hf_domain few = {.dimension = 3, .lower = lower, .upper = upper};
    assert_int_equal(hf_trust_candidates(ctx, &few, centre, 1, COUNT, x), HF_OK);
    for (size_t k = 0; k < 3 * (size_t)COUNT; k++) assert_true(x[k] != 0.5);
    free(x);
    free(again);
    hf_context_free(ctx);
}

static void draws_share_the_candidates(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double samples[] = {0.0, 3.0, 1.0, 3.0, /* of equals the first */
                              5.0, 9.0, 5.0, 1.0, /* the best is taken */
                              8.0, 9.0, 2.0, 1.0};
    size_t chosen[3] = {9, 9, 9};
    assert_int_equal(hf_trust_choose(ctx, 3, 4, samples, chosen), HF_OK);
    assert_int_equal(chosen[0], 1);
    assert_int_equal(chosen[1], 0);
    assert_int_equal(chosen[2], 2);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_doubles_and_failure_halves),
        cmocka_unit_test(failures_and_improvements_follow_their_rules),
        cmocka_unit_test(a_box_has_the_shape_of_the_lengthscales),
        cmocka_unit_test(candidates_keep_a_few_inputs),
        cmocka_unit_test(draws_share_the_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
