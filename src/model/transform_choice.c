/* SPDX-License-Identifier: Apache-2.0 */
/* The transform that predicts the readings best, from fits with each. */
#include "model/candidates.h"

/* A tail that one transform explains and the other calls wrong is what the choice is about. */
static const hfi_contest contest = {"transform", "neither sqrt nor log has a place for all readings", false};

/* From the mildest to the strongest: a stronger one has to be better than the best before it. */
hf_status hfi_transform_choose(hf_context *ctx, hf_model *model, const hf_fit_settings *settings,
                               hf_transform *chosen)
{
    hfi_candidate list[HF_TRANSFORM_AUTO];
    size_t count = 0, best;
    for (unsigned t = 0; t < HF_TRANSFORM_AUTO; t++) {
        const hf_transform transform = (hf_transform)t;
        if (!hfi_transform_takes(model, transform)) continue;
        list[count] =
            (hfi_candidate){.name = hf_enum_name(HF_ENUM_TRANSFORM, transform), .settings = *settings};
        list[count++].settings.transform = transform;
    }
    const hf_status status = hfi_candidates_choose(ctx, model, &contest, list, count, &best);
    if (status >= 0) *chosen = list[best].settings.transform;
    return status;
}
