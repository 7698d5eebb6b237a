/* SPDX-License-Identifier: Apache-2.0 */
/* Incomplete Gamma and Beta functions, by series and continued fractions (modified Lentz). */
#include "sites/incomplete.h"
#include "sites/student.h"
#include <float.h>
#include <math.h>

static const double tiny = 1e-300;
enum {
    MOST_STEPS = 1000000
};

double hfi_gamma_series(double a, double z)
{
    double term = 1.0, sum = 1.0;
    for (int step = 1; term > sum * (0.25 * DBL_EPSILON); step++) {
        term *= z / (a + step);
        sum += term;
    }
    return sum;
}

double hfi_gamma_fraction(double a, double z)
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
    if (*below) return exp(log_front - hfi_log_gamma(a + 1.0)) * hfi_gamma_series(a, z);
    return exp(log_front - hfi_log_gamma(a)) * hfi_gamma_fraction(a, z);
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
