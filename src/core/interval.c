/* SPDX-License-Identifier: Apache-2.0 */
#include "core/interval.h"

/* Rounded to any precision, and then at most one unit away from pi. */
#define PI 3.14159265358979323846264338327950288419716939937510L

static long double larger(long double a, long double b)
{
    return a > b ? a : b;
}

static long double smaller(long double a, long double b)
{
    return a < b ? a : b;
}

bool hfi_interval_usable(void)
{
    /* Volatile: computed as the program runs, not by the compiler. */
    volatile long double one = 1.0L, unit = LDBL_EPSILON;
    const long double above = one + unit, tie = one + 0.5L * unit;
    return above > one && above - one == unit && tie == one;
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static hfi_interval between(long double a, long double b, long double c, long double d)
{
    return (hfi_interval){hfi_times_down(a, b), hfi_times_up(c, d)};
}

/* Signs say which products are the ends, unless both factors have two. */
hfi_interval hfi_interval_multiply_signed(hfi_interval a, hfi_interval b)
{
    if (a.lower >= 0.0L)
        return b.upper <= 0.0L ? between(a.upper, b.lower, a.lower, b.upper)
                               : between(a.upper, b.lower, a.upper, b.upper);
    if (b.lower >= 0.0L)
        return a.upper <= 0.0L ? between(a.lower, b.upper, a.upper, b.lower)
                               : between(a.lower, b.upper, a.upper, b.upper);
    if (a.upper <= 0.0L)
        return b.upper <= 0.0L ? between(a.upper, b.upper, a.lower, b.lower)
                               : between(a.lower, b.upper, a.lower, b.lower);
    if (b.upper <= 0.0L) return between(a.upper, b.lower, a.lower, b.lower);
    const hfi_interval one = between(a.lower, b.upper, a.lower, b.lower);
    const hfi_interval two = between(a.upper, b.lower, a.upper, b.upper);
    return (hfi_interval){smaller(one.lower, two.lower), larger(one.upper, two.upper)};
}

hfi_interval hfi_interval_sqrt(hfi_interval a)
{
    hfi_interval root = {0.0L, 0.0L};
    if (a.lower > 0.0L) root.lower = larger(0.0L, hfi_down(sqrtl(a.lower)));
    if (a.upper > 0.0L) root.upper = hfi_up(sqrtl(a.upper));
    return root;
}

/* ---- functions of the library ---------------------------------------------------------------- */

static long double slack(long double v)
{
    return (HFI_LIBM_ULPS + 1) * LDBL_EPSILON * fabsl(v) + LDBL_MIN;
}

static long double below(long double v)
{
    return v > LDBL_MAX ? LDBL_MAX : v - slack(v);
}

static long double above(long double v)
{
    return v + slack(v);
}

/* An interval so narrow that a function at one end and its slope say as much as the function at both, at half
 * the time. Its width, or infinity. */
#define NARROW 0x1p-40L

static long double narrow_width(hfi_interval a)
{
    const long double width = hfi_up(a.upper - a.lower);
    return width < NARROW ? width : INFINITY;
}

hfi_interval hfi_interval_exp(hfi_interval a)
{
    hfi_interval e = {1.0L, 1.0L};
    const long double width = narrow_width(a), low = a.lower != 0.0L ? expl(a.lower) : 1.0L;
    if (a.lower != 0.0L) e.lower = larger(a.lower > 0.0L ? 1.0L : 0.0L, below(low));
    if (a.upper != 0.0L) {
        /* exp(w) <= 1 + w (1 + w) */
        e.upper = width < NARROW ? hfi_times_up(above(low), hfi_up(1.0L + width * (1.0L + 2.0L * NARROW)))
                                 : above(expl(a.upper));
    }
    if (a.upper < 0.0L) e.upper = smaller(1.0L, e.upper);
    return e;
}

hfi_interval hfi_interval_log1p(hfi_interval a)
{
    hfi_interval log = {0.0L, 0.0L};
    const long double width = narrow_width(a), low = a.lower > 0.0L ? log1pl(a.lower) : 0.0L;
    if (a.lower > 0.0L) log.lower = larger(0.0L, below(low));
    if (a.upper > 0.0L)
        log.upper = width < NARROW && a.lower >= 0.0L ? hfi_up(above(low) + width) : above(log1pl(a.upper));
    return log;
}

hfi_interval hfi_interval_pi(void)
{
    return (hfi_interval){hfi_down(PI), hfi_up(PI)};
}

/* Folds a, of a function that is even and of period 1, into [0, 1/2]: a minus the nearest whole number, its
 * size, and what is beyond 1/2 mirrored there. */
static hfi_interval fold(hfi_interval a)
{
    const hfi_interval half = {0.0L, 0.5L};
    if (!(a.upper - a.lower < 1.0L)) return half;
    const long double whole = rintl(0.5L * (a.lower + a.upper));
    const hfi_interval rest = hfi_interval_size(hfi_interval_subtract(a, hfi_interval_point(whole)));
    if (!(rest.upper < 1.0L)) return half;
    if (rest.upper <= 0.5L) return rest;
    const hfi_interval beyond = {larger(0.0L, hfi_down(1.0L - rest.upper)), hfi_up(1.0L - rest.lower)};
    if (rest.lower >= 0.5L) return (hfi_interval){beyond.lower, smaller(0.5L, beyond.upper)};
    return (hfi_interval){smaller(rest.lower, beyond.lower), 0.5L};
}

/* Both functions are monotone on [0, 1/2]. An argument that rounding took past the end of it is off by a
 * unit in its last place. The functions are flat there, to the square of that. */

hfi_interval hfi_interval_sin_squared(hfi_interval a)
{
    const hfi_interval angle = hfi_interval_multiply(hfi_interval_pi(), fold(a));
    const long double width = narrow_width(angle), low = angle.lower > 0.0L ? sinl(angle.lower) : 0.0L;
    hfi_interval sine = {0.0L, 0.0L};
    if (angle.lower > 0.0L) sine.lower = larger(0.0L, below(low));
    if (angle.upper > 0.0L)
        sine.upper = smaller(1.0L, width < NARROW ? hfi_up(above(low) + width) : above(sinl(angle.upper)));
    const hfi_interval square = hfi_interval_square(sine);
    return (hfi_interval){square.lower, smaller(1.0L, square.upper)};
}

hfi_interval hfi_interval_cos_turns(hfi_interval a)
{
    const hfi_interval turns = fold(a);
    const hfi_interval angle =
        hfi_interval_multiply(hfi_interval_pi(), (hfi_interval){2.0L * turns.lower, 2.0L * turns.upper});
    const long double width = narrow_width(angle), high = angle.lower > 0.0L ? cosl(angle.lower) : 1.0L;
    hfi_interval cosine = {1.0L, 1.0L};
    if (angle.upper > 0.0L)
        cosine.lower =
            larger(-1.0L, width < NARROW ? hfi_down(below(high) - width) : below(cosl(angle.upper)));
    if (angle.lower > 0.0L) cosine.upper = smaller(1.0L, above(high));
    return cosine;
}
