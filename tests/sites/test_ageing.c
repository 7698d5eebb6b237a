/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of ageing against their formulas, their inverses against themselves, and what becomes of sites. */
#include "sites/sites.h"

#include <holdfast/ageing.h>

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    N = 6,
    ENTRIES = 4
};

static const double AGES[ENTRIES] = {0.5, 1.0, 3.0, 4.0};
static const double ADDED[ENTRIES] = {0.0, 0.25, 0.25, 2.0};

static hf_age_law law_of(hf_age_kind kind, double rate)
{
    return (hf_age_law){.kind = kind, .rate = rate, .entries = ENTRIES, .ages = AGES, .added = ADDED};
}

static int setup(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int teardown(void **state)
{
    hf_context_free(*state);
    return 0;
}

/* The header's table, as it is written there. */
static double formula(const hf_age_law *law, double v, double a)
{
    const double r = law->rate;
    switch (law->kind) {
    case HF_AGE_QUADRATIC:
        return v + pow(r * a, 2.0);
    case HF_AGE_LINEAR:
        return pow(sqrt(v) + r * a, 2.0);
    case HF_AGE_EXPONENTIAL:
        return v * exp(r * a);
    case HF_AGE_WIENER:
        return v + r * r * a;
    case HF_AGE_TABLE:
        if (a > 4.0) return INFINITY;
        if (a <= 0.5) return v;
        if (a <= 1.0) return v + 0.5 * (a - 0.5);
        return a <= 3.0 ? v + 0.25 : v + 0.25 + 1.75 * (a - 3.0);
    default:
        return v;
    }
}

static void names_go_there_and_back(void **state)
{
    hf_context *ctx = *state;
    hf_age_kind kind = HF_AGE_NONE;
    for (int k = HF_AGE_NONE; k <= HF_AGE_TABLE; k++) {
        assert_int_equal(
            hf_enum_parse(ctx, HF_ENUM_AGE_KIND, hf_enum_name(HF_ENUM_AGE_KIND, (unsigned)k), &kind), HF_OK);
        assert_int_equal(kind, k);
    }
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_AGE_KIND, "sudden", &kind), HF_ERR_ARGUMENT);
    assert_int_equal(kind, HF_AGE_TABLE);
    for (int k = HF_AGE_NONE; k <= HF_AGE_TABLE; k++)
        assert_non_null(strstr(hf_context_message(ctx), hf_enum_name(HF_ENUM_AGE_KIND, (unsigned)k)));
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_AGE_KIND, NULL, &kind), HF_ERR_ARGUMENT);
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_AGE_KIND, "linear", NULL), HF_ERR_ARGUMENT);
    assert_string_equal(hf_enum_name(HF_ENUM_AGE_KIND, (unsigned)6), "unknown");
    assert_string_equal(hf_enum_name(HF_ENUM_AGE_KIND, (unsigned)-1), "unknown");
}

static void every_law_is_its_formula(void **state)
{
    const double variances[] = {0.0, 1e-6, 0.04, 1.0, 37.0}, rates[] = {0.0, 1e-3, 0.3, 2.0};
    for (int kind = HF_AGE_NONE; kind <= HF_AGE_TABLE; kind++)
        for (size_t r = 0; r < 4; r++)
            for (size_t v = 0; v < 5; v++) {
                const hf_age_law law = law_of((hf_age_kind)kind, rates[r]);
                assert_int_equal(hf_age_law_check(*state, &law), HF_OK);
                assert_true(hf_age_variance(&law, variances[v], 0.0) == variances[v]);
                double before = variances[v];
                for (double a = 0.0; a < 6.0; a += 0.03125) {
                    const double d = hf_age_variance(&law, variances[v], a),
                                 expected = formula(&law, variances[v], a);
                    if (isinf(expected))
                        assert_true(isinf(d) && d > 0.0);
                    else
                        assert_near(d, expected, 4e-15 * expected);
                    assert_true(d >= before);
                    assert_true(d <= hf_age_variance(&law, variances[v] * 1.01 + 1e-9, a));
                    assert_true(d == hf_age_variance(&law, variances[v], -a));
                    before = d;
                }
            }
}

/* SparQ-GP-UCB's v (a^2 + 1), and W-GP-UCB's noise over weights eta^a. */
static void the_papers_laws_are_among_them(void **state)
{
    (void)state;
    const hf_age_law paper = law_of(HF_AGE_QUADRATIC, sqrt(0.07)),
                     forgetting = law_of(HF_AGE_EXPONENTIAL, -log(0.9));
    for (double a = 0.0; a < 50.0; a += 1.0) {
        assert_near(hf_age_variance(&paper, 0.07, a), 0.07 * (a * a + 1.0), 1e-13 * (1.0 + a * a));
        assert_near(hf_age_variance(&forgetting, 0.07, a) * pow(0.9, a), 0.07, 1e-15);
    }
}

static void far_out_nothing_is_lost(void **state)
{
    (void)state;
    const hf_age_law *laws =
        (const hf_age_law[]){law_of(HF_AGE_QUADRATIC, 1e200), law_of(HF_AGE_LINEAR, 1e200),
                             law_of(HF_AGE_EXPONENTIAL, 1.0), law_of(HF_AGE_WIENER, 1e200)};
    for (size_t k = 0; k < 4; k++) {
        const double over = hf_age_variance(&laws[k], 1.0, 1e10);
        assert_true(isinf(over) && over > 0.0);
        assert_true(isnan(hf_age_variance(&laws[k], NAN, 1.0)) && isnan(hf_age_variance(&laws[k], 1.0, NAN)));
        assert_true(isinf(hf_age_variance(&laws[k], INFINITY, 0.0)) &&
                    isinf(hf_age_variance(&laws[k], 1.0, INFINITY)));
    }
    assert_near(hf_age_variance(&laws[3], 0.0, 1e-300) / 1e100, 1.0, 1e-14); /* r^2 alone overflows */
    assert_near(log(hf_age_variance(&laws[2], 1e-300, 800.0)), 800.0 - 300.0 * log(10.0),
                1e-11); /* so does exp */
    assert_true(hf_age_variance(&laws[2], 0.0, 1e6) == 0.0);
    const hf_age_law still = law_of(HF_AGE_LINEAR, 0.0), table = law_of(HF_AGE_TABLE, NAN);
    assert_true(hf_age_variance(&still, 3.0, INFINITY) == 3.0); /* no drift, however long */
    assert_true(isinf(hf_age_variance(&table, 0.0, INFINITY)) && isnan(hf_age_variance(&table, 0.0, NAN)));
}

static void tables_have_edges(void **state)
{
    hf_age_law law = law_of(HF_AGE_TABLE, 0.0);
    for (size_t k = 0; k < ENTRIES; k++) assert_true(hf_age_variance(&law, 1.0, AGES[k]) == 1.0 + ADDED[k]);
    assert_true(isinf(hf_age_variance(&law, 1.0, nextafter(4.0, 5.0))));
    assert_true(hf_age_horizon(&law, 1.0, 1.0) == 0.5);      /* the whole flat stretch */
    assert_true(hf_age_horizon(&law, 1.0, 1.25) == 3.0);     /* and this one */
    assert_true(hf_age_horizon(&law, 1.0, 3.0) == 4.0);      /* where it ends */
    assert_true(hf_age_horizon(&law, 1.0, 1e300) == 4.0);    /* however much is allowed */
    assert_true(isinf(hf_age_horizon(&law, 1.0, INFINITY))); /* but an infinite variance is */
    const double one_age = 2.0, one_added = 8.0;
    law = (hf_age_law){.kind = HF_AGE_TABLE, .entries = 1, .ages = &one_age, .added = &one_added};
    assert_int_equal(hf_age_law_check(*state, &law), HF_OK);
    assert_true(hf_age_variance(&law, 0.5, 1.0) == 4.5); /* a line from (0, 0) */
    assert_true(hf_age_variance(&law, 0.5, 2.0) == 8.5);
    assert_true(hf_age_horizon(&law, 0.5, 2.5) == 0.5);
}

static void horizons_are_the_inverse(void **state)
{
    (void)state;
    const double variances[] = {1e-6, 0.04, 37.0}, factors[] = {1.0 + 1e-9, 1.003, 2.5, 1e6};
    for (int kind = HF_AGE_QUADRATIC; kind <= HF_AGE_TABLE; kind++)
        for (size_t v = 0; v < 3; v++)
            for (size_t f = 0; f < 4; f++) {
                const hf_age_law law = law_of((hf_age_kind)kind, 0.3);
                const double limit = variances[v] * factors[f], a = hf_age_horizon(&law, variances[v], limit);
                assert_true(a > 0.0 && isfinite(a));
                /* Just before it the limit is kept, just after it no longer; where the law is so flat that
                 * both round to the limit, either. */
                assert_true(hf_age_variance(&law, variances[v], a * (1.0 - 1e-12)) <= limit * (1.0 + 1e-15));
                assert_true(hf_age_variance(&law, variances[v], a * (1.0 + 1e-12)) >= limit * (1.0 - 1e-15));
                assert_true(hf_age_variance(&law, variances[v], a * (1.0 + 1e-6)) > limit);
            }
}

/* The age at which a small variance reaches a limit, where differences cancel: against exact values. */
static void horizons_keep_their_digits(void **state)
{
    (void)state;
    const double v = 1.0, limit = 1.0 + ldexp(1.0, -40), room = ldexp(1.0, -40), r = 0.25;
    const hf_age_law quadratic = law_of(HF_AGE_QUADRATIC, r), linear = law_of(HF_AGE_LINEAR, r),
                     exponential = law_of(HF_AGE_EXPONENTIAL, r), wiener = law_of(HF_AGE_WIENER, r);
    assert_true(hf_age_horizon(&quadratic, v, limit) == ldexp(1.0, -20) / r);
    assert_near(hf_age_horizon(&linear, v, limit) * r / (0.5 * room), 1.0 - 0.25 * room,
                1e-15); /* sqrt(1 + h) - 1 */
    assert_near(hf_age_horizon(&exponential, v, limit) * r / room, 1.0 - 0.5 * room, 1e-15); /* log(1 + h) */
    assert_near(hf_age_horizon(&exponential, 37.0 * v, 37.0 * limit) * r / room, 1.0 - 0.5 * room, 1e-15);
    assert_true(hf_age_horizon(&wiener, v, limit) == room / (r * r));
    assert_near(hf_age_horizon(&exponential, 1e-300, 1e300) * r, 600.0 * log(10.0), 1e-11);
}

static void horizons_without_end_or_beginning(void **state)
{
    (void)state;
    for (int kind = HF_AGE_NONE; kind <= HF_AGE_TABLE; kind++) {
        const hf_age_law law = law_of((hf_age_kind)kind, 0.3), still = law_of((hf_age_kind)kind, 0.0);
        assert_true(hf_age_horizon(&law, 1.0, 0.999) == 0.0);
        assert_true(hf_age_horizon(&law, INFINITY, 5.0) == 0.0 && hf_age_horizon(&law, NAN, 5.0) == 0.0);
        assert_true(isinf(hf_age_horizon(&law, 1.0, INFINITY)));
        if (kind != HF_AGE_TABLE) assert_true(isinf(hf_age_horizon(&still, 1.0, 1.0)));
        if (kind != HF_AGE_NONE && kind != HF_AGE_TABLE) assert_true(hf_age_horizon(&law, 1.0, 1.0) == 0.0);
        if (kind == HF_AGE_LINEAR || kind == HF_AGE_QUADRATIC)
            assert_true(hf_age_horizon(&law, 0.0, 0.0) == 0.0);
    }
    const hf_age_law none = law_of(HF_AGE_NONE, 0.3), forgetting = law_of(HF_AGE_EXPONENTIAL, 0.3);
    assert_true(isinf(hf_age_horizon(&none, 1.0, 1.0)));
    assert_true(isinf(hf_age_horizon(&forgetting, 0.0, 1.0))); /* an exact reading stays exact by this law */
}

static void assert_bad(hf_context *ctx, hf_age_law law, const char *message)
{
    assert_int_equal(hf_age_law_check(ctx, &law), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), message));
    /* Sites are not aged by it either. */
    const double y[] = {1.0}, age[] = {2.0};
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_gaussian(ctx, 1, y, 0.5, NULL, &sites), HF_OK);
    assert_int_equal(hf_sites_age(ctx, sites, &law, age), HF_ERR_ARGUMENT);
    assert_true(hf_sites_variances(sites)[0] == 0.5);
    hf_sites_free(sites);
}

static void bad_laws_are_refused(void **state)
{
    hf_context *ctx = *state;
    for (int kind = HF_AGE_QUADRATIC; kind < HF_AGE_TABLE; kind++) {
        assert_bad(ctx, law_of((hf_age_kind)kind, -0.1), hf_enum_name(HF_ENUM_AGE_KIND, (unsigned)kind));
        assert_bad(ctx, law_of((hf_age_kind)kind, NAN), "nan");
        assert_bad(ctx, law_of((hf_age_kind)kind, INFINITY), "inf");
    }
    assert_bad(ctx, law_of((hf_age_kind)6, 1.0), "no law of ageing 6");
    assert_bad(ctx, law_of((hf_age_kind)-1, 1.0), "no law of ageing -1");
    const double falling[] = {0.5, 1.0, 1.0, 4.0}, zero[] = {0.0, 1.0, 2.0, 3.0},
                 late[] = {1.0, 2.0, 3.0, INFINITY}, less[] = {0.0, 0.25, 0.2, 2.0},
                 negative[] = {-1.0, 0.0, 0.0, 0.0}, wide[] = {0.0, 0.0, 0.0, INFINITY},
                 holes[] = {0.0, NAN, 1.0, 2.0};
    hf_age_law law = law_of(HF_AGE_TABLE, 0.0);
    law.entries = 0;
    assert_bad(ctx, law, "empty");
    const double *const bad_ages[] = {NULL, falling, zero, late, holes};
    const char *const ages_say[] = {"NULL", "age 2", "age 0", "age 3", "age 0"};
    for (size_t k = 0; k < 5; k++) {
        law = law_of(HF_AGE_TABLE, 0.0);
        law.ages = bad_ages[k];
        assert_bad(ctx, law, ages_say[k]);
    }
    const double *const bad_added[] = {NULL, less, negative, wide, holes};
    const char *const added_say[] = {"NULL", "at age 3", "at age 0.5", "at age 4", "at age 1"};
    for (size_t k = 0; k < 5; k++) {
        law = law_of(HF_AGE_TABLE, 0.0);
        law.added = bad_added[k];
        assert_bad(ctx, law, added_say[k]);
    }
    assert_int_equal(hf_age_law_check(ctx, NULL), HF_ERR_ARGUMENT);
}

static const double Y[N] = {0.5, -3.0, NAN, 12.0, 0.25, -0.75};
static const double EXTRA[N] = {0.0, 0.1, 0.2, 0.0, 2.0, 0.05};
static const double CENTRE[N] = {0.25, -1.0, NAN, 1.0, 0.25, 3.0};

static hf_sites *robust(hf_context *ctx)
{
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_robust(ctx, N, Y, 0.3, EXTRA, CENTRE, 1.75, &sites), HF_OK);
    return sites;
}

static void assert_same(const hf_sites *a, const hf_sites *b)
{
    const size_t bytes = N * sizeof(double);
    assert_memory_equal(hf_sites_targets(a), hf_sites_targets(b), bytes);
    assert_memory_equal(hf_sites_variances(a), hf_sites_variances(b), bytes);
    assert_memory_equal(hf_sites_weights(a), hf_sites_weights(b), bytes);
}

/* Robust readings of all ages under all laws; number 2 is missing, number 4 was set aside. */
static void sites_grow_old(void **state)
{
    hf_context *ctx = *state;
    const double age[N] = {0.0, 3.5, NAN, -1.25, NAN, 4.5};
    for (int kind = HF_AGE_NONE; kind <= HF_AGE_TABLE; kind++) {
        const hf_age_law law = law_of((hf_age_kind)kind, 0.3);
        hf_sites *young = robust(ctx), *old = NULL;
        assert_int_equal(hf_sites_set_present(ctx, young, 4, false), HF_OK);
        assert_int_equal(hf_sites_copy(ctx, young, &old), HF_OK);
        assert_int_equal(hf_sites_age(ctx, old, &law, age), HF_OK);
        for (size_t i = 0; i < N; i++) {
            const bool dead = i == 2 || i == 4 || (i == 5 && kind == HF_AGE_TABLE); /* beyond its end */
            assert_int_equal(hf_sites_is_present(old, i), !dead);
            assert_true(hf_sites_readings(old)[i] == Y[i] || i == 2);
            if (dead) {
                assert_true(isnan(hf_sites_targets(old)[i]) && isinf(hf_sites_variances(old)[i]));
                continue;
            }
            assert_true(hf_sites_targets(old)[i] == hf_sites_targets(young)[i]);
            const double expected = formula(&law, hf_sites_variances(young)[i], fabs(age[i]));
            assert_near(hf_sites_variances(old)[i], expected, 4e-15 * expected);
        }
        /* They no longer follow their noise. */
        hf_sites *louder = NULL;
        assert_int_equal(hf_sites_copy(ctx, old, &louder), HF_OK);
        assert_int_equal(hf_sites_set_noise(ctx, louder, 9.0), HF_OK);
        assert_same(louder, old);
        hf_sites_free(louder);
        hf_sites_free(old);
        hf_sites_free(young);
    }
}

/* Two steps of a Wiener process are one and then one more. */
static void sites_age_step_by_step(void **state)
{
    hf_context *ctx = *state;
    const hf_age_law law = law_of(HF_AGE_WIENER, 0.3);
    const double one[N] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, two[N] = {2.0, 2.0, 2.0, 2.0, 2.0, 2.0};
    hf_sites *steps = robust(ctx), *leap = robust(ctx);
    assert_int_equal(hf_sites_age(ctx, steps, &law, one), HF_OK);
    assert_int_equal(hf_sites_age(ctx, steps, &law, one), HF_OK);
    assert_int_equal(hf_sites_age(ctx, leap, &law, two), HF_OK);
    for (size_t i = 0; i < N; i++)
        if (i != 2)
            assert_near(hf_sites_variances(steps)[i], hf_sites_variances(leap)[i],
                        1e-15 * hf_sites_variances(leap)[i]);
    hf_sites_free(steps);
    hf_sites_free(leap);
}

/* A variance that has nearly overflowed is still a variance, and its reading still there. */
static void very_old_sites_are_present(void **state)
{
    hf_context *ctx = *state;
    const hf_age_law law = law_of(HF_AGE_EXPONENTIAL, 1.0);
    const double y[2] = {1.0, 2.0}, noise = 1e-30, age[2] = {760.0, 800.0};
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_gaussian(ctx, 2, y, noise, NULL, &sites), HF_OK);
    assert_int_equal(hf_sites_age(ctx, sites, &law, age), HF_OK);
    assert_true(hf_sites_variances(sites)[0] > 1e299 && isfinite(hf_sites_variances(sites)[0]));
    assert_true(hf_sites_is_present(sites, 0) && !hf_sites_is_present(sites, 1));
    assert_int_equal(hf_sites_present(sites), 1);
    hf_sites_free(sites);
}

static void errors_change_nothing(void **state)
{
    hf_context *ctx = *state;
    const hf_age_law law = law_of(HF_AGE_QUADRATIC, 1.0);
    hf_sites *sites = robust(ctx), *before = robust(ctx);
    double age[N] = {1.0, 1.0, NAN, 1.0, 1.0, NAN};
    assert_int_equal(hf_sites_age(ctx, sites, &law, age), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "reading 5"));
    assert_same(sites, before);
    age[5] = -INFINITY;
    assert_int_equal(hf_sites_age(ctx, sites, &law, age), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_sites_age(ctx, sites, &law, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_age(ctx, sites, NULL, age), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_age(ctx, NULL, &law, age), HF_ERR_ARGUMENT);
    assert_same(sites, before);
    assert_int_equal(hf_sites_set_noise(ctx, sites, 0.6), HF_OK); /* they are not given sites yet */
    assert_true(hf_sites_variances(sites)[0] > 1.9 * hf_sites_variances(before)[0]);
    hf_sites_free(sites);
    hf_sites_free(before);
    hf_sites *none = NULL;
    assert_int_equal(hf_sites_gaussian(ctx, 0, NULL, 1.0, NULL, &none), HF_OK);
    assert_int_equal(hf_sites_age(ctx, none, &law, NULL), HF_OK);
    hf_sites_free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_go_there_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(every_law_is_its_formula, setup, teardown),
        cmocka_unit_test_setup_teardown(the_papers_laws_are_among_them, setup, teardown),
        cmocka_unit_test_setup_teardown(far_out_nothing_is_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(tables_have_edges, setup, teardown),
        cmocka_unit_test_setup_teardown(horizons_are_the_inverse, setup, teardown),
        cmocka_unit_test_setup_teardown(horizons_keep_their_digits, setup, teardown),
        cmocka_unit_test_setup_teardown(horizons_without_end_or_beginning, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_laws_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(sites_grow_old, setup, teardown),
        cmocka_unit_test_setup_teardown(sites_age_step_by_step, setup, teardown),
        cmocka_unit_test_setup_teardown(very_old_sites_are_present, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_change_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
