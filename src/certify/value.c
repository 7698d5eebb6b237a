/* SPDX-License-Identifier: Apache-2.0 */
/* A value over boxes, of a posterior or of a classifier's probability. */
#include "certify/certify.h"

#include <math.h>

hf_status hfi_value_of(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what, hfi_value *out)
{
    const hfi_quantity *quantity = hfi_quantity_of(what);
    if (!quantity) return hfi_refuse(ctx, "there is no value number %d to certify", (int)what);
    *out =
        (hfi_value){.posterior = posterior, .quantity = quantity, .inputs = hfi_posterior_inputs(posterior)};
    return HF_OK;
}

hf_status hfi_value_of_class(hf_context *ctx, const hf_classifier *classifier, hfi_value *out)
{
    const hfi_quantity *quantity = &hfi_quantity_mean;
    const hf_status status = hfi_class_quantity(ctx, classifier, 0, &quantity);
    *out = (hfi_value){.posterior = hf_classifier_posterior(classifier),
                       .classifier = classifier,
                       .quantity = quantity,
                       .inputs = hfi_class_inputs(classifier)};
    return status;
}

bool hfi_value_is_estimate(const hfi_value *value)
{
    return value->classifier && hf_certify_is_estimate(value->classifier);
}

hf_status hfi_value_certify_boxes(hf_context *ctx, const hfi_value *value,
                                  const hf_certify_settings *settings, size_t m, const double *low,
                                  const double *high, hf_range *out, double *least, double *most)
{
    return value->classifier
               ? hfi_certify_class_boxes(ctx, value->classifier, settings, m, low, high, out, least, most)
               : hfi_certify_boxes(ctx, value->posterior, value->quantity, settings, m, low, high, out, least,
                                   most);
}

hf_status hfi_value_at(hf_context *ctx, const hfi_value *value, const hf_certify_settings *settings,
                       const double *x, double *spare, hf_range *out)
{
    hf_certify_settings own = *settings;
    own.lower_only = own.upper_only = false;
    own.decide_at = (double)NAN;
    own.region = NULL;
    memcpy(spare, x, value->inputs * sizeof *spare);
    return hfi_value_certify_boxes(ctx, value, &own, 1, spare, spare, out, NULL, NULL);
}
