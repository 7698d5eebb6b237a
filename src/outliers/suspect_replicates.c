/* SPDX-License-Identifier: Apache-2.0 */
/* Replicates: rows that differ in their inputs and have the very same reading, because it was taken once for
 * all of them (four cross sections of a core, whose permeability is measured as a whole). Leaving one out
 * leaves its twins, so that its residual says how well the inputs tell specimens apart, not whether a reading
 * is wrong. */
#include "outliers/suspects.h"
#include <string.h>

/* Only readings within so many interquartile ranges of the quartiles are looked at: far ones may be wrong,
 * and wrong in the same way. */
static const double FENCE = 1.5;

/* Readings that were rounded have twins too, but then not many more steps lie between their quartiles than
 * there are readings. */
static const double STEPS_A_READING = 2.0;

/* Specimens are several: a number that stands in more than this share of the rows is a sensor at rest or one
 * of few grades. */
static const double MOST_OF_ONE = 0.2;

/* Rows of a specimen at least, on average: pairs are what sparse rounding leaves too. */
static const double ROWS_A_NUMBER = 2.5;

/* How many numbers the sorted readings are, and how often the commonest stands. */
static size_t count_numbers(const double *sorted, size_t n, size_t *most)
{
    size_t numbers = 0, begin = 0;
    *most = 0;
    for (size_t i = 0; i < n; i++) {
        if (sorted[i] != sorted[begin]) begin = i;
        numbers += begin == i ? 1 : 0;
        *most = i + 1 - begin > *most ? i + 1 - begin : *most;
    }
    return numbers;
}

/* Whether a number stands twice among the sorted readings. */
static bool stands_twice(const double *sorted, size_t n, double y)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sorted[middle] < y)
            low = middle + 1;
        else
            high = middle;
    }
    return low + 1 < n && sorted[low + 1] == y;
}

hf_status hfi_finder_replicates(hfi_finder *finder)
{
    const size_t n = finder->n;
    const double *y = hf_sites_readings(finder->trainer->evaluator.sites);
    double *sorted = finder->sorted, step = 0.0;
    size_t inside = 0, most = 0;
    if (finder->outputs > 1) return HF_OK;
    memcpy(sorted, y, n * sizeof *sorted);
    const double low = hfi_quantile(sorted, n, 0.25), high = hfi_quantile(sorted, n, 0.75),
                 width = high - low;
    for (size_t i = 0; i < n; i++) {
        finder->replicate[i] = y[i] >= low - FENCE * width && y[i] <= high + FENCE * width;
        if (finder->replicate[i]) sorted[inside++] = y[i];
    }
    const hf_status s = hfi_reading_step(finder->ctx, inside, sorted, &step);
    if (s < 0) return s;
    (void)hfi_median(sorted, inside); /* sorts */
    for (size_t i = 0; i < n; i++)
        finder->replicate[i] = finder->replicate[i] && stands_twice(sorted, inside, y[i]);
    const bool rounded = width <= STEPS_A_READING * (double)n * step;
    const size_t numbers = count_numbers(sorted, inside, &most);
    const bool single = (double)inside < ROWS_A_NUMBER * (double)numbers || 2 * inside < n;
    if (single || rounded || (double)most > MOST_OF_ONE * (double)n)
        memset(finder->replicate, 0, n * sizeof *finder->replicate);
    return HF_OK;
}
