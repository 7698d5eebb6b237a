/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An expert's word on readings. Believed ones are never set aside, doubted ones always, and a correction
 * takes the reading's place with a variance of its own: on the experiments of docs/results-expert.md that is
 * worth more than a prior mean made of corrections.
 */
#include "study/surrogate.h"

#include <math.h>
#include <string.h>

/* One trial in so many is shown to the expert. */
static const double one_in = 20.0;

void hfi_trial_corrected(const hfi_trial *trial, size_t outcome, double *value, double *noise)
{
    const double *label = trial->label + 3 * outcome;
    const bool corrected = label[0] == (double)HF_EXPERT_DOUBTED && !isnan(label[1]);
    *value = corrected ? label[1] : trial->value[outcome];
    *noise = corrected ? label[2] : trial->noise[outcome];
}

unsigned char hfi_trial_label(const hfi_trial *trial, size_t outcome)
{
    const double *label = trial->label + 3 * outcome;
    if (label[0] == (double)HF_EXPERT_DOUBTED && !isnan(label[1])) return HF_EXPERT_BELIEVED;
    return (unsigned char)label[0];
}

static hf_status check(hf_context *ctx, const hf_study *study, uint64_t trial, size_t outcome,
                       hf_expert_label label, double correction, double variance)
{
    const hfi_trial *t = hfi_study_find(study, trial);
    if (t == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "there is no trial %llu; the study has %llu",
                        (unsigned long long)trial, (unsigned long long)study->trials);
    if (outcome >= study->outcomes)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "there is no outcome %zu; the study has %zu", outcome,
                        study->outcomes);
    if (isnan(t->value[outcome]))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "trial %llu has told no %s that could be labelled",
                        (unsigned long long)trial, study->s.outcome[outcome].name);
    if ((unsigned)label > HF_EXPERT_DOUBTED)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "unknown label %d", (int)label);
    if (!isnan(correction) && label != HF_EXPERT_DOUBTED)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "a correction, %g, is of a reading that is doubted",
                        correction);
    if (isinf(correction) || !(variance >= 0.0) || isinf(variance))
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "the correction %g and its variance %g must be finite, the latter not negative",
                        correction, variance);
    return HF_OK;
}

hf_status hf_study_label(hf_context *ctx, hf_study *study, uint64_t trial, size_t outcome,
                         hf_expert_label verdict, double correction, double variance, const char *note)
{
    if (ctx == NULL || study == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_study_label: a context and a study are needed");
    hf_status s = hfi_study_enter(ctx, study, true);
    if (s < 0) return s;
    s = check(ctx, study, trial, outcome, verdict, correction, variance);
    if (s >= 0) {
        const double values[3] = {(double)verdict, correction, variance};
        const hfi_study_event event = {.kind = HFI_STUDY_LABELLED,
                                       .id = trial,
                                       .of = outcome,
                                       .time = hfi_study_clock(NAN),
                                       .count = 3,
                                       .values = values,
                                       .text = note};
        s = hfi_study_commit(ctx, study, 1, &event);
    }
    hfi_study_leave(study);
    return s;
}

/* ---- whom to ask about --------------------------------------------------------------------------------- */

/* Readings of the first objective as an expert's data; labels and corrections are in the readings already. */
static hf_status ask(hf_context *ctx, const hf_study *study, hfi_surrogate *s, size_t *count, size_t *rows)
{
    const size_t n = s->n;
    double *mean = hfi_alloc(ctx, n, 2 * sizeof *mean), *sd = mean != NULL ? mean + n : NULL;
    hf_expert_label *label = hfi_alloc(ctx, n, sizeof *label);
    bool *all = hfi_alloc(ctx, n, sizeof *all);
    hf_expert *expert = NULL;
    hf_status status = mean == NULL || label == NULL || all == NULL ? HF_ERR_MEMORY : HF_OK;
    for (size_t i = 0; i < n && status >= 0; i++) all[i] = true;
    if (status >= 0) status = hfi_surrogate_look_at(ctx, study, s, all);
    for (size_t i = 0; i < n && status >= 0; i++) {
        mean[i] = s->reading[i].loo_mean;
        sd[i] = sqrt(s->reading[i].loo_var);
        label[i] = (hf_expert_label)s->label[i];
    }
    if (status >= 0) {
        const hf_expert_data data = {
            .n = n, .d = study->d, .x = s->x, .ldx = study->d, .y = s->y, .label = label};
        status = hfi_worse(status, hf_expert_create(ctx, &data, NULL, &expert));
    }
    if (status >= 0) status = hfi_worse(status, hf_expert_ask(ctx, expert, mean, sd, count, rows, NULL));
    hf_expert_free(expert);
    hfi_free(ctx, mean);
    hfi_free(ctx, label);
    hfi_free(ctx, all);
    return status;
}

hf_status hf_study_expert(hf_context *ctx, hf_study *study, size_t *count, uint64_t *trial)
{
    hf_context *own;
    if (ctx == NULL || study == NULL || count == NULL || trial == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "hf_study_expert: a context, a study and two places are needed");
    hf_status s = hfi_study_begin(ctx, study, &own);
    if (s < 0) return s;
    hfi_surrogate *surrogate = &study->surrogate[study->objective[0]];
    size_t most = *count > 0 ? *count : (size_t)ceil((double)surrogate->n / one_in);
    most = most < surrogate->n ? most : surrogate->n;
    size_t *rows = hfi_alloc(own, most + 1, sizeof *rows);
    if (rows == NULL) s = HF_ERR_MEMORY;
    if (s >= 0) s = hfi_worse(s, ask(own, study, surrogate, &most, rows));
    for (size_t i = 0; i < most && s >= 0; i++) trial[i] = surrogate->trial[rows[i]];
    if (s >= 0) *count = most;
    hfi_free(own, rows);
    hfi_context_give_back(ctx, own);
    return s;
}
