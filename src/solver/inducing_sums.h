/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file inducing_sums.h
 * @brief What one pass over the rows adds up behind B and Lu^-1 b in hfi_inducing.sums.
 */
#ifndef HFI_INDUCING_SUMS_H
#define HFI_INDUCING_SUMS_H

enum {
    HFI_INDUCING_LOG_PRECISION, /* sum log p_j */
    HFI_INDUCING_SQUARES,       /* sum p_j r_j^2 */
    HFI_INDUCING_UNRESOLVED,    /* sum (k_jj - q_jj) / (d_j + white_j) */
    HFI_INDUCING_SCALARS
};

#endif
