/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics. */
#include "core/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ascending with NaN last: a total order, which qsort needs. */
static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    if (isnan(a) || isnan(b)) return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
    return (a > b) - (a < b);
}

/* Between two ordered values; exact where they agree, and without overflow when they are far apart. */
static double interpolate(double low, double high, double share)
{
    if (share <= 0.0 || low == high) return low;
    double gap = high - low;
    return isfinite(gap) ? low + share * gap : (1.0 - share) * low + share * high;
}

double hfi_quantile(double *values, size_t count, double probability)
{
    qsort(values, count, sizeof *values, compare_doubles);
    if (count == 0 || isnan(values[count - 1]) || isnan(probability)) return NAN;
    double position = (double)(count - 1) * fmin(1.0, fmax(0.0, probability));
    size_t below = (size_t)position;
    if (below >= count - 1) return values[count - 1];
    return interpolate(values[below], values[below + 1], position - (double)below);
}

double hfi_median(double *values, size_t count)
{
    return hfi_quantile(values, count, 0.5);
}

double hfi_mad(const double *values, size_t count, double *scratch)
{
    for (size_t i = 0; i < count; i++) scratch[i] = values[i];
    double centre = hfi_median(scratch, count);
    for (size_t i = 0; i < count; i++) scratch[i] = fabs(values[i] - centre);
    /* 1/Phi^-1(3/4): makes it the standard deviation of normal data. */
    return 1.482602218505602 * hfi_median(scratch, count);
}

void hfi_tally_add(hfi_tally *tally, double value)
{
    const double before = value - tally->mean;
    tally->count += 1.0;
    tally->mean += before / tally->count;
    tally->squares += before * (value - tally->mean);
}

double hfi_tally_error(const hfi_tally *tally)
{
    return tally->count > 1.0 ? sqrt(tally->squares / (tally->count - 1.0) / tally->count) : NAN;
}

double hfi_sum_sorted(double *values, size_t count)
{
    double sum = 0.0;
    if (count > 1) qsort(values, count, sizeof *values, compare_doubles);
    for (size_t i = 0; i < count; i++) sum += values[i];
    return sum;
}

static int compare_indices(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

static int compare_ranked(const void *left, const void *right)
{
    const hfi_ranked *a = left, *b = right;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

void hfi_sort_ranked(hfi_ranked *list, size_t count)
{
    if (count > 1) qsort(list, count, sizeof *list, compare_ranked);
}

void hfi_sort_indices(size_t *index, size_t count)
{
    if (count > 1) qsort(index, count, sizeof *index, compare_indices); /* of none there may be no array */
}

hf_status hfi_rearrange(hf_context *ctx, size_t count, size_t bytes, const size_t *order, void *array)
{
    char *to = array, *from = hfi_alloc(ctx, count, bytes);
    if (!from) return HF_ERR_MEMORY;
    memcpy(from, to, count * bytes);
    for (size_t k = 0; k < count; k++) memcpy(to + k * bytes, from + order[k] * bytes, bytes);
    hfi_free(ctx, from);
    return HF_OK;
}
