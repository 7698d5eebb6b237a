/* SPDX-License-Identifier: Apache-2.0 */
/* Where to try next with two or three objectives: the largest expected hypervolume improvement over the front
 * of posterior means. */
#include "study/propose.h"

#include <holdfast/acquire_front.h>
#include <math.h>

/* The reference point lies this share of the front's range below its worst values. */
static const double below = 0.1;

/* Worst value of each objective on the front, and a share of the range of the front below; where the front
 * has no range, of the range of all places that were tried. */
static hf_status reference_of(hf_context *ctx, const hf_study *study, size_t n, const double *front,
                              double *reference)
{
    uint64_t *ids;
    hfi_verdict_at *places;
    size_t count;
    const size_t m = study->objectives;
    const hf_status s = hfi_study_candidates(ctx, study, &ids, &places, &count);
    if (s < 0) return s;
    for (size_t k = 0; k < m; k++) {
        double low = INFINITY, high = -INFINITY, all_low = INFINITY, all_high = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            low = fmin(low, front[i * m + k]);
            high = fmax(high, front[i * m + k]);
        }
        for (size_t i = 0; i < count; i++) {
            all_low = fmin(all_low, places[i].mean[k]);
            all_high = fmax(all_high, places[i].mean[k]);
        }
        const double range = high > low ? high - low : all_high > all_low ? all_high - all_low : 1.0;
        reference[k] = low - below * range;
    }
    HFI_FREE(ctx, ids, places);
    return s;
}

hf_status hfi_study_widen_front(hf_context *ctx, const hf_study *study, const hfi_round *round,
                                const hf_acquire *constraints, double *u, double *value)
{
    const size_t m = study->objectives;
    const hf_posterior *objective[HFI_STUDY_OBJECTIVES];
    double reference[HFI_STUDY_OBJECTIVES];
    size_t n = 0;
    uint64_t *ids = hfi_alloc(ctx, study->told + 1, sizeof *ids);
    double *front = hfi_alloc_product(ctx, study->told + 1, m, sizeof *front);
    hf_status s = ids == NULL || front == NULL ? HF_ERR_MEMORY : HF_OK;
    if (s >= 0) s = hfi_study_front_of(ctx, study, ids, front, &n);
    if (s >= 0) s = hfi_worse(s, reference_of(ctx, study, n, front, reference));
    for (size_t k = 0; k < m; k++) objective[k] = study->surrogate[study->objective[k]].posterior;
    if (s >= 0) {
        hf_argmax report;
        const hf_acquire_front a = {.size = sizeof a,
                                    .objectives = m,
                                    .objective = objective,
                                    .points = n,
                                    .values = front,
                                    .reference = reference,
                                    .constraints = constraints->constraints,
                                    .constraint = constraints->constraint,
                                    .limit = constraints->limit,
                                    .pending = round->pending,
                                    .pending_x = round->pending_u,
                                    .draws = study->s.draws,
                                    .stream = round->number};
        s = hfi_worse(s, hf_ehvi_maximise(ctx, &a, &study->domain, NULL, 0, NULL, u, &report));
        *value = report.value;
    }
    HFI_FREE(ctx, ids, front);
    return s;
}
