/* SPDX-License-Identifier: Apache-2.0 */
/* Complete rows, gathered, scaled and sorted. */
#include "sites/complete_rows.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FURTHEST = 1e100;

typedef struct entry {
    const double *u;
    size_t p, index;
    double distance;
} entry;

/* By distance (all the same at first), then by values, then by place. */
static int compare(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    for (size_t j = 0; j < a->p; j++)
        if (a->u[j] != b->u[j]) return a->u[j] < b->u[j] ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Copies complete rows; with u and index NULL it only counts and checks. */
static hf_status gather(hf_context *ctx, size_t n, size_t p, const double *x, size_t ldx, double *u,
                        size_t *index, size_t *count)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        bool complete = true;
        for (size_t j = 0; j < p; j++) {
            if (isinf(x[i * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the value in row %zu, column %zu is infinite", i, j);
            complete = complete && !isnan(x[i * ldx + j]);
        }
        if (!complete) continue;
        if (u != NULL) {
            memcpy(u + found * p, x + i * ldx, p * sizeof *u);
            index[found] = i;
        }
        found++;
    }
    *count = found;
    return HF_OK;
}

static double limit(double value, double most)
{
    return fmax(-most, fmin(most, value));
}

/* Robust units for column j; `scratch` has 2 n entries. */
static void scale_column(hfi_complete_rows *r, size_t j, double *scratch)
{
    const size_t n = r->rows.n, p = r->rows.p;
    for (size_t i = 0; i < n; i++) scratch[i] = r->u[i * p + j];
    const double centre = hfi_median(scratch, n);
    for (size_t i = 0; i < n; i++) {
        const double away = limit(r->u[i * p + j] - centre, DBL_MAX);
        r->u[i * p + j] = away;
        scratch[i] = fabs(away);
    }
    (void)hfi_median(scratch, n); /* sorts */
    double scale = scratch[r->half - 1];
    if (!(scale > 0.0)) {
        size_t zeros = r->half;
        while (zeros < n && scratch[zeros] == 0.0) zeros++;
        scale = zeros < n ? hfi_median(scratch + zeros, n - zeros) : 1.0;
    }
    for (size_t i = 0; i < n; i++) r->u[i * p + j] = limit(r->u[i * p + j] / scale, FURTHEST);
    r->centre[j] = centre;
    r->scale[j] = scale;
}

/* Puts the rows into the order of the entries. `moved` has n p entries. */
static void reorder(hfi_complete_rows *r, const entry *entries, double *moved, size_t *index)
{
    const size_t n = r->rows.n, p = r->rows.p;
    for (size_t i = 0; i < n; i++) {
        memcpy(moved + i * p, entries[i].u, p * sizeof *moved);
        index[i] = entries[i].index;
    }
    memcpy(r->u, moved, n * p * sizeof *moved);
    memcpy(r->index, index, n * sizeof *index);
}

static void sort_rows(hfi_complete_rows *r, entry *entries, const double *distance, double *moved,
                      size_t *index)
{
    const size_t n = r->rows.n, p = r->rows.p;
    for (size_t i = 0; i < n; i++)
        entries[i] = (entry){
            .u = r->u + i * p, .p = p, .index = r->index[i], .distance = distance ? distance[i] : 0.0};
    qsort(entries, n, sizeof *entries, compare);
    reorder(r, entries, moved, index);
}

static hf_status prepare(hf_context *ctx, hfi_complete_rows *r)
{
    const size_t n = r->rows.n, p = r->rows.p;
    hfi_mcd_scratch scratch = {0};
    entry *entries = hfi_alloc(ctx, n, sizeof *entries);
    double *moved = hfi_alloc_product(ctx, n, p > 2 ? p : 2, sizeof *moved);
    size_t *index = hfi_alloc(ctx, n, sizeof *index);
    hf_status status =
        entries && moved && index ? hfi_mcd_scratch_create(ctx, n, p, &scratch) : HF_ERR_MEMORY;
    if (status >= 0) {
        for (size_t j = 0; j < p; j++) scale_column(r, j, moved);
        sort_rows(r, entries, NULL, moved, index);
        if (p > 1) {
            for (size_t i = 0; i < n; i++) scratch.chosen[i] = true;
            hfi_mcd_fit_chosen(ctx, &r->rows, n, &scratch);
            hfi_mcd_concentrate(ctx, &r->rows, n, &scratch); /* for its distances */
            sort_rows(r, entries, scratch.distance, moved, index);
        }
    }
    hfi_mcd_scratch_free(ctx, &scratch);
    HFI_FREE(ctx, entries, moved, index);
    return status;
}

hf_status hfi_complete_rows_create(hf_context *ctx, size_t n, size_t p, const double *x, size_t ldx,
                                   double fraction, hfi_complete_rows *out)
{
    size_t count = 0;
    hf_status status = gather(ctx, n, p, x, ldx, NULL, NULL, &count);
    if (status < 0) return status;
    if (count <= 2 * p)
        return hfi_fail(
            ctx, HF_ERR_NO_DATA,
            "%zu of %zu rows are complete; a robust covariance of %zu columns needs more than %zu", count, n,
            p, 2 * p);
    hfi_complete_rows r = {.rows = {.n = count, .p = p}, .half = (count + p + 1) / 2};
    const size_t wanted = (size_t)(fraction * (double)count);
    if (wanted > r.half) r.half = wanted < count ? wanted : count;
    r.u = hfi_alloc_product(ctx, count, p, sizeof *r.u);
    r.index = hfi_alloc(ctx, count, sizeof *r.index);
    r.centre = hfi_alloc(ctx, p, 2 * sizeof *r.centre);
    r.rows.u = r.u;
    status = r.u && r.index && r.centre ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) r.scale = r.centre + p;
    if (status >= 0) status = gather(ctx, n, p, x, ldx, r.u, r.index, &count);
    if (status >= 0) status = prepare(ctx, &r);
    if (status < 0)
        hfi_complete_rows_free(ctx, &r);
    else
        *out = r;
    return status;
}

void hfi_complete_rows_free(hf_context *ctx, hfi_complete_rows *rows)
{
    HFI_FREE(ctx, rows->u, rows->index, rows->centre);
    *rows = (hfi_complete_rows){0};
}
