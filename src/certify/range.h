/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file range.h
 * @brief Ranges of any quantity over boxes.
 */
#ifndef HFI_CERTIFY_RANGE_H
#define HFI_CERTIFY_RANGE_H

#include "bound/problem.h"

/** hf_certify_boxes() of any row of the table. */
hf_status hfi_certify_boxes(hf_context *ctx, const hf_posterior *posterior,
                            const hfi_quantity *quantity, const hf_certify_settings *settings,
                            size_t m, const double *lower, const double *upper, hf_range *out,
                            double *argmin, double *argmax);

#endif
