/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file acquire.h
 * @brief Acquisition functions inside the optimise room.
 */
#ifndef HFI_ACQUIRE_H
#define HFI_ACQUIRE_H

#include "optimise/optimise.h"
#include <holdfast/acquire.h>

/** A value, and its derivatives in the mean and in the standard deviation. */
typedef struct hfi_acquired {
    double value, mean, sd;
} hfi_acquired;

typedef struct hfi_acquisition_row {
    const char *name;
    /** sd >= 0. A logarithm may be -infinity, a slope may overflow. */
    hfi_acquired (*formula)(double mean, double sd, double best, double beta);
    bool logarithm;
    bool improves; /* upon `best`: not negative, or the logarithm of such a one */
} hfi_acquisition_row;

/** NULL for a kind that is none. */
const hfi_acquisition_row *hfi_acquisition_of(hf_acquisition kind);
/** Numbers only: -DBL_MAX for logarithms of 0, 0 for slopes that are none. */
hfi_acquired hfi_acquisition_at(const hfi_acquisition_row *row, double mean, double sd, double best,
                                double beta);

#endif
