/* SPDX-License-Identifier: Apache-2.0 */
/* The standard normal distribution. Its far tail comes from the continued fraction of Mills' ratio, whose
 * tails are the differences that derivatives are made of. */
#include "core/normal.h"

#include "core/core.h"
#include <math.h>

static const double root_half = 0.70710678118654752440;
/* The fraction has LEAST + MORE / t^2 terms: more of them change not one of its digits, from HFI_NORMAL_TAIL on. */
enum {
    LEAST = 10,
    MORE = 800,
    STEPS = 100 /* of Newton's iteration, at most: it has converged after ten */
};

hfi_normal_fraction hfi_normal_expand(double t)
{
    double g = 0.0;
    for (int k = LEAST + (int)(MORE / (t * t)); k >= 3; k--) g = k / (t + g);
    const double e = 2.0 / (t + g);
    return (hfi_normal_fraction){1.0 / (t + e), e, g};
}

double hfi_normal_density(double u)
{
    return exp(-0.5 * u * u - HFI_HALF_LOG_2PI);
}

double hfi_normal_cdf(double u)
{
    return 0.5 * erfc(-u * root_half);
}

double hfi_normal_hazard(double u)
{
    if (u < -HFI_NORMAL_TAIL) return -u + hfi_normal_expand(-u).c;
    return hfi_normal_density(u) / hfi_normal_cdf(u);
}

double hfi_log_normal_cdf(double u)
{
    if (u < -HFI_NORMAL_TAIL) return -0.5 * u * u - HFI_HALF_LOG_2PI - log(-u + hfi_normal_expand(-u).c);
    return u > 0.0 ? log1p(-hfi_normal_cdf(-u)) : log(hfi_normal_cdf(u));
}

double hfi_normal_crps(double error, double sd)
{
    static const double inverse_sqrt_pi = 0.56418958354775628695;
    const double z = error / sd;
    /* Here the normal's tail is below rounding; the product sd * z must not be formed when z overflowed. */
    if (!(fabs(z) < 40.0)) return fabs(error) - sd * inverse_sqrt_pi;
    return sd * (z * erf(z * root_half) + 2.0 * hfi_normal_density(z) - inverse_sqrt_pi);
}

hfi_normal_excess hfi_normal_excess_at(double z)
{
    if (z < -HFI_NORMAL_TAIL) { /* h(-t) = Phi(-t) (phi(t) / Phi(-t) - t) = Phi(-t) c */
        const hfi_normal_fraction x = hfi_normal_expand(-z);
        const double hazard = -z + x.c;
        return (hfi_normal_excess){-0.5 * z * z - HFI_HALF_LOG_2PI + log(x.c / hazard), 1.0 / x.c,
                                   hazard / x.c};
    }
    const double cdf = hfi_normal_cdf(z), density = hfi_normal_density(z), h = density + z * cdf;
    return (hfi_normal_excess){log(h), cdf / h, density / h};
}

/* log Phi is concave and increasing, so that Newton's iteration for log Phi(u) = log p climbs to the root
 * from below; and Phi(-t) < exp(-t^2 / 2), so that it begins there. It ends when rounding keeps it from
 * getting further up. */
static double lower_quantile(double p)
{
    const double goal = log(p);
    double u = -sqrt(-2.0 * goal);
    for (int k = 0; k < STEPS; k++) {
        const double next = u + (goal - hfi_log_normal_cdf(u)) / hfi_normal_hazard(u);
        if (!(next > u)) break;
        u = next;
    }
    return u;
}

double hfi_normal_quantile(double p)
{
    return p <= 0.5 ? lower_quantile(p) : -lower_quantile(1.0 - p);
}
