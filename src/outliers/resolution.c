/* SPDX-License-Identifier: Apache-2.0 */
/* Readings that were rounded to steps. */
#include "outliers/outliers.h"
#include <math.h>
#include <string.h>

/* A few integers prove nothing; with this many, most of them equal to another one, they were rounded. */
enum {
    LEAST_ROUNDED = 20
};

/* Keeps of the sorted values those that are equal to another one (gross errors on top of rounded readings
 * rarely are); their number. */
static size_t keep_twins(double *sorted, size_t n)
{
    size_t count = 0;
    double before = NAN;
    for (size_t i = 0; i < n; i++) {
        const double value = sorted[i];
        const bool twin = value == before || (i + 1 < n && value == sorted[i + 1]);
        before = value;
        if (twin) sorted[count++] = value;
    }
    return count;
}

/* Median gap between different ones of sorted values; 0 if they are all equal. `gaps` has room for `n`. */
static double usual_gap(const double *sorted, size_t n, double *gaps)
{
    size_t count = 0;
    for (size_t i = 1; i < n; i++)
        if (sorted[i] > sorted[i - 1]) gaps[count++] = sorted[i] - sorted[i - 1];
    return count > 0 ? hfi_median(gaps, count) : 0.0;
}

/* True if nine in ten values lie whole steps from the middle one, give or take a few per cent of a step:
 * tables are shifted and printed with few digits. */
static bool on_lattice(const double *sorted, size_t n, double step)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const double steps = (sorted[i] - sorted[n / 2]) / step;
        count += fabs(steps - round(steps)) < 0.02 ? 1 : 0;
    }
    return 10 * count >= 9 * n;
}

hf_status hfi_reading_step(hf_context *ctx, size_t n, const double *y, double *step)
{
    *step = 0.0;
    if (n < LEAST_ROUNDED) return HF_OK;
    double *sorted = hfi_alloc(ctx, n, 2 * sizeof *sorted);
    if (!sorted) return HF_ERR_MEMORY;
    memcpy(sorted, y, n * sizeof *sorted);
    (void)hfi_median(sorted, n); /* sorts */
    const double spread = hfi_mad(y, n, sorted + n);
    const size_t twins = keep_twins(sorted, n);
    const double gap = usual_gap(sorted, twins, sorted + n);
    /* A gap wider than the usual spread lies between the many and a few wild ones, and says nothing about rounding. */
    if (2 * twins >= n && gap > 0.0 && gap <= spread && on_lattice(sorted, twins, gap)) *step = gap;
    hfi_free(ctx, sorted);
    return HF_OK;
}
