/* SPDX-License-Identifier: Apache-2.0 */
/* A study's memory of its trials. */
#include "study/study.h"

#include <math.h>
#include <string.h>

hfi_trial *hfi_study_find(const hf_study *study, uint64_t id)
{
    return id >= 1 && id <= study->trials ? study->trial[id - 1] : NULL;
}

uint64_t hfi_study_same(const hf_study *study, const double *at)
{
    for (uint64_t id = 1; id <= study->trials; id++)
        if (memcmp(study->trial[id - 1]->at, at, study->d * sizeof *at) == 0) return id;
    return 0;
}

size_t hfi_study_repeated(const hf_study *study, uint64_t id)
{
    const hfi_trial *trial = hfi_study_find(study, id);
    if (trial == NULL) return 0;
    const uint64_t first = trial->repeats != 0 ? trial->repeats : id;
    size_t count = 0;
    for (uint64_t k = first; k <= study->trials; k++) {
        const hfi_trial *other = study->trial[k - 1];
        const bool same = k == first || other->repeats == first;
        count += same && (other->state == HF_TRIAL_TOLD || other->state == HF_TRIAL_PENDING);
    }
    return count;
}

bool hfi_trial_fills(const hfi_trial *trial)
{
    return trial->reason == HF_REASON_START || trial->reason == HF_REASON_ADDED;
}

size_t hfi_study_filling(const hf_study *study, size_t outcome, double *y)
{
    size_t count = 0;
    for (uint64_t id = 1; id <= study->trials; id++) {
        const hfi_trial *t = study->trial[id - 1];
        if (hfi_trial_fills(t) && t->state == HF_TRIAL_TOLD && !isnan(t->value[outcome]))
            y[count++] = t->value[outcome];
    }
    return count;
}

hf_status hfi_study_spread(hf_context *ctx, const hf_study *study, double *out)
{
    double *y = hfi_alloc(ctx, study->told + 1, sizeof *y);
    if (y == NULL) return HF_ERR_MEMORY;
    const size_t n = hfi_study_filling(study, study->objective[0], y);
    *out = n > 1 ? 0.5 * (hfi_quantile(y, n, 0.75) - hfi_quantile(y, n, 0.25)) : 0.0;
    hfi_free(ctx, y);
    return HF_OK;
}

uint64_t hf_study_trials(const hf_study *study)
{
    return study != NULL ? study->trials : 0;
}

/* The surrogates' verdict on a trial's values. */
static void judged(const hf_study *study, uint64_t id, hf_trial *out)
{
    for (size_t o = 0; o < study->outcomes; o++) {
        const hfi_surrogate *s = &study->surrogate[o];
        for (size_t i = 0; s->posterior != NULL && i < s->n; i++) {
            if (s->trial[i] != id || !(s->reading[i].suspected || s->aside[i]) || out->suspected) continue;
            out->suspected = true;
            out->aside = s->aside[i];
            out->outcome = o;
            out->mean = hfi_study_outward(study, o, s->reading[i].loo_mean);
            out->sd = sqrt(s->reading[i].loo_var) /
                      hfi_warp_slope(&s->next.warp, hfi_study_sign(study, o) * out->mean);
        }
    }
}

hf_status hf_study_trial(hf_context *ctx, const hf_study *study, uint64_t id, hf_trial *out)
{
    if (study == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_study_trial: a study and a place for the trial are needed");
    const hfi_trial *trial = hfi_study_find(study, id);
    if (trial == NULL)
        return hfi_refuse(ctx, "there is no trial %llu; the study has %llu", (unsigned long long)id,
                          (unsigned long long)study->trials);
    *out = (hf_trial){.id = id,
                      .state = trial->state,
                      .reason = trial->reason,
                      .repeats = trial->repeats,
                      .asked = trial->asked,
                      .told = trial->told,
                      .at = trial->at,
                      .value = trial->value,
                      .noise = trial->noise,
                      .label = trial->label,
                      .note = trial->note != NULL ? trial->note : "",
                      .mean = NAN,
                      .sd = NAN};
    judged(study, id, out);
    return HF_OK;
}
