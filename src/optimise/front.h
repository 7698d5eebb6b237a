/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file front.h
 * @brief What fronts, volumes and expected improvements share.
 */
#ifndef HFI_OPTIMISE_FRONT_H
#define HFI_OPTIMISE_FRONT_H

#include "core/core.h"
#include <holdfast/front.h>

/** A point with what it is sorted by. */
typedef struct hfi_front_point {
    double key;
    const double *row;
} hfi_front_point;

/** Descending by key; of equal ones the first row of the table first. */
void hfi_front_sort(size_t n, hfi_front_point *points);
/** Points that are above the reference in every objective, with the last value as key: *found (to
 * be freed with hfi_free()), sorted. Checks all arguments. */
hf_status hfi_front_above_reference(hf_context *ctx, size_t n, size_t m, const double *values,
                                    const double *reference, hfi_front_point **found, size_t *kept);

/** The integral of Phi((mean - z)/sd) over z from lower to upper (INFINITY allowed): its log, and
 * the derivatives of that if `slopes` are wanted. -INFINITY and zeros where it is 0. */
typedef struct hfi_slab {
    double log_value, by_mean, by_sd;
} hfi_slab;
hfi_slab hfi_front_strip(double lower, double upper, double mean, double sd, bool slopes);

#endif
