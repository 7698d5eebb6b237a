/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file value.h
 * @brief A value over boxes, whatever it is of: a posterior, or the probability of a class.
 */
#ifndef HFI_CERTIFY_VALUE_H
#define HFI_CERTIFY_VALUE_H

#include "certify/class.h"

typedef struct hfi_value {
    const hf_posterior *posterior;
    const hf_classifier *classifier; /* NULL: a value of the posterior */
    const hfi_quantity *quantity;
    size_t inputs; /* of the data */
} hfi_value;

/** HF_ERR_ARGUMENT for a value that there is not. */
hf_status hfi_value_of(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                       hfi_value *out);
hf_status hfi_value_of_class(hf_context *ctx, const hf_classifier *classifier, hfi_value *out);
bool hfi_value_is_estimate(const hfi_value *value);
/** hf_certify_boxes() or hf_certify_class(). */
hf_status hfi_value_certify_boxes(hf_context *ctx, const hfi_value *value,
                                  const hf_certify_settings *settings, size_t m, const double *low,
                                  const double *high, hf_range *out, double *least, double *most);
/** The range at one point, which the allowance for rounding makes; `spare` holds inputs doubles. */
hf_status hfi_value_at(hf_context *ctx, const hfi_value *value, const hf_certify_settings *settings,
                       const double *x, double *spare, hf_range *out);

#endif
