/* SPDX-License-Identifier: Apache-2.0 */
/* Heavy tails beside wrong readings: once the wrong ones are gone the noise is small, and legitimate extremes
 * are so many of its standard deviations away that they are flagged too. Wrong readings are then a good deal
 * further out, and the nearer flags the far side of the slope that the kept readings are the near side of; or
 * else not much is gained by doing without them. */
#include "outliers/suspects.h"
#include <math.h>

enum {
    FEWEST = 20, /* flags in the nearer part: fewer are no tail */
    ROUNDS = 2
};

/* Typical sizes of the two parts must differ by this factor. */
static const double APART = 3.0;

/* Calling the nearer part wrong must bring the CRPS of all but the further part down to this share, or it is
 * given back. */
static const double WORTH_IT = 0.9;

/* |t| of the flags that are not locked, in order of size. */
static size_t sort_flagged(const hfi_finder *finder, const hfi_flagging *f, const bool *lock, double *size)
{
    size_t count = 0;
    for (size_t i = 0; i < finder->n; i++)
        if (f->flag[i] && !lock[i]) size[count++] = fabs(f->t[i]);
    if (count > 0) (void)hfi_median(size, count);
    return count;
}

/* The |t| that parts the flags in a near and a far part with the least variance of log |t| within the two; 0
 * if they are not apart. */
static double find_gap(size_t count, const double *size)
{
    double total = 0.0, below = 0.0, most = 0.0, at = 0.0;
    if (count <= FEWEST || !(size[0] > 0.0)) return 0.0;
    for (size_t k = 0; k < count; k++) total += log(size[k]);
    for (size_t k = 1; k < count; k++) {
        below += log(size[k - 1]);
        const double m = (double)k, rest = (double)(count - k);
        const double apart = (total - below) / rest - below / m, between = m * rest * apart * apart;
        if (k < FEWEST || between <= most || apart < log(APART)) continue;
        most = between;
        at = size[k];
    }
    return at;
}

hf_status hfi_finder_give_back(hfi_finder *finder, const bool *lock, hfi_flagging *current)
{
    hfi_flagging narrow;
    /* Inducing inputs that are too few leave errors of their own, which would pass for wrong readings. */
    const bool coarse = finder->trainer->evaluator.kind->coarse;
    hf_status s = hfi_flagging_init(finder->ctx, &narrow, finder->n, finder->trainer->count);
    for (size_t round = 0; s >= 0 && round < ROUNDS; round++) {
        const double gap = find_gap(sort_flagged(finder, current, lock, finder->sorted), finder->sorted);
        if (!(gap > 0.0)) break;
        hfi_flagging_copy(finder, &narrow, current);
        for (size_t i = 0; i < finder->n; i++)
            narrow.flag[i] = lock[i] || (current->flag[i] && fabs(current->t[i]) >= gap);
        const bool tail = hfi_flags_run_on(finder, current, narrow.flag);
        s = hfi_finder_fit(finder, narrow.flag, narrow.state, false, HFI_FINDER_WARM);
        if (s >= 0) s = hfi_finder_assess(finder, &narrow);
        if (s < 0) break;
        const double worth = hfi_sum_crps(finder->n, current->crps, narrow.flag, 0.0) /
                             hfi_sum_crps(finder->n, narrow.crps, narrow.flag, 0.0);
        if (!tail && !coarse && worth <= WORTH_IT) break;
        hfi_flagging_copy(finder, current, &narrow);
        finder->rounds++;
    }
    hfi_flagging_free(finder->ctx, &narrow);
    return s < 0 ? s : HF_OK;
}
