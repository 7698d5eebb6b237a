/* SPDX-License-Identifier: Apache-2.0 */
/* Moments of a normal density times the likelihood of a label. */
#include "classify/likelihood.h"
#include "core/core.h"
#include <math.h>

/* Z = Phi(z) with z = sign mean / sqrt(1 + var): the likelihood of the label at mean / sqrt(1 + var). */
static hfi_class_tilted probit(double sign, double mean, double var)
{
    const double root = sqrt(1.0 + var);
    const hfi_class_slopes at = hfi_class_density(HF_LINK_PROBIT, sign, mean / root);
    return (hfi_class_tilted){at.value, at.f / root, -at.w / (1.0 + var)};
}

/* The mode of the product: in u = sign f, the u with u = mean + var (1 - sigma(u)), which lies in [mean, mean + var]. */
static double mode(double mean, double var)
{
    double low = mean, high = mean + var, u = mean + 0.5 * var;
    for (int step = 0; step < 60 && high - low > 1e-3 * sqrt(var); step++) {
        const hfi_class_slopes at = hfi_class_density(HF_LINK_LOGIT, 1.0, u);
        const double rest = mean + var * at.f - u, next = u + rest / (1.0 + var * at.w);
        if (rest > 0.0)
            low = u;
        else
            high = u;
        u = next > low && next < high ? next : 0.5 * (low + high);
    }
    return u;
}

/* The likelihood is log-concave, so that the product falls off from its mode at least as fast as the normal density does: 9 standard deviations leave
 * exp(-40). The step is that of a rule whose error is below rounding, for the normal density and for a likelihood with poles at +-i pi. */
static const double reach = 9.0, per_sd = 0.5, widest_step = 0.5;
enum {
    MOST_POINTS = 18000 /* on either side */
};

typedef struct sums {
    double top; /* log of the density at the mode */
    double z, slope, bend, square;
} sums;

static void add(sums *s, double u, double mean, double var)
{
    const hfi_class_slopes at = hfi_class_density(HF_LINK_LOGIT, 1.0, u);
    const double weight = exp(at.value - 0.5 * (u - mean) * (u - mean) / var - s->top);
    s->z += weight;
    s->slope += weight * at.f;
    s->bend += weight * at.w;
    s->square += weight * at.f * at.f;
}

/* slope = E[l'], bend = E[l''] + Var[l'] under the product. */
static hfi_class_tilted logit(double sign, double mean, double var)
{
    const double sd = sqrt(var), m = sign * mean;
    if (!(var > 0.0)) {
        const hfi_class_slopes at = hfi_class_density(HF_LINK_LOGIT, sign, mean);
        return (hfi_class_tilted){at.value, at.f, -at.w};
    }
    const double centre = mode(m, var);
    double step = fmin(per_sd * sd, widest_step);
    const double wanted = ceil(reach * sd / step);
    const int points = wanted < MOST_POINTS ? (int)wanted : MOST_POINTS;
    step = fmax(step, reach * sd / points);
    sums s = {.top = hfi_class_density(HF_LINK_LOGIT, 1.0, centre).value -
                     0.5 * (centre - m) * (centre - m) / var};
    for (int k = -points; k <= points; k++) add(&s, centre + k * step, m, var);
    const double slope = s.slope / s.z;
    return (hfi_class_tilted){s.top + log(s.z * step / sd) - HFI_HALF_LOG_2PI, sign * slope,
                              s.square / s.z - slope * slope - s.bend / s.z};
}

hfi_class_tilted hfi_class_tilt(hf_link link, double sign, double mean, double var)
{
    return link == HF_LINK_LOGIT ? logit(sign, mean, var) : probit(sign, mean, var);
}
