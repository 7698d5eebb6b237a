/* SPDX-License-Identifier: Apache-2.0 */
/* The gate of the suspect finder: a flagging passes only if it clearly predicts the kept readings better. */
#include "train/suspects.h"
#include <math.h>

/* Kept readings in order of size; their number. */
static size_t sort_kept(const hfi_finder *finder, const bool *flag, double *sorted)
{
    const double *y = hf_sites_readings(finder->trainer->evaluator.sites);
    size_t count = 0;
    for (size_t i = 0; i < finder->n; i++)
        if (!flag[i]) sorted[count++] = y[i];
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

/* When more than half of the kept readings are one number, as with zero-inflated counts or a sensor at rest, any
 * prediction of that number is perfect and the others are infinitely far from it: the CRPS then says nothing about
 * whether those are wrong. What is left is that wrong readings are few. */
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

/* Readings of some flags that are not `number`, in order of size, and how many of them have no twin. */
static size_t count_alone(const hfi_finder *finder, const bool *flag, bool flagged, double number,
                          size_t *count)
{
    const double *y = hf_sites_readings(finder->trainer->evaluator.sites);
    double *sorted = finder->probability;
    size_t alone = 0, m = 0;
    for (size_t i = 0; i < finder->n; i++)
        if (flag[i] == flagged && y[i] != number) sorted[m++] = y[i];
    if (m > 0) (void)hfi_median(sorted, m);
    for (size_t k = 0; k < m; k++) alone += !has_twin(sorted, m, k);
    *count = m;
    return alone;
}

/* Where the kept readings beside the one number come in steps and the flagged ones do not, they were not made by the same instrument:
 * that most are one number is then no reason to doubt the flags. */
static const double few = 0.01, most = 0.9;

static bool off_the_steps(const hfi_finder *finder, const bool *flag, double number)
{
    size_t kept = 0, flagged = 0;
    const size_t kept_alone = count_alone(finder, flag, false, number, &kept);
    const size_t flagged_alone = count_alone(finder, flag, true, number, &flagged);
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

bool hfi_flags_run_on(const hfi_finder *finder, const hfi_flagging *f, const bool *without)
{
    size_t all[BINS] = {0}, flagged[BINS] = {0}, hump = 0;
    for (size_t i = 0; i < finder->n; i++) {
        if (without && without[i]) continue;
        const size_t b = bin(f->t[i]);
        all[b]++;
        flagged[b] += f->flag[i] ? 1 : 0;
    }
    for (size_t b = 1; b < BINS; b++)
        if (flagged[b] > flagged[hump]) hump = b;
    size_t valley = all[hump];
    for (size_t b = 0; b < hump; b++) valley = all[b] < valley ? all[b] : valley;
    return flagged[hump] >= CROWD && 2 * valley > flagged[hump];
}

bool hfi_gate(const hfi_finder *finder, const hfi_flagging *base, const hfi_flagging *f, double *benefit)
{
    const size_t n = finder->n, count = sort_kept(finder, f->flag, finder->sorted);
    const bool one_number = half_are_one_number(finder->sorted, count);
    const double number = count > 0 ? finder->sorted[count / 2] : NAN; /* if there is one */
    /* A reading rounded to a step is off by a quarter of it on average: no prediction is credited with less, or two
     * thirds of readings in few steps would pay for calling the rest wrong. */
    const double least = 0.25 * resolution(finder->sorted, count);
    const double kept =
        hfi_sum_crps(n, f->crps, f->flag, least) / hfi_sum_crps(n, base->crps, f->flag, least);
    const double all = hfi_sum_crps(n, f->crps, NULL, least) / hfi_sum_crps(n, base->crps, NULL, least);
    *benefit = kept;
    if (finder->settings->suspects == HF_SUSPECTS_FORCE) return true;
    if (one_number && (double)(n - count) > most_beside_one_number * (double)n &&
        !off_the_steps(finder, f->flag, number))
        return false;
    if (hfi_flags_run_on(finder, f, NULL)) return false;
    const double strong = fmax(7.0, fmin(20.0, (double)n / 10.0));
    return kept <= 0.3 || (kept <= 0.6 && f->gain >= 5.0) ||
           (kept <= 0.8 && all <= 0.97 && f->gain >= strong) ||
           (kept <= 0.9 && all <= 0.95 && f->gain >= 2.0 * strong);
}
