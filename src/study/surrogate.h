/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file surrogate.h
 * @brief Settings of the fits that surrogates are made by.
 */
#ifndef HFI_STUDY_SURROGATE_H
#define HFI_STUDY_SURROGATE_H

#include "study/study.h"

/** Settings of a fit of one outcome over u; `kernel` points into the study. */
hf_status hfi_surrogate_settings(hf_context *ctx, const hf_study *study, size_t outcome,
                                 hf_fit_settings *out);

#endif
