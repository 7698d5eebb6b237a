/* SPDX-License-Identifier: Apache-2.0 */
/* The surrogates' verdicts on places and trials. */
#include "study/study.h"

#include "core/normal.h"
#include <math.h>
#include <string.h>

static hf_status add_feasibility(hf_context *ctx, const hf_study *study, size_t outcome, size_t m,
                                 const double *u, double *room, hfi_verdict_at *out)
{
    const hf_posterior *p = study->surrogate[outcome].posterior;
    const double limit = hfi_study_limit(study, outcome);
    double *mean = room, *var = room + m;
    const hf_status s = hf_predict(ctx, p, m, u, study->d, mean, var, NULL);
    for (size_t i = 0; i < m && s >= 0; i++) {
        const double sd = sqrt(var[i]), off = limit - mean[i];
        const double log_holds = sd > 0.0 ? hfi_log_normal_cdf(off / sd) : off < 0.0 ? -INFINITY : 0.0;
        out[i].log_feasible += log_holds;
        if (outcome == study->outcomes) out[i].log_success = log_holds;
    }
    return s;
}

hf_status hfi_study_judge(hf_context *ctx, const hf_study *study, size_t m, const double *u,
                          hfi_verdict_at *out)
{
    double *room = hfi_alloc_product(ctx, m + 1, 2, sizeof *room);
    if (room == NULL) return HF_ERR_MEMORY;
    hf_status s = HF_OK;
    for (size_t i = 0; i < m; i++) out[i] = (hfi_verdict_at){.log_feasible = 0.0};
    for (size_t k = 0; k < study->objectives && s >= 0; k++) {
        const hf_posterior *p = study->surrogate[study->objective[k]].posterior;
        s = hf_predict(ctx, p, m, u, study->d, room, room + m, NULL);
        for (size_t i = 0; i < m && s >= 0; i++) {
            out[i].mean[k] = room[i];
            out[i].sd[k] = sqrt(room[m + i]);
        }
    }
    for (size_t o = 0; o <= study->outcomes && s >= 0; o++) {
        const bool constraint = o == study->outcomes ? study->failed > 0 : !hfi_study_is_objective(study, o);
        if (constraint) s = add_feasibility(ctx, study, o, m, u, room, out);
    }
    hfi_free(ctx, room);
    return s;
}

hf_status hfi_study_candidates(hf_context *ctx, const hf_study *study, uint64_t **trial,
                               hfi_verdict_at **place, size_t *count)
{
    const size_t d = study->d, most = study->told + 1;
    double *u;
    size_t n = 0;
    hf_status s = HFI_ALLOC(ctx, HFI_ROOMS(u, most, d), HFI_ROOM(*trial, most), HFI_ROOM(*place, most));
    for (uint64_t id = 1; id <= study->trials && s >= 0; id++) {
        const hfi_trial *t = study->trial[id - 1];
        if (t->state != HF_TRIAL_TOLD) continue;
        const hfi_trial *first = t->repeats != 0 ? hfi_study_find(study, t->repeats) : NULL;
        if (first != NULL && first->state == HF_TRIAL_TOLD) continue; /* is there already */
        memcpy(u + n * d, t->u, d * sizeof *u);
        (*trial)[n++] = id;
    }
    if (s >= 0) s = hfi_study_judge(ctx, study, n, u, *place);
    hfi_free(ctx, u);
    if (s < 0) {
        HFI_FREE(ctx, *trial, *place);
        return s;
    }
    *count = n;
    return s;
}

/* Feasible as likely as not comes before all that is not; among those the more likely comes first. */
bool hfi_place_better(const hfi_verdict_at *a, const hfi_verdict_at *b)
{
    const double half = log(0.5);
    const bool fine_a = a->log_feasible >= half, fine_b = b->log_feasible >= half;
    if (fine_a != fine_b) return fine_a;
    if (!fine_a && a->log_feasible != b->log_feasible) return a->log_feasible > b->log_feasible;
    return a->mean[0] > b->mean[0];
}

hf_status hfi_study_incumbent(hf_context *ctx, const hf_study *study, uint64_t *trial,
                              hfi_verdict_at *verdict)
{
    uint64_t *ids;
    hfi_verdict_at *places;
    size_t count;
    *trial = 0;
    const hf_status s = hfi_study_candidates(ctx, study, &ids, &places, &count);
    if (s < 0) return s;
    for (size_t i = 0; i < count; i++) {
        if (*trial != 0 && !hfi_place_better(&places[i], verdict)) continue;
        *trial = ids[i];
        *verdict = places[i];
    }
    HFI_FREE(ctx, ids, places);
    return s;
}
