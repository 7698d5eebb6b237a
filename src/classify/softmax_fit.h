/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file softmax_fit.h
 * @brief hf_classifier_fit() for the softmax link.
 */
#ifndef HFI_SOFTMAX_FIT_H
#define HFI_SOFTMAX_FIT_H

#include <holdfast/classify.h>

/** Data, settings and `out` are not NULL. */
hf_status hfi_softmax_fit(hf_context *ctx, const hf_class_data *data, const hf_fit_settings *settings,
                          bool own_kernels, hf_classifier **out, hf_class_report *report);

#endif
