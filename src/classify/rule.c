/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of wrong decisions: a threshold for two classes, expected losses for several. */
#include "classify/classify.h"

#include <math.h>

hf_status hf_class_threshold(hf_context *ctx, double wrong_1, double wrong_0, double *threshold)
{
    if (!threshold) return hfi_refuse(ctx, "hf_class_threshold: threshold is NULL");
    if (!(wrong_1 > 0.0) || !(wrong_0 > 0.0) || !isfinite(wrong_1) || !isfinite(wrong_0))
        return hfi_refuse(ctx, "the losses are %g and %g; both must be above 0 and finite", wrong_1, wrong_0);
    const double quotient = 1.0 / (1.0 + wrong_0 / wrong_1);
    if (!(quotient > 0.0) || !(quotient < 1.0))
        return hfi_refuse(ctx, "the losses are %g and %g, which no probability can weigh against each other",
                          wrong_1, wrong_0);
    *threshold = quotient;
    return HF_OK;
}

void hf_class_expected_loss(size_t classes, const double *loss, const double *probability, double *expected)
{
    if (!probability || !expected) return;
    for (size_t a = 0; a < classes; a++) {
        expected[a] = loss ? 0.0 : 1.0 - probability[a];
        for (size_t b = 0; loss && b < classes; b++) expected[a] += loss[a * classes + b] * probability[b];
    }
}
