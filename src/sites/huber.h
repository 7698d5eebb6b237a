/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file huber.h
 * @brief A linear fit that gross errors do not bend much.
 */
#ifndef HFI_SITES_HUBER_H
#define HFI_SITES_HUBER_H

#include "core/core.h"

/** r = y - (b_0 + x b) of the Huber fit with ridge 1e-3 n on the slopes: 30 re-weightings with w = 1 up to
 *  1.345 sds, 1.345 sd / |r| beyond, and a twentieth of that beyond 4.685 (sd = 1.4826 MAD of r). x: n x d
 *  row-major, standardised; x and y finite. O(n d^2) per re-weighting; O(n^3) when d >= n. */
hf_status hfi_huber_residuals(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                              const double *y, double *r);

#endif
