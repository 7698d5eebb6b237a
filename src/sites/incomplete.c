/* SPDX-License-Identifier: Apache-2.0 */
/* Incomplete Gamma and Beta functions, by series and continued fractions (modified Lentz). */
#include "sites/likelihood.h"
#include "sites/mcd.h"
#include "sites/student.h"
#include <float.h>
#include <math.h>

static const double tiny = 1e-300;
enum {
    MOST_STEPS = 1000000
};

/* sum_m z^m / ((a + 1) ... (a + m)), for 0 <= z < a + 1. */
static double gamma_series(double a, double z)
{
    double term = 1.0, sum = 1.0;
    for (int step = 1; term > sum * (0.25 * DBL_EPSILON); step++) {
        term *= z / (a + step);
        sum += term;
    }
    return sum;
}

/* Gamma(a, z) = z^a exp(-z) times this, for z >= a + 1. */
static double gamma_fraction(double a, double z)
{
    double b = z + 1.0 - a, c = 1.0 / tiny, d = 1.0 / b, value = d;
    for (int step = 1; step < MOST_STEPS; step++) {
        const double m = step, numerator = m * (a - m);
        b += 2.0;
        d = numerator * d + b;
        c = b + numerator / c;
        if (fabs(d) < tiny) d = tiny;
        if (fabs(c) < tiny) c = tiny;
        d = 1.0 / d;
        value *= c * d;
        if (fabs(c * d - 1.0) <= DBL_EPSILON) break;
    }
    return value;
}

/* The smaller of P and Q as the argument lies, and which it is. */
static double gamma_part(double a, double z, int *below)
{
    *below = z < a + 1.0;
    const double log_front = a * log(z) - z;
    if (*below) return exp(log_front - hfi_log_gamma(a + 1.0)) * gamma_series(a, z);
    return exp(log_front - hfi_log_gamma(a)) * gamma_fraction(a, z);
}

double hfi_gamma_below(double a, double z)
{
    int below = 1;
    if (!(z > 0.0)) return 0.0;
    if (isinf(z)) return 1.0;
    const double part = gamma_part(a, z, &below);
    return fmin(below ? part : 1.0 - part, 1.0);
}

double hfi_gamma_above(double a, double z)
{
    int below = 1;
    if (!(z > 0.0)) return 1.0;
    if (isinf(z)) return 0.0;
    const double part = gamma_part(a, z, &below);
    return fmax(below ? 1.0 - part : part, 0.0);
}

/* One step of Lentz's method: *value times what the numerator adds. @return how far the factor is from 1. */
static double step_of(double numerator, double *c, double *d, double *value)
{
    *d = 1.0 + numerator * *d;
    *c = 1.0 + numerator / *c;
    if (fabs(*d) < tiny) *d = tiny;
    if (fabs(*c) < tiny) *c = tiny;
    *d = 1.0 / *d;
    *value *= *c * *d;
    return fabs(*c * *d - 1.0);
}

/* I_x(a, b) for x below (a + 1) / (a + b + 2). */
static double beta_part(double a, double b, double x, double rest)
{
    const double first = 1.0 - (a + b) * x / (a + 1.0);
    double c = 1.0, d = 1.0 / (fabs(first) < tiny ? tiny : first), value = d;
    for (int step = 1; step < MOST_STEPS; step++) {
        const double m = step, even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
                     odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        step_of(even, &c, &d, &value);
        if (step_of(odd, &c, &d, &value) <= DBL_EPSILON) break;
    }
    const double log_beta = hfi_log_gamma(a) + hfi_log_gamma(b) - hfi_log_gamma(a + b);
    return exp(a * log(x) + b * log(rest) - log_beta) * value / a;
}

double hfi_beta_below(double a, double b, double x, double rest)
{
    if (!(x > 0.0)) return 0.0;
    if (!(rest > 0.0)) return 1.0;
    const double value =
        x < (a + 1.0) / (a + b + 2.0) ? beta_part(a, b, x, rest) : 1.0 - beta_part(b, a, rest, x);
    return fmin(fmax(value, 0.0), 1.0);
}

/* ---- the chi-squared distribution, over the regularised incomplete gamma function of half-integers --- */

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
    if (z < a + 1.0) return exp(log_front - log_gamma_half(k + 2)) * gamma_series(a, z);
    return 1.0 - exp(log_front - log_gamma_half(k)) * gamma_fraction(a, z);
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
