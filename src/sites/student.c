/* SPDX-License-Identifier: Apache-2.0 */
/* The Student-t density: values and derivatives, arranged so that no square of a residual's square is formed. */
#include "sites/student.h"

#include <math.h>

/* log Gamma(x) for x > 0: Stirling's series from 10 on, below it by Gamma(x + 1) = x Gamma(x). The C
 * library's function writes to a global. */
double hfi_log_gamma(double x)
{
    double below = 1.0;
    while (x < 10.0) {
        below *= x;
        x += 1.0;
    }
    const double u = 1.0 / (x * x);
    /* Bernoulli numbers over 2k (2k - 1); the first one left out is below 1e-17 from x = 10 on. */
    const double series =
        (1.0 / 12 -
         u * (1.0 / 360 -
              u * (1.0 / 1260 - u * (1.0 / 1680 - u * (1.0 / 1188 - u * (691.0 / 360360 - u / 156)))))) /
        x;
    return (x - 0.5) * log(x) - x + HFI_HALF_LOG_2PI + series - log(below);
}

double hfi_digamma(double x)
{
    double below = 0.0;
    while (x < 10.0) {
        below += 1.0 / x;
        x += 1.0;
    }
    const double u = 1.0 / (x * x);
    /* Bernoulli numbers over 2k; the first one left out is below 1e-16 from x = 10 on. */
    const double series =
        u *
        (1.0 / 12 - u * (1.0 / 120 -
                         u * (1.0 / 252 - u * (1.0 / 240 - u * (1.0 / 132 - u * (691.0 / 32760 - u / 12))))));
    return log(x) - 0.5 / x - series - below;
}

hfi_student hfi_student_make(double nu)
{
    const double half = 0.5 * nu, log_gamma = hfi_log_gamma(half), slope = hfi_digamma(half);
    return (hfi_student){
        .nu = nu,
        .constant = hfi_log_gamma(half + 0.5) - log_gamma - 0.5 * log(HFI_PI * nu),
        .constant_nu = 0.5 * (hfi_digamma(half + 0.5) - slope - 1.0 / nu),
        .mixture = half * log(half) - log_gamma - HFI_HALF_LOG_2PI,
        .mixture_nu = 0.5 * (log(half) + 1.0 - slope),
    };
}

void hfi_student_density(const hfi_student *t, double r, double s, hfi_student_slopes *out)
{
    const double nu = t->nu, a = nu * s, q = a + r * r;
    const double p = r * r / q, far = r / q, power = nu + 1.0; /* p in [0, 1): how far out the reading is */
    const double stretch = log1p(r * r / a);
    *out = (hfi_student_slopes){
        .value = t->constant - 0.5 * log(s) - 0.5 * power * stretch,
        .f = power * far,
        .ff = power * (2.0 * p - 1.0) / q,
        .fff = 2.0 * power * far * (4.0 * p - 3.0) / q,
        .scale = 0.5 * (power * p - 1.0),
        .f_scale = -power * far * (1.0 - p),
        .ff_scale = -power * (1.0 - p) * (4.0 * p - 1.0) / q,
        .nu = t->constant_nu - 0.5 * stretch + 0.5 * power * p / nu,
        .f_nu = far * (1.0 - power * (1.0 - p) / nu),
        .ff_nu = (2.0 * p - 1.0 - power * (1.0 - p) * (4.0 * p - 1.0) / nu) / q,
    };
}

double hfi_student_precision(const hfi_student *t, double r, double s)
{
    return (t->nu + 1.0) / (t->nu * s + r * r);
}

enum {
    PANELS = 64
};

/* Integral of cos(x)^(nu-1) from 0 to angle: the substitution r = sqrt(nu s) tan(x) makes the t density this.
 * Gauss's rule with three nodes on each panel; panels much narrower than the peak. */
static double angular(double nu, double angle)
{
    static const double node[3] = {-0.77459666924148337704, 0.0, 0.77459666924148337704};
    static const double weight[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
    const double half = 0.5 * angle / PANELS;
    double sum = 0.0;
    for (int panel = 0; panel < PANELS; panel++)
        for (int k = 0; k < 3; k++) {
            const double x = (2.0 * panel + 1.0 + node[k]) * half;
            sum += weight[k] * exp((nu - 1.0) * log(cos(x)));
        }
    return half * sum;
}

double hfi_student_normal_variance(const hfi_student *t, double s)
{
    const double nu = t->nu, normal = 1.9599639845400542355;
    /* All of it, from -pi/2 to pi/2, is sqrt(pi) Gamma(nu/2) / Gamma((nu+1)/2) = exp(-constant) / sqrt(nu). */
    const double wanted = 0.475 * exp(-t->constant) / sqrt(nu);
    /* From one degree of freedom on the quantile is at most 12.71 scales; the panels must not be wider than
     * the peak. */
    double low = 0.0, high = nu < 1.0 ? 0.5 * HFI_PI : atan(13.0 / sqrt(nu));
    for (int step = 0; step < 60; step++) {
        const double middle = 0.5 * (low + high);
        if (angular(nu, middle) < wanted)
            low = middle;
        else
            high = middle;
    }
    const double quantile = sqrt(nu) * tan(0.5 * (low + high)) / normal;
    return s * quantile * quantile;
}
