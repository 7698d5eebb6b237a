/* SPDX-License-Identifier: Apache-2.0 */
/* The points that no other point dominates. */
#include "optimise/front.h"

#include <math.h>
#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
    const hfi_front_point *p = a, *q = b;
    if (p->key != q->key) return p->key > q->key ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

void hfi_front_sort(size_t n, hfi_front_point *points)
{
    if (n > 1) qsort(points, n, sizeof *points, by_key);
}

static hf_status check(hf_context *ctx, size_t n, size_t m, const double *values)
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
    hf_status status = check(ctx, n, m, values);
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
    hfi_front_sort(stay, above);
    *found = above;
    *kept = stay;
    return HF_OK;
}

/* ---- the front --------------------------------------------------------------------------------------------------- */

/* A point and how many objectives it has. Sorted so that none is dominated by a later one, or equal to an
 * earlier one of a larger number. */
typedef struct row {
    const double *value;
    size_t m;
} row;

static int lexicographic(const void *a, const void *b)
{
    const row *p = a, *q = b;
    for (size_t j = 0; j < p->m; j++)
        if (p->value[j] != q->value[j]) return p->value[j] > q->value[j] ? -1 : 1;
    return (p->value > q->value) - (p->value < q->value);
}

/* Whether p is nowhere below q. */
static bool covers(const row *p, const row *q)
{
    size_t j = 0;
    while (j < p->m && p->value[j] >= q->value[j]) j++;
    return j == p->m;
}

/* Moves those that stay to the front of `rows`; how many. Of two objectives the last kept point has the
 * largest second value. */
static size_t sift(size_t n, row *rows)
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
    hf_status status = check(ctx, n, m, values);
    if (status < 0) return status;
    if (count == NULL) return hfi_refuse(ctx, "count is NULL");
    if (n > 0 && index == NULL) return hfi_refuse(ctx, "index is NULL");
    row *rows = hfi_alloc(ctx, n, sizeof *rows);
    if (rows == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) rows[i] = (row){values + i * m, m};
    if (n > 1) qsort(rows, n, sizeof *rows, lexicographic);
    *count = sift(n, rows);
    for (size_t i = 0; i < *count; i++) index[i] = (size_t)(rows[i].value - values) / m;
    hfi_sort_indices(index, *count);
    hfi_free(ctx, rows);
    return HF_OK;
}
