/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file samples.h
 * @brief Readings of several outputs as a table: a row for what was taken together, a column for
 * each output.
 */
#ifndef HFI_TRAIN_SAMPLES_H
#define HFI_TRAIN_SAMPLES_H

#include "posterior/posterior.h"
#include <holdfast/train.h>

/** Without a reading y is NaN and `reading` SIZE_MAX. */
typedef struct hfi_samples {
    hf_context *ctx;
    size_t count, outputs;
    size_t *output;  /* outputs: the output that each column is of */
    double *y;       /* count x outputs, row-major */
    size_t *reading; /* count x outputs: which reading it is */
} hfi_samples;

/**
 * From n readings y (n) at inputs x (n x d, stride d, the last of them the number of the output).
 * Those with the same number in `sample` (n), or with equal inputs where it is NULL, were taken
 * together; a second reading of the same output begins a row of its own. The order of the readings
 * does not matter but for the order of the rows. Output t goes to column place_of[t], or t where
 * that is NULL. O(n log n d).
 */
hf_status hfi_samples_init(hf_context *ctx, size_t n, size_t d, size_t outputs, const double *x,
                           const double *y, const size_t *sample, const size_t *place_of,
                           hfi_samples *out);
void hfi_samples_free(hfi_samples *samples);

#endif
