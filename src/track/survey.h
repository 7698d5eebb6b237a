/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file survey.h
 * @brief Where a survey is measured.
 */
#ifndef HFI_TRACK_SURVEY_H
#define HFI_TRACK_SURVEY_H

#include "core/core.h"

/**
 * Places whose answers, each with this noise variance, leave the least variance on average: one
 * after another, each where it takes most off the sum over all places,
 *
 *     sum_i C_ip^2 / (C_pp + noise),        C := C - c_p c_p' / (C_pp + noise),
 *
 * until no variance exceeds `enough`, or there are `most`; then each in turn leaves the list for
 * where it takes more off, in two rounds at most. A place may come more than once.
 * @param covariance n x n, of f at the places; overwritten
 * @param place      `most` entries, `chosen` of them set
 * HF_ERR_MEMORY, HF_ERR_CANCELLED. O(n^2 most).
 */
hf_status hfi_survey_choose(hf_context *ctx, size_t n, double *covariance, double noise, double enough,
                            size_t most, size_t *place, size_t *chosen);

#endif
