/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elsewhere. Where the surrogate sees little more to gain, its trials crowd about one place. A search of its
 * own then begins outside of that niche, with d + 1 places that fill the rest of the space. Acquisitions
 * follow, by a surrogate that knows only these, the trials that started the study, and what this search has
 * found. When it sees little to gain either, its best place is a niche too, and the next search begins.
 * Trials of search k have the region -1 - k.
 */
#include "study/propose.h"

#include "study/study.h"
#include <math.h>
#include <string.h>

enum {
    SEARCHES = 64
};

/* Half a niche's width, as a share of the cube's diagonal. */
static const double reach = 0.1;

typedef struct searches {
    const hf_study *study;
    size_t now;                     /* number of the present search; 0: the study's own */
    uint64_t best[SEARCHES];        /* trials at the centres of niches: of searches 0 to now - 1 */
    const double *centre[SEARCHES]; /* their inputs */
    size_t made;                    /* trials of the present search */
} searches;

static size_t search_of(const hfi_trial *t)
{
    const double k = -1.0 - t->region;
    return t->reason == HF_REASON_EXPLORE && k >= 1.0 && k < SEARCHES ? (size_t)k : 0;
}

static bool inside(const searches *s, const double *u)
{
    for (size_t k = 0; k < s->now; k++)
        if (s->centre[k] != NULL && hfi_study_distance(s->study, s->centre[k], u) <= reach) return true;
    return false;
}

static hf_status outside(hf_context *ctx, const void *self, size_t m, const double *u, bool *fine,
                         double *unknown)
{
    (void)ctx;
    const searches *s = self;
    for (size_t i = 0; i < m; i++) {
        fine[i] = !inside(s, u + i * s->study->d);
        unknown[i] = hfi_study_distance(s->study, s->centre[0], u + i * s->study->d);
    }
    return HF_OK;
}

/* ---- where the searches are ---------------------------------------------------------------------------- */

static hf_status survey(hf_context *ctx, const hf_study *study, const hfi_round *round, searches *out)
{
    uint64_t *ids;
    hfi_verdict_at *places;
    size_t n;
    const hf_status s = hfi_study_candidates(ctx, study, &ids, &places, &n);
    if (s < 0) return s;
    *out = (searches){.study = study, .now = 1};
    for (uint64_t id = 1; id <= study->trials; id++) {
        const size_t k = search_of(study->trial[id - 1]);
        if (k > out->now) out->now = k;
    }
    const hfi_verdict_at *best[SEARCHES] = {NULL};
    for (size_t i = 0; i < n; i++) {
        const size_t k = search_of(hfi_study_find(study, ids[i]));
        if (best[k] != NULL && !hfi_place_better(&places[i], best[k])) continue;
        best[k] = &places[i];
        out->best[k] = ids[i];
        out->centre[k] = hfi_study_find(study, ids[i])->u;
    }
    for (uint64_t id = 1; id <= study->trials; id++) out->made += search_of(study->trial[id - 1]) == out->now;
    for (size_t i = 0; i < round->count; i++) out->made += round->ahead[i].reason == HF_REASON_EXPLORE;
    HFI_FREE(ctx, ids, places);
    return s;
}

/* ---- a search's own surrogate -------------------------------------------------------------------------- */

static bool knows(const searches *s, const hfi_trial *t)
{
    return (hfi_trial_fills(t) || search_of(t) == s->now) && !inside(s, t->u);
}

/* Its posterior, and its best mean among its readings; NULL with fewer than three of them. */
static hf_status surrogate(hf_context *ctx, const searches *s, hf_posterior **out, double *best)
{
    const hf_study *study = s->study;
    const size_t outcome = study->objective[0], d = study->d;
    const hfi_surrogate *all = &study->surrogate[outcome];
    bool *left_out = hfi_alloc(ctx, all->n, sizeof *left_out);
    double *room = hfi_alloc_product(ctx, all->n, d + 1, sizeof *room);
    double *mean = room != NULL ? room + all->n * d : NULL;
    hf_status status = left_out == NULL || room == NULL ? HF_ERR_MEMORY : HF_OK;
    size_t kept = 0;
    for (size_t i = 0; i < all->n && status >= 0; i++) {
        left_out[i] = all->aside[i] || !knows(s, hfi_study_find(study, all->trial[i]));
        if (!left_out[i]) memcpy(room + kept++ * d, all->x + i * d, d * sizeof *room);
    }
    if (status >= 0 && kept >= 3) {
        status = hfi_surrogate_without(ctx, study, outcome, left_out, out);
        if (status >= 0) status = hfi_worse(status, hf_predict(ctx, *out, kept, room, d, mean, NULL, NULL));
        *best = -INFINITY;
        for (size_t i = 0; i < kept && status >= 0; i++) *best = fmax(*best, mean[i]);
    }
    HFI_FREE(ctx, left_out, room);
    return status;
}

/* ---- the proposal -------------------------------------------------------------------------------------- */

static hf_status fill_outside_niches(hf_context *ctx, const searches *s, uint64_t number, double *u)
{
    for (uint64_t k = 0; k < 1000; k++) {
        hfi_study_fill(s->study, number + 7919 * k, u);
        if (!inside(s, u)) return HF_OK;
    }
    return hfi_fail(ctx, HF_ERR_NO_DATA, "no place is left outside of the niches");
}

static hf_status acquire(hf_context *ctx, const searches *s, const hf_acquire *with, uint64_t number,
                         double *u, double *value)
{
    const hfi_places_among among = {.study = s->study, .admits = outside, .self = s};
    hf_argmax report;
    bool acquired;
    hf_status status = hf_acquire_maximise(ctx, with, &s->study->domain, NULL, 0, NULL, u, &report);
    if (status < 0) return status;
    *value = report.value;
    if (!inside(s, u)) return status;
    return hfi_worse(status, hfi_hunt(ctx, &among, with, number, -INFINITY, u, value, &acquired));
}

hf_status hfi_study_explore(hf_context *ctx, const hf_study *study, const hfi_round *round,
                            const hf_acquire *acquisition, double low, hfi_proposed *to, double *u)
{
    searches s;
    hf_posterior *own = NULL;
    double best = -INFINITY;
    hf_status status = survey(ctx, study, round, &s);
    if (status >= 0 && s.made > study->d) status = surrogate(ctx, &s, &own, &best);
    bool found = false;
    if (status >= 0 && own != NULL) {
        hf_acquire a = *acquisition;
        a.posterior = own;
        a.best = best;
        status = hfi_worse(status, acquire(ctx, &s, &a, round->number, u, &to->value));
        found = status >= 0 && to->value >= low;
        if (!found && s.now + 1 < SEARCHES) s.now++;
    }
    hf_posterior_free(own);
    if (status >= 0 && !found) {
        to->value = NAN;
        status = hfi_worse(status, fill_outside_niches(ctx, &s, round->number, u));
    }
    if (status < 0) return status;
    to->reason = HF_REASON_EXPLORE;
    to->region = -1.0 - (double)s.now;
    return status;
}
