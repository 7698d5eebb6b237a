/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file interval.h
 * @brief Intervals that surely hold a real number: arithmetic in long double, every bound rounded
 * outward.
 *
 * Each function here is given intervals and returns one that holds its value for *every* choice of
 * real numbers from them. A result is computed to nearest and then moved outward by more than its
 * rounding error, so the rounding mode is never touched. Bounds may be infinite, are never NaN; a
 * lower bound is never +inf and an upper one never -inf.
 *
 * Assumptions: long double is a binary format with rounding to nearest (x86: 64 digits, unless a
 * debugger or emulator computes it in fewer: hfi_interval_usable(); not IBM's pair of doubles,
 * which is refused at compile time); sqrtl is correctly rounded, as IEEE 754 asks; expl, log1pl,
 * sinl and cosl are wrong by at most HFI_LIBM_ULPS units in the last place (the GNU C library
 * states 1 to 3 for x86-64). They are wrong by less than LDBL_MIN where the result is smaller than
 * that.
 */
#ifndef HFI_INTERVAL_H
#define HFI_INTERVAL_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#if FLT_RADIX != 2 || LDBL_MANT_DIG == 106
#error "interval arithmetic needs a long double that rounds to nearest"
#endif

#define HFI_LIBM_ULPS 4

/** lower <= upper. */
typedef struct hfi_interval {
    long double lower, upper;
} hfi_interval;

/** Whether long double has the precision here that it claims, as it runs: valgrind computes x86's
 * in that of double, and a program may have set the processor to fewer digits. Where it is false no
 * bound can be trusted. */
bool hfi_interval_usable(void);

/** A bit more than half of LDBL_EPSILON: |v| times that, added to v and rounded, moves v by one
 * unit in its last place at least. */
#define HFI_HALF_UNIT (LDBL_EPSILON * 0.5009765625L)

/** Below and above any number that rounds to v. */
static inline long double hfi_down(long double v)
{
    return v > LDBL_MAX ? LDBL_MAX : v - (fabsl(v) * HFI_HALF_UNIT + LDBL_MIN);
}

static inline long double hfi_up(long double v)
{
    return v < -LDBL_MAX ? -LDBL_MAX : v + (fabsl(v) * HFI_HALF_UNIT + LDBL_MIN);
}

static inline hfi_interval hfi_interval_point(long double v)
{
    return (hfi_interval){v, v};
}

static inline bool hfi_interval_is(hfi_interval a, long double v)
{
    return a.lower == v && a.upper == v;
}

/** Exact where one of them is 0. */
static inline hfi_interval hfi_interval_add(hfi_interval a, hfi_interval b)
{
    if (hfi_interval_is(a, 0.0L)) return b;
    if (hfi_interval_is(b, 0.0L)) return a;
    return (hfi_interval){hfi_down(a.lower + b.lower), hfi_up(a.upper + b.upper)};
}

static inline hfi_interval hfi_interval_negate(hfi_interval a)
{
    return (hfi_interval){-a.upper, -a.lower};
}

/** Exact for points whose difference is a long double, that of equal ones among them. */
static inline hfi_interval hfi_interval_subtract(hfi_interval a, hfi_interval b)
{
    const long double x = a.lower, y = b.lower, difference = x - y;
    if (a.upper == x && b.upper == y) {
        /* The part that rounding took, without an error of its own (Knuth). */
        const long double of_y = x - difference, of_x = difference + of_y;
        if ((x - of_x) - (y - of_y) == 0.0L) return hfi_interval_point(difference);
    }
    return hfi_interval_add(a, hfi_interval_negate(b));
}

/** Products of bounds. 0 times infinity is 0: the infinity stands for numbers that are finite. */
static inline long double hfi_times_down(long double a, long double b)
{
    return a == 0.0L || b == 0.0L ? 0.0L : hfi_down(a * b);
}

static inline long double hfi_times_up(long double a, long double b)
{
    return a == 0.0L || b == 0.0L ? 0.0L : hfi_up(a * b);
}

/** Product of factors that may be negative; see hfi_interval_multiply(). */
hfi_interval hfi_interval_multiply_signed(hfi_interval a, hfi_interval b);

/** Exact where one of them is 0 or 1. */
static inline hfi_interval hfi_interval_multiply(hfi_interval a, hfi_interval b)
{
    if (hfi_interval_is(a, 1.0L)) return b;
    if (hfi_interval_is(b, 1.0L)) return a;
    if (a.lower < 0.0L || b.lower < 0.0L) return hfi_interval_multiply_signed(a, b);
    const long double lower = hfi_times_down(a.lower, b.lower);
    return (hfi_interval){lower > 0.0L ? lower : 0.0L, hfi_times_up(a.upper, b.upper)};
}

/** b > 0. */
static inline hfi_interval hfi_interval_divide(hfi_interval a, hfi_interval b)
{
    hfi_interval quotient = {0.0L, 0.0L};
    if (a.lower != 0.0L) quotient.lower = hfi_down(a.lower / (a.lower > 0.0L ? b.upper : b.lower));
    if (a.upper != 0.0L) quotient.upper = hfi_up(a.upper / (a.upper > 0.0L ? b.lower : b.upper));
    if (a.lower >= 0.0L && quotient.lower < 0.0L) quotient.lower = 0.0L;
    if (a.upper <= 0.0L && quotient.upper > 0.0L) quotient.upper = 0.0L;
    return quotient;
}

/** The sizes of the numbers in a. */
static inline hfi_interval hfi_interval_size(hfi_interval a)
{
    if (a.lower >= 0.0L) return a;
    if (a.upper <= 0.0L) return hfi_interval_negate(a);
    return (hfi_interval){0.0L, -a.lower > a.upper ? -a.lower : a.upper};
}

/** Never negative. */
static inline hfi_interval hfi_interval_square(hfi_interval a)
{
    const hfi_interval size = hfi_interval_size(a);
    return hfi_interval_multiply(size, size);
}

/** a.upper >= 0; what is negative in a counts as 0. */
hfi_interval hfi_interval_sqrt(hfi_interval a);
/** Exactly 1 at 0, and on the right side of 1 elsewhere. */
hfi_interval hfi_interval_exp(hfi_interval a);
/** log(1 + a), a >= 0. Exactly 0 at 0. */
hfi_interval hfi_interval_log1p(hfi_interval a);
/** sin(pi a)^2, of period 1. The reduction by whole periods loses nothing but what a's own width
 * says. Exactly 0 at 0. */
hfi_interval hfi_interval_sin_squared(hfi_interval a);
/** cos(2 pi a), of period 1, likewise. Exactly 1 at 0. */
hfi_interval hfi_interval_cos_turns(hfi_interval a);
/** pi. */
hfi_interval hfi_interval_pi(void);

#endif
