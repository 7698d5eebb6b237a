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

/* ---- moments ----------------------------------------------------------------------------------------- */

/* Integrals of the Student-t density against a normal one, by trapezoidal rules on smooth integrands that die
 * at both ends. There these rules converge faster than any power of the step. */

/* exp(-this) is nothing beside 1. */
static const double NOTHING = 40.0;

/* Sums over the nodes of a mixture: of the weights, and of weight times 1/V, 1/V^2, (variance of f given
 * tau), and what the derivatives in log s and nu take. All relative to exp(top). */
typedef struct node_sums {
    double top, total, inverse, square, within, scale, nu;
} node_sums;

/* One node, u = log tau: given it, V = v + s / tau is the variance of r. */
static double add_node(node_sums *k, const hfi_student *t, double u, double tau, double r, double v, double s)
{
    const double own = s / tau, sum = v + own, inverse = 1.0 / sum;
    const double squared = r * inverse * r;
    const double log_weight = 0.5 * (t->nu * (u - tau) - log(sum) - squared);
    if (log_weight > k->top) {
        const double less = exp(k->top - log_weight);
        k->total *= less;
        k->inverse *= less;
        k->square *= less;
        k->within *= less;
        k->scale *= less;
        k->nu *= less;
        k->top = log_weight;
    }
    const double weight = exp(log_weight - k->top);
    k->total += weight;
    k->inverse += weight * inverse;
    k->square += weight * inverse * inverse;
    k->within += weight * v * (own * inverse);
    k->scale += weight * 0.5 * (squared - 1.0) * (own * inverse);
    k->nu += weight * 0.5 * (u - tau);
    return log_weight;
}

void hfi_student_tilt(const hfi_student *t, double r, double v, double s, hfi_student_tilted *out)
{
    const double nu = t->nu;
    /* Fine enough for a Gamma density of shape (nu + 1)/2 in log tau, the sharpest that the integrand can be. */
    const double step = fmin(0.2, 0.9 / sqrt(nu + 1.0));
    /* Without a cavity the weight peaks here; with one, between here and 0. */
    const double peak = fmin(0.0, log((nu + 1.0) / (nu + r / s * r)));
    const double right = log(1.0 + 2.0 * NOTHING / nu + 2.0 * sqrt(NOTHING / nu));
    node_sums k = {.top = -INFINITY};
    /* Whole multiples of the step, so that the nodes do not move with the arguments. */
    const double first = ceil(right / step), shrink = exp(-step);
    double tau = exp(first * step);
    for (double index = first;; index -= 1.0, tau *= shrink) {
        const double u = index * step, log_weight = add_node(&k, t, u, tau, r, v, s);
        if (u < peak && log_weight < k.top - NOTHING) break;
    }
    const double inverse = k.inverse / k.total, spread = fmax(k.square / k.total - inverse * inverse, 0.0);
    const double slope = r * inverse, between = v * r * spread * (v * r);
    const double variance = k.within / k.total + between;
    *out = (hfi_student_tilted){
        .log_z = t->mixture + k.top + log(k.total * step),
        .shift = v * slope,
        .variance = variance,
        .precision = (inverse - r * spread * r) * v / variance,
        .slope = slope,
        .scale = k.scale / k.total,
        .nu = t->mixture_nu + k.nu / k.total,
    };
}

hfi_student hfi_student_power(const hfi_student *t, double power)
{
    return power < 1.0 ? hfi_student_make(power * (t->nu + 1.0) - 1.0) : *t;
}

void hfi_student_tilt_power(const hfi_student *t, const hfi_student *powered, double power, double r,
                            double v, double s, hfi_student_tilted *out)
{
    if (!(power < 1.0)) {
        hfi_student_tilt(t, r, v, s, out);
        return;
    }
    /* p^power = p' exp(offset), where p' has the same nu s. */
    const double nu = t->nu, wide = nu * s / powered->nu, log_wide_nu = 1.0 / nu - power / powered->nu;
    hfi_student_tilt(powered, r, v, wide, out);
    out->log_z += power * (t->constant - 0.5 * log(s)) - powered->constant + 0.5 * log(wide);
    out->nu = (out->scale + 0.5) * log_wide_nu + power * (out->nu + t->constant_nu - powered->constant_nu);
    out->scale += 0.5 * (1.0 - power);
}

enum {
    MOST_NODES = 500 /* to either side */
};

/* Sums over the nodes: of the weights, log(1 + r^2 / a), r / q, (2 p - 1) / q and p, with a = nu s, q = a + r^2
 * and p = r^2 / q. The log density and its derivatives are linear in these (hfi_student_density()). */
typedef struct nodes {
    double weight, stretch, far, curvature, out;
} nodes;

static inline void add_residual(nodes *sum, double weight, double r, double a, double inverse_a)
{
    const double square = r * r, inverse = 1.0 / (a + square), p = square * inverse;
    sum->weight += weight;
    sum->stretch += weight * log1p(square * inverse_a);
    sum->far += weight * (r * inverse);
    sum->curvature += weight * ((2.0 * p - 1.0) * inverse);
    sum->out += weight * p;
}

void hfi_student_expect(const hfi_student *t, double r, double v, double s, hfi_student_expected *out)
{
    const double sd = sqrt(v), reach = 9.0, a = t->nu * s, inverse_a = 1.0 / a, power = t->nu + 1.0;
    /* log p has singularities this far from the real axis, in standard deviations of f. */
    const double distance = sd > 0.0 ? sqrt(a) / sd : INFINITY;
    const double step = fmax(fmin(0.7, 0.18 * distance), reach / MOST_NODES);
    const int count = (int)ceil(reach / step);
    nodes sum = {0};
    add_residual(&sum, 1.0, r, a, inverse_a);
    for (int k = 1; k <= count; k++) {
        const double x = k * step, weight = exp(-0.5 * x * x);
        add_residual(&sum, weight, r - sd * x, a, inverse_a);
        add_residual(&sum, weight, r + sd * x, a, inverse_a);
    }
    const double stretch = sum.stretch / sum.weight, p = sum.out / sum.weight;
    *out = (hfi_student_expected){
        .value = t->constant - 0.5 * log(s) - 0.5 * power * stretch,
        .m = power * (sum.far / sum.weight),
        .v = 0.5 * power * (sum.curvature / sum.weight),
        .scale = 0.5 * (power * p - 1.0),
        .nu = t->constant_nu - 0.5 * stretch + 0.5 * power * p / t->nu,
    };
}
