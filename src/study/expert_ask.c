/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of readings as an expert gives them, and the readings to show to the expert next. */
#include "study/study.h"

#include <math.h>

/* One reading in so many is shown to the expert. */
static const double one_in = 20.0;

/* ---- what was said ------------------------------------------------------------------------------------- */

static hf_status check_label_call(hf_context *ctx, const hf_study *study, uint64_t trial, size_t outcome,
                                  hf_expert_label label, double correction, double variance)
{
    const hfi_trial *t = hfi_study_find(study, trial);
    if (t == NULL)
        return hfi_refuse(ctx, "there is no trial %llu; the study has %llu", (unsigned long long)trial,
                          (unsigned long long)study->trials);
    if (outcome >= study->outcomes)
        return hfi_refuse(ctx, "there is no outcome %zu; the study has %zu", outcome, study->outcomes);
    if (isnan(t->value[outcome]))
        return hfi_refuse(ctx, "trial %llu has told no %s that could be labelled", (unsigned long long)trial,
                          study->s.outcome[outcome].name);
    if ((unsigned)label > HF_EXPERT_DOUBTED) return hfi_refuse(ctx, "unknown label %d", (int)label);
    if (!isnan(correction) && label != HF_EXPERT_DOUBTED)
        return hfi_refuse(ctx, "a correction, %g, is of a reading that is doubted", correction);
    if (isinf(correction) || !(variance >= 0.0) || isinf(variance))
        return hfi_refuse(ctx,
                          "the correction %g and its variance %g must be finite, the latter not negative",
                          correction, variance);
    return HF_OK;
}

hf_status hf_study_label(hf_context *ctx, hf_study *study, uint64_t trial, size_t outcome,
                         hf_expert_label verdict, double correction, double variance, const char *note)
{
    if (ctx == NULL || study == NULL)
        return hfi_refuse(ctx, "hf_study_label: a context and a study are needed");
    hf_status s = hfi_study_enter(ctx, study, true);
    if (s < 0) return s;
    s = check_label_call(ctx, study, trial, outcome, verdict, correction, variance);
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

/* Readings of the first objective as an expert's data; corrections that replace are in the readings already. */
static hf_status ask_study_expert(hf_context *ctx, const hf_study *study, hfi_surrogate *s, size_t *count,
                                  size_t *rows)
{
    const size_t n = s->n;
    double *mean = hfi_alloc(ctx, n, 2 * sizeof *mean), *sd = mean != NULL ? mean + n : NULL;
    bool *all = hfi_alloc(ctx, n, sizeof *all);
    hf_expert *expert = NULL;
    hf_status status = mean == NULL || all == NULL ? HF_ERR_MEMORY : HF_OK;
    for (size_t i = 0; i < n && status >= 0; i++) all[i] = true;
    if (status >= 0) status = hfi_surrogate_look_at(ctx, study, s, all);
    for (size_t i = 0; i < n && status >= 0; i++) {
        mean[i] = s->reading[i].loo_mean;
        sd[i] = sqrt(s->reading[i].loo_var);
    }
    if (status >= 0)
        status = hfi_worse(
            status, hfi_expert_of(ctx, study, study->objective[0], s, s->y, &s->next.warp, true, &expert));
    if (status >= 0) status = hfi_worse(status, hf_expert_ask(ctx, expert, mean, sd, count, rows, NULL));
    hf_expert_free(expert);
    HFI_FREE(ctx, mean, all);
    return status;
}

size_t hf_study_expert_due(const hf_study *study)
{
    if (study == NULL) return 0;
    const size_t outcome = study->objective[0];
    size_t labelled = 0;
    for (uint64_t id = 1; id <= study->trials; id++)
        labelled += study->trial[id - 1]->label[3 * outcome] != (double)HF_EXPERT_UNKNOWN;
    const size_t due = (size_t)ceil((double)hfi_study_readings(study, outcome) / one_in);
    return due > labelled ? due - labelled : 0;
}

hf_status hf_study_expert(hf_context *ctx, hf_study *study, size_t *count, uint64_t *trial)
{
    hf_context *own;
    if (ctx == NULL || study == NULL || count == NULL || trial == NULL)
        return hfi_refuse(ctx, "hf_study_expert: a context, a study and two places are needed");
    hf_status s = hfi_study_begin(ctx, study, &own);
    if (s < 0) return s;
    hfi_surrogate *surrogate = &study->surrogate[study->objective[0]];
    size_t most = *count > 0 ? *count : hf_study_expert_due(study);
    most = most < surrogate->n ? most : surrogate->n;
    size_t *rows = hfi_alloc(own, most + 1, sizeof *rows);
    if (rows == NULL) s = HF_ERR_MEMORY;
    if (s >= 0 && most > 0) s = hfi_worse(s, ask_study_expert(own, study, surrogate, &most, rows));
    for (size_t i = 0; i < most && s >= 0; i++) trial[i] = surrogate->trial[rows[i]];
    if (s >= 0) *count = most;
    hfi_free(own, rows);
    hfi_context_give_back(ctx, own);
    return s;
}
