/* SPDX-License-Identifier: Apache-2.0 */
/* Giving back the noise that down-weighting took away from normal readings.
 *
 * With a = v / c^2 and u ~ N(0, 1), the share of c^2 that normal readings of variance v keep is
 *
 *     h(a) = E[a u^2 / (1 + a u^2)] = 1 - sqrt(pi) x erfcx(x),   x = 1 / sqrt(2 a),
 *
 * increasing and concave from h(0) = 0 towards 1. The wanted v solves h(v / c^2) = noise / c^2.
 */
#include "sites/sites.h"

#include <float.h>
#include <math.h>

static const double SQRT_PI = 1.7724538509055160273;

/* Above this a (a standard deviation of ten thresholds) almost all weight is gone. As h levels off, a little
 * more noise would call for any amount of v; from noise >= c^2 on there is no solution at all. */
static const double LARGEST_A = 100.0;

/* Where the continued fraction takes over from exp(x^2) erfc(x), and how many terms it then needs: its error
 * falls like exp(-2 x sqrt(2 terms)). */
static const double FRACTION_FROM = 2.0;
enum {
    FRACTION_TERMS = 100
};

/* h(a) to full relative precision. */
static double kept_share(double a)
{
    double x = 1.0 / sqrt(2.0 * a);
    if (x < FRACTION_FROM) return 1.0 - SQRT_PI * x * exp(x * x) * erfc(x);
    /* sqrt(pi) x erfcx(x) = x / (x + K), K = (1/2) / (x + 1 / (x + (3/2) / (x + ...))), so that h is
     * K / (x + K): no cancellation however small a is. */
    double k = 0.0;
    for (int term = FRACTION_TERMS; term >= 1; term--) k = 0.5 * term / (x + k);
    return k / (x + k);
}

/* dh/da = E[u^2 / (1 + a u^2)^2], from h itself; where that cancels, from its alternating series cut after a
 * positive term: slightly too steep only makes Newton's steps slightly too short. */
static double kept_share_slope(double a, double h)
{
    return a < 1e-4 ? 1.0 - 6.0 * a + 45.0 * a * a : (1.0 - h - h / a) / (2.0 * a);
}

double hf_robust_consistent_noise(double noise, double threshold)
{
    if (!(noise >= 0.0) || !(threshold > 0.0)) return NAN;
    double share = noise / threshold / threshold;
    if (!(share >= DBL_MIN) || isinf(noise)) return noise; /* also c = infinity and noise = 0 */
    double most = kept_share(LARGEST_A);
    if (share >= most) return noise * (LARGEST_A / most);
    /* h(a) <= a puts the root at or above `share`, and since h is concave Newton climbs to it from below. */
    double a = share;
    for (int iteration = 0; iteration < 200; iteration++) {
        double h = kept_share(a), next = a + (share - h) / kept_share_slope(a, h);
        next = fmin(fmax(next, a), LARGEST_A);
        if (next - a <= 2.0 * DBL_EPSILON * a) break;
        a = next;
    }
    return noise * (a / share);
}
