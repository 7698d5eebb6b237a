/* SPDX-License-Identifier: Apache-2.0 */
/* The noise that the weights and the posterior of robust readings follow from. */
#include "report/report.h"

#include <math.h>
#include <string.h>

bool trained_noise(const hf_model *model, double *trained, double *observed)
{
    const hf_fit_settings *settings = hf_model_settings_of(model);
    const double threshold = hf_model_report_of(model)->threshold;
    if (settings->sites != HF_LIKELIHOOD_ROBUST || has_outputs_table(model)) return false;
    *observed = *trained = NAN;
    for (size_t i = 0; i < hf_model_parameters(model); i++) {
        hf_parameter p;
        if (hf_model_parameter(model, i, &p) >= 0 && strcmp(p.name, "noise") == 0) *observed = p.value;
    }
    if (!settings->consistent_noise || !isfinite(threshold) || !(*observed > 0.0)) {
        *trained = *observed;
        return true;
    }
    /* The correction grows with the noise, and ends where nearly all weight is gone: there its cause is not known. */
    if (*observed >= 99.0 * threshold * threshold) return true;
    double low = 0.0, high = *observed;
    for (int step = 0; step < 200 && low < high; step++) {
        const double middle = low + 0.5 * (high - low);
        if (middle <= low || middle >= high) break;
        if (hf_robust_consistent_noise(middle, threshold) > *observed)
            high = middle;
        else
            low = middle;
    }
    *trained = low;
    return true;
}
