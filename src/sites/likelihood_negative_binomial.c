/* SPDX-License-Identifier: Apache-2.0 */
/* Counts with variance mu + d mu^2: a Poisson count whose rate varies by a gamma factor of variance d. With
 * the dispersion d,
 *
 *     log p = sum_{k < y} log(1 + k d) - log y! + y f - (y + 1/d) log(1 + d mu),     mu = exp(f),
 *
 * which tends to Poisson's as d falls to 0. Its value at mu = y counts as constant, so that nothing large
 * cancels near the mode. */
#include "sites/likelihood.h"
#include "sites/student.h"
#include <math.h>

/* Its exponential is not far below the largest number. */
static const double furthest = 690.0;

enum {
    MOST_TERMS = 1000 /* that are summed; beyond, by Gamma functions */
};

/* sum_{k < y} log(1 + k d), and its derivative in log d. */
static void rising(double y, double d, double *value, double *slope)
{
    *value = *slope = 0.0;
    if (y > MOST_TERMS) {
        const double r = 1.0 / d;
        *value = hfi_log_gamma(y + r) - hfi_log_gamma(r) + y * log(d);
        *slope = y - r * (hfi_digamma(y + r) - hfi_digamma(r));
        return;
    }
    for (int k = 1; k < (int)y; k++) {
        *value += log1p(k * d);
        *slope += k * d / (1.0 + k * d);
    }
}

static void negative_binomial_place(hfi_seen *seen)
{
    rising(seen->y, seen->dispersion, &seen->constant, &seen->constant_slope);
    const double y = seen->y, d = seen->dispersion;
    seen->constant += y * seen->log_y - (y + 1.0 / d) * log1p(d * y) - hfi_log_gamma(y + 1.0);
}

static void negative_binomial_slopes(const hfi_seen *seen, double f, hfi_likelihood_slopes *out)
{
    const double y = seen->y, d = seen->dispersion, z = f - seen->log_y, grown = 1.0 + d * y,
                 rest = expm1(fmin(z, furthest)), more = y > 0.0 ? y * rest : rest + 1.0, mu = y + more,
                 t = 1.0 / (1.0 + d * mu), share = d * (mu * t);
    out->value = y * z - (y + 1.0 / d) * log1p(d * more / grown);
    out->f = -more * t;
    out->w = grown * (mu * t) * t;
    out->fff = -out->w * (1.0 - 2.0 * share);
    out->d = (log1p(d * mu) - share) / d - y * share;
    out->f_d = -out->f * share;
    out->w_d = (mu * t) * t * (d * y - 2.0 * grown * share);
    out->n = out->f_n = out->w_n = 0.0;
}

static double cumulative(double dispersion, double mu, double y)
{
    const double odds = dispersion * mu;
    return hfi_beta_below(1.0 / dispersion, floor(y) + 1.0, 1.0 / (1.0 + odds), odds / (1.0 + odds));
}

static void variance(double dispersion, double *linear, double *square)
{
    *linear = 1.0;
    *square = dispersion;
}

const hfi_likelihood hfi_likelihood_negative_binomial = {.name = "negative-binomial",
                                                         .usual = HF_INFERENCE_EP,
                                                         .rate = true,
                                                         .whole = true,
                                                         .parameter = "dispersion",
                                                         .place = negative_binomial_place,
                                                         .slopes = negative_binomial_slopes,
                                                         .step = 0.25,
                                                         .cumulative = cumulative,
                                                         .variance = variance};
