/* SPDX-License-Identifier: Apache-2.0 */
/* Liberal rounds find most wrong readings at once, prune rounds give back what was taken too eagerly; the
 * cost guards both. */
#include "train/suspects.h"
#include <math.h>
#include <string.h>

enum {
    LIBERAL_ROUNDS = 3,
    ALL_ROUNDS = 8,
    WARM_ITERATIONS = 25
};

typedef enum phase {
    PHASE_LIBERAL,
    PHASE_PRUNE
} phase;

/* New flags from the residuals of `f` into finder->flag. */
static hf_status reflag(hfi_finder *finder, phase p, const hfi_flagging *f, const bool *lock)
{
    double scale = 0.0;
    const double least = p == PHASE_LIBERAL ? 0.5 : 0.9;
    const hf_status s =
        p == PHASE_LIBERAL
            ? hfi_mixture_liberal(finder->ctx, finder->n, f->t, lock, finder->probability, &scale)
            : hfi_mixture_prune(finder->ctx, finder->n, f->t, lock, finder->probability, &scale);
    if (s < 0) return s;
    for (size_t i = 0; i < finder->n; i++)
        finder->flag[i] = lock[i] || (finder->probability[i] > least && fabs(f->t[i]) > 3.0 * scale);
    /* At least half of the readings are always kept: with fewer, "outlier" has no meaning. */
    if (2 * hfi_count_flags(finder->n, finder->flag) > finder->n)
        memcpy(finder->flag, lock, finder->n * sizeof *lock);
    return HF_OK;
}

/* One step from the assessed flagging `now`: true in *stop when the search is over, else `now` holds new
 * flags to be fitted. */
static hf_status step(hfi_finder *finder, const bool *lock, phase *p, size_t round, hfi_flagging *now,
                      bool *stop)
{
    const size_t bytes = finder->n * sizeof *now->flag;
    if (*p == PHASE_LIBERAL) {
        const hf_status s = reflag(finder, PHASE_LIBERAL, now, lock);
        if (s < 0) return s;
        if (memcmp(finder->flag, now->flag, bytes) == 0 || round >= LIBERAL_ROUNDS) *p = PHASE_PRUNE;
    }
    if (*p == PHASE_PRUNE) {
        const hf_status s = reflag(finder, PHASE_PRUNE, now, lock);
        if (s < 0) return s;
        if (memcmp(finder->flag, now->flag, bytes) == 0) *stop = true;
    }
    if (!*stop) memcpy(now->flag, finder->flag, bytes);
    return HF_OK;
}

hf_status hfi_peel(hfi_finder *finder, const bool *lock, const hfi_flagging *start, hfi_flagging *best)
{
    hfi_flagging now;
    hf_status s = hfi_flagging_init(finder->ctx, &now, finder->n, finder->trainer->count);
    if (s < 0) return s;
    hfi_flagging_copy(finder, &now, start);
    phase p = PHASE_LIBERAL;
    bool stop = false, any = false;
    for (size_t round = 0; s >= 0 && !stop; round++) {
        s = hfi_finder_assess(finder, &now, lock);
        if (s < 0) break;
        /* The first flags may cost more than none: whether they pay is for the gate to say, not for the cost.
         */
        const bool first_flags = p == PHASE_LIBERAL && round == 1;
        if (any && now.cost >= best->cost && !first_flags) {
            if (p == PHASE_PRUNE) break;
            hfi_flagging_copy(finder, &now, best);
            p = PHASE_PRUNE;
        } else {
            hfi_flagging_copy(finder, best, &now);
            any = true;
        }
        s = step(finder, lock, &p, round, &now, &stop);
        if (s < 0 || stop || round + 1 >= ALL_ROUNDS) break;
        s = hfi_finder_fit(finder, now.flag, now.state, false, WARM_ITERATIONS);
        finder->rounds++;
    }
    hfi_flagging_free(finder->ctx, &now);
    return s < 0 ? s : HF_OK;
}
