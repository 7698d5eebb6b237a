/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file hunt.h
 * @brief Where an acquisition function is largest among places that a predicate admits.
 */
#ifndef HFI_STUDY_HUNT_H
#define HFI_STUDY_HUNT_H

#include "study/study.h"

/** Places of a study's space. */
typedef struct hfi_places_among {
    const hf_study *study;
    /** Which of m places u are admitted, and how little is known of them, >= 0. */
    hf_status (*admits)(hf_context *ctx, const void *self, size_t m, const double *u, bool *fine,
                        double *unknown);
    const void *self;
} hfi_places_among;

/**
 * The admitted place where `acquire` (NULL: none) is largest, if it is above `nothing` there
 * (*acquired), else where least is known. *value is the acquisition's. HF_ERR_NO_DATA: no place is
 * admitted.
 */
hf_status hfi_hunt(hf_context *ctx, const hfi_places_among *among, const hf_acquire *acquire,
                   uint64_t ordinal, double nothing, double *u, double *value, bool *acquired);

#endif
