/* SPDX-License-Identifier: Apache-2.0 */
/* Readings that were rounded to steps. */
#include "train/train.h"
#include <math.h>
#include <string.h>

/* A few integers prove nothing; with this many, most of them equal to another one, they were rounded. */
enum {
    LEAST_ROUNDED = 20
};

/* Smallest positive gap of sorted values, and how many different values there are. */
static double smallest_gap(const double *sorted, size_t n, size_t *levels)
{
    double gap = INFINITY;
    *levels = 1;
    for (size_t i = 1; i < n; i++) {
        const double g = sorted[i] - sorted[i - 1];
        if (!(g > 0.0)) continue;
        gap = fmin(gap, g);
        *levels += 1;
    }
    return gap;
}

/* True if all values are whole steps from the first, to the rounding of their decimals. */
static bool on_lattice(const double *sorted, size_t n, double step)
{
    for (size_t i = 0; i < n; i++) {
        const double steps = (sorted[i] - sorted[0]) / step;
        if (!(fabs(steps - round(steps)) < 1e-6 * (1.0 + fabs(steps)))) return false;
    }
    return true;
}

hf_status hfi_reading_step(hf_context *ctx, size_t n, const double *y, double *step)
{
    *step = 0.0;
    if (n < LEAST_ROUNDED) return HF_OK;
    double *sorted = hfi_alloc(ctx, n, 2 * sizeof *sorted);
    if (!sorted) return HF_ERR_MEMORY;
    memcpy(sorted, y, n * sizeof *sorted);
    (void)hfi_median(sorted, n); /* sorts */
    size_t levels = 1;
    const double gap = smallest_gap(sorted, n, &levels);
    /* A gap wider than the usual spread lies between the many and a few wild ones, and says nothing about rounding. */
    const bool narrow = gap <= hfi_mad(y, n, sorted + n);
    if (levels > 1 && 2 * levels <= n && narrow && on_lattice(sorted, n, gap)) *step = gap;
    hfi_free(ctx, sorted);
    return HF_OK;
}
