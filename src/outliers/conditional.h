/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file conditional.h
 * @brief Robust weights of several outputs, from what the readings of a sample say about each
 * other.
 */
#ifndef HFI_TRAIN_CONDITIONAL_H
#define HFI_TRAIN_CONDITIONAL_H

#include "objective/samples.h"
#include "search/trainer.h"

/** State that the weights are made with; owned by the fit. */
typedef struct hfi_conditional {
    hfi_samples samples;
    hf_outputs_rule rule;
    const size_t *readings; /* of each output; the fit's */
    double *eps;            /* outputs; this and all below in the order of the samples' columns */
    double *weight;         /* rows x outputs, and so on, of the samples */
    double *shift;
    double *model;       /* mean, noise (outputs each), covariance (outputs x outputs) */
    double *covariances; /* rows x outputs x outputs: of each sample at its inputs */
    /* they are not all the same, and count in place of the covariance in `model` */
    bool varies;
} hfi_conditional;

/** For the readings of a fit; `place_of` as in hfi_samples_init(). HF_ERR_ARGUMENT for settings
 * that say nothing here. */
hf_status hfi_conditional_init(hf_context *ctx, const hf_fit_settings *settings, size_t n, size_t d,
                               size_t outputs, const double *x, const double *y,
                               const size_t *sample, const size_t *place_of, const size_t *readings,
                               hfi_conditional *out);
void hfi_conditional_free(hfi_conditional *conditional);

/**
 * Weights before any fit: the covariance between outputs is the minimum covariance determinant's of
 * the complete samples, with no noise, and that is also where the kernel's starts (if it has one
 * coregion of full rank that is free), with its location for the constants. With too few complete
 * samples the outputs start unrelated. `state` is brought up to date.
 */
hf_status hfi_conditional_start(hfi_trainer *trainer, hfi_conditional *conditional, double *state);
/** Weights from the present kernel, mean and noise; *change is the largest difference to the old
 * ones. */
hf_status hfi_conditional_reweigh(hfi_trainer *trainer, hfi_conditional *conditional,
                                  double *change);

#endif
