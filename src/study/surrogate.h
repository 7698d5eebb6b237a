/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file surrogate.h
 * @brief Settings of the fits that surrogates are made by.
 */
#ifndef HFI_STUDY_SURROGATE_H
#define HFI_STUDY_SURROGATE_H

#include "study/study.h"

/** Trains: hyperparameters and verdicts of the gathered readings, which it warps; s->next is
 * news. */
hf_status hfi_surrogate_train(hf_context *ctx, const hf_study *study, size_t of, hfi_surrogate *s);
/** The posterior with the hyperparameters and verdicts that are remembered. */
hf_status hfi_surrogate_hold(hf_context *ctx, const hf_study *study, size_t of, hfi_surrogate *s);
/** loo_mean and loo_var of some `readings`: what the others say of each, with its noise,
 * warped units. */
hf_status hfi_surrogate_look_at(hf_context *ctx, const hf_study *study, hfi_surrogate *s,
                                const bool *readings);
/** Readings that are far from the median of their neighbours', as deviations there go: out[i];
 * whether there are any. O(n^2 d). */
bool hfi_surrogate_contradicted(const hf_study *study, const hfi_surrogate *s, double range,
                                bool *out);
/** A surrogate of an outcome without some of its readings, with a warp of its own and the prior
 * mean of trials that fill the space. */
hf_status hfi_surrogate_without(hf_context *ctx, const hf_study *study, size_t outcome,
                                const bool *disregarded, hf_posterior **out);

#endif
