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

/* ---- arithmetic -----------------------------------------------------------------------------------------
 */

hfi_interval hfi_interval_multiply(hfi_interval a, hfi_interval b)
{
    if (hfi_interval_is(a, 1.0L)) return b;
    if (hfi_interval_is(b, 1.0L)) return a;
    if (a.lower >= 0.0L && b.lower >= 0.0L)
        return (hfi_interval){larger(0.0L, hfi_times_down(a.lower, b.lower)), hfi_times_up(a.upper, b.upper)};
    const long double low[] = {hfi_times_down(a.lower, b.upper), hfi_times_down(a.upper, b.lower),
                               hfi_times_down(a.upper, b.upper)};
    const long double high[] = {hfi_times_up(a.lower, b.upper), hfi_times_up(a.upper, b.lower),
                                hfi_times_up(a.upper, b.upper)};
    hfi_interval product = {hfi_times_down(a.lower, b.lower), hfi_times_up(a.lower, b.lower)};
    for (int i = 0; i < 3; i++) {
        product.lower = smaller(product.lower, low[i]);
        product.upper = larger(product.upper, high[i]);
    }
    return product;
}

hfi_interval hfi_interval_divide(hfi_interval a, hfi_interval b)
{
    hfi_interval quotient = {0.0L, 0.0L};
    if (a.lower != 0.0L) quotient.lower = hfi_down(a.lower / (a.lower > 0.0L ? b.upper : b.lower));
    if (a.upper != 0.0L) quotient.upper = hfi_up(a.upper / (a.upper > 0.0L ? b.lower : b.upper));
    if (a.lower >= 0.0L) quotient.lower = larger(0.0L, quotient.lower);
    if (a.upper <= 0.0L) quotient.upper = smaller(0.0L, quotient.upper);
    return quotient;
}

/* The sizes of the numbers in a. */
static hfi_interval magnitude(hfi_interval a)
{
    if (a.lower >= 0.0L) return a;
    if (a.upper <= 0.0L) return hfi_interval_negate(a);
    return (hfi_interval){0.0L, larger(-a.lower, a.upper)};
}

hfi_interval hfi_interval_square(hfi_interval a)
{
    const hfi_interval size = magnitude(a);
    return hfi_interval_multiply(size, size);
}

hfi_interval hfi_interval_sqrt(hfi_interval a)
{
    hfi_interval root = {0.0L, 0.0L};
    if (a.lower > 0.0L) root.lower = larger(0.0L, hfi_down(sqrtl(a.lower)));
    if (a.upper > 0.0L) root.upper = hfi_up(sqrtl(a.upper));
    return root;
}

/* ---- functions of the library ---------------------------------------------------------------------------
 */

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

hfi_interval hfi_interval_exp(hfi_interval a)
{
    hfi_interval e = {1.0L, 1.0L};
    if (a.lower != 0.0L) e.lower = larger(a.lower > 0.0L ? 1.0L : 0.0L, below(expl(a.lower)));
    if (a.upper != 0.0L) e.upper = above(expl(a.upper));
    if (a.upper < 0.0L) e.upper = smaller(1.0L, e.upper);
    return e;
}

hfi_interval hfi_interval_log1p(hfi_interval a)
{
    hfi_interval log = {0.0L, 0.0L};
    if (a.lower > 0.0L) log.lower = larger(0.0L, below(log1pl(a.lower)));
    if (a.upper > 0.0L) log.upper = above(log1pl(a.upper));
    return log;
}

hfi_interval hfi_interval_pi(void)
{
    return (hfi_interval){hfi_down(PI), hfi_up(PI)};
}

/* Folds a, of a function that is even and of period 1, into [0, 1/2]: a minus the nearest whole number, its size, and what is beyond 1/2
 * mirrored there. */
static hfi_interval fold(hfi_interval a)
{
    const hfi_interval half = {0.0L, 0.5L};
    if (!(a.upper - a.lower < 0.25L)) return half;
    const long double whole = rintl(0.5L * (a.lower + a.upper));
    const hfi_interval rest = magnitude(hfi_interval_subtract(a, hfi_interval_point(whole)));
    if (!(rest.upper < 1.0L)) return half;
    if (rest.upper <= 0.5L) return rest;
    const hfi_interval beyond = {larger(0.0L, hfi_down(1.0L - rest.upper)), hfi_up(1.0L - rest.lower)};
    if (rest.lower >= 0.5L) return (hfi_interval){beyond.lower, smaller(0.5L, beyond.upper)};
    return (hfi_interval){smaller(rest.lower, beyond.lower), 0.5L};
}

/* Both functions are monotone on [0, 1/2]. An argument that rounding took past the end of it, by a unit in its last place, is where the
 * functions are flat to the square of that. */

hfi_interval hfi_interval_sin_squared(hfi_interval a)
{
    const hfi_interval angle = hfi_interval_multiply(hfi_interval_pi(), fold(a));
    hfi_interval sine = {0.0L, 0.0L};
    if (angle.lower > 0.0L) sine.lower = larger(0.0L, below(sinl(angle.lower)));
    if (angle.upper > 0.0L) sine.upper = smaller(1.0L, above(sinl(angle.upper)));
    const hfi_interval square = hfi_interval_square(sine);
    return (hfi_interval){square.lower, smaller(1.0L, square.upper)};
}

hfi_interval hfi_interval_cos_turns(hfi_interval a)
{
    const hfi_interval turns = fold(a);
    const hfi_interval angle =
        hfi_interval_multiply(hfi_interval_pi(), (hfi_interval){2.0L * turns.lower, 2.0L * turns.upper});
    hfi_interval cosine = {1.0L, 1.0L};
    if (angle.upper > 0.0L) cosine.lower = larger(-1.0L, below(cosl(angle.upper)));
    if (angle.lower > 0.0L) cosine.upper = smaller(1.0L, above(cosl(angle.lower)));
    return cosine;
}
