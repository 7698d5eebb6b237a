/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts from two starts; the best flagging that the gate lets pass. */
#include "outliers/suspects.h"
#include "search/explore.h"
#include <math.h>
#include <string.h>

/* ---- flags given back -------------------------------------------------------------------------------- */

/* Heavy tails beside wrong readings: once the wrong ones are gone the noise is small. Legitimate extremes are
 * then so many of its standard deviations away that they are flagged too. Wrong readings are then a good deal
 * further out. The nearer flags are the far side of a slope, and the kept readings its near side; or
 * else not much is gained by doing without them. */

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

/* Gives the nearer flags back where they are well apart from the further ones and one thing more holds.
 * They run on from the kept readings, are hardly worth it, or may be errors of inducing inputs that are too few. Flags
 * in `lock` stay. */
static hf_status give_back(hfi_finder *finder, const bool *lock, hfi_flagging *current)
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

/* ---- attempts ----------------------------------------------------------------------------------------- */

/* Keeps the candidate if it is better than what the attempt has: accepted before not accepted, then the lower
 * cost. */
static void consider(const hfi_finder *finder, const hfi_flagging *candidate, const hfi_judgement *judged,
                     hfi_attempt *attempt)
{
    const bool accepted = judged->accepted;
    const bool better = !attempt->found || (accepted && !attempt->judged.accepted) ||
                        (accepted == attempt->judged.accepted && candidate->cost < attempt->result.cost);
    if (!better) return;
    hfi_flagging_copy(finder, &attempt->result, candidate);
    attempt->found = true;
    attempt->tested = false;
    attempt->judged = *judged;
}

/* A fit whose typical error is less than this share of what the median's is has found something: it is not
 * where all is noise. */
static const double share_of_noise = 0.5;

static bool may_be_noise(const hfi_finder *finder, const hfi_flagging *f)
{
    const double *y = hf_sites_readings(finder->trainer->evaluator.sites);
    size_t kept = 0;
    for (size_t i = 0; i < finder->n; i++)
        if (!f->flag[i]) finder->sorted[kept++] = y[i];
    const double middle = hfi_median(finder->sorted, kept);
    kept = 0;
    for (size_t i = 0; i < finder->n; i++)
        if (!f->flag[i]) finder->sorted[kept++] = fabs(y[i] - middle);
    const double spread = hfi_median(finder->sorted, kept);
    kept = 0;
    for (size_t i = 0; i < finder->n; i++)
        if (!f->flag[i]) finder->sorted[kept++] = fabs(f->t[i]) * f->sd[i];
    return hfi_median(finder->sorted, kept) > share_of_noise * spread;
}

/* While wrong readings were there all may have looked like noise, and fits that go on from there stay in it:
 * a search for the kept ones from a shorter start, and if it ends higher, another look at everybody. `start`
 * is overwritten. */
static hf_status look_closer(hfi_finder *finder, const bool *lock, hfi_flagging *start, hfi_flagging *found)
{
    bool shorter = false;
    if (memcmp(found->flag, lock, finder->n * sizeof *lock) == 0 || !may_be_noise(finder, found))
        return HF_OK;
    hf_status s = hfi_finder_present(finder, found->flag);
    hfi_flagging_copy(finder, start, found);
    if (s >= 0) s = hfi_trainer_escape(finder->trainer, start->state, HFI_FINDER_WARM, &shorter);
    if (s >= 0 && shorter) s = hfi_trim(finder, lock, start, found);
    return s;
}

static hf_status trim_and_consider(hfi_finder *finder, const bool *lock, const hfi_flagging *base,
                                   hfi_flagging *start, hfi_flagging *scratch, hfi_attempt *attempt)
{
    hf_status s = hfi_trim(finder, lock, start, scratch);
    if (s >= 0) s = look_closer(finder, lock, start, scratch);
    if (s >= 0) s = give_back(finder, lock, scratch);
    if (s < 0 || memcmp(scratch->flag, lock, finder->n * sizeof *lock) == 0) return s < 0 ? s : HF_OK;
    hfi_judgement judged;
    s = hfi_gate(finder, lock, base, scratch, &judged);
    if (s >= 0) consider(finder, scratch, &judged, attempt);
    return s < 0 ? s : HF_OK;
}

/* Readings whose weight in a smooth robust fit is below this are flagged to start with. */
static const double LOW_WEIGHT = 0.25;

/* A few rounds of smooth re-weighting on sites of its own. */
static hf_status smooth_flags(hfi_finder *finder, double *state, bool *flag)
{
    hfi_evaluator *e = &finder->trainer->evaluator;
    hf_sites *hard = e->sites, *smooth = NULL;
    hf_fit_settings settings = *finder->settings;
    settings.centre = HF_CENTRE_LEAVE_ONE_OUT;
    settings.threshold_rule = HF_THRESHOLD_MAD;
    settings.rounds = 4;
    settings.iterations = 25;
    hfi_reweighting done;
    memset(flag, 0, finder->n * sizeof *flag);
    hf_status s = hfi_finder_present(finder, flag);
    if (s >= 0) s = hfi_trainer_cold(finder->trainer, state);
    if (s >= 0) s = hf_sites_copy(finder->ctx, hard, &smooth);
    if (s < 0) return s;
    const double enough = finder->trainer->enough;
    e->sites = smooth;
    finder->trainer->enough = hfi_finder_roughly(finder);
    s = hfi_robust_reweight(finder->trainer, &settings, INFINITY, state, &done);
    finder->trainer->enough = enough;
    e->sites = hard;
    for (size_t i = 0; s >= 0 && i < finder->n; i++)
        flag[i] = hf_sites_weights(smooth)[i] < LOW_WEIGHT && !finder->replicate[i];
    hf_sites_free(smooth);
    return s;
}

/* The robust start: low weights of a smooth robust fit, which has found its way past wrong readings that bend
 * the plain fit. */
static hf_status smooth_start(hfi_finder *finder, const bool *lock, hfi_flagging *start)
{
    const hf_status s = smooth_flags(finder, start->state, start->flag);
    if (s < 0) return s;
    for (size_t i = 0; i < finder->n; i++) start->flag[i] = start->flag[i] || lock[i];
    if (2 * hfi_count_flags(finder->n, start->flag) > finder->n)
        memcpy(start->flag, lock, finder->n * sizeof *lock);
    return hfi_finder_fit(finder, start->flag, start->state, true, 25);
}

/* The one-sided start: readings more likely than not of an outlier part that may lie on one side only. Many
 * wrong readings on one side blow up the noise, which hides the nearer ones. Setting aside the further ones alone then
 * gains too little to be kept. Where it flags nobody it is the plain start, which has been tried: *differs := false. */
static hf_status one_sided_start(hfi_finder *finder, const bool *lock, const hfi_flagging *base,
                                 hfi_flagging *start, bool *differs)
{
    hf_status s = hfi_finder_flag(finder, hfi_mixture_prune, 0.5, base, lock);
    *differs = s >= 0 && memcmp(finder->flag, lock, finder->n * sizeof *lock) != 0;
    if (!*differs) return s;
    memcpy(start->flag, finder->flag, finder->n * sizeof *start->flag);
    memcpy(start->state, base->state, finder->trainer->count * sizeof *start->state);
    return hfi_finder_fit(finder, start->flag, start->state, false, HFI_FINDER_WARM);
}

/* Residuals further out than this many robust scales make up for a search that found nobody: wrong readings
 * that bend a fit are beyond it, and few tables without any are. */
static const double odd = 3.5;

/* Whether one of the readings that are not flagged looks odd. */
static bool looks_odd(const hfi_finder *finder, const hfi_flagging *f)
{
    double most = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < finder->n; i++) {
        if (f->flag[i]) continue;
        finder->sorted[count++] = fabs(f->t[i]);
        most = fmax(most, fabs(f->t[i]));
    }
    return count > 0 && most > odd * 1.4826 * hfi_median(finder->sorted, count);
}

/* A few suspects this far beyond the others' tails are not the first of many that hide: those would have
 * blown the tails up. Unless a reading is so wild that a search that has seen it does not find back. */
static const double beyond_doubt = 0.005;

/* Whether another start could find more: not where nobody looks odd. Nobody did to begin with, or the few
 * who did are set aside already, without a doubt. */
static bool wants_another(const hfi_finder *finder, const hfi_flagging *base, const hfi_attempt *attempt)
{
    if (!attempt->found) return looks_odd(finder, base);
    const bool clear =
        attempt->judged.accepted && attempt->judged.evidence.chance <= beyond_doubt && !finder->wild;
    return !clear || looks_odd(finder, &attempt->result);
}

/* From the plain start, then from the robust one, then, while nothing has passed the gate, from the one-sided one. */
static hf_status try_starts(hfi_finder *finder, const bool *lock, const hfi_flagging *base, bool robust_start,
                            hfi_flagging *start, hfi_flagging *scratch, hfi_attempt *attempt)
{
    bool differs = false;
    memcpy(start->flag, lock, finder->n * sizeof *lock);
    memcpy(start->state, base->state, finder->trainer->count * sizeof *start->state);
    hf_status s = trim_and_consider(finder, lock, base, start, scratch, attempt);
    if (s >= 0) s = hfi_isolated_run(finder, lock, attempt);
    robust_start = robust_start && wants_another(finder, base, attempt);
    if (s >= 0 && robust_start) s = smooth_start(finder, lock, start);
    if (s >= 0 && robust_start) s = trim_and_consider(finder, lock, base, start, scratch, attempt);
    if (s < 0 || !robust_start || attempt->judged.accepted) return s;
    s = one_sided_start(finder, lock, base, start, &differs);
    return s < 0 || !differs ? s : trim_and_consider(finder, lock, base, start, scratch, attempt);
}

/* A chance up to this is worth a search on a large table. */
static const double worth_a_search = 0.15;

/* Whether a warm fit looks as any other fit does after it has looked as `attempt` tells: searches are cheap
 * on few readings. */
static bool wants_search(const hfi_finder *finder, const hfi_flagging *base, const hfi_attempt *attempt)
{
    if (!attempt->found || finder->n <= HFI_EXPLORE_READINGS) return wants_another(finder, base, attempt);
    return !attempt->judged.accepted && attempt->judged.evidence.chance <= worth_a_search;
}

/* A look at residuals by hyperparameters that stay as they are in `start`. */
static hf_status look_held(hfi_finder *finder, const bool *lock, const hfi_flagging *base,
                           hfi_flagging *start, hfi_flagging *scratch, hfi_attempt *attempt)
{
    memcpy(start->flag, lock, finder->n * sizeof *lock);
    finder->held = true;
    hf_status s = trim_and_consider(finder, lock, base, start, scratch, attempt);
    if (s >= 0 && !attempt->tested) s = hfi_isolated_run(finder, lock, attempt);
    finder->held = false;
    return s;
}

/* A warm fit: at the hyperparameters that it starts from, which an earlier fit ended at, wrong readings stand
 * out as they are. Where that settles nothing few readings are searched as in any fit, and of many another
 * look is taken from where the plain fit ended. */
static hf_status try_warm(hfi_finder *finder, const bool *lock, const hfi_flagging *base, bool robust_start,
                          hfi_flagging *start, hfi_flagging *scratch, hfi_attempt *attempt)
{
    hf_status s = hfi_finder_present(finder, lock);
    if (s >= 0) s = hfi_trainer_cold(finder->trainer, start->state);
    if (s >= 0) s = look_held(finder, lock, base, start, scratch, attempt);
    if (s < 0 || !wants_search(finder, base, attempt)) return s;
    if (finder->n <= HFI_EXPLORE_READINGS)
        return try_starts(finder, lock, base, robust_start, start, scratch, attempt);
    memcpy(start->state, base->state, finder->trainer->count * sizeof *start->state);
    return look_held(finder, lock, base, start, scratch, attempt);
}

hf_status hfi_attempt_run(hfi_finder *finder, const bool *lock, const hfi_flagging *base, bool robust_start,
                          hfi_attempt *attempt)
{
    hfi_flagging start, scratch;
    hf_status s = hfi_flagging_init(finder->ctx, &start, finder->n, finder->trainer->count);
    if (s < 0) return s;
    s = hfi_flagging_init(finder->ctx, &scratch, finder->n, finder->trainer->count);
    if (s >= 0) {
        attempt->found = attempt->tested = false;
        attempt->judged = (hfi_judgement){.evidence = hfi_suspicion_none()};
        s = finder->trainer->warm ? try_warm(finder, lock, base, robust_start, &start, &scratch, attempt)
                                  : try_starts(finder, lock, base, robust_start, &start, &scratch, attempt);
        if (s >= 0 && !attempt->tested) s = hfi_isolated_run(finder, lock, attempt);
        hfi_flagging_free(finder->ctx, &scratch);
    }
    hfi_flagging_free(finder->ctx, &start);
    return s < 0 ? s : HF_OK;
}
