/* SPDX-License-Identifier: Apache-2.0 */
/* The chi-squared distribution, over the regularised incomplete gamma function of half-integers. */
#include "sites/chi_squared.h"
#include "sites/incomplete.h"

#include <float.h>
#include <math.h>

/* log Gamma(k/2), from Gamma(1) = 1 or Gamma(1/2) = sqrt(pi) upwards. (lgamma() of the C library writes a global.) */
static double log_gamma_half(size_t k)
{
    double sum = k % 2 == 0 ? 0.0 : 0.57236494292470008707;
    for (size_t j = k % 2 == 0 ? 2 : 1; j < k; j += 2) sum += log(0.5 * (double)j);
    return sum;
}

double hfi_chi_squared_cdf(size_t k, double x)
{
    if (isnan(x) || k == 0) return NAN;
    if (x <= 0.0) return 0.0;
    if (isinf(x)) return 1.0;
    const double a = 0.5 * (double)k, z = 0.5 * x;
    const double log_front = a * log(z) - z;
    if (z < a + 1.0) return exp(log_front - log_gamma_half(k + 2)) * hfi_gamma_series(a, z);
    return 1.0 - exp(log_front - log_gamma_half(k)) * hfi_gamma_fraction(a, z);
}

static double log_density(size_t k, double x)
{
    const double a = 0.5 * (double)k;
    return (a - 1.0) * log(0.5 * x) - 0.5 * x - log_gamma_half(k) - 0.69314718055994530942;
}

double hfi_chi_squared_quantile(size_t k, double p)
{
    if (!(p >= 0.0 && p <= 1.0) || k == 0) return NAN;
    if (p == 0.0) return 0.0;
    if (p == 1.0) return INFINITY;
    double low = 0.0, high = (double)k + 1.0;
    while (hfi_chi_squared_cdf(k, high) < p && high < 1e300) {
        low = high;
        high *= 2.0;
    }
    double x = 0.5 * (low + high);
    for (int step = 0; step < 1100; step++) {
        const double excess = hfi_chi_squared_cdf(k, x) - p;
        if (excess > 0.0)
            high = x;
        else
            low = x;
        double next = x - excess * exp(-log_density(k, x));
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (fabs(next - x) <= 2.0 * DBL_EPSILON * x) return next;
        x = next;
    }
    return x;
}

double hfi_chi_squared_consistency(size_t p, double share)
{
    if (!(share < 1.0)) return 1.0;
    return share / hfi_chi_squared_cdf(p + 2, hfi_chi_squared_quantile(p, share));
}
