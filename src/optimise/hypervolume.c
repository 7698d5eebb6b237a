/* SPDX-License-Identifier: Apache-2.0 */
/* Hypervolume by slices along the last objective: each is the same problem with one objective less, and all
 * terms are positive. */
#include "optimise/optimise.h"

#include <math.h>
#include <stdlib.h>

/* ---- fronts ------------------------------------------------------------------------------------------ */

static int by_key(const void *a, const void *b)
{
    const hfi_front_point *p = a, *q = b;
    if (p->key != q->key) return p->key > q->key ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Descending by key; of equal ones the first row of the table first. */
static void sort_front(size_t n, hfi_front_point *points)
{
    if (n > 1) qsort(points, n, sizeof *points, by_key);
}

static hf_status check_front_values(hf_context *ctx, size_t n, size_t m, const double *values)
{
    if (m == 0) return hfi_refuse(ctx, "there are no objectives: m is 0");
    if (n > 0 && values == NULL) return hfi_refuse(ctx, "there are %zu points, but values is NULL", n);
    size_t entries;
    if (!hfi_size_mul(n, m, &entries) || entries > SIZE_MAX / sizeof *values)
        return hfi_refuse(ctx, "%zu points of %zu objectives are more than there can be", n, m);
    for (size_t i = 0; i < entries; i++)
        if (!isfinite(values[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "objective %zu of point %zu (both counted from 0) is %g",
                            i % m, i / m, values[i]);
    return HF_OK;
}

hf_status hfi_front_above_reference(hf_context *ctx, size_t n, size_t m, const double *values,
                                    const double *reference, hfi_front_point **found, size_t *kept)
{
    hf_status status = check_front_values(ctx, n, m, values);
    if (status < 0) return status;
    if (reference == NULL) return hfi_refuse(ctx, "the reference is NULL");
    for (size_t j = 0; j < m; j++)
        if (!isfinite(reference[j]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "objective %zu (counted from 0) of the reference is %g",
                            j, reference[j]);
    hfi_front_point *above = hfi_alloc(ctx, n, sizeof *above);
    if (above == NULL) return HF_ERR_MEMORY;
    size_t stay = 0;
    for (size_t i = 0; i < n; i++) {
        const double *row = values + i * m;
        bool better = true;
        for (size_t j = 0; j < m; j++) better = better && row[j] > reference[j];
        if (better) above[stay++] = (hfi_front_point){row[m - 1], row};
    }
    sort_front(stay, above);
    *found = above;
    *kept = stay;
    return HF_OK;
}

/* A point and how many objectives it has. Sorted so that none is dominated by a later one, or equal to an
 * earlier one of a larger number. */
typedef struct front_row {
    const double *value;
    size_t m;
} front_row;

static int lexicographic(const void *a, const void *b)
{
    const front_row *p = a, *q = b;
    for (size_t j = 0; j < p->m; j++)
        if (p->value[j] != q->value[j]) return p->value[j] > q->value[j] ? -1 : 1;
    return (p->value > q->value) - (p->value < q->value);
}

/* Whether p is nowhere below q. */
static bool covers(const front_row *p, const front_row *q)
{
    size_t j = 0;
    while (j < p->m && p->value[j] >= q->value[j]) j++;
    return j == p->m;
}

/* Moves those that stay to the front of `rows`; how many. With two objectives the last kept point has
 * the largest second value. */
static size_t sift(size_t n, front_row *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t other = kept > 0 && rows[i].m <= 2 ? kept - 1 : 0;
        while (other < kept && !covers(&rows[other], &rows[i])) other++;
        if (other == kept) rows[kept++] = rows[i];
    }
    return kept;
}

hf_status hf_front(hf_context *ctx, size_t n, size_t m, const double *values, size_t *index, size_t *count)
{
    hf_status status = check_front_values(ctx, n, m, values);
    if (status < 0) return status;
    if (count == NULL) return hfi_refuse(ctx, "count is NULL");
    if (n > 0 && index == NULL) return hfi_refuse(ctx, "index is NULL");
    front_row *rows = hfi_alloc(ctx, n, sizeof *rows);
    if (rows == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) rows[i] = (front_row){values + i * m, m};
    if (n > 1) qsort(rows, n, sizeof *rows, lexicographic);
    *count = sift(n, rows);
    for (size_t i = 0; i < *count; i++) index[i] = (size_t)(rows[i].value - values) / m;
    hfi_sort_indices(index, *count);
    hfi_free(ctx, rows);
    return HF_OK;
}

/* ---- the volume --------------------------------------------------------------------------------------- */

typedef struct slicing {
    hf_context *ctx;
    const double *reference;
    size_t n, m;
    hfi_front_point *room; /* n for each objective */
} slicing;

/* Points that are sorted by the second objective, in the plane of the first two. */
static double area(const slicing *s, size_t n, const hfi_front_point *points)
{
    double sum = 0.0, right = s->reference[0];
    for (size_t i = 0; i < n; i++) {
        const double *at = points[i].row;
        if (at[0] > right) {
            sum += (at[0] - right) * (at[1] - s->reference[1]);
            right = at[0];
        }
    }
    return sum;
}

static double slices(const slicing *s, size_t m, size_t n, const hfi_front_point *points);

/* Volume of the points in the first m objectives. */
static double measure_front_volume(const slicing *s, size_t m, size_t n, const hfi_front_point *points)
{
    hfi_front_point *own = s->room + (m - 1) * s->n;
    for (size_t i = 0; i < n; i++) own[i] = (hfi_front_point){points[i].row[m - 1], points[i].row};
    sort_front(n, own);
    if (m == 1) return n > 0 ? own[0].key - s->reference[0] : 0.0;
    return m == 2 ? area(s, n, own) : slices(s, m, n, own);
}

/* Points sorted by objective m - 1; the slice below point i, down to the next, is that of points 0 to i. NaN
 * when cancelled. */
static double slices(const slicing *s, size_t m, size_t n, const hfi_front_point *points)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double below = i + 1 < n ? points[i + 1].key : s->reference[m - 1];
        if (m == s->m && !hfi_progress(s->ctx, "hypervolume", (double)i / (double)n, NAN)) return NAN;
        if (points[i].key > below)
            sum += (points[i].key - below) * measure_front_volume(s, m - 1, i + 1, points);
    }
    return sum;
}

hf_status hf_hypervolume(hf_context *ctx, size_t n, size_t m, const double *values, const double *reference,
                         double *volume)
{
    if (volume == NULL) return hfi_refuse(ctx, "volume is NULL");
    if (m > HF_FRONT_OBJECTIVES)
        return hfi_refuse(ctx, "the hypervolume of %zu objectives is asked for; at most %d", m,
                          HF_FRONT_OBJECTIVES);
    slicing s = {.ctx = ctx, .reference = reference, .m = m};
    hfi_front_point *points;
    hf_status status = hfi_front_above_reference(ctx, n, m, values, reference, &points, &s.n);
    if (status < 0) return status;
    s.room = hfi_alloc(ctx, s.n, m * sizeof *s.room);
    status = s.room != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        const double sum = measure_front_volume(&s, m, s.n, points);
        if (isnan(sum)) /* no sum of positive terms is NaN */
            status = hfi_cancelled(ctx);
        else if (isinf(sum))
            status = hfi_fail(ctx, HF_ERR_NOT_FINITE, "the hypervolume is beyond the largest number");
        else
            *volume = sum;
    }
    HFI_FREE(ctx, s.room, points);
    return status;
}
