/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of two classes with the logistic function. */
#include "sites/likelihood.h"
#include <math.h>

static void logit_slopes(const hfi_seen *seen, double f, hfi_likelihood_slopes *out)
{
    const double u = seen->y * f, small = exp(-fabs(u)), likely = 1.0 / (1.0 + small),
                 unlikely = small * likely;
    *out = (hfi_likelihood_slopes){.value = -log1p(small) + fmin(u, 0.0)};
    out->f = seen->y * (u > 0.0 ? unlikely : likely);
    out->w = likely * unlikely;
    out->fff = seen->y * out->w * (u > 0.0 ? likely - unlikely : unlikely - likely);
}

/* Its poles at +-i pi decide the step. */
const hfi_likelihood hfi_likelihood_logit = {
    .name = "logit", .usual = HF_INFERENCE_EP, .labels = true, .slopes = logit_slopes, .step = 0.5};
