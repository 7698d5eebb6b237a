/* SPDX-License-Identifier: Apache-2.0 */
/* The only mode of the posterior under the softmax link, which is log-concave. */
#include "classify/softmax.h"
#include "inference/mode.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

/* Limit of the Newton decrement, nats: the mode is then known to about 1e-10 of a standard deviation, and so is the
 * determinant, which is not stationary there. */
static const double tolerance = 1e-20;
/* The same of expectations, which are known to fewer digits: 1e-4 of a standard deviation. */
static const double tolerance_around = 1e-8;

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

static void compute_mode_slopes(hfi_softmax_problem *p, double *f)
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
static double density(void *self, double step, const double *alpha, const double *latent)
{
    hfi_softmax_problem *p = self;
    const size_t n = p->n, length = p->classes * n;
    double *f = p->work, sum = 0.0;
    for (size_t k = 0; k < length; k++) {
        const double g = p->latent[k] + (latent ? step * latent[k] : 0.0);
        const double a = p->alpha[k] + (alpha ? step * alpha[k] : 0.0);
        f[k] = p->offset[k] + g;
        sum -= 0.5 * a * g;
    }
    if (p->spread) return sum + hfi_softmax_look_around(p, f);
    for (size_t i = 0; i < n; i++) sum += hfi_softmax_density(p->classes, p->label[i], n, f + i, NULL, NULL);
    return sum;
}

/* The direction (K^-1 + W)^-1 (l' - a) at the place. */
static hf_status direction(void *self, double *alpha, double *latent, double *slope)
{
    hfi_softmax_problem *p = self;
    const size_t length = p->classes * p->n;
    compute_mode_slopes(p, p->work);
    const hf_status s = hfi_softmax_factor(p);
    if (s < 0) return s;
    double *e = p->work, *ke = p->work + length;
    for (size_t k = 0; k < length; k++) e[k] = p->slope[k] - p->alpha[k];
    hfi_softmax_k(p, e, ke);
    hfi_softmax_s(p, ke, alpha);
    for (size_t k = 0; k < length; k++) alpha[k] = e[k] - alpha[k];
    hfi_softmax_k(p, alpha, latent);
    *slope = hfi_dot(length, e, latent);
    return s;
}

hf_status hfi_softmax_newton(hfi_softmax_problem *p)
{
    const size_t length = p->classes * p->n;
    hfi_mode_search search = {.ctx = p->ctx,
                              .self = p,
                              .length = length,
                              .alpha = p->alpha,
                              .latent = p->latent,
                              .step_alpha = p->work + 2 * length,
                              .step_latent = p->work + 3 * length,
                              .tolerance = p->spread ? tolerance_around : tolerance,
                              .direction = direction,
                              .density = density};
    const hf_status s = hfi_mode_find(&search);
    p->converged = search.converged;
    p->rounds = search.rounds;
    return s;
}

/* The kept place, if it is higher than the prior mean. */
static void start_softmax_mode(hfi_softmax_problem *p)
{
    const size_t length = p->classes * p->n, bytes = length * sizeof *p->alpha;
    memset(p->alpha, 0, bytes);
    memset(p->latent, 0, bytes);
    if (!p->started) return;
    const double cold = density(p, 0.0, NULL, NULL);
    memcpy(p->alpha, p->kept_alpha, bytes);
    hfi_softmax_k(p, p->alpha, p->latent);
    if (density(p, 0.0, NULL, NULL) > cold) return;
    memset(p->alpha, 0, bytes);
    memset(p->latent, 0, bytes);
}

hf_status hfi_softmax_mode(hfi_softmax_problem *p, double *value)
{
    start_softmax_mode(p);
    const hf_status s = hfi_softmax_newton(p);
    if (s >= 0) *value = density(p, 0.0, NULL, NULL) - 0.5 * p->log_det;
    return s;
}
