/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes of trials: told, failed, or of past ones. */
#include "study/study.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Seconds since 1970, to the nanosecond the clock gives. */
static double clock_now(void)
{
    struct timespec now;
    if (timespec_get(&now, TIME_UTC) != TIME_UTC) return NAN;
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double hfi_study_clock(double given)
{
    return isnan(given) ? clock_now() : given;
}

/* Outcomes and noises into `out` (2 outcomes); how many are numbers into *present. */
static hf_status take_told_outcomes(hf_context *ctx, const hf_study *study, const double *value,
                                    const double *noise, double *out, size_t *present)
{
    const size_t n = study->outcomes;
    *present = 0;
    for (size_t o = 0; o < n; o++) {
        const char *name = study->s.outcome[o].name;
        out[o] = value != NULL ? value[o] : NAN;
        out[n + o] = noise != NULL && !isnan(out[o]) ? noise[o] : 0.0;
        if (isinf(out[o]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "outcome %s is %g; a number is needed, or none", name,
                            out[o]);
        if (!(out[n + o] >= 0.0) || isinf(out[n + o]))
            return hfi_refuse(ctx, "the noise variance of %s is %g; it must not be negative", name,
                              out[n + o]);
        *present += isnan(out[o]) ? 0 : 1;
    }
    return HF_OK;
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Whether a trial's result may be told. *again: it was, just so. */
static hf_status may_tell(hf_context *ctx, const hf_study *study, hfi_study_kind kind, uint64_t id,
                          const double *numbers, bool *again)
{
    const hfi_trial *trial = hfi_study_find(study, id);
    *again = false;
    if (trial == NULL)
        return hfi_refuse(ctx, "there is no trial %llu; the study has %llu", (unsigned long long)id,
                          (unsigned long long)study->trials);
    if (trial->state != HF_TRIAL_TOLD && trial->state != HF_TRIAL_FAILED) return HF_OK;
    size_t other = study->outcomes;
    for (size_t o = study->outcomes; o-- > 0;)
        if (!same_number(trial->value[o], numbers[o])) other = o;
    *again = other == study->outcomes && (trial->state == HF_TRIAL_FAILED) == (kind == HFI_STUDY_FAILED);
    if (trial->state == HF_TRIAL_FAILED) return HF_OK; /* what is told later counts */
    if (kind == HFI_STUDY_FAILED)
        return hfi_refuse(ctx, "trial %llu has told its outcome already; it did not fail",
                          (unsigned long long)id);
    if (other == study->outcomes) return HF_OK;
    return hfi_refuse(ctx,
                      "trial %llu has told %s = %.10g already, not %.10g; add the second reading as a trial "
                      "of its own, or undo the first",
                      (unsigned long long)id, study->s.outcome[other].name, trial->value[other],
                      numbers[other]);
}

static hf_status end_trial(hf_context *ctx, hf_study *study, hfi_study_kind kind, uint64_t id,
                           const double *numbers, const char *note)
{
    hf_status s = hfi_study_enter(ctx, study, true);
    if (s < 0) return s;
    bool again = false;
    s = may_tell(ctx, study, kind, id, numbers, &again);
    if (s >= 0 && !again) {
        const hfi_study_event event = {.kind = kind,
                                       .id = id,
                                       .time = clock_now(),
                                       .count = 2 * study->outcomes,
                                       .values = numbers,
                                       .text = note};
        s = hfi_study_commit(ctx, study, 1, &event);
    }
    hfi_study_leave(study);
    return s;
}

static hf_status result(hf_context *ctx, hf_study *study, hfi_study_kind kind, uint64_t id,
                        const double *value, const double *noise, const char *note)
{
    if (ctx == NULL || study == NULL) return hfi_refuse(ctx, "a result needs a context and a study");
    double numbers[2 * HFI_STUDY_OUTCOMES];
    size_t present;
    const hf_status s = take_told_outcomes(ctx, study, value, noise, numbers, &present);
    if (s < 0) return s;
    if (kind == HFI_STUDY_TOLD && present == 0)
        return hfi_refuse(ctx, "nothing is told of trial %llu; a trial without any outcome has failed",
                          (unsigned long long)id);
    return end_trial(ctx, study, kind, id, numbers, note);
}

hf_status hf_study_tell(hf_context *ctx, hf_study *study, uint64_t trial, const double *y,
                        const double *noise, const char *note)
{
    return result(ctx, study, HFI_STUDY_TOLD, trial, y, noise, note);
}

hf_status hf_study_fail(hf_context *ctx, hf_study *study, uint64_t trial, const double *y, const char *note)
{
    return result(ctx, study, HFI_STUDY_FAILED, trial, y, NULL, note);
}

static hf_status add_past_trial(hf_context *ctx, hf_study *study, bool failed, const double *at,
                                const double *y, const double *noise, const char *note, uint64_t *id)
{
    if (ctx == NULL || study == NULL || at == NULL)
        return hfi_refuse(ctx, "a past trial needs a context, a study and its settings");
    const size_t d = study->d, o = study->outcomes;
    hf_status s = HF_OK;
    for (size_t j = 0; j < d && s >= 0; j++) s = hfi_variable_admits(ctx, &study->s.variable[j], at[j]);
    if (s < 0) return s;
    double *numbers = hfi_alloc(ctx, d + 2 * o, sizeof *numbers);
    if (numbers == NULL) return HF_ERR_MEMORY;
    size_t present = 0;
    memcpy(numbers, at, d * sizeof *at);
    s = take_told_outcomes(ctx, study, y, noise, numbers + d, &present);
    if (s >= 0 && present == 0 && !failed)
        s = hfi_refuse(
            ctx, "a past trial needs an outcome; all of its are missing. One that failed is added as such");
    if (s >= 0) s = hfi_study_enter(ctx, study, true);
    if (s >= 0) {
        const hfi_study_event event = {.kind = failed ? HFI_STUDY_ADDED_FAILED : HFI_STUDY_ADDED,
                                       .id = study->trials + 1,
                                       .of = hfi_study_same(study, at),
                                       .time = clock_now(),
                                       .count = d + 2 * o,
                                       .values = numbers,
                                       .text = note};
        s = hfi_study_commit(ctx, study, 1, &event);
        if (s >= 0 && id != NULL) *id = event.id;
        hfi_study_leave(study);
    }
    hfi_free(ctx, numbers);
    return s;
}

hf_status hf_study_add(hf_context *ctx, hf_study *study, const double *at, const double *y,
                       const double *noise, const char *note, uint64_t *id)
{
    return add_past_trial(ctx, study, false, at, y, noise, note, id);
}

hf_status hf_study_add_failed(hf_context *ctx, hf_study *study, const double *at, const double *y,
                              const char *note, uint64_t *id)
{
    return add_past_trial(ctx, study, true, at, y, NULL, note, id);
}
