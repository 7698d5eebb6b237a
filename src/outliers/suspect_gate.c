/* SPDX-License-Identifier: Apache-2.0 */
/* The gate of the suspect finder: a flagging passes only if it clearly predicts the kept readings better. */
#include "outliers/suspects.h"
#include <math.h>
#include <string.h>

/* One output, which is all that a judgement looks at. */
typedef struct output_view {
    const bool *outside; /* rows of other outputs */
    const bool *skip;    /* those, and flagged ones */
    const bool *flag;
    size_t rows, flags;
} output_view;

/* Kept readings in order of size; their number. */
static size_t sort_kept(const hfi_finder *finder, const bool *skip, double *sorted)
{
    const double *y = hf_sites_readings(finder->trainer->evaluator.sites);
    size_t count = 0;
    for (size_t i = 0; i < finder->n; i++)
        if (!skip[i]) sorted[count++] = y[i];
    (void)hfi_median(sorted, count); /* sorts */
    return count;
}

/* Steps in which the readings come: the median gap between different ones where most of them have a twin, else 0.
 * Destroys the order. */
static double resolution(double *sorted, size_t count)
{
    size_t gaps = 0;
    for (size_t i = 1; i < count; i++) {
        const double gap = sorted[i] - sorted[i - 1];
        if (gap > 0.0) sorted[gaps++] = gap; /* gaps < i: overwrites what is no longer needed */
    }
    return gaps > 0 && 2 * (gaps + 1) <= count ? hfi_median(sorted, gaps) : 0.0;
}

/* More than half of the kept readings may be one number, as with zero-inflated counts or a sensor at rest. Any
 * prediction of that number is then perfect, and the others are infinitely far from it: the CRPS then says nothing
 * about whether those are wrong. The remaining test is that wrong readings are few. */
static const double most_beside_one_number = 0.05;

static bool half_are_one_number(const double *sorted, size_t count)
{
    const size_t half = count / 2;
    for (size_t i = 0; i + half < count; i++)
        if (sorted[i] == sorted[i + half]) return true;
    return false;
}

/* Whether the number at a place occurs beside it. */
static bool has_twin(const double *sorted, size_t count, size_t at)
{
    return (at > 0 && sorted[at - 1] == sorted[at]) || (at + 1 < count && sorted[at + 1] == sorted[at]);
}

/* Readings of the view with some flag that are not `number`, in order of size, and how many of them have no twin. */
static size_t count_alone(const hfi_finder *finder, const output_view *v, bool flagged, double number,
                          size_t *count)
{
    const double *y = hf_sites_readings(finder->trainer->evaluator.sites);
    double *sorted = finder->probability;
    size_t alone = 0, m = 0;
    for (size_t i = 0; i < finder->n; i++)
        if (!v->outside[i] && v->flag[i] == flagged && y[i] != number) sorted[m++] = y[i];
    if (m > 0) (void)hfi_median(sorted, m);
    for (size_t k = 0; k < m; k++) alone += !has_twin(sorted, m, k);
    *count = m;
    return alone;
}

/* Where the kept readings beside the one number come in steps and the flagged ones do not, they were not made
 * by the same instrument: that most are one number is then no reason to doubt the flags. */
static const double few = 0.01, most = 0.9;

static bool off_the_steps(const hfi_finder *finder, const output_view *v, double number)
{
    size_t kept = 0, flagged = 0;
    const size_t kept_alone = count_alone(finder, v, false, number, &kept);
    const size_t flagged_alone = count_alone(finder, v, true, number, &flagged);
    return kept >= flagged && (double)kept_alone <= few * (double)kept &&
           (double)flagged_alone >= most * (double)flagged;
}

double hfi_sum_crps(size_t n, const double *crps, const bool *skip, double least)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        if (!skip || !skip[i]) sum += fmax(crps[i], least);
    return sum;
}

/* Sizes |t| from 1 on, two bins to each doubling. */
enum {
    BINS = 48,
    CROWD = 20 /* flags in one bin that make its height worth comparing */
};

static size_t bin(double t)
{
    const double place = 2.0 * log2(fmax(fabs(t), 1.0));
    return place < BINS - 1 ? (size_t)place : BINS - 1;
}

/* A legitimate tail lies on the sides on which the kept readings just below it lie. Flags that lean to one
 * side by more than four standard errors do so by chance in one table of 15 000; kept ones that lean to it by
 * more than two may be the same skewed noise. Thousands of flags lean by that much if their tails differ by a
 * few per cent: nine tenths of the flags must lie on the side, so that at most a fifth can be of a tail on both. */
static const double lean_of_wrong = 4.0, lean_of_kept = 2.0, share_of_wrong = 0.9;

/* Readings that count, by size and side (right or not). */
typedef struct size_counts {
    size_t all[BINS][2], flagged[BINS][2];
} size_counts;

/* By how many standard errors more than half of them are on the right. */
static double lean(const double side[2])
{
    return (side[1] - side[0]) / sqrt(fmax(side[0] + side[1], 1.0));
}

/* Whether flags are on one side although the kept readings from half their lower quartile on are not: wrong
 * readings, not a tail. */
static bool leave_one_side(const size_counts *count)
{
    double kept[2] = {0.0, 0.0}, flagged[2] = {0.0, 0.0}, below = 0.0;
    for (size_t b = 0; b < BINS; b++)
        for (size_t right = 0; right < 2; right++) flagged[right] += (double)count->flagged[b][right];
    size_t quartile = 0;
    for (; quartile < BINS; quartile++) {
        below += (double)(count->flagged[quartile][0] + count->flagged[quartile][1]);
        if (4.0 * below >= flagged[0] + flagged[1]) break;
    }
    for (size_t b = quartile < 2 ? 0 : quartile - 2; b < BINS; b++)
        for (size_t right = 0; right < 2; right++)
            kept[right] += (double)(count->all[b][right] - count->flagged[b][right]);
    const double of_flags = lean(flagged), of_kept = lean(kept);
    return kept[0] + kept[1] >= CROWD && fabs(of_flags) > lean_of_wrong &&
           fmax(flagged[0], flagged[1]) >= share_of_wrong * (flagged[0] + flagged[1]) &&
           (of_flags > 0.0 ? of_kept : -of_kept) <= lean_of_kept;
}

/* How the sizes of flags lie to those of all. */
typedef enum shape {
    SHAPE_FEW,   /* flags are too few to tell */
    SHAPE_SLOPE, /* they are the far side of a slope */
    SHAPE_HUMP   /* they lie beyond a valley */
} shape;

static shape find_shape(const size_counts *count)
{
    size_t hump = 0, height = 0;
    for (size_t b = 0; b < BINS; b++) {
        const size_t flagged = count->flagged[b][0] + count->flagged[b][1];
        if (flagged <= height) continue;
        hump = b;
        height = flagged;
    }
    if (height < CROWD) return SHAPE_FEW;
    size_t valley = count->all[hump][0] + count->all[hump][1];
    for (size_t b = 0; b < hump; b++) {
        const size_t all = count->all[b][0] + count->all[b][1];
        valley = all < valley ? all : valley;
    }
    return 2 * valley > height ? SHAPE_SLOPE : SHAPE_HUMP;
}

/* Sizes and sides of the standardised residuals or, with the sd of a typical reading, of the errors by it. */
static size_counts count_sizes(const hfi_finder *finder, const hfi_flagging *f, const bool *without,
                               double typical)
{
    size_counts count = {0};
    for (size_t i = 0; i < finder->n; i++) {
        if (without && without[i]) continue;
        const size_t b = bin(typical > 0.0 ? f->t[i] * (f->sd[i] / typical) : f->t[i]);
        count.all[b][f->t[i] > 0.0]++;
        count.flagged[b][f->t[i] > 0.0] += f->flag[i] ? 1 : 0;
    }
    return count;
}

/* The median sd of the kept readings. */
static double typical_sd(const hfi_finder *finder, const hfi_flagging *f, const bool *without)
{
    size_t kept = 0;
    for (size_t i = 0; i < finder->n; i++)
        if (!f->flag[i] && !(without && without[i])) finder->sorted[kept++] = f->sd[i];
    return kept > 0 ? hfi_median(finder->sorted, kept) : 0.0;
}

/* A wrong reading is off by an amount in the unit of the readings, however well its neighbours tell it. Where
 * predictive sds differ, dividing by them smears a hump of errors over its valley. If sizes and sds have nothing to
 * do with each other, neither dividing nor multiplying makes a valley in a slope. So flags run on only where they do
 * by both. */
bool hfi_flags_run_on(const hfi_finder *finder, const hfi_flagging *f, const bool *without)
{
    const size_counts standardised = count_sizes(finder, f, without, 0.0);
    if (find_shape(&standardised) != SHAPE_SLOPE || leave_one_side(&standardised)) return false;
    const double typical = typical_sd(finder, f, without);
    if (!(typical > 0.0)) return true;
    const size_counts errors = count_sizes(finder, f, without, typical);
    return find_shape(&errors) != SHAPE_HUMP;
}

/* A verdict is undecided where its statistics are within a tenth of their limits: a fit made again with
 * inputs or readings that differ in their last digit can move them by that much. */
static const double edge = 0.1;

/* By how much, in logarithms, the weakest of a rule's conditions is met; negative: missed. */
static double rule(double kept, double most_kept, double all, double most_all, double gain, double least_gain)
{
    return fmin(fmin(log(most_kept / kept), log(most_all / all)), log(gain / least_gain));
}

/* Where the others are predicted so much better that a few nats are enough. */
static double clear_margin(double kept, double gain)
{
    return fmax(log(0.3 / kept), rule(kept, 0.6, 1.0, 1.0, fmax(gain, 1e-300), 5.0));
}

/* Where it takes more: strong noise, large tables. */
static double strong_margin(double kept, double all, double gain, size_t n)
{
    const double strong = fmax(7.0, fmin(20.0, (double)n / 10.0)), nats = fmax(gain, 1e-300);
    return fmax(rule(kept, 0.8, all, 0.97, nats, strong), rule(kept, 0.9, all, 0.95, nats, 2.0 * strong));
}

/* One limit holds where the others are not predicted much better and no more nats than `plenty` are
 * gained. The typical suspect has to be further out than this share of tables have a reading by chance: noise that
 * grows with the function, and many other tails, gain as much. Twice 12 nats is beyond chi^2 with four degrees of
 * freedom (share, side, start and nu of the mixture) once in 10 000 times. */
static const double most_by_chance = 0.05, plenty = 12.0;

static hf_status judge_output_flags(hfi_finder *finder, const hfi_flagging *base, const hfi_flagging *f,
                                    const output_view *v, const bool *lock, hfi_judgement *out)
{
    const size_t n = finder->n, count = sort_kept(finder, v->skip, finder->sorted);
    const bool one_number = half_are_one_number(finder->sorted, count);
    const double number = count > 0 ? finder->sorted[count / 2] : NAN; /* if there is one */
    /* A reading rounded to a step is off by a quarter of it on average: no prediction is credited with less, or two
     * thirds of readings in few steps would pay for calling the rest wrong. */
    const double least = 0.25 * resolution(finder->sorted, count);
    const double kept =
        hfi_sum_crps(n, f->crps, v->skip, least) / hfi_sum_crps(n, base->crps, v->skip, least);
    const double all =
        hfi_sum_crps(n, f->crps, v->outside, least) / hfi_sum_crps(n, base->crps, v->outside, least);
    *out = (hfi_judgement){.evidence = hfi_suspicion_none()};
    out->evidence.benefit = kept;
    for (size_t i = 0; i < n; i++) finder->flag[i] = v->outside[i] || lock[i];
    hf_status s = hfi_mixture_gain(finder->ctx, n, f->t, finder->flag, &out->evidence.gain);
    if (s < 0) return s;
    out->accepted = finder->settings->suspects == HF_OUTLIERS_FORCE;
    if (out->accepted) return HF_OK;
    if (one_number && (double)v->flags > most_beside_one_number * (double)v->rows &&
        !off_the_steps(finder, v, number))
        return HF_OK;
    if (hfi_flags_run_on(finder, f, v->outside)) return HF_OK;
    double by = clear_margin(kept, out->evidence.gain), typical = 1.0;
    const double strong = strong_margin(kept, all, out->evidence.gain, v->rows);
    if (out->evidence.gain >= plenty) {
        by = fmax(by, strong);
    } else if (by < edge && strong > fmax(by, -edge)) {
        s = hfi_mid_chance(finder, finder->flag, f, &typical);
        if (s < 0) return s;
        by = fmax(by, fmin(strong, log(most_by_chance / fmax(typical, 1e-300))));
    }
    out->accepted = by >= 0.0;
    out->evidence.undecided = fabs(by) < edge;
    return HF_OK;
}

/* The rows of an output, those of the others left out. */
static void view_output_rows(const hfi_finder *finder, size_t output, const bool *flag, bool *outside,
                             bool *skip, output_view *v)
{
    *v = (output_view){.outside = outside, .skip = skip, .flag = flag};
    for (size_t i = 0; i < finder->n; i++) {
        outside[i] = hfi_finder_output(finder, i) != output;
        skip[i] = outside[i] || flag[i];
        v->rows += outside[i] ? 0 : 1;
        v->flags += !outside[i] && flag[i] ? 1 : 0;
    }
}

/* The judgement of all outputs together is that of the clearest one that passes, or of the clearest if none does. */
static bool is_clearer(const hfi_judgement *a, const hfi_judgement *b)
{
    if (a->accepted != b->accepted) return a->accepted;
    return !isfinite(b->evidence.benefit) || a->evidence.benefit < b->evidence.benefit;
}

hf_status hfi_gate(hfi_finder *finder, const bool *lock, const hfi_flagging *base, hfi_flagging *f,
                   hfi_judgement *out)
{
    const size_t n = finder->n;
    bool *passed = hfi_alloc(finder->ctx, n, 3 * sizeof *passed), *outside = passed ? passed + n : NULL;
    if (!passed) return HF_ERR_MEMORY;
    *out = (hfi_judgement){.evidence = hfi_suspicion_none()};
    memcpy(passed, lock, n * sizeof *passed);
    hf_status s = HF_OK;
    for (size_t k = 0; s >= 0 && k < finder->outputs; k++) {
        output_view v;
        hfi_judgement one;
        view_output_rows(finder, k, f->flag, outside, outside + n, &v);
        if (v.flags == 0) continue;
        s = judge_output_flags(finder, base, f, &v, lock, &one);
        if (s < 0) break;
        if (is_clearer(&one, out)) *out = one;
        for (size_t i = 0; one.accepted && i < n; i++) passed[i] = passed[i] || (!outside[i] && f->flag[i]);
    }
    if (s >= 0 && out->accepted && memcmp(passed, f->flag, n * sizeof *passed) != 0) {
        memcpy(f->flag, passed, n * sizeof *passed);
        s = hfi_finder_fit(finder, f->flag, f->state, false, finder->settings->iterations);
        if (s >= 0) s = hfi_finder_assess(finder, f);
    }
    hfi_free(finder->ctx, passed);
    return s < 0 ? s : HF_OK;
}
