/* SPDX-License-Identifier: Apache-2.0 */
/* The standard normal distribution. Its far tail comes from the continued fraction of Mills' ratio, whose tails are the differences that derivatives are made of. */
#include "core/normal.h"

#include "core/core.h"
#include <math.h>

static const double root_half = 0.70710678118654752440;
/* The fraction's number of terms: it ends far below rounding from HFI_NORMAL_TAIL on. */
enum {
    TERMS = 60
};

hfi_normal_fraction hfi_normal_expand(double t)
{
    double g = 0.0;
    for (int k = TERMS; k >= 3; k--) g = k / (t + g);
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
