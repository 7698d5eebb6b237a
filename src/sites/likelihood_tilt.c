/* SPDX-License-Identifier: Apache-2.0 */
/* Moments of a normal density times the likelihood of a reading, and expectations over one, by quadrature. */
#include "core/core.h"
#include "sites/likelihood.h"
#include <math.h>

typedef struct tilted_product {
    const hfi_likelihood *likelihood;
    const hfi_seen *seen;
    double power, mean, var;
} tilted_product;

/* To that of the likelihood's power. */
static void to_power(hfi_likelihood_slopes *at, double power)
{
    at->value *= power;
    at->f *= power;
    at->w *= power;
    at->d *= power;
}

/* Log density of the product up to a constant, and its derivative. */
static double height(const tilted_product *p, double f, hfi_likelihood_slopes *at)
{
    *at = hfi_likelihood_density(p->likelihood, p->seen, f);
    if (p->power != 1.0) to_power(at, p->power);
    return at->value - 0.5 * (f - p->mean) * (f - p->mean) / p->var;
}

static double rise(const tilted_product *p, double f, const hfi_likelihood_slopes *at)
{
    return at->f - (f - p->mean) / p->var;
}

enum {
    MOST_STEPS = 200
};

/* A place on the other side of the mode from the mean, by steps that double. */
static double beyond(const tilted_product *p, double first)
{
    double step = first > 0.0 ? sqrt(p->var) : -sqrt(p->var), f = p->mean + step;
    hfi_likelihood_slopes at;
    for (int k = 0; k < MOST_STEPS; k++, step *= 2.0, f += step) {
        height(p, f, &at);
        if (!(rise(p, f, &at) * first > 0.0)) break;
    }
    return f;
}

/* Near the mode of the product, which is log-concave: by Newton's steps within a bracket. Where exp(f) is
 * huge they are of length 1, so that each third one halves the bracket instead. *width receives the standard
 * deviation that the curvature there stands for. */
static double find_mode(const tilted_product *p, double *width)
{
    hfi_likelihood_slopes at;
    height(p, p->mean, &at);
    const double first = rise(p, p->mean, &at), far = beyond(p, first);
    double low = fmin(p->mean, far), high = fmax(p->mean, far), f = 0.5 * (low + high);
    for (int step = 0; step < MOST_STEPS; step++) {
        height(p, f, &at);
        const double slope = rise(p, f, &at), curvature = 1.0 / p->var + at.w, next = f + slope / curvature;
        if (slope * slope < 1e-4 * curvature) break;
        if (slope > 0.0)
            low = f;
        else
            high = f;
        f = next > low && next < high && step % 3 < 2 ? next : 0.5 * (low + high);
    }
    *width = 1.0 / sqrt(1.0 / p->var + at.w);
    return f;
}

/* Sums over the points of the rule. */
typedef struct tilt_sums {
    double top;              /* log of the product at the mode */
    double z, first, second; /* of weights, and with the distance from the mode and its square */
    double slope, curvature, square, d;
} tilt_sums;

/* @return the logarithm of the weight. */
static double add_tilted_point(const tilted_product *p, double centre, double away, tilt_sums *s)
{
    hfi_likelihood_slopes at;
    const double log_weight = height(p, centre + away, &at) - s->top, weight = exp(log_weight);
    if (!(weight > 0.0)) return log_weight;
    s->z += weight;
    s->first += weight * away;
    s->second += weight * away * away;
    s->slope += weight * at.f;
    s->curvature += weight * at.w;
    s->square += weight * at.f * at.f;
    s->d += weight * at.d;
    return log_weight;
}

/* exp(-this) is nothing beside 1. A product falls off from its mode at least as fast as the normal density: 9 standard
 * deviations leave no more. */
static const double nothing = 40.0, reach = 9.0, per_width = 0.5;
enum {
    MOST_POINTS = 18000 /* on either side */
};

/* Where the likelihood says more than the normal density, the variance of the product is small beside `var`,
 * and curvature comes from it without cancellation; else from E[l''] + Var[l']. */
static void conclude_tilted_moments(const tilted_product *p, const tilt_sums *s, double centre, double width,
                                    double step, hfi_likelihood_tilted *out)
{
    const double sd = sqrt(p->var), slope = s->slope / s->z, first = s->first / s->z;
    const bool strong = width * width < 0.5 * p->var;
    out->log_z = s->top + log(s->z * step / sd) - HFI_HALF_LOG_2PI;
    out->slope = strong ? (centre + first - p->mean) / p->var : slope;
    out->share = (s->second / s->z - first * first) / p->var;
    out->curvature =
        strong ? (out->share - 1.0) / p->var : s->square / s->z - slope * slope - s->curvature / s->z;
    if (!strong) out->share = 1.0 + p->var * out->curvature;
    out->d = s->d / s->z;
}

static void quadrature(const tilted_product *p, hfi_likelihood_tilted *out)
{
    const double sd = sqrt(p->var);
    double width = 0.0;
    const double centre = find_mode(p, &width);
    double step = fmin(per_width * width, p->likelihood->step);
    if (reach * sd / step > MOST_POINTS) step = fmin(reach * sd / MOST_POINTS, per_width * width);
    hfi_likelihood_slopes at;
    tilt_sums s = {.top = height(p, centre, &at)};
    add_tilted_point(p, centre, 0.0, &s);
    for (int side = -1; side <= 1; side += 2)
        for (int k = 1; k <= MOST_POINTS; k++)
            if (add_tilted_point(p, centre, side * k * step, &s) < -nothing) break;
    conclude_tilted_moments(p, &s, centre, width, step, out);
}

hfi_likelihood_tilted hfi_likelihood_tilt(const hfi_likelihood *likelihood, const hfi_seen *seen,
                                          double power, double mean, double var)
{
    hfi_likelihood_tilted out = {0};
    const tilted_product p = {likelihood, seen, power, mean, var};
    if (!(var > 0.0)) {
        hfi_likelihood_slopes at = hfi_likelihood_density(likelihood, seen, mean);
        to_power(&at, power);
        return (hfi_likelihood_tilted){at.value, at.f, -at.w, 1.0, at.d, power * at.n};
    }
    if (!likelihood->tilt || !likelihood->tilt(seen, power, mean + seen->shift, var, &out))
        quadrature(&p, &out);
    return out;
}

enum {
    MOST_NODES = 1000 /* on either side */
};

hfi_likelihood_expected hfi_likelihood_expect(const hfi_likelihood *likelihood, const hfi_seen *seen,
                                              double mean, double var)
{
    hfi_likelihood_expected out = {0};
    if (likelihood->expect) {
        likelihood->expect(seen, mean + seen->shift, var, &out);
        return out;
    }
    /* Log densities grow like exp(f) at most, which moves the weight by sd standard deviations. */
    const double sd = sqrt(var), far = reach + sd, narrow = sd > 0.0 ? likelihood->step / sd : 1.0;
    const double step = fmax(fmin(per_width, narrow), far / MOST_NODES);
    double total = 0.0;
    for (int k = (int)-ceil(far / step); k * step <= far; k++) {
        const double x = k * step, weight = exp(-0.5 * x * x);
        const hfi_likelihood_slopes at = hfi_likelihood_density(likelihood, seen, mean + sd * x);
        total += weight;
        out.value += weight * at.value;
        out.f += weight * at.f;
        out.w += weight * at.w;
        out.d += weight * at.d;
        out.n += weight * at.n;
    }
    return (hfi_likelihood_expected){out.value / total, out.f / total, out.w / total, out.d / total,
                                     out.n / total};
}
