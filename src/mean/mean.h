/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mean.h
 * @brief Internal face of the mean room.
 */
#ifndef HFI_MEAN_H
#define HFI_MEAN_H

#include "core/core.h"
#include <holdfast/mean.h>

/** Starting coefficients from the present readings (present[i], or all when NULL), unless held: constant =
 * their average, median = their median, linear = average and zero slopes. n >= 1 with at least one present.
 */
hf_status hfi_mean_start(hf_context *ctx, hf_mean *mean, size_t n, const double *x, size_t ldx,
                         const double *y, const bool *present);

/** grad[k] += sum_i weights[i] h_k(x_i): the chain rule from d/dm_i to d/db_k. O(n d). */
void hfi_mean_adjoint(const hf_mean *mean, size_t n, const double *x, size_t ldx, const double *weights,
                      double *grad);

/** grad[0..d-1] += dm/dx. */
void hfi_mean_input_gradient(const hf_mean *mean, double *grad);

#endif
