/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tail.h
 * @brief The Student-t tail that standardised residuals have, and how surprising one more residual
 * is under it.
 */
#ifndef HFI_SITES_TAIL_H
#define HFI_SITES_TAIL_H

#include "core/core.h"

/** Scales and degrees of freedom that residuals may have, and how probable each pair is. */
enum {
    HFI_TAIL_NU = 17,    /**< from 1 to 64 in steps of a factor 64^(1/16) */
    HFI_TAIL_SCALES = 17 /**< of each nu, over four standard deviations either side of the likeliest
                              */
};
typedef struct hfi_tail {
    size_t n; /**< residuals it is made of */
    double nu[HFI_TAIL_NU];
    double scale[HFI_TAIL_NU][HFI_TAIL_SCALES];
    double weight[HFI_TAIL_NU][HFI_TAIL_SCALES]; /**< sum to 1 */
} hfi_tail;

/**
 * The posterior of scale and degrees of freedom of n residuals t: Student-t likelihood, a normal
 * prior on log nu about log 8 with standard deviation 1 (leave-one-out residuals of tables without
 * wrong readings have about that); a flat one on log scale. Zeros all: every scale is 0. Sums run
 * over sorted sizes, so that the order of the residuals does not matter. HF_ERR_MEMORY. O(n (log n
 * + 300)).
 */
hf_status hfi_tail_fit(hf_context *ctx, size_t n, const double *t, hfi_tail *out);

/** min(1, looks E[P(|T| > |t| / scale)]): how often one of `looks` more residuals is as far out as
 * t. The expectation over scale and nu is what makes few residuals say little.
 * Relative accuracy 1e-12, also far out. Pure. */
double hfi_tail_chance(const hfi_tail *tail, double t, size_t looks);

#endif
