/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file safe.h
 * @brief Places where certain constraints surely hold.
 */
#ifndef HFI_STUDY_SAFE_H
#define HFI_STUDY_SAFE_H

#include "study/study.h"

typedef struct hfi_safe hfi_safe;

/** Whether the study has a certain constraint. */
bool hfi_study_is_certain(const hf_study *study);
/** Envelopes of all certain constraints. HF_ERR_ARGUMENT: one has no reading;
 * HF_ERR_INCONSISTENT. */
hf_status hfi_safe_open(hf_context *ctx, const hf_study *study, hfi_safe **out);
void hfi_safe_close(hf_context *ctx, hfi_safe *safe);
/** Whether all constraints surely hold at m places u (m x d), and how little is known of them
 * there. */
hf_status hfi_safe_many(hf_context *ctx, const hfi_safe *safe, size_t m, const double *u, bool *ok,
                        double *unknown);
/**
 * A place that is surely feasible: where `acquire` (NULL: none) is largest, if it is above
 * `none` there, else where least is known. *value is the acquisition's. HF_ERR_ARGUMENT: no such
 * place is known.
 */
hf_status hfi_safe_propose(hf_context *ctx, const hf_study *study, const hf_acquire *acquire,
                           uint64_t ordinal, double none, double *u, double *value, bool *acquired);

#endif
