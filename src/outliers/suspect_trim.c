/* SPDX-License-Identifier: Apache-2.0 */
/* Liberal rounds find most wrong readings at once, prune rounds give back what was taken too eagerly; the
 * cost guards both. */
#include "outliers/suspects.h"
#include <math.h>
#include <string.h>

enum {
    LIBERAL_ROUNDS = 3,
    ALL_ROUNDS = 8
};

static const double LEAST_SHARE = 0.25;

typedef enum phase {
    PHASE_LIBERAL,
    PHASE_PRUNE
} phase;

hf_status hfi_finder_flag(hfi_finder *finder, hfi_mixture_of mixture, double least, const hfi_flagging *f,
                          const bool *lock)
{
    double scale = 0.0;
    const hf_status s = mixture(finder->ctx, finder->n, f->t, lock, finder->probability, &scale);
    if (s < 0) return s;
    for (size_t i = 0; i < finder->n; i++)
        finder->flag[i] = lock[i] || (finder->probability[i] > least && fabs(f->t[i]) > 3.0 * scale &&
                                      !finder->replicate[i]);
    /* At least half of the readings are always kept: with fewer, "outlier" has no meaning. */
    if (2 * hfi_count_flags(finder->n, finder->flag) > finder->n)
        memcpy(finder->flag, lock, finder->n * sizeof *lock);
    return HF_OK;
}

/* Largest |t| allowed among re-admitted readings, or smallest among newly flagged ones, so that only about
 * `share` of each changes. */
static hf_status damp(hfi_finder *finder, const hfi_flagging *f, double share)
{
    double *size = hfi_alloc(finder->ctx, finder->n, 2 * sizeof *size);
    if (!size) return HF_ERR_MEMORY;
    double *back = size, *fresh = size + finder->n;
    size_t backs = 0, freshes = 0;
    for (size_t i = 0; i < finder->n; i++) {
        if (f->flag[i] && !finder->flag[i]) back[backs++] = fabs(f->t[i]);
        if (!f->flag[i] && finder->flag[i]) fresh[freshes++] = fabs(f->t[i]);
    }
    const double most = backs > 0 ? hfi_quantile(back, backs, share) : 0.0;
    const double least = freshes > 0 ? hfi_quantile(fresh, freshes, 1.0 - share) : 0.0;
    for (size_t i = 0; i < finder->n; i++) {
        if (f->flag[i] && !finder->flag[i] && fabs(f->t[i]) > most) finder->flag[i] = true;
        if (!f->flag[i] && finder->flag[i] && fabs(f->t[i]) < least) finder->flag[i] = false;
    }
    hfi_free(finder->ctx, size);
    return HF_OK;
}

/* Where a search stands. */
typedef struct trim_progress {
    phase phase;
    double share; /* of the proposed changes that is made; halved when a whole step was too much */
    size_t round;
    bool stop;
} trim_progress;

/* One step from the assessed flagging `now`: sets `stop` when the search is over, else `now` holds new flags
 * to be fitted. */
static hf_status step(hfi_finder *finder, const bool *lock, trim_progress *p, hfi_flagging *now)
{
    const size_t bytes = finder->n * sizeof *now->flag;
    if (p->phase == PHASE_LIBERAL) {
        const hf_status s = hfi_finder_flag(finder, hfi_mixture_liberal, 0.5, now, lock);
        if (s < 0) return s;
        if (memcmp(finder->flag, now->flag, bytes) == 0 || p->round >= LIBERAL_ROUNDS) p->phase = PHASE_PRUNE;
    }
    if (p->phase == PHASE_PRUNE) {
        hf_status s = hfi_finder_flag(finder, hfi_mixture_prune, 0.9, now, lock);
        if (s >= 0 && p->share < 1.0) s = damp(finder, now, p->share);
        if (s < 0) return s;
        p->stop = memcmp(finder->flag, now->flag, bytes) == 0;
    }
    if (!p->stop) memcpy(now->flag, finder->flag, bytes);
    return HF_OK;
}

/* A step that costs more than it saves is taken back: from the liberal phase to the prune phase, from there
 * to half a step. */
static void back_off(trim_progress *p)
{
    if (p->phase == PHASE_LIBERAL) {
        p->phase = PHASE_PRUNE;
        return;
    }
    p->share *= 0.5;
    if (p->share < LEAST_SHARE) p->stop = true;
}

/* New flags to be fitted from the state of `best`, which `now` equals, or `stop`. Flags that were refused
 * would be again: the same fit from the same state. */
static hf_status propose(hfi_finder *finder, const bool *lock, const hfi_flagging *best, const bool *refused,
                         trim_progress *p, hfi_flagging *now)
{
    hf_status s = HF_OK;
    while (s >= 0 && !p->stop) {
        s = step(finder, lock, p, now);
        if (s < 0 || p->stop || !refused || memcmp(now->flag, refused, finder->n * sizeof *refused) != 0)
            break;
        hfi_flagging_copy(finder, now, best);
        back_off(p);
        p->round++;
    }
    return s;
}

/* Whether the assessed flagging `now` becomes `best`; else it is refused, and `now` is the best again. */
static bool keep_better(const hfi_finder *finder, const trim_progress *p, bool bare, hfi_flagging *now,
                        hfi_flagging *best, bool *refused)
{
    /* The first flags may cost more than none: whether they pay is for the gate to say, not for the cost. */
    const bool first_flags = bare && p->phase == PHASE_LIBERAL && p->round == 1;
    const bool keep = p->round == 0 || now->cost < best->cost || first_flags;
    if (!keep) memcpy(refused, now->flag, finder->n * sizeof *refused);
    hfi_flagging_copy(finder, keep ? best : now, keep ? now : best);
    return keep;
}

static hf_status trim(hfi_finder *finder, const bool *lock, bool bare, hfi_flagging *now, hfi_flagging *best,
                      bool *refused)
{
    trim_progress p = {.phase = PHASE_LIBERAL, .share = 1.0};
    hf_status s = HF_OK;
    for (; s >= 0 && !p.stop; p.round++) {
        s = hfi_finder_assess(finder, now);
        if (s < 0) break;
        const bool kept = keep_better(finder, &p, bare, now, best, refused);
        if (!kept) back_off(&p);
        s = propose(finder, lock, best, kept ? NULL : refused, &p, now);
        if (s < 0 || p.stop || p.round + 1 >= ALL_ROUNDS) break;
        s = hfi_finder_fit(finder, now->flag, now->state, false, HFI_FINDER_WARM);
        finder->rounds++;
    }
    return s;
}

hf_status hfi_trim(hfi_finder *finder, const bool *lock, const hfi_flagging *start, hfi_flagging *best)
{
    hfi_flagging now;
    hf_status s = hfi_flagging_init(finder->ctx, &now, finder->n, finder->trainer->count);
    if (s < 0) return s;
    bool *refused = hfi_alloc(finder->ctx, finder->n, sizeof *refused);
    s = refused ? HF_OK : HF_ERR_MEMORY;
    if (s >= 0) {
        hfi_flagging_copy(finder, &now, start);
        const bool bare = memcmp(start->flag, lock, finder->n * sizeof *lock) == 0;
        s = trim(finder, lock, bare, &now, best, refused);
    }
    hfi_free(finder->ctx, refused);
    hfi_flagging_free(finder->ctx, &now);
    return s < 0 ? s : HF_OK;
}
