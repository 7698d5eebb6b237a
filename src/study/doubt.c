/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading that is to be taken again before anything is built on it.
 *
 * A suspect that would be the new incumbent if it were right is repeated once: set aside it decides as
 * much as believed. Where one reading alone stands for the incumbent, the chance that it is wrong is
 *
 *     P(wrong) = w q / (w q + (1 - w) p),
 *
 * p the density of the reading under what the others say of it, q that of a value anywhere in the readings'
 * range. w, the share of wrong readings, is the mean of a Beta(1/2, 9/2) after every repetition so far, which
 * agreed with what it repeats or did not. Above `enough` the trial is repeated.
 */
#include "solver/solver.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

static const double enough = 0.5, prior_wrong = 0.5, prior_right = 4.5;
/* Readings of one place agree that differ by no more than the smaller of two: so many noise sds of a
 * difference, and so many times the lower quartile of all such differences (0 if they are too few; of sound
 * pairs 94 in 100 agree). A difference below this share of the readings' range agrees in any case. */
static const double noise_times = 4.0, usual_times = 6.0, same_range = 0.01;
/* Readings that confirm each other for good differ by less: one pair of wrong ones in a thousand does. */
static const double confirming_range = 0.001;
/* Repetitions are at most this share of what was told, and a few. */
static const double most_share = 0.25;
enum {
    FEW = 4,
    ENOUGH_PAIRS = 4,
    MOST_PAIRS = 256 /* the newest ones */
};

typedef struct doubts {
    const hf_study *study;
    const hfi_surrogate *s;
    double noise;  /* sd of the difference of two sound readings, by the last training */
    double spread; /* range of the readings */
    double agreed, differed;
    double limit; /* readings of one place that differ by no more agree */
    size_t repetitions;
} doubts;

static size_t reading_of(const hfi_surrogate *s, uint64_t id)
{
    size_t i = 0;
    while (i < s->n && s->trial[i] != id) i++;
    return i;
}

/* Counts the repetitions so far that disagree. A quarter of the pairs at least is taken to be sound. */
static void count(doubts *d)
{
    const hfi_surrogate *s = d->s;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        if (s->aside[i]) continue;
        low = fmin(low, s->y[i]);
        high = fmax(high, s->y[i]);
    }
    d->spread = high > low ? high - low : 0.0;
    double pair[MOST_PAIRS], sorted[MOST_PAIRS];
    size_t pairs = 0;
    for (size_t i = s->n; i-- > 0 && pairs < MOST_PAIRS;) {
        const uint64_t first = hfi_study_find(d->study, s->trial[i])->repeats;
        const size_t k = first != 0 ? reading_of(s, first) : s->n;
        if (k < s->n) pair[pairs++] = fabs(s->y[i] - s->y[k]);
    }
    memcpy(sorted, pair, pairs * sizeof *pair);
    const double usual = pairs >= ENOUGH_PAIRS ? hfi_quantile(sorted, pairs, 0.25) : 0.0;
    d->limit = fmax(fmin(usual_times * usual, noise_times * d->noise), same_range * d->spread);
    for (size_t k = 0; k < pairs; k++) {
        if (pair[k] <= d->limit)
            d->agreed += 1.0;
        else
            d->differed += 1.0;
    }
    for (uint64_t id = d->study->trials; id >= 1; id--) {
        const hfi_trial *t = d->study->trial[id - 1];
        const bool counts = t->state == HF_TRIAL_PENDING || t->state == HF_TRIAL_TOLD;
        d->repetitions += counts && t->reason == HF_REASON_REPEAT;
    }
}

static doubts begin_doubts(const hf_study *study, size_t outcome, const hfi_surrogate *s)
{
    const hfi_fitted *fitted = &study->fitted[outcome];
    doubts d = {.study = study, .s = s};
    if (fitted->parameters >= 2) d.noise = sqrt(2.0 * fitted->value[fitted->parameters - 2]);
    count(&d);
    return d;
}

static double wrong_share(const doubts *d)
{
    const double a = prior_wrong + d->differed, b = prior_right + d->agreed;
    return a / (a + b);
}

double hfi_study_wrong_share(const hf_study *study, size_t outcome, const hfi_surrogate *s)
{
    doubts d = begin_doubts(study, outcome, s);
    return wrong_share(&d);
}

void hfi_study_confirmed(const hf_study *study, const hfi_surrogate *s, double noise, double range, bool *out)
{
    const double limit = fmax(noise_times * sqrt(2.0 * noise), confirming_range * range);
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t first = hfi_study_find(study, s->trial[i])->repeats;
        for (size_t k = 0; first != 0 && k < s->n; k++) {
            const bool same = s->trial[k] == first || hfi_study_find(study, s->trial[k])->repeats == first;
            if (k == i || !same || !(fabs(s->y[i] - s->y[k]) <= limit)) continue;
            out[i] = out[k] = true;
        }
    }
}

static double chance_wrong(const doubts *d, double y, double mean, double var)
{
    const double w = wrong_share(d), off = y - mean;
    const double p = exp(-0.5 * off * off / var) / sqrt(2.0 * HFI_PI * var);
    const double q = d->spread > 0.0 ? 1.0 / d->spread : p;
    return w * q / (w * q + (1.0 - w) * p);
}

/* The best suspect that one more reading could make the incumbent. */
static uint64_t promising(const doubts *d, double best)
{
    const hfi_surrogate *s = d->s;
    uint64_t id = 0;
    double most = best;
    for (size_t i = 0; i < s->n; i++) {
        if (!(s->aside[i] || s->reading[i].suspected) || !(s->y[i] > most)) continue;
        if (s->label[i] != HF_EXPERT_UNKNOWN) continue;
        if (hfi_study_repeated(d->study, s->trial[i]) > d->study->s.repeats) continue;
        most = s->y[i];
        id = s->trial[i];
    }
    return id;
}

/* Whether the incumbent stands on one reading that is wrong as likely as all that. */
static hf_status standing(hf_context *ctx, const doubts *d, uint64_t id, bool *answer)
{
    const hfi_surrogate *s = d->s;
    const size_t at = reading_of(s, id), anchors = hf_posterior_anchors(s->posterior);
    *answer = false;
    if (at == s->n || s->aside[at] || s->label[at] != HF_EXPERT_UNKNOWN ||
        !hfi_solver_kind_of(hf_posterior_solver(s->posterior))->leaves_out)
        return HF_OK;
    size_t number = 0, sited = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (i == at) number = sited;
        sited += !s->aside[i];
    }
    if (sited != anchors) return HF_OK;
    double *mean = hfi_alloc(ctx, 2 * anchors, sizeof *mean);
    if (mean == NULL) return HF_ERR_MEMORY;
    double *var = mean + anchors;
    const hf_status status = hf_leave_one_out(ctx, s->posterior, mean, var);
    if (status >= 0) {
        const double v = var[number] + hf_posterior_noise(s->posterior) + s->noise[at];
        *answer = s->y[at] > mean[number] && chance_wrong(d, s->y[at], mean[number], v) > enough;
    }
    hfi_free(ctx, mean);
    return status;
}

hf_status hfi_study_doubt(hf_context *ctx, const hf_study *study, uint64_t *trial)
{
    *trial = 0;
    if (!study->s.robust || study->s.repeats == 0 || study->objectives > 1) return HF_OK;
    const size_t outcome = study->objective[0];
    doubts d = begin_doubts(study, outcome, &study->surrogate[outcome]);
    if ((double)d.repetitions >= FEW + most_share * (double)study->told) return HF_OK;
    uint64_t incumbent;
    hfi_verdict_at place;
    hf_status s = hfi_study_incumbent(ctx, study, &incumbent, &place);
    if (s < 0 || incumbent == 0) return s;
    *trial = promising(&d, place.mean[0]);
    if (*trial != 0 || hfi_study_repeated(study, incumbent) > study->s.repeats) return s;
    bool doubtful = false;
    s = hfi_worse(s, standing(ctx, &d, incumbent, &doubtful));
    if (s >= 0 && doubtful) *trial = incumbent;
    return s;
}
