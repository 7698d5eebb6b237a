/* SPDX-License-Identifier: Apache-2.0 */
/* Hypervolume by slices along the last objective: each is the same problem with one objective less, and all
 * terms are positive. */
#include "optimise/front.h"

#include <math.h>

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
static double measure(const slicing *s, size_t m, size_t n, const hfi_front_point *points)
{
    hfi_front_point *own = s->room + (m - 1) * s->n;
    for (size_t i = 0; i < n; i++) own[i] = (hfi_front_point){points[i].row[m - 1], points[i].row};
    hfi_front_sort(n, own);
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
        if (points[i].key > below) sum += (points[i].key - below) * measure(s, m - 1, i + 1, points);
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
        const double sum = measure(&s, m, s.n, points);
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
