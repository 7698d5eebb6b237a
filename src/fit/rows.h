/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fit_rows.h
 * @brief The fit of a table that is read row by row and need not fit in memory.
 */
#ifndef HFI_FIT_ROWS_H
#define HFI_FIT_ROWS_H

#include "svgp/svgp.h"

/**
 * Fits a posterior by minibatches (hfi_svgp_fit()) to rows in the user's units. y is NaN where
 * there is no target, and where an input is missing (x must be finite all the same).
 *
 * One pass finds the means and standard deviations of the inputs; location and scale of the target,
 * the rounding of the readings and the first inducing inputs come from a sample. Up to 2048
 * readings, a twentieth at most, are kept out to calibrate the intervals (settings->calibrate).
 *
 * @param names     d input names, or NULL
 * @param extra     the rows have known noise variances
 * @param settings  as for hf_fit_data(), with the inducing solver; no suspect finder. Set minibatch
 *                  or leave it 0
 * @param report    may be NULL; `missing` are the rows without a reading
 * Errors: those of hf_fit_data() and of reading rows. Memory: a sample of 32 768 rows and what
 * hfi_svgp_fit() takes.
 */
hf_status hfi_fit_rows(hf_context *ctx, const hfi_row_source *rows, const char *const *names,
                       bool extra, const hf_fit_settings *settings, hf_posterior **posterior,
                       hf_fit_report *report);

#endif
