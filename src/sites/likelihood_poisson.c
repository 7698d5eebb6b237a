/* SPDX-License-Identifier: Apache-2.0 */
/* Counts with variance mu: log p = y f - mu - log y!, mu = exp(f). With z = f - log y it is written as
 *
 *     (y log y - y - log y!) + y (z - (exp(z) - 1)),
 *
 * in which nothing large cancels near the mode, however large the count is. */
#include "sites/likelihood.h"
#include "sites/student.h"
#include <math.h>

/* Its exponential is not far below the largest number. */
static const double furthest = 690.0;

static void poisson_place(hfi_seen *seen)
{
    seen->constant = seen->y * (seen->log_y - 1.0) - hfi_log_gamma(seen->y + 1.0);
}

static void poisson_slopes(const hfi_seen *seen, double f, hfi_likelihood_slopes *out)
{
    const double y = seen->y, z = f - seen->log_y, grown = expm1(fmin(z, furthest)),
                 more = y > 0.0 ? y * grown : grown + 1.0, mu = y + more;
    *out = (hfi_likelihood_slopes){.value = y * z - more, .f = -more, .w = mu, .fff = -mu};
}

static double cumulative(double dispersion, double mu, double y)
{
    (void)dispersion;
    return hfi_gamma_above(floor(y) + 1.0, mu);
}

static void variance(double dispersion, double *linear, double *square)
{
    (void)dispersion;
    *linear = 1.0;
    *square = 0.0;
}

/* exp(-exp(f)) is small only within +-pi/2 of the real axis, which decides the step. */
const hfi_likelihood hfi_likelihood_poisson = {.name = "poisson",
                                               .usual = HF_INFERENCE_EP,
                                               .rate = true,
                                               .whole = true,
                                               .place = poisson_place,
                                               .slopes = poisson_slopes,
                                               .step = 0.25,
                                               .cumulative = cumulative,
                                               .variance = variance};
