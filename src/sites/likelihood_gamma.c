/* SPDX-License-Identifier: Apache-2.0 */
/* Positive amounts with variance d mu^2. With the shape a = 1/d,
 *
 *     log p = c(a) - log y + a (1 + z - exp(z)),     z = log y - f,     c(a) = a log a - a - log Gamma(a). */
#include "sites/likelihood.h"
#include "sites/student.h"
#include <math.h>

/* Its exponential is not far below the largest number. */
static const double furthest = 690.0;

/* From here on c is Stirling's series, in which nothing cancels. */
static const double large = 10.0;

/* c(a), and its derivative in log a. */
static double constant_of(double a, double *slope)
{
    if (a < large) {
        *slope = a * (log(a) - hfi_digamma(a));
        return a * (log(a) - 1.0) - hfi_log_gamma(a);
    }
    const double u = 1.0 / (a * a);
    *slope = 0.5 + (1.0 / 12 - u * (1.0 / 120 - u * (1.0 / 252 - u * (1.0 / 240 - u / 132)))) / a;
    return 0.5 * log(a) - HFI_HALF_LOG_2PI -
           (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u / 1188)))) / a;
}

static void gamma_place(hfi_seen *seen)
{
    double slope = 0.0;
    seen->constant = constant_of(1.0 / seen->dispersion, &slope) - seen->log_y;
    seen->constant_slope = -slope;
}

static void gamma_slopes(const hfi_seen *seen, double f, hfi_likelihood_slopes *out)
{
    const double a = 1.0 / seen->dispersion, z = seen->log_y - f, more = expm1(fmin(z, furthest));
    out->value = a * (z - more);
    out->f = a * more;
    out->w = out->fff = a * (1.0 + more);
    out->d = -out->value;
    out->f_d = -out->f;
    out->w_d = -out->w;
    out->n = out->f_n = out->w_n = 0.0;
}

static double cumulative(double dispersion, double mu, double y)
{
    return y > 0.0 ? hfi_gamma_below(1.0 / dispersion, y / (dispersion * mu)) : 0.0;
}

static void variance(double dispersion, double *linear, double *square)
{
    *linear = 0.0;
    *square = dispersion;
}

const hfi_likelihood hfi_likelihood_gamma = {.name = "gamma",
                                             .usual = HF_INFERENCE_EP,
                                             .rate = true,
                                             .parameter = "dispersion",
                                             .place = gamma_place,
                                             .slopes = gamma_slopes,
                                             .step = 0.25,
                                             .cumulative = cumulative,
                                             .variance = variance};
