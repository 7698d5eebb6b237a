/* SPDX-License-Identifier: Apache-2.0 */
/* Class probabilities as intervals: P = E[link(q + s z)] for a standard normal z grows with q, and with s it
 * moves towards 1/2 (link.h). The ends over an interval of each are therefore values at points.
 *
 * The normal distribution function below 0 is Phi(-x) = 1/2 - phi(x) sum x^(2k+1) / (2k+1)!! near 0, and
 * phi(x) / t_1 farther out, t_k = x + k / t_(k+1) >= x (Abramowitz and Stegun, 26.2.11 and 26.2.14; all t_k
 * are ratios of positive functions, the iterated integrals of Phi).
 *
 * The logistic one by the two trapezoidal rules that hf_class_probability() has, of a step with which the
 * theorem leaves 2 x 5.1 / (exp(2 pi (pi/2) / (3/16)) - 1) < 2e-22:
 *
 *     s <= 1    sigma(q + s t) phi(t) dt        s > 1    sigma'(x) Phi((q - x) / s) dx */
#include "rigorous/rigorous_impl.h"

#include "bound/link.h"

#define NARROW          1e-17L
#define STEP            0.1875L
#define RULE            2e-22L
#define NORMAL_POINTS   52     /* on either side of 0: to 9.75 */
#define NORMAL_BEYOND   2e-22L /* 2 Phi(-9.75) */
#define LOGISTIC_POINTS 256    /* to 48 */
#define LOGISTIC_BEYOND 3e-21L /* 2 exp(-48) */
#define SERIES_END      4.0L
#define SERIES_TERMS    64
#define SERIES_ENOUGH   1e-26L
#define FRACTION_TERMS  48

static hfi_interval one_less(hfi_interval a)
{
    return hfi_interval_subtract(hfi_interval_point(1.0L), a);
}

/* ---- the normal distribution function ------------------------------------------------------------------ */

/* phi(x) */
static hfi_interval density(hfi_interval square)
{
    const hfi_interval two_pi = hfi_interval_multiply(hfi_interval_point(2.0L), hfi_interval_pi());
    const hfi_interval half = hfi_interval_multiply(hfi_interval_point(-0.5L), square);
    return hfi_interval_divide(hfi_interval_exp(half), hfi_interval_sqrt(two_pi));
}

/* Phi(-x), 0 <= x. All terms are positive, and from the 16th on each is less than half of the one before
 * where x <= 4. */
static hfi_interval tail(long double x)
{
    const hfi_interval point = hfi_interval_point(x), square = hfi_interval_square(point);
    if (x > SERIES_END) {
        hfi_interval t = {x, hfi_up(x + hfi_up(FRACTION_TERMS / x))};
        for (int k = FRACTION_TERMS - 1; k > 0; k--)
            t = hfi_interval_add(point, hfi_interval_divide(hfi_interval_point(k), t));
        return hfi_interval_divide(density(square), t);
    }
    hfi_interval term = point, sum = point;
    for (int k = 1; k < SERIES_TERMS; k++) {
        term = hfi_interval_divide(hfi_interval_multiply(term, square), hfi_interval_point(2 * k + 1));
        sum = hfi_interval_add(sum, term);
        if (k > 16 && term.upper < SERIES_ENOUGH) break;
    }
    sum.upper = hfi_up(sum.upper + term.upper);
    return hfi_interval_subtract(hfi_interval_point(0.5L), hfi_interval_multiply(density(square), sum));
}

static hfi_interval normal(long double r)
{
    return r > 0.0L ? one_less(tail(r)) : tail(-r);
}

/* ---- the two links ------------------------------------------------------------------------------------- */

static hfi_interval normal_over(hfi_interval r)
{
    const long double width = hfi_up(r.upper - r.lower);
    if (width < NARROW) {
        const hfi_interval low = normal(r.lower); /* Phi' < 1/2 */
        return (hfi_interval){low.lower, hfi_up(low.upper + width)};
    }
    return (hfi_interval){normal(r.lower).lower, normal(r.upper).upper};
}

static hfi_interval probit(long double q, long double s)
{
    const hfi_interval square =
        hfi_interval_add(hfi_interval_point(1.0L), hfi_interval_square(hfi_interval_point(s)));
    return normal_over(hfi_interval_divide(hfi_interval_point(q), hfi_interval_sqrt(square)));
}

static hfi_interval one_more(hfi_interval a)
{
    return hfi_interval_add(hfi_interval_point(1.0L), a);
}

static hfi_interval narrow(long double q, long double s)
{
    hfi_interval sum = {0.0L, 0.0L};
    for (int k = -NORMAL_POINTS; k <= NORMAL_POINTS; k++) {
        const hfi_interval t = hfi_interval_point(k * STEP);
        const hfi_interval u =
            hfi_interval_add(hfi_interval_point(q), hfi_interval_multiply(hfi_interval_point(s), t));
        const hfi_interval weight = density(hfi_interval_square(t));
        sum = hfi_interval_add(
            sum, hfi_interval_divide(weight, one_more(hfi_interval_exp(hfi_interval_negate(u)))));
    }
    sum = hfi_interval_multiply(hfi_interval_point(STEP), sum);
    return (hfi_interval){sum.lower, hfi_up(sum.upper + NORMAL_BEYOND)};
}

static hfi_interval wide(long double q, long double s)
{
    hfi_interval sum = {0.0L, 0.0L};
    for (int k = -LOGISTIC_POINTS; k <= LOGISTIC_POINTS; k++) {
        const hfi_interval x = hfi_interval_point(k * STEP);
        const hfi_interval small = hfi_interval_exp(hfi_interval_negate(hfi_interval_size(x)));
        const hfi_interval slope = hfi_interval_divide(small, hfi_interval_square(one_more(small)));
        const hfi_interval r =
            hfi_interval_divide(hfi_interval_subtract(hfi_interval_point(q), x), hfi_interval_point(s));
        sum = hfi_interval_add(sum, hfi_interval_multiply(slope, normal_over(r)));
    }
    sum = hfi_interval_multiply(hfi_interval_point(STEP), sum);
    return (hfi_interval){sum.lower, hfi_up(sum.upper + LOGISTIC_BEYOND)};
}

static hfi_interval logit(long double q, long double s)
{
    const long double away = -fabsl(q);
    const hfi_interval lesser = hfi_interval_widen(s > 1.0L ? wide(away, s) : narrow(away, s), RULE);
    return q > 0.0L ? one_less(lesser) : lesser;
}

/* ---- over intervals ------------------------------------------------------------------------------------ */

static hfi_interval at_point(hf_link link, long double q, long double s)
{
    if (!isfinite(q) || !isfinite(s)) return (hfi_interval){0.0L, 1.0L};
    return link == HF_LINK_PROBIT ? probit(q, s) : logit(q, s);
}

hfi_interval hfi_rigorous_probability(hf_link link, hfi_interval mean, hfi_interval sd)
{
    const hfi_interval least = at_point(link, mean.lower, mean.lower > 0.0L ? sd.upper : sd.lower);
    const hfi_interval most = at_point(link, mean.upper, mean.upper > 0.0L ? sd.lower : sd.upper);
    return hfi_interval_intersect((hfi_interval){0.0L, 1.0L}, (hfi_interval){least.lower, most.upper});
}
