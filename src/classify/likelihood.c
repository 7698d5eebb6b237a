/* SPDX-License-Identifier: Apache-2.0 */
/* Log likelihoods of a label. The probit's far tail comes from the continued fraction of Mills' ratio, whose tails are the differences that the
 * derivatives are made of: with t = -u, phi(u)/Phi(u) = t + c, c = 1/(t + e), e = 2/(t + g), g = 3/(t + 4/(t + ...)). */
#include "classify/likelihood.h"
#include "core/core.h"
#include <math.h>

static const double root_half = 0.70710678118654752440;
/* Where the fraction takes over, and its number of terms: they end far below rounding there. */
static const double tail_from = 4.0;
enum {
    TERMS = 60
};

typedef struct tail {
    double c, e, g;
} tail;

static tail expand(double t)
{
    double g = 0.0;
    for (int k = TERMS; k >= 3; k--) g = k / (t + g);
    const double e = 2.0 / (t + g);
    return (tail){1.0 / (t + e), e, g};
}

static double density(double u)
{
    return exp(-0.5 * u * u - HFI_HALF_LOG_2PI);
}

double hfi_normal_hazard(double u)
{
    if (u < -tail_from) return -u + expand(-u).c;
    return density(u) / (0.5 * erfc(-u * root_half));
}

double hfi_log_normal_cdf(double u)
{
    if (u < -tail_from) return -0.5 * u * u - HFI_HALF_LOG_2PI - log(-u + expand(-u).c);
    return u > 0.0 ? log1p(-0.5 * erfc(u * root_half)) : log(0.5 * erfc(-u * root_half));
}

/* In u = sign f. With the hazard r: l' = r, w = r (r + u), dw/du = r (1 - w) - w (r + u). */
static hfi_class_slopes probit(double u)
{
    hfi_class_slopes at = {.value = hfi_log_normal_cdf(u)};
    if (u < -tail_from) {
        const double t = -u;
        const tail x = expand(t);
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

static hfi_class_slopes logit(double u)
{
    const double small = exp(-fabs(u)), likely = 1.0 / (1.0 + small), unlikely = small * likely;
    hfi_class_slopes at = {.value = -log1p(small) + fmin(u, 0.0)};
    at.f = u > 0.0 ? unlikely : likely;
    at.w = likely * unlikely;
    at.fff = at.w * (u > 0.0 ? likely - unlikely : unlikely - likely);
    return at;
}

hfi_class_slopes hfi_class_density(hf_link link, double sign, double f)
{
    hfi_class_slopes at = link == HF_LINK_LOGIT ? logit(sign * f) : probit(sign * f);
    at.f *= sign;
    at.fff *= sign;
    return at;
}
