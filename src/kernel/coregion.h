/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file coregion.h
 * @brief The covariance of several outputs, B = W W' + diag(own), of one coregion leaf.
 *
 * W has `outputs` rows and `rank` columns and is zero above the diagonal; the parameters are its
 * other entries row by row, and then, if rank < outputs, the variances `own`.
 */
#ifndef HFI_KERNEL_COREGION_H
#define HFI_KERNEL_COREGION_H

#include "kernel/expression.h"
#include "kernel/kernel.h"

/** Number of parameters in W. */
size_t hfi_coregion_factors(const hfi_leaf *leaf);
/** Index in W's parameters of the first entry of row s. */
size_t hfi_coregion_row(const hfi_leaf *leaf, size_t s);
/** Number of parameters in row s. */
size_t hfi_coregion_length(const hfi_leaf *leaf, size_t s);
/** The row that parameter `offset` of W stands in. */
size_t hfi_coregion_row_of(const hfi_leaf *leaf, size_t offset);
/** Where an entry of W starts: B has 1 on its diagonal; full rank, it has 1/2 elsewhere. */
double hfi_coregion_start(const hfi_leaf *leaf, size_t s, size_t q);

/** Puts output s into row order[s] of W (NULL: s), with B as it was; a W that is what it starts as
 * stays, to the last digit. `work` holds outputs (rank + 1) numbers. O(outputs rank^2). */
void hfi_coregion_reorder(hf_kernel *kernel, const hfi_leaf *leaf, const size_t *order,
                          double *work);

/** B[s, t] from the parameters. */
double hfi_coregion_value(const hf_kernel *kernel, const hfi_leaf *leaf, size_t s, size_t t);
/** Brings B of a leaf, or what parameter p decides of it, up to date with the values. O(outputs^2
 * rank), O(outputs rank). */
void hfi_coregion_refresh(hf_kernel *kernel, const hfi_leaf *leaf);
void hfi_coregion_refresh_after(hf_kernel *kernel, size_t p);
/** The mean of B's diagonal, summed along the rows of W, and grad += weight dmean/dtheta. O(outputs
 * rank). */
double hfi_coregion_mean(const hf_kernel *kernel, const hfi_leaf *leaf);
void hfi_coregion_mean_adjoint(const hf_kernel *kernel, const hfi_leaf *leaf, double weight,
                               double *grad);
/** grad += weight dB[s, t]/dtheta, grad being that of all parameters of the kernel. O(rank). */
void hfi_coregion_adjoint(const hf_kernel *kernel, const hfi_leaf *leaf, size_t s, size_t t,
                          double weight, double *grad);

#endif
