/* SPDX-License-Identifier: Apache-2.0 */
/* Contribution of an objective to one box of a front: the integral of its distribution over the box's side.
 *
 * With a = (mean - lower)/sd, b = (mean - upper)/sd and h(z) = phi(z) + z Phi(z) it is sd (h(a) - h(b)) = sd
 * times the integral of Phi from b to a. The difference is taken where it loses nothing; narrow sides are
 * integrated by Gauss's rule, whose terms are all positive. */
#include "core/normal.h"
#include "optimise/front.h"

#include <math.h>

enum {
    NODES = 8
};
/* Gauss-Legendre on [-1, 1], the positive half: nodes and weights of the average. */
static const double nodes[NODES / 2] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                        0.9602898564975363};
static const double weights[NODES / 2] = {0.18134189168918100, 0.15685332293894364, 0.11119051722668724,
                                          0.05061426814518813};
/* Sides of at most so many times the length over which Phi doubles are narrow: the rule's error is below rounding. */
static const double narrow = 0.5;

static const hfi_slab nothing = {-INFINITY, 0.0, 0.0};

/* A value of y that is known: the length of [lower, upper] below the mean. */
static hfi_slab certain(double lower, double upper, double mean)
{
    if (!(mean > lower)) return nothing;
    const double length = fmin(mean, upper) - lower;
    return (hfi_slab){log(length), mean < upper ? 1.0 / length : 0.0, 0.0};
}

static double log_density(double z)
{
    return -0.5 * z * z - HFI_HALF_LOG_2PI;
}

/* (phi(a) - phi(b)) / exp(log_h), a - b = width > 0, from the one that is larger. */
static double density_difference(double a, double b, double width, double log_h)
{
    const double exponent = 0.5 * width * (a + b); /* (a^2 - b^2)/2 */
    if (exponent > 0.0) return exp(log_density(b) - log_h) * expm1(-exponent);
    return -exp(log_density(a) - log_h) * expm1(exponent);
}

/* log of the integral of Phi from b to a, and (Phi(a) - Phi(b)) over it. */
typedef struct side {
    double log_h, slope;
} side;

static side by_rule(double a, double width, bool slopes)
{
    const double top = hfi_log_normal_cdf(a), middle = a - 0.5 * width;
    double sum = 0.0, slope = 0.0;
    for (int k = 0; k < NODES; k++) {
        const double node = k % 2 == 0 ? nodes[k / 2] : -nodes[k / 2];
        const double z = middle + 0.5 * width * node;
        sum += weights[k / 2] * exp(hfi_log_normal_cdf(z) - top);
        if (slopes) slope += weights[k / 2] * exp(log_density(z) - top);
    }
    return (side){log(width) + top + log(sum), slope / sum};
}

static side by_difference(double a, double b, double width, bool slopes)
{
    side s = {.slope = 0.0};
    if (b >= 0.0) /* h(z) = z + h(-z) */
        s.log_h = log(width - (exp(hfi_normal_excess_at(-b).log_h) - exp(hfi_normal_excess_at(-a).log_h)));
    else {
        const double la = hfi_normal_excess_at(a).log_h, lb = hfi_normal_excess_at(b).log_h;
        s.log_h = la + log1p(-exp(lb - la));
    }
    if (!slopes) return s;
    const double near = b >= 0.0 ? -b : a, far = b >= 0.0 ? -a : b;
    s.slope = exp(hfi_log_normal_cdf(near) - s.log_h) - exp(hfi_log_normal_cdf(far) - s.log_h);
    return s;
}

hfi_slab hfi_front_strip(double lower, double upper, double mean, double sd, bool slopes)
{
    const double a = (mean - lower) / sd;
    if (!(sd > 0.0) || isinf(a * a)) return certain(lower, upper, mean);
    if (isinf(upper)) {
        const hfi_normal_excess at = hfi_normal_excess_at(a);
        return (hfi_slab){log(sd) + at.log_h, at.slope / sd, at.density / sd};
    }
    const double width = (upper - lower) / sd, b = (mean - upper) / sd;
    if (!(width > 0.0)) return nothing;
    const side s = width * (1.0 + fmax(0.0, -a)) < narrow ? by_rule(a, width, slopes)
                                                          : by_difference(a, b, width, slopes);
    const double log_value = log(sd) + s.log_h;
    if (!slopes) return (hfi_slab){log_value, 0.0, 0.0};
    return (hfi_slab){log_value, s.slope / sd, density_difference(a, b, width, s.log_h) / sd};
}
