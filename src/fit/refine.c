/* SPDX-License-Identifier: Apache-2.0 */
/* The sites of all rows, and if they are few enough the hyperparameters once more, from what an earlier stage
 * predicts. */
#include "fit/fit.h"
#include "outliers/suspects.h"
#include <math.h>
#include <stdint.h>

enum {
    WARM_ITERATIONS = 30,
    WARM_ROUNDS = 2,
    SAMPLE = 16384 /* residuals that say where the suspects begin */
};

/* Where a mixture of the residuals, or of a sample of them, has its suspects. */
static hf_status mixture_cut(hf_context *ctx, size_t n, const double *t, hfi_cut *out)
{
    const size_t step = (n + SAMPLE - 1) / SAMPLE, count = (n + step - 1) / step;
    double *sample = hfi_alloc(ctx, count, 2 * sizeof *sample), tau = 0.0;
    if (!sample) return HF_ERR_MEMORY;
    double *probability = sample + count;
    for (size_t k = 0; k < count; k++) sample[k] = t[k * step];
    *out = (hfi_cut){.low = -INFINITY, .high = INFINITY};
    const hf_status s = hfi_mixture_prune(ctx, count, sample, NULL, probability, &tau);
    for (size_t k = 0; s >= 0 && k < count; k++) {
        if (probability[k] <= 0.5) continue;
        if (sample[k] > 0.0) out->high = fmin(out->high, sample[k]);
        if (sample[k] < 0.0) out->low = fmax(out->low, sample[k]);
    }
    hfi_free(ctx, sample);
    return s;
}

/* Where there are no suspects on a side, they would be this much further out than the furthest reading. */
static const double BEYOND = 1.5;

/* The size from which on those on one side (sign) are suspects. */
static double part(size_t n, const double *t, const bool *suspected, double sign, double *kept,
                   double *flagged)
{
    size_t keeps = 0, flags = 0, k = 0, best = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(sign * t[i] > 0.0)) continue;
        if (suspected[i])
            flagged[flags++] = fabs(t[i]);
        else
            kept[keeps++] = fabs(t[i]);
    }
    if (keeps > 0) (void)hfi_median(kept, keeps); /* sorts */
    if (flags == 0) return keeps > 0 ? BEYOND * kept[keeps - 1] : 0.0;
    (void)hfi_median(flagged, flags);
    /* A cut at flagged[f] takes f of them for good, and the kept ones beyond it for suspects. */
    size_t fewest = SIZE_MAX;
    double inner = 0.0;
    for (size_t f = 0; f < flags; f++) {
        while (k < keeps && kept[k] < flagged[f]) k++;
        if (f + keeps - k >= fewest) continue;
        fewest = f + keeps - k;
        best = f;
        inner = k > 0 ? kept[k - 1] : flagged[f];
    }
    return sqrt(inner *
                flagged[best]); /* in the middle of the gap: residuals of later stages are a little other */
}

hfi_cut hfi_fit_gross_cut(size_t n, size_t rows, const double *t)
{
    double largest = 0.0;
    for (size_t i = 0; i < rows; i++) largest = fmax(largest, fabs(t[i]));
    /* The furthest of n is so much further out than that of `rows` of them if the tails have a variance; and
     * as much again. */
    const double at = 2.0 * sqrt((double)n / (double)rows) * fmax(largest, 1.0);
    return (hfi_cut){.low = -at, .high = at};
}

hf_status hfi_fit_find_cut(hf_context *ctx, size_t n, const double *t, const bool *suspected, hfi_cut *out)
{
    double *kept = hfi_alloc(ctx, n, 2 * sizeof *kept);
    if (!kept) return HF_ERR_MEMORY;
    *out = (hfi_cut){.low = -part(n, t, suspected, -1.0, kept, kept + n),
                     .high = part(n, t, suspected, 1.0, kept, kept + n),
                     .suspects = hfi_count_flags(n, suspected),
                     .rows = n};
    hfi_free(ctx, kept);
    return HF_OK;
}

/* The first stage's rows are drawn at random, and the wrong ones among them too: of n rows the same share is
 * wrong, but for so many standard errors. A smaller noise of later stages would else make suspects of a tail. */
static const double SHARE_ERRORS = 4.0;

static double most_suspects(const hfi_cut *first, size_t n)
{
    const double rows = (double)first->rows, share = (double)first->suspects / rows, count = (double)n;
    return share * count + SHARE_ERRORS * sqrt(share * (1.0 - share) * count * (1.0 + count / rows));
}

hf_status hfi_fit_bound_cut(hf_context *ctx, size_t n, const double *t, const hfi_cut *first, hfi_cut *at)
{
    if (first->rows == 0) return HF_OK;
    const double most = most_suspects(first, n);
    double *beyond = hfi_alloc(ctx, n, sizeof *beyond);
    size_t count = 0;
    if (!beyond) return HF_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        beyond[count] = t[i] / (t[i] > 0.0 ? at->high : at->low);
        count += beyond[count] >= 1.0;
    }
    if ((double)count > most) {
        (void)hfi_median(beyond, count); /* sorts */
        const size_t keep = count - (size_t)most;
        const double inner = beyond[keep - 1], outer = keep < count ? beyond[keep] : BEYOND * inner;
        const double factor = fmax(sqrt(inner * outer), nextafter(inner, INFINITY));
        *at = (hfi_cut){.low = factor * at->low, .high = factor * at->high};
    }
    hfi_free(ctx, beyond);
    return HF_OK;
}

/* Flags by residuals; *changed says how many flags are new or gone. */
static hf_status flag(hfi_fit *fit, const double *t, size_t *changed)
{
    hfi_cut at;
    hf_status s = mixture_cut(fit->ctx, fit->n, t, &at);
    if (s < 0) return s;
    at.low = fmin(at.low, fit->cut.low); /* what the first stage kept is kept */
    at.high = fmax(at.high, fit->cut.high);
    s = hfi_fit_bound_cut(fit->ctx, fit->n, t, &fit->cut, &at);
    *changed = 0;
    for (size_t i = 0; s >= 0 && i < fit->n; i++) {
        const bool suspected = t[i] >= at.high || t[i] <= at.low;
        *changed += suspected != fit->verdict.suspected[i];
        fit->verdict.suspected[i] = suspected;
        s = hf_sites_set_present(fit->ctx, fit->sites, i, !suspected);
    }
    return s;
}

static hf_status refine_suspects(hfi_fit *fit, const hfi_holdout *start, bool train, double *state)
{
    hfi_trainer *t = &fit->trainer;
    hfi_holdout residuals;
    size_t changed = 0;
    hf_status s = hfi_holdout_init(fit->ctx, &residuals, fit->n);
    if (s >= 0) s = flag(fit, start->t, &changed);
    for (size_t round = 0; s >= 0 && round < WARM_ROUNDS; round++) {
        s = train ? hfi_trainer_maximise(t, state, WARM_ITERATIONS) : hfi_evaluator_select(&t->evaluator);
        if (s >= 0) s = hfi_holdout_compute(&t->evaluator, &residuals);
        if (s >= 0) s = flag(fit, residuals.t, &changed);
        fit->verdict.rounds++;
        if (s >= 0 && changed * 1000 <= fit->n) break;
    }
    hfi_holdout_free(fit->ctx, &residuals);
    return s;
}

/* Readings so far out that no share of the rows without them could know of them. */
static hf_status set_aside_gross(hfi_fit *fit, const double *t)
{
    hf_status s = HF_OK;
    for (size_t i = 0; s >= 0 && i < fit->n; i++) {
        if (t[i] >= fit->cut.low && t[i] <= fit->cut.high) continue;
        fit->verdict.suspected[i] = fit->verdict.adopted = true;
        fit->verdict.evidence = hfi_suspicion_none(); /* nobody has asked */
        s = hf_sites_set_present(fit->ctx, fit->sites, i, false);
    }
    return s < 0 ? s : hfi_evaluator_select(&fit->trainer.evaluator);
}

void hfi_fit_suspect(hfi_fit *fit)
{
    for (size_t i = 0; i < fit->n; i++)
        fit->verdict.suspected[i] = hf_sites_weights(fit->sites)[i] < hfi_suspect_weight;
}

/* The present hyperparameters, with the sites that are present. */
static hf_status begin(hfi_fit *fit, double *state)
{
    hfi_trainer_get(&fit->trainer, state);
    return hfi_evaluator_select(&fit->trainer.evaluator);
}

hf_status hfi_fit_refine_robust(hfi_fit *fit, const hfi_holdout *start, bool train, double *state)
{
    hfi_trainer *t = &fit->trainer;
    hfi_reweighting done;
    hf_status s = begin(fit, state);
    if (s >= 0)
        s = hfi_robust_refine(t, fit->settings, fit->threshold, start->mean, train ? WARM_ROUNDS : 0, state,
                              &done);
    if (s < 0) return s;
    fit->verdict.rounds += done.rounds;
    hfi_fit_suspect(fit);
    return hfi_reweighting_remark(fit->ctx, &done);
}

hf_status hfi_fit_refine_plain(hfi_fit *fit, const hfi_holdout *start, bool train, double *state)
{
    hf_status s = begin(fit, state);
    if (s < 0) return s;
    if (fit->verdict.adopted) return refine_suspects(fit, start, train, state);
    if (fit->cut.high > 0.0) s = set_aside_gross(fit, start->t);
    if (s < 0) return s;
    return train ? hfi_trainer_maximise(&fit->trainer, state, WARM_ITERATIONS) : HF_OK;
}
