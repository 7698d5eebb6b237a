/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults and presets of a fit. */
#include "core/core.h"
#include <holdfast/train.h>
#include <math.h>
#include <string.h>

hf_fit_settings hf_fit_settings_default(void)
{
    const hf_fit_settings settings = {
        .kernel = NULL,
        .mean = HF_MEAN_CONSTANT,
        .sites = HF_SITES_GAUSSIAN,
        .suspects = HF_SUSPECTS_AUTO,
        .groups = true,
        .calibrate = true,
        .centre = HF_CENTRE_LEAVE_ONE_OUT,
        .threshold_rule = HF_THRESHOLD_MAD,
        .eps = 0.1,
        .threshold = INFINITY,
        .rounds = 8,
        .consistent_noise = true,
        .train = true,
        .objective = HF_OBJECTIVE_EVIDENCE,
        .priors = true,
        .train_mean = true,
        .restarts = 0,
        .iterations = 60,
        .standardise = true,
        .solver = HF_SOLVER_AUTO,
        .train_actions = true,
        .tolerance = 0.01,
        .learning_rate = 0.01,
        .set = NULL,
        .set_count = 0,
    };
    return settings;
}

hf_status hf_fit_settings_preset(hf_context *ctx, const char *name, hf_fit_settings *out)
{
    if (!out) return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_fit_settings_preset needs a place for the settings");
    hf_fit_settings settings = hf_fit_settings_default();
    if (name && strcmp(name, "default") == 0) {
        *out = settings;
        return HF_OK;
    }
    settings.suspects = HF_SUSPECTS_OFF;
    settings.calibrate = false;
    if (name && strcmp(name, "gp") == 0) {
        *out = settings;
        return HF_OK;
    }
    if (name && strcmp(name, "rcgp") == 0) {
        settings.sites = HF_SITES_ROBUST;
        settings.centre = HF_CENTRE_PRIOR;
        settings.threshold_rule = HF_THRESHOLD_QUANTILE;
        settings.objective = HF_OBJECTIVE_LOO;
        settings.priors = false;
        settings.train_mean = false;
        settings.consistent_noise = false;
        *out = settings;
        return HF_OK;
    }
    return hfi_fail(ctx, HF_ERR_ARGUMENT, "unknown preset '%s'; valid are: default, gp, rcgp",
                    name ? name : "(null)");
}
