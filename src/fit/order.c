/* SPDX-License-Identifier: Apache-2.0 */
/* An order of outputs and readings that does not depend on how the outputs are numbered. A fit of
 * several outputs works in it from its first sum to its last. Its result thus does not depend on the columns' order
 * either, not even by rounding: an optimiser makes much of little. */
#include "fit/fit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Standardised readings that differ by less may be the same but for rounding. */
static const double SAME = 1e-9;

/* A reading in standardised units, whatever the fit works in; NaN where there is none. */
static double standardised(const hfi_fit *fit, const hfi_samples *g, size_t row, size_t output)
{
    const double y = g->y[row * g->outputs + output];
    return fit->settings->standardise ? y : hfi_scaling_target(&fit->measured, output, y);
}

/* -1 or 1 where the two differ in the first row that tells them apart, by size or by sign; 0: nowhere. */
static int compare_readings(const hfi_fit *fit, const hfi_samples *g, size_t a, size_t b, bool by_sign)
{
    for (size_t row = 0; row < g->count; row++) {
        const double u = standardised(fit, g, row, a), v = standardised(fit, g, row, b);
        if (isnan(u) != isnan(v)) return isnan(u) ? 1 : -1;
        if (isnan(u)) continue;
        const double x = by_sign ? u : fabs(u), y = by_sign ? v : fabs(v);
        if (fabs(x - y) > SAME * (1.0 + fabs(x))) return x < y ? -1 : 1;
    }
    return 0;
}

/* Those with more readings first: in a triangular factor the last row is what its output has of its own. */
static int compare_outputs(const hfi_fit *fit, const hfi_samples *g, size_t a, size_t b)
{
    if (fit->readings[a] != fit->readings[b]) return fit->readings[a] > fit->readings[b] ? -1 : 1;
    const int size = compare_readings(fit, g, a, b, false);
    return size != 0 ? size : compare_readings(fit, g, a, b, true);
}

static void rank_outputs(hfi_fit *fit, const hfi_samples *g)
{
    for (size_t a = 0; a < fit->outputs; a++) {
        fit->place_of[a] = 0;
        for (size_t b = 0; b < fit->outputs; b++) {
            const int order = a == b ? 1 : compare_outputs(fit, g, b, a);
            fit->place_of[a] += order < 0 || (order == 0 && b < a) ? 1 : 0;
        }
    }
}

/* A sample, by the first of its readings. */
typedef struct sample_start {
    size_t first, row;
} sample_start;

static int compare_entries(const void *left, const void *right)
{
    const sample_start *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

/* Rows sample by sample, and within one by the places of their outputs. */
static void list(const hfi_fit *fit, const hfi_samples *g, sample_start *entries, size_t *output_at)
{
    for (size_t t = 0; t < fit->outputs; t++) output_at[fit->place_of[t]] = t;
    for (size_t row = 0; row < g->count; row++) {
        entries[row] = (sample_start){.first = SIZE_MAX, .row = row};
        for (size_t t = 0; t < fit->outputs; t++) {
            const size_t reading = g->reading[row * fit->outputs + t];
            if (reading < entries[row].first) entries[row].first = reading;
        }
    }
    qsort(entries, g->count, sizeof *entries, compare_entries);
    size_t k = 0;
    for (size_t e = 0; e < g->count; e++)
        for (size_t place = 0; place < fit->outputs; place++) {
            const size_t reading = g->reading[entries[e].row * fit->outputs + output_at[place]];
            if (reading != SIZE_MAX) fit->order[k++] = reading;
        }
}

static hf_status order_rows(hfi_fit *fit, const hfi_samples *g)
{
    sample_start *entries;
    size_t *output_at;
    const hf_status s = HFI_ALLOC(fit->ctx, HFI_ROOM(entries, g->count), HFI_ROOM(output_at, fit->outputs),
                                  HFI_ROOM(fit->order, fit->n));
    if (s >= 0) list(fit, g, entries, output_at);
    HFI_FREE(fit->ctx, entries, output_at);
    return s;
}

/* Puts every array that has an entry for each row into that order. */
static hf_status rearrange(const hfi_fit *fit, const size_t *order)
{
    const struct {
        void *array;
        size_t bytes;
    } all[] = {{fit->row, sizeof *fit->row},
               {fit->x, fit->d * sizeof *fit->x},
               {fit->comparable, fit->d * sizeof *fit->comparable},
               {fit->y, sizeof *fit->y},
               {fit->extra, sizeof *fit->extra},
               {fit->sample, sizeof *fit->sample},
               {fit->verdict.suspected, sizeof *fit->verdict.suspected},
               {fit->verdict.group, sizeof *fit->verdict.group},
               {fit->verdict.plain_mean, sizeof *fit->verdict.plain_mean},
               {fit->verdict.plain_sd, sizeof *fit->verdict.plain_sd}};
    hf_status s = HF_OK;
    for (size_t k = 0; s >= 0 && k < sizeof all / sizeof all[0]; k++)
        if (all[k].array) s = hfi_rearrange(fit->ctx, fit->n, all[k].bytes, order, all[k].array);
    return s;
}

size_t hfi_fit_output_at(const hfi_fit *fit, size_t place)
{
    size_t t = 0;
    if (!fit->place_of) return place;
    while (fit->place_of[t] != place) t++;
    return t;
}

/* Distances between readings of different outputs are those of the outputs' places. */
static hf_status compare_by_place(hfi_fit *fit)
{
    const size_t n = fit->n, d = fit->d;
    if (!fit->comparable) {
        fit->comparable = hfi_alloc(fit->ctx, n, d * sizeof *fit->comparable);
        if (!fit->comparable) return HF_ERR_MEMORY;
        memcpy(fit->comparable, fit->x, n * d * sizeof *fit->comparable);
    }
    for (size_t i = 0; i < n; i++)
        fit->comparable[i * d + d - 1] = (double)fit->place_of[(size_t)fit->x[i * d + d - 1]];
    return HF_OK;
}

hf_status hfi_fit_order_outputs(hfi_fit *fit)
{
    if (fit->outputs <= 1) return HF_OK;
    hfi_samples g;
    fit->place_of = hfi_alloc(fit->ctx, fit->outputs, sizeof *fit->place_of);
    if (!fit->place_of) return HF_ERR_MEMORY;
    hf_status s =
        hfi_samples_init(fit->ctx, fit->n, fit->d, fit->outputs, fit->x, fit->y, fit->sample, NULL, &g);
    if (s < 0) return s;
    rank_outputs(fit, &g);
    s = order_rows(fit, &g);
    hfi_samples_free(&g);
    if (s >= 0) s = compare_by_place(fit);
    return s < 0 ? s : rearrange(fit, fit->order);
}

hf_status hfi_fit_restore_order(hfi_fit *fit, const hfi_holdout *honest)
{
    if (!fit->order) return HF_OK;
    size_t *back = hfi_alloc(fit->ctx, fit->n, sizeof *back);
    if (!back) return HF_ERR_MEMORY;
    for (size_t k = 0; k < fit->n; k++) back[fit->order[k]] = k;
    double *const residuals[] = {honest->mean, honest->sd, honest->t};
    hf_status s = rearrange(fit, back);
    for (size_t k = 0; s >= 0 && honest->t && k < sizeof residuals / sizeof residuals[0]; k++)
        s = hfi_rearrange(fit->ctx, fit->n, sizeof(double), back, residuals[k]);
    if (s >= 0) s = hfi_sites_rearrange(fit->ctx, fit->sites, back);
    hfi_evaluator *e = &fit->trainer.evaluator;
    if (s >= 0 && e->kind->renumber) e->kind->renumber(e, fit->order);
    HFI_FREE(fit->ctx, back, fit->order);
    fit->order = NULL;
    return s < 0 ? s : hfi_evaluator_select(&fit->trainer.evaluator);
}
