/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mean_impl.h
 * @brief What a mean is made of; for the mean room only, everybody else uses the functions.
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
};

#endif
