/* SPDX-License-Identifier: Apache-2.0 */
/* Integrals of the Student-t density against a normal one, by trapezoidal rules on smooth integrands that die
 * at both ends, where these rules converge faster than any power of the step. */
#include "sites/student.h"

#include <math.h>

/* exp(-this) is nothing beside 1. */
static const double NOTHING = 40.0;

/* Sums over the nodes of a mixture: of the weights, and of weight times 1/V, 1/V^2, (variance of f given
 * tau), and what the derivatives in log s and nu take. All relative to exp(top). */
typedef struct sums {
    double top, total, inverse, square, within, scale, nu;
} sums;

/* One node, u = log tau: given it, V = v + s / tau is the variance of r. */
static double add_node(sums *k, const hfi_student *t, double u, double tau, double r, double v, double s)
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
    sums k = {.top = -INFINITY};
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

void hfi_student_expect(const hfi_student *t, double r, double v, double s, hfi_student_expected *out)
{
    const double sd = sqrt(v), reach = 9.0;
    /* log p has singularities this far from the real axis, in standard deviations of f. */
    const double distance = sd > 0.0 ? sqrt(t->nu * s) / sd : INFINITY;
    const double step = fmax(fmin(0.7, 0.18 * distance), reach / MOST_NODES);
    double total = 0.0, value = 0.0, f = 0.0, ff = 0.0, scale = 0.0, nu = 0.0;
    const int nodes = (int)ceil(reach / step);
    for (int k = -nodes; k <= nodes; k++) {
        const double x = k * step, weight = exp(-0.5 * x * x);
        hfi_student_slopes at;
        hfi_student_density(t, r - sd * x, s, &at);
        total += weight;
        value += weight * at.value;
        f += weight * at.f;
        ff += weight * at.ff;
        scale += weight * at.scale;
        nu += weight * at.nu;
    }
    *out = (hfi_student_expected){.value = value / total,
                                  .m = f / total,
                                  .v = 0.5 * ff / total,
                                  .scale = scale / total,
                                  .nu = nu / total};
}
