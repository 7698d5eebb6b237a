/* SPDX-License-Identifier: Apache-2.0 */
/* Trust regions of a study: which trials they hear of, where they are, what they restrict proposals to. */
#include "study/propose.h"

#include <math.h>
#include <string.h>

/* Two regions whose centres are nearer than this are one. */
static const double apart = 0.1;

/* ---- centres ------------------------------------------------------------------------------------------- */

/* The best trial that is at no other region's centre; of `only` >= 0 among the trials of that region since
 * `from`. */
static uint64_t best_for(const hf_study *study, const hfi_region *next, size_t r, size_t n,
                         const uint64_t *ids, const hfi_verdict_at *places)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++) {
        const double *u = hfi_study_find(study, ids[i])->u;
        bool taken = false;
        for (size_t k = 0; k < study->regions; k++) {
            const hfi_trial *centre = k != r ? hfi_study_find(study, next[k].centre) : NULL;
            taken = taken || (centre != NULL && hfi_study_distance(study, centre->u, u) < apart);
        }
        if (!taken && (best == n || hfi_place_better(&places[i], &places[best]))) best = i;
    }
    return best < n ? ids[best] : 0;
}

static size_t find_trial_id(const uint64_t *ids, size_t n, uint64_t id)
{
    size_t i = 0;
    while (i < n && ids[i] != id) i++;
    return i;
}

/* ---- results ------------------------------------------------------------------------------------------- */

/* The best new result of region r, or n. */
static size_t newest(const hf_study *study, const hfi_region *region, size_t r, const uint64_t *ids,
                     const hfi_verdict_at *places, size_t n)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++) {
        const hfi_trial *t = hfi_study_find(study, ids[i]);
        if (t->region != (double)r || t->fact <= region->heard) continue;
        if (best == n || hfi_place_better(&places[i], &places[best])) best = i;
    }
    return best;
}

static hf_status update(hf_context *ctx, const hf_study *study, hfi_region *next, size_t r,
                        const uint64_t *ids, const hfi_verdict_at *places, size_t n, double spread)
{
    hfi_region *region = &next[r];
    const size_t fresh = newest(study, region, r, ids, places, n),
                 old = find_trial_id(ids, n, region->centre);
    hf_trust_event event = HF_TRUST_KEPT;
    if (fresh < n && old < n) {
        const hf_trust_outcome outcome = {
            .before = places[old].mean[0], .after = places[fresh].mean[0], .scale = spread};
        const hf_status s = hf_trust_region_update(ctx, NULL, &outcome, &region->state, &event);
        if (s < 0) return s;
        if (hfi_place_better(&places[fresh], &places[old])) region->centre = ids[fresh];
    } else if (fresh < n) {
        region->centre = ids[fresh];
    }
    region->heard = study->facts;
    if (event != HF_TRUST_ENDED) return HF_OK;
    region->centre = 0;
    return hf_trust_region_restart(ctx, NULL, &region->state);
}

hf_status hfi_regions_hear(hf_context *ctx, const hf_study *study, hfi_region *next)
{
    uint64_t *ids;
    hfi_verdict_at *places;
    size_t n;
    hf_status s = hfi_study_candidates(ctx, study, &ids, &places, &n);
    if (s < 0) return s;
    memcpy(next, study->region, study->regions * sizeof *next);
    double spread = 0.0;
    s = hfi_worse(s, hfi_study_spread(ctx, study, &spread));
    for (size_t r = 0; r < study->regions && s >= 0; r++) {
        s = update(ctx, study, next, r, ids, places, n, spread);
        if (s >= 0 && next[r].centre == 0 && next[r].state.restarts == 0)
            next[r].centre = best_for(study, next, r, n, ids, places);
    }
    HFI_FREE(ctx, ids, places);
    return s;
}

/* ---- boxes --------------------------------------------------------------------------------------------- */

/* Lengthscales of the numbers; categories have none. */
static void lengthscales(const hf_study *study, double *out)
{
    const hf_posterior *p = study->surrogate[study->objective[0]].posterior;
    const hf_kernel *kernel = hf_posterior_kernel(p);
    for (size_t j = 0; j < study->d; j++) out[j] = study->domain.category[j] ? INFINITY : 1.0;
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter parameter;
        if (hf_kernel_parameter(kernel, i, &parameter) < 0 || parameter.unit != HF_UNIT_INPUT) continue;
        if (parameter.column < study->d && !study->domain.category[parameter.column])
            out[parameter.column] = parameter.value;
    }
}

hf_status hfi_regions_box(hf_context *ctx, const hf_study *study, const hfi_region *of, double *low,
                          double *upper)
{
    const hfi_trial *centre = hfi_study_find(study, of->centre);
    const size_t d = study->d;
    if (centre == NULL) {
        memcpy(low, study->domain.lower, d * sizeof *low);
        memcpy(upper, study->domain.upper, d * sizeof *upper);
        return HF_OK;
    }
    double *scale = hfi_alloc(ctx, d, sizeof *scale);
    if (scale == NULL) return HF_ERR_MEMORY;
    lengthscales(study, scale);
    const hf_status s = hf_trust_region_box(ctx, &of->state, &study->domain, centre->u, scale, low, upper);
    hfi_free(ctx, scale);
    /* Ends lie on the lattice, the centre between them. */
    for (size_t j = 0; j < d && s >= 0; j++) {
        const double step = study->domain.step[j];
        if (!(step > 0.0)) continue;
        low[j] = study->domain.category[j] ? 0.0 : fmax(0.0, floor(low[j] / step + 1e-9) * step);
        upper[j] = study->domain.category[j] ? study->domain.upper[j]
                                             : fmin(1.0, ceil(upper[j] / step - 1e-9) * step);
    }
    return s;
}
