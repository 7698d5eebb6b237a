/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mean.h
 * @brief Internal face of the mean room.
 */
#ifndef HFI_MEAN_H
#define HFI_MEAN_H

#include "core/core.h"
#include <holdfast/mean.h>

/** True when training moves the coefficients: constant and linear, unless held. The median never is. */
bool hfi_mean_trainable(const hf_mean *mean);

/** Starting coefficients from the present readings (present[i], or all when NULL; NaN never counts), unless
 * held: constant = their average, median = their median, linear = average and zero slopes.
 * HF_ERR_NO_DATA when no reading is present. */
hf_status hfi_mean_start(hf_context *ctx, hf_mean *mean, size_t n, const double *x, size_t ldx,
                         const double *y, const bool *present);

/** grad[k] += sum_i weights[i] h_k(x_i): the chain rule from d/dm_i to d/db_k. O(n d). */
void hfi_mean_adjoint(const hf_mean *mean, size_t n, const double *x, size_t ldx, const double *weights,
                      double *grad);

/** grad[0..d-1] += dm/dx. */
void hfi_mean_input_gradient(const hf_mean *mean, double *grad);

#endif
