/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mean.h
 * @brief Internal face of the mean room.
 */
#ifndef HFI_MEAN_H
#define HFI_MEAN_H

#include "core/core.h"
#include <holdfast/expert.h>
#include <holdfast/mean.h>

/** Starting coefficients from the present readings (present[i], or all when NULL; NaN never
 * counts), unless held: constant = their average, median = their median, linear = average and zero
 * slopes. HF_ERR_NO_DATA when no reading is present. */
hf_status hfi_mean_start(hf_context *ctx, hf_mean *mean, size_t n, const double *x, size_t ldx,
                         const double *y, const bool *present);

/** grad[k] += sum_i weights[i] h_k(x_i): the chain rule from d/dm_i to d/db_k. O(n d). */
void hfi_mean_adjoint(const hf_mean *mean, size_t n, const double *x, size_t ldx,
                      const double *weights, double *grad);

/** grad[0..d-1] += dm/dx. */
void hfi_mean_input_gradient(const hf_mean *mean, double *grad);

/* ---- an expert's mean that is added, for posteriors of differences -------------------------- */

typedef struct hfi_lift hfi_lift;

/** l of an expert's mean, in the expert's units; NULL where l = 1. */
const hf_kernel *hfi_expert_kernel(const hf_expert *expert);
size_t hfi_expert_inputs(const hf_expert *expert);

/** From now on the mean is m(x) + hf_expert_mean(expert, x) / unit, what it is made of copied. Its
 * inputs are (those of the expert - shift) / scale; `kernel`: their kernel, NULL where it is 1. */
hf_status hfi_mean_lift(hf_context *ctx, hf_mean *mean, const hf_expert *expert,
                        const hf_kernel *kernel, const double *shift, const double *scale,
                        double unit);
bool hfi_mean_lifted(const hf_mean *mean);
/** grad[0..d-1] += the gradient of the added part at x. `scratch`: hfi_mean_scratch() numbers.
 * O(h d). */
void hfi_mean_lift_gradient(const hf_mean *mean, const double *x, double *scratch, double *grad);
size_t hfi_mean_scratch(const hf_mean *mean);

#endif
