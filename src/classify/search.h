/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file search.h
 * @brief Training: a trainer's priors, boxes and free parameters, with an objective that the trainer does not know.
 */
#ifndef HFI_CLASSIFY_SEARCH_H
#define HFI_CLASSIFY_SEARCH_H

#include "search/trainer.h"

typedef struct hfi_class_search {
    hfi_trainer *trainer;
    /** Log evidence at the trainer's present values; `gradient` has an entry for every one of a state and is zero before. */
    hf_status (*evaluate)(void *arg, double *value, double *gradient);
    /** Told after an evaluation that it was the best so far: later ones may start where it ended. */
    void (*improved)(void *arg);
    void *arg;
} hfi_class_search;

/** Maximises log evidence + priors over the trainer's free parameters from `state` (in and out), at most 1.5 iterations + 5 evaluations, then the same from
 * `restarts` seeded random starts around it; the best is left. Fills what the trainer tells of its last optimisation; the model is left at the result, for which
 * evaluate() is called last, without a gradient. Errors as of hfi_trainer_maximise(). */
hf_status hfi_class_train(const hfi_class_search *how, double *state, size_t iterations, size_t restarts);

#endif
