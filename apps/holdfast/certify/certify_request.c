/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of holdfast certify, and what they ask for. */
#include "certify/certify_request.h"

const char *const certify_tasks[CERTIFY_TASKS] = {
    "mean",     "sd",       "mean-plus", "probability", "loss",   "classes", "decision",
    "accuracy", "readings", "interval",  "outputs",     "radius", "verdict", "verdict radius"};

void certify_request_free(certify_request *request)
{
    TOOL_FREE(request->radius, request->weight, request->counterexample, request->counts, request->low,
              request->share_at);
}

hf_certify_what certify_value(certify_task value)
{
    static const hf_certify_what values[] = {[CERTIFY_MEAN] = HF_CERTIFY_MEAN,
                                             [CERTIFY_SD] = HF_CERTIFY_SD,
                                             [CERTIFY_MEAN_PLUS] = HF_CERTIFY_MEAN_PLUS};
    return values[value];
}

bool certify_has_rate(const certified *run, const certify_request *asked)
{
    return (asked->what == CERTIFY_MEAN || asked->what == CERTIFY_MEAN_PLUS) && !asked->settings.observed &&
           hf_likelihood_has_rate(hf_model_settings_of(run->model)->sites);
}

bool certify_decides(certify_task what)
{
    static const bool decides[CERTIFY_TASKS] = {
        [CERTIFY_DECISION] = true, [CERTIFY_ACCURACY] = true, [CERTIFY_RADII] = true,
        [CERTIFY_OUTPUTS] = true,  [CERTIFY_CLAIM] = true,    [CERTIFY_REACH] = true};
    return decides[what];
}

bool certify_attains(certify_task what)
{
    return what <= CERTIFY_LOSS || what == CERTIFY_INTERVAL || what == CERTIFY_CLAIM ||
           what == CERTIFY_OUTPUTS;
}

bool certify_finds_radius(certify_task what)
{
    return what == CERTIFY_RADII || what == CERTIFY_REACH;
}

bool certify_ran_out(const certify_request *asked, double seconds)
{
    return asked->settings.time_limit > 0.0 && seconds >= asked->settings.time_limit;
}
