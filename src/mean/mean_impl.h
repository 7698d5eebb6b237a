/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mean_impl.h
 * @brief The parts of a mean; for the mean room only, everybody else uses the functions.
 */
#ifndef HFI_MEAN_IMPL_H
#define HFI_MEAN_IMPL_H

#include "mean/mean.h"

struct hf_mean {
    hfi_memory memory;
    hf_mean_kind kind;
    size_t d;
    size_t count;   /* coefficients: 0, 1, d + 1 or the number of outputs */
    bool held;      /* the caller gave the values: neither start values nor training touch them */
    double *values; /* intercept first, then one slope per input; or one per output */
    hfi_lift *lift; /* is added; NULL: nothing */
};

/** The added part at x. Neither allocates nor locks. */
double hfi_lift_value(const hfi_lift *lift, const double *x);
hf_status hfi_lift_copy(hf_context *ctx, const hfi_lift *lift, hfi_lift **out);
void hfi_lift_free(hfi_lift *lift);

#endif
