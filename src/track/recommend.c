/* SPDX-License-Identifier: Apache-2.0 */
/* Recommendations of the authors of the baselines. */
#include "track/track.h"

#include <math.h>

#define LEAST_ETA 0.01

hf_status hf_track_theoretical_window(hf_context *ctx, hf_track_method method, double steps, double change,
                                      double scale, double *out)
{
    if (out == NULL || !hfi_is_positive(steps) || !hfi_is_positive(change) || !hfi_is_positive(scale))
        return hfi_refuse(ctx,
                          "a recommendation needs positive numbers: %g steps, a change of %g, a scale of %g",
                          steps, change, scale);
    const double window = pow(fmax(1.0, scale), 0.25) / sqrt(change),
                 left = 1.0 - change * change / (2.0 * scale);
    switch (method) {
    case HF_TRACK_R_GP_UCB:
    case HF_TRACK_SW_GP_UCB:
        *out = fmax(1.0, fmin(steps, window));
        return HF_OK;
    case HF_TRACK_W_GP_UCB:
        *out = fmax(LEAST_ETA, 1.0 - 1.0 / fmax(1.0, window));
        return HF_OK;
    case HF_TRACK_TV_GP_UCB:
        *out = 1.0 - fmax(0.0, left) * fmax(0.0, left);
        break;
    default:
        return hfi_refuse(ctx, "%s has neither a window nor a forgetting",
                          hf_enum_name(HF_ENUM_TRACK_METHOD, method));
    }
    *out = fmin(*out, 1.0 - 1e-9); /* where the prior allows no more change in a step */
    return HF_OK;
}
