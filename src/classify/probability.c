/* SPDX-License-Identifier: Apache-2.0 */
/* E[link(f)] for a normal f. The trapezoidal rule of step h errs by at most 2 M / (exp(2 pi a / h) - 1) for
 * an integrand that is analytic where |Im| < a. M bounds the integral of its modulus along |Im| = a (Trefethen and
 * Weideman 2014, theorem 5.1). Here a = pi/2, and with s the standard deviation
 *
 *     s <= 1    sigma(mean + s t) phi(t) dt                      |sigma| <= 1 there, so that M = exp(a^2 / 2) < 3.5
 *     s >  1    sigma'(x) Phi((mean - x) / s) dx, by parts       |sigma'| <= 1 / (2 cosh x), |Phi| <= 1 + q exp(q^2 / 2) / sqrt(2 pi) with q = a / s:  M < 5.1
 *
 * The second one does not see how large s is. */
#include "core/core.h"
#include <float.h>
#include <holdfast/classify.h>
#include <math.h>

static const double root_half = 0.70710678118654752440;
static const double step = 0.25;
/* 2 x 5.1 exp(-2 pi a / h), and what lies beyond the last points: 2 Phi(-9), exp(-38) twice. */
static const double rule = 1.0e-16, beyond = 1.0e-16;

enum {
    NORMAL_POINTS = 36,    /* on either side of 0: to 9 */
    LOGISTIC_POINTS = 152, /* to 38 */
    OPERATIONS = 24        /* roundings of a term, those of the library's functions counted as two */
};

static double logistic(double u)
{
    return u > 0.0 ? 1.0 / (1.0 + exp(-u)) : exp(u) / (1.0 + exp(u));
}

static double narrow(double mean, double sd)
{
    double sum = 0.0;
    for (int k = -NORMAL_POINTS; k <= NORMAL_POINTS; k++) {
        const double t = k * step;
        sum += logistic(mean + sd * t) * exp(-0.5 * t * t - HFI_HALF_LOG_2PI);
    }
    return step * sum;
}

static double wide(double mean, double sd)
{
    double sum = 0.0;
    for (int k = -LOGISTIC_POINTS; k <= LOGISTIC_POINTS; k++) {
        const double x = k * step, small = exp(-fabs(x)), one = 1.0 + small;
        sum += small / (one * one) * (0.5 * erfc((x - mean) / sd * root_half));
    }
    return step * sum;
}

hf_status hf_class_probability(hf_link link, double mean, double var, double *probability, double *error)
{
    if (!probability || (link != HF_LINK_PROBIT && link != HF_LINK_LOGIT)) return HF_ERR_ARGUMENT;
    if (!isfinite(mean) || !isfinite(var)) return HF_ERR_NOT_FINITE;
    if (var < 0.0) return HF_ERR_ARGUMENT;
    if (error) *error = 0.0;
    if (link == HF_LINK_PROBIT) {
        *probability = 0.5 * erfc(-mean / sqrt(1.0 + var) * root_half);
        return HF_OK;
    }
    const double sd = sqrt(var), away = -fabs(mean);
    const double lesser = var == 0.0 ? logistic(away) : sd > 1.0 ? wide(away, sd) : narrow(away, sd);
    if (error) {
        const int terms = sd > 1.0 ? 2 * LOGISTIC_POINTS + 1 : 2 * NORMAL_POINTS + 1;
        *error = (terms + OPERATIONS) * DBL_EPSILON * lesser + 4.0 * DBL_EPSILON;
        if (var > 0.0) *error += rule + beyond;
    }
    *probability = mean > 0.0 ? 1.0 - lesser : lesser;
    return HF_OK;
}
