/* SPDX-License-Identifier: Apache-2.0 */
/* Newton's method to the only mode of the posterior under the softmax link, which is log-concave, with steps that never lower the density. */
#include "classify/softmax.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    MOST_STEPS = 100,
    MOST_HALVINGS = 40
};

/* Of the Newton decrement, nats: the mode is then known to about 1e-10 of a standard deviation, and the determinant, which is not stationary there, to as much. */
static const double tolerance = 1e-20;
/* The same of expectations, which are known to fewer digits: 1e-4 of a standard deviation. */
static const double tolerance_around = 1e-8;
/* The decrement below which the density itself, a sum of many terms, can no longer tell two steps apart. */
static const double below_rounding = 1e-9;
/* The decrement at which a search that rounding stopped has arrived for all purposes. */
static const double lost = 1e-5;

double hfi_softmax_density(size_t classes, size_t label, size_t stride, const double *f, double *probability,
                           double *slope)
{
    double largest = f[0], others = 0.0, own = 0.0;
    for (size_t c = 1; c < classes; c++) largest = fmax(largest, f[c * stride]);
    for (size_t c = 0; c < classes; c++) {
        const double e = exp(f[c * stride] - largest);
        if (c == label)
            own = e;
        else
            others += e;
    }
    const double sum = own + others;
    for (size_t c = 0; probability && c < classes; c++) {
        probability[c * stride] = exp(f[c * stride] - largest) / sum;
        /* 1 - p as the sum of the others has all its digits */
        slope[c * stride] = c == label ? others / sum : -probability[c * stride];
    }
    /* log of a number near 1 by what it lacks; far down, where exp is 0, by the exponent */
    return own > others ? -log1p(others / own) : f[label * stride] - largest - log(sum);
}

static void slopes(hfi_softmax_problem *p, double *f)
{
    const size_t n = p->n, length = p->classes * n;
    for (size_t k = 0; k < length; k++) f[k] = p->offset[k] + p->latent[k];
    if (p->spread) {
        hfi_softmax_look_around(p, f);
        return;
    }
    for (size_t i = 0; i < n; i++)
        hfi_softmax_density(p->classes, p->label[i], n, f + i, p->probability + i, p->slope + i);
}

/* Log density of the posterior up to a constant, a step along the direction (NULL: none). */
static double density(hfi_softmax_problem *p, double step, const double *force, const double *latent,
                      double *f)
{
    const size_t n = p->n, length = p->classes * n;
    double sum = 0.0;
    for (size_t k = 0; k < length; k++) {
        const double g = p->latent[k] + (latent ? step * latent[k] : 0.0);
        const double a = p->force[k] + (force ? step * force[k] : 0.0);
        f[k] = p->offset[k] + g;
        sum -= 0.5 * a * g;
    }
    if (p->spread) return sum + hfi_softmax_look_around(p, f);
    for (size_t i = 0; i < n; i++) sum += hfi_softmax_density(p->classes, p->label[i], n, f + i, NULL, NULL);
    return sum;
}

/* The direction (K^-1 + W)^-1 (l' - a) for what was factored. @return its first-order gain. */
static double direction(hfi_softmax_problem *p, double *force, double *latent)
{
    const size_t length = p->classes * p->n;
    double *e = p->work, *ke = p->work + length;
    for (size_t k = 0; k < length; k++) e[k] = p->slope[k] - p->force[k];
    hfi_softmax_k(p, e, ke);
    hfi_softmax_s(p, ke, force);
    for (size_t k = 0; k < length; k++) force[k] = e[k] - force[k];
    hfi_softmax_k(p, force, latent);
    return hfi_dot(length, e, latent);
}

static void move(hfi_softmax_problem *p, double step, const double *force, const double *latent)
{
    hfi_axpy(p->classes * p->n, step, force, p->force);
    hfi_axpy(p->classes * p->n, step, latent, p->latent);
}

/* The first of the steps 1, 1/2, 1/4, ... that raises the density enough; false if none does. */
static bool climb(hfi_softmax_problem *p, double slope, const double *force, const double *latent)
{
    const double here = density(p, 0.0, NULL, NULL, p->work);
    double step = 1.0;
    for (int halving = 0; halving < MOST_HALVINGS; halving++, step *= 0.5) {
        if (!(density(p, step, force, latent, p->work) > here + 1e-4 * step * slope)) continue;
        move(p, step, force, latent);
        return true;
    }
    return false;
}

static hf_status slopes_and_factor(hfi_softmax_problem *p)
{
    slopes(p, p->work);
    return hfi_softmax_factor(p);
}

hf_status hfi_softmax_settle(hfi_softmax_problem *p)
{
    double *force = p->work + 2 * p->classes * p->n, *latent = p->work + 3 * p->classes * p->n,
           before = INFINITY;
    p->converged = false;
    for (p->rounds = 1; p->rounds <= MOST_STEPS; p->rounds++) {
        const hf_status s = slopes_and_factor(p);
        if (s < 0) return s;
        const double slope = direction(p, force, latent);
        if (!isfinite(slope)) return hfi_fail(p->ctx, HF_ERR_NOT_FINITE, "the latent values are not finite");
        p->converged = slope < (p->spread ? tolerance_around : tolerance) ||
                       (slope < below_rounding && slope > 0.25 * before);
        if (p->converged) return HF_OK;
        before = slope;
        if (slope < below_rounding)
            move(p, 1.0, force, latent);
        else if (!climb(p, slope, force, latent)) {
            p->converged = slope < lost;
            return HF_OK;
        }
    }
    return slopes_and_factor(p);
}

/* The kept place, if it is higher than the prior mean. */
static void start(hfi_softmax_problem *p)
{
    const size_t length = p->classes * p->n, bytes = length * sizeof *p->force;
    memset(p->force, 0, bytes);
    memset(p->latent, 0, bytes);
    if (!p->started) return;
    const double cold = density(p, 0.0, NULL, NULL, p->work);
    memcpy(p->force, p->kept_force, bytes);
    hfi_softmax_k(p, p->force, p->latent);
    if (density(p, 0.0, NULL, NULL, p->work) > cold) return;
    memset(p->force, 0, bytes);
    memset(p->latent, 0, bytes);
}

hf_status hfi_softmax_mode(hfi_softmax_problem *p, double *value)
{
    start(p);
    const hf_status s = hfi_softmax_settle(p);
    if (s >= 0) *value = density(p, 0.0, NULL, NULL, p->work) - 0.5 * p->log_det;
    return s;
}
