/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdout.h
 * @brief Residuals of readings by models that have not seen them.
 */
#ifndef HFI_HOLDOUT_H
#define HFI_HOLDOUT_H

#include "objective/evaluator.h"

/** Predictions of every reading by a state, from the present readings alone: leave-one-out for
 * those, prediction for absent ones. */
typedef struct hfi_holdout {
    double *mean; /* latent mean, prior mean included */
    double *sd;   /* of the reading: sqrt(latent variance + noise + extra) */
    double *t;    /* (y - mean) / sd */
    double log_evidence;
} hfi_holdout;

hf_status hfi_holdout_init(hf_context *ctx, hfi_holdout *residuals, size_t rows);
void hfi_holdout_free(hf_context *ctx, hfi_holdout *residuals);

/** At the model's present values and presence, with the evaluator's own solver. */
hf_status hfi_holdout_compute(hfi_evaluator *evaluator, hfi_holdout *residuals);

/** The same for absent readings; entries of present ones say nothing. Saves their O(n^3/3). */
hf_status hfi_holdout_absent(hfi_evaluator *evaluator, hfi_holdout *residuals);

/** The same from a solution with readings as anchors (exact or projected) for the evaluator's
 * rows. */
hf_status hfi_holdout_from_solution(hfi_evaluator *evaluator, const hfi_solution *solution,
                                    hfi_holdout *residuals);

#endif
