/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file complete_rows.h
 * @brief The rows of a table without missing values, in robust units and in an order of their own;
 * for the sites room only.
 */
#ifndef HFI_SITES_COMPLETE_ROWS_H
#define HFI_SITES_COMPLETE_ROWS_H

#include "sites/mcd.h"

typedef struct hfi_complete_rows {
    hfi_mcd_rows rows; /* u = (x - centre) / scale, within 1e100 */
    size_t half;       /* h */
    double *u;         /* what rows.u points to */
    size_t *index;     /* rows.n: where a row was in the table */
    double *centre;    /* p: medians */
    /* p: the h-th smallest distance from the median; where that is zero, the median of the others;
     * or 1 */
    double *scale;
} hfi_complete_rows;

/** `fraction` as in hf_robust_covariance_settings. The order depends on the rows' values alone, and
 * is that of their distances by mean and covariance of them all (p = 1: ascending): neither the
 * order of the table nor, but for rounding, an invertible linear map changes it. O(n p (p + log
 * n)). Errors: HF_ERR_NO_DATA, HF_ERR_NOT_FINITE, HF_ERR_MEMORY. */
hf_status hfi_complete_rows_create(hf_context *ctx, size_t n, size_t p, const double *x, size_t ldx,
                                   double fraction, hfi_complete_rows *out);
void hfi_complete_rows_free(hf_context *ctx, hfi_complete_rows *rows);

#endif
