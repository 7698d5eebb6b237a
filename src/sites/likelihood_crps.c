/* SPDX-License-Identifier: Apache-2.0 */
/* The continuous ranked probability score of a new reading: with its distribution function F the integral of
 * (F(t) - 1{t >= y})^2, which of counts is a sum. Below y it is of F^2, above of (1 - F)^2; both are
 * smooth. */
#include "core/core.h"
#include "sites/likelihood.h"
#include <math.h>

enum {
    STEPS = 160, /* of a sum, on either side, while no number is twice another */
    LEAST = 32,  /* for each doubling */
    PANELS = 40  /* of an integral, on either side */
};

/* Beyond these quantiles F is 0 or 1 for all purposes. */
static const double tail = 1e-7;

typedef struct forecast {
    const hfi_likelihood *likelihood;
    double dispersion, mean, var;
} forecast;

/* F^2 or (1 - F)^2. */
static double term(const forecast *f, double t, bool above)
{
    const double p = hfi_likelihood_cumulative(f->likelihood, f->dispersion, f->mean, f->var, t),
                 q = above ? 1.0 - p : p;
    return q * q;
}

/* The sum over whole numbers from first to last, of which each h-th is taken: a sum of trapezoids is off by
 * the Euler-Maclaurin term, (h^2 - 1)/12 times the slopes at the ends, which are differences here; what is
 * left falls with the fourth power of h over the width. */
static double piece(const forecast *f, double first, double last, double step, bool above)
{
    const double from = term(f, first, above);
    const size_t steps = (size_t)((last - first) / step),
                 rest = (size_t)(last - first) - steps * (size_t)step;
    const double at = first + (double)steps * step;
    double total = 0.5 * from, here = from;
    for (size_t k = 1; k <= steps; k++) {
        here = term(f, first + (double)k * step, above);
        total += here;
    }
    total = step * (total - 0.5 * here) + 0.5 * (from + here);
    if (step > 1.0) {
        const double slopes = here - term(f, at - 1.0, above) - term(f, first + 1.0, above) + from;
        total -= (step * step - 1.0) / 12.0 * slopes;
    }
    for (size_t k = 1; k <= rest; k++) total += term(f, at + (double)k, above);
    return total;
}

/* In pieces that double, as a forecast that is wide is one of the logarithm. */
static double sum(const forecast *f, double first, double last, bool above)
{
    const double doublings = ceil(log2((last + 1.0) / (first + 1.0))),
                 steps = fmax(floor(STEPS / fmax(doublings, 1.0)), LEAST);
    double total = 0.0;
    while (first <= last) {
        const double most = fmax(first, steps), end = fmin(first + most, last),
                     step = fmax(1.0, floor((end - first) / steps));
        total += piece(f, first, end, step, above);
        first = end + 1.0;
    }
    return total;
}

/* The integral between positive numbers: Gauss's rule with three nodes on panels of the logarithm. */
static double integral(const forecast *f, double from, double to, bool above)
{
    static const double node[3] = {-0.77459666924148337704, 0.0, 0.77459666924148337704},
                        weight[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
    if (!(from < to)) return 0.0;
    const double start = log(from), half = 0.5 * (log(to) - start) / PANELS;
    double total = 0.0;
    for (int panel = 0; panel < PANELS; panel++)
        for (int k = 0; k < 3; k++) {
            const double t = exp(start + (2.0 * panel + 1.0 + node[k]) * half);
            total += half * weight[k] * t * term(f, t, above);
        }
    return total;
}

double hfi_likelihood_crps(const hfi_likelihood *l, double dispersion, double mean, double var, double y)
{
    const forecast f = {l, dispersion, mean, var};
    const double low = hfi_likelihood_quantile(l, dispersion, mean, var, tail),
                 high = hfi_likelihood_quantile(l, dispersion, mean, var, 1.0 - tail);
    /* Beyond the quantiles one of the two is 1 and the other 0. */
    const double beyond = fmax(y - high, 0.0) + fmax(low - y, 0.0);
    if (!l->whole)
        return beyond + integral(&f, low, fmin(y, high), false) + integral(&f, fmax(y, low), high, true);
    return beyond + sum(&f, low, fmin(y, high) - 1.0, false) + sum(&f, fmax(y, low), high - 1.0, true);
}
