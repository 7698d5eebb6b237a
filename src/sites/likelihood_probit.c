/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of two classes with the normal distribution function. Derivatives in the far tail are the tails of a continued
 * fraction (core/normal.h), not differences. */
#include "core/normal.h"
#include "sites/likelihood.h"
#include <math.h>

/* In u = y f. With the hazard r: l' = r, w = r (r + u), dw/du = r (1 - w) - w (r + u). */
static hfi_likelihood_slopes at_margin(double u)
{
    hfi_likelihood_slopes at = {.value = hfi_log_normal_cdf(u)};
    if (u < -HFI_NORMAL_TAIL) {
        const double t = -u;
        const hfi_normal_fraction x = hfi_normal_expand(t);
        at.f = t + x.c;
        at.w = at.f * x.c;
        at.fff = -2.0 * at.w * (x.e - x.g) / ((t + x.g) * (t + x.e));
        return at;
    }
    at.f = hfi_normal_hazard(u);
    at.w = at.f * (at.f + u);
    at.fff = -(at.f * (1.0 - at.w) - at.w * (at.f + u));
    return at;
}

static void probit_slopes(const hfi_seen *seen, double f, hfi_likelihood_slopes *out)
{
    *out = at_margin(seen->y * f);
    out->f *= seen->y;
    out->fff *= seen->y;
}

/* Z = Phi(z) with z = y mean / sqrt(1 + var): the likelihood of the label at mean / sqrt(1 + var). */
static bool tilt(const hfi_seen *seen, double power, double mean, double var, hfi_likelihood_tilted *out)
{
    if (power != 1.0) return false;
    const double root = sqrt(1.0 + var);
    hfi_likelihood_slopes at;
    probit_slopes(seen, mean / root, &at);
    *out = (hfi_likelihood_tilted){.log_z = at.value, .slope = at.f / root, .curvature = -at.w / (1.0 + var)};
    out->share = 1.0 + var * out->curvature;
    return true;
}

const hfi_likelihood hfi_likelihood_probit = {.name = "probit",
                                              .usual = HF_INFERENCE_EP,
                                              .labels = true,
                                              .slopes = probit_slopes,
                                              .tilt = tilt,
                                              .step = 0.25};
