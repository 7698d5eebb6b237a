/* SPDX-License-Identifier: Apache-2.0 */
/* Log likelihoods of a label. The probit's derivatives in its far tail are the tails of a continued fraction (core/normal.h), not differences. */
#include "classify/likelihood.h"
#include "core/normal.h"
#include <math.h>

/* In u = sign f. With the hazard r: l' = r, w = r (r + u), dw/du = r (1 - w) - w (r + u). */
static hfi_class_slopes probit(double u)
{
    hfi_class_slopes at = {.value = hfi_log_normal_cdf(u)};
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
