/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elsewhere. Where the surrogate sees nothing more to gain, its trials crowd about one place and its scales are
 * theirs. A second surrogate that knows of this niche only its best trial is fair to the rest of the space; the
 * proposal is where it hopes for most, outside of the niche.
 */
#include "study/propose.h"

#include "study/hunt.h"
#include "study/surrogate.h"
#include <math.h>
#include <string.h>

/* Half a niche's width, as a share of the cube's diagonal. */
static const double reach = 0.1;

typedef struct niche {
    const hf_study *study;
    const double *centre; /* inputs of the incumbent */
} niche;

static bool inside(const niche *n, const double *u)
{
    return hfi_study_distance(n->study, n->centre, u) <= reach;
}

static hf_status outside(hf_context *ctx, const void *self, size_t m, const double *u, bool *fine,
                         double *unknown)
{
    (void)ctx;
    const niche *n = self;
    for (size_t i = 0; i < m; i++) {
        fine[i] = !inside(n, u + i * n->study->d);
        unknown[i] = hfi_study_distance(n->study, n->centre, u + i * n->study->d);
    }
    return HF_OK;
}

hf_status hfi_study_explore(hf_context *ctx, const hf_study *study, const hf_acquire *acquire,
                            uint64_t number, uint64_t incumbent, double *u, double *value)
{
    const niche n = {.study = study, .centre = hfi_study_find(study, incumbent)->u};
    const size_t outcome = study->objective[0];
    const hfi_surrogate *all = &study->surrogate[outcome];
    bool *left_out = hfi_alloc(ctx, all->n, sizeof *left_out), acquired;
    hf_posterior *rest = NULL;
    if (left_out == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < all->n; i++)
        left_out[i] = all->aside[i] || (all->trial[i] != incumbent && inside(&n, all->x + i * study->d));
    double best;
    hf_status s = hfi_surrogate_without(ctx, study, outcome, left_out, acquire->best, &rest, &best);
    if (s >= 0) {
        hf_acquire a = *acquire;
        const hfi_places_among among = {.study = study, .admits = outside, .self = &n};
        a.posterior = rest;
        a.best = best;
        s = hfi_worse(s, hfi_hunt(ctx, &among, &a, number, -INFINITY, u, value, &acquired));
    }
    hf_posterior_free(rest);
    hfi_free(ctx, left_out);
    return s;
}
