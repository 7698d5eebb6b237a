/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals: whatever numbers are taken from the arguments, the result holds their value. Values from the
 * same long double arithmetic decide only up to its rounding. Identities that are exact in long double, and brackets by
 * higher precision written down here, decide the rest; tests/oracle/test_enclosure.py compares with 50 digits. */
#include "core/core.h"
#include "core/interval.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#define MANY 20000

static bool holds(hfi_interval a, long double v)
{
    return a.lower <= v && v <= a.upper;
}

static bool inside(hfi_interval inner, hfi_interval outer)
{
    return outer.lower <= inner.lower && inner.upper <= outer.upper;
}

/* Draws a number of any size between 2^-40 and 2^40. */
static long double any(hfi_stream *stream)
{
    const double size = exp2(80.0 * hfi_stream_uniform(stream) - 40.0);
    return (long double)(hfi_stream_uniform(stream) < 0.5 ? -size : size);
}

static hfi_interval any_interval(hfi_stream *stream)
{
    const long double a = any(stream), b = any(stream);
    if (hfi_stream_uniform(stream) < 0.2) return hfi_interval_point(a);
    return a < b ? (hfi_interval){a, b} : (hfi_interval){b, a};
}

static long double from(hfi_stream *stream, hfi_interval a)
{
    const long double share = hfi_stream_uniform(stream), v = a.lower + share * (a.upper - a.lower);
    return v < a.lower ? a.lower : v > a.upper ? a.upper : v;
}

static void rounding_moves_every_number(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 1, HFI_PURPOSE_TEST, 0);
    for (int i = 0; i < MANY; i++) {
        /* Powers of two, their neighbours and the rest; both neighbours are the least that is right. */
        long double v = any(&stream);
        if (i % 3 == 0) v = exp2l((long double)(i % 200 - 100));
        if (i % 3 == 1) v = nextafterl(exp2l((long double)(i % 200 - 100)), 0.0L);
        assert_true(hfi_down(v) <= nextafterl(v, -INFINITY) && hfi_up(v) >= nextafterl(v, INFINITY));
        assert_true(hfi_down(v) >= v - 2.0L * LDBL_EPSILON * fabsl(v));
        assert_true(hfi_up(v) <= v + 2.0L * LDBL_EPSILON * fabsl(v));
    }
    assert_true(hfi_down(0.0L) < 0.0L && hfi_up(0.0L) > 0.0L);
    assert_true(hfi_down(INFINITY) == LDBL_MAX && isinf(hfi_up(INFINITY)));
    assert_true(hfi_up(-INFINITY) == -LDBL_MAX && isinf(hfi_down(-INFINITY)));
}

static void arithmetic_holds_the_values_of_all_members(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 2, HFI_PURPOSE_TEST, 0);
    for (int i = 0; i < MANY; i++) {
        const hfi_interval a = any_interval(&stream), b = any_interval(&stream);
        const hfi_interval positive = hfi_interval_add(hfi_interval_square(b), hfi_interval_point(0x1p-90L));
        for (int k = 0; k < 4; k++) {
            const long double x = from(&stream, a), y = from(&stream, b);
            assert_true(holds(hfi_interval_add(a, b), x + y));
            assert_true(holds(hfi_interval_subtract(a, b), x - y));
            assert_true(holds(hfi_interval_multiply(a, b), x * y));
            assert_true(holds(hfi_interval_square(a), x * x));
            assert_true(holds(hfi_interval_negate(a), -x));
            const long double divisor = from(&stream, positive);
            assert_true(holds(hfi_interval_divide(a, positive), x / divisor));
            assert_true(holds(hfi_interval_sqrt(hfi_interval_square(a)), fabsl(x)));
        }
        assert_true(hfi_interval_square(a).lower >= 0.0L);
    }
}

/* Numbers of few digits have exact results that are known to lie strictly between neighbours: these are surrounded. */
static void what_rounds_is_surrounded(void **state)
{
    (void)state;
    const hfi_interval one = hfi_interval_point(1.0L), three = hfi_interval_point(3.0L);
    const hfi_interval third = hfi_interval_divide(one, three);
    assert_true(third.lower < third.upper);
    /* 3 times a number below 1/3 is below 1; fmal rounds once, so the sign of the rest is exact. */
    assert_true(fmal(3.0L, third.lower, -1.0L) < 0.0L && fmal(3.0L, third.upper, -1.0L) > 0.0L);
    const hfi_interval root = hfi_interval_sqrt(hfi_interval_point(2.0L));
    assert_true(fmal(root.lower, root.lower, -2.0L) < 0.0L && fmal(root.upper, root.upper, -2.0L) > 0.0L);
    const hfi_interval big = hfi_interval_add(one, hfi_interval_point(0x1p-200L));
    assert_true(big.lower < 1.0L + 0x1p-60L && big.upper > 1.0L);
    const hfi_interval small = hfi_interval_subtract(one, hfi_interval_point(0x1p-200L));
    assert_true(small.lower < 1.0L && small.upper >= 1.0L);
}

static void exact_cases_stay_exact(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 0);
    const hfi_interval zero = hfi_interval_point(0.0L), one = hfi_interval_point(1.0L);
    for (int i = 0; i < 100; i++) {
        const hfi_interval a = any_interval(&stream);
        assert_true(inside(hfi_interval_add(a, zero), a) && inside(hfi_interval_add(zero, a), a));
        assert_true(inside(hfi_interval_multiply(a, one), a) && inside(hfi_interval_multiply(one, a), a));
        assert_true(hfi_interval_is(hfi_interval_multiply(a, zero), 0.0L));
        const hfi_interval point = hfi_interval_point(a.lower);
        assert_true(hfi_interval_is(hfi_interval_subtract(point, point), 0.0L));
    }
    assert_true(hfi_interval_is(hfi_interval_exp(zero), 1.0L));
    assert_true(hfi_interval_is(hfi_interval_log1p(zero), 0.0L));
    assert_true(hfi_interval_is(hfi_interval_sqrt(zero), 0.0L));
    assert_true(hfi_interval_is(hfi_interval_sin_squared(zero), 0.0L));
    assert_true(hfi_interval_is(hfi_interval_cos_turns(zero), 1.0L));
    assert_true(
        hfi_interval_is(hfi_interval_subtract(hfi_interval_point(0.75L), hfi_interval_point(0.5L)), 0.25L));
    /* A difference of neighbours and one over 2000 binades. */
    const hfi_interval far = hfi_interval_subtract(hfi_interval_point(1e300L), hfi_interval_point(1e-300L));
    assert_true(far.lower < 1e300L && far.upper >= 1e300L);
}

/* Wider arguments give wider results, and points of the argument their values. */
static void functions_hold_the_values_of_all_members(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 4, HFI_PURPOSE_TEST, 0);
    for (int i = 0; i < MANY; i++) {
        const long double at = 40.0L * hfi_stream_uniform(&stream) - 20.0L;
        const long double width = i % 2 ? 0.0L : exp2l(-30.0L * hfi_stream_uniform(&stream));
        const hfi_interval a = {at, at + width}, size = {fabsl(at), fabsl(at) + width};
        for (int k = 0; k < 3; k++) {
            const long double x = from(&stream, a), s = from(&stream, size);
            const hfi_interval point = hfi_interval_point(x);
            assert_true(holds(hfi_interval_exp(a), expl(x)));
            assert_true(holds(hfi_interval_log1p(size), log1pl(s)));
            assert_true(inside(hfi_interval_exp(point), hfi_interval_exp(a)));
            assert_true(inside(hfi_interval_sin_squared(point), hfi_interval_sin_squared(a)));
            assert_true(inside(hfi_interval_cos_turns(point), hfi_interval_cos_turns(a)));
            /* The argument of the library's sine is rounded: 4 epsilon times its size, and the function's slope. */
            const long double slack = 400.0L * LDBL_EPSILON;
            const hfi_interval squared = hfi_interval_sin_squared(a), wave = hfi_interval_cos_turns(a);
            const long double pi = hfi_interval_pi().lower, s2 = sinl(pi * x) * sinl(pi * x);
            assert_true(squared.lower <= s2 + slack && s2 - slack <= squared.upper);
            assert_true(wave.lower <= 1.0L - 2.0L * s2 + slack && 1.0L - 2.0L * s2 - slack <= wave.upper);
        }
    }
}

static void functions_stay_in_their_range(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 0);
    for (int i = 0; i < MANY; i++) {
        const hfi_interval a = any_interval(&stream);
        const hfi_interval squared = hfi_interval_sin_squared(a), wave = hfi_interval_cos_turns(a);
        assert_true(squared.lower >= 0.0L && squared.upper <= 1.0L && squared.lower <= squared.upper);
        assert_true(wave.lower >= -1.0L && wave.upper <= 1.0L && wave.lower <= wave.upper);
        const hfi_interval e = hfi_interval_exp(a);
        assert_true(e.lower >= 0.0L && e.lower <= e.upper);
        assert_true(a.upper > 0.0L || e.upper <= 1.0L);
        assert_true(a.lower < 0.0L || e.lower >= 1.0L);
    }
}

static void turns_are_known_at_quarters(void **state)
{
    (void)state;
    const long double tiny = 16.0L * LDBL_EPSILON;
    for (int quarter = -12; quarter <= 12; quarter++) {
        const hfi_interval at = hfi_interval_point(0.25L * quarter);
        const long double wave[] = {1.0L, 0.0L, -1.0L, 0.0L}, square[] = {0.0L, 0.5L, 1.0L, 0.5L};
        const int k = (quarter + 12) % 4;
        const hfi_interval cosine = hfi_interval_cos_turns(at), sine = hfi_interval_sin_squared(at);
        assert_true(holds(cosine, wave[k]) && cosine.upper - cosine.lower < tiny);
        assert_true(holds(sine, square[k]) && sine.upper - sine.lower < tiny);
    }
    /* An interval over a top, over a bottom, over more than a period. */
    assert_true(hfi_interval_sin_squared((hfi_interval){2.45L, 2.55L}).upper == 1.0L);
    assert_true(hfi_interval_sin_squared((hfi_interval){2.95L, 3.05L}).lower == 0.0L);
    assert_true(hfi_interval_cos_turns((hfi_interval){-0.05L, 0.05L}).upper == 1.0L);
    const hfi_interval all = hfi_interval_cos_turns((hfi_interval){0.0L, 7.0L});
    assert_true(all.lower == -1.0L && all.upper == 1.0L);
}

static void infinite_bounds_stay_sound(void **state)
{
    (void)state;
    const hfi_interval beyond = hfi_interval_multiply(hfi_interval_point(LDBL_MAX), hfi_interval_point(2.0L));
    assert_true(beyond.lower == LDBL_MAX && isinf(beyond.upper));
    assert_true(hfi_interval_is(hfi_interval_multiply(beyond, hfi_interval_point(0.0L)), 0.0L));
    const hfi_interval unknown = hfi_interval_subtract(beyond, beyond);
    assert_true(isinf(unknown.upper) && isinf(unknown.lower));
    const hfi_interval none = hfi_interval_divide(hfi_interval_point(1.0L), beyond);
    assert_true(none.lower == 0.0L && none.upper > 0.0L && none.upper < 1e-4900L);
    const hfi_interval vanished = hfi_interval_exp(hfi_interval_negate(beyond));
    assert_true(vanished.lower == 0.0L && vanished.upper > 0.0L && vanished.upper <= 2.0L * LDBL_MIN);
    const hfi_interval grown = hfi_interval_exp(beyond);
    assert_true(grown.lower == LDBL_MAX && isinf(grown.upper));
    const hfi_interval wave = hfi_interval_cos_turns(beyond), tight = hfi_interval_sin_squared(beyond);
    assert_true(wave.lower == -1.0L && wave.upper == 1.0L && tight.lower == 0.0L && tight.upper == 1.0L);
}

/* Under valgrind long double has the precision of double, and the library refuses to make intervals. */
static void long_double_is_emulated(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest emulated[] = {cmocka_unit_test(long_double_is_emulated)};
    if (!hfi_interval_usable()) return cmocka_run_group_tests(emulated, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_moves_every_number),
        cmocka_unit_test(arithmetic_holds_the_values_of_all_members),
        cmocka_unit_test(what_rounds_is_surrounded),
        cmocka_unit_test(exact_cases_stay_exact),
        cmocka_unit_test(functions_hold_the_values_of_all_members),
        cmocka_unit_test(functions_stay_in_their_range),
        cmocka_unit_test(turns_are_known_at_quarters),
        cmocka_unit_test(infinite_bounds_stay_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
