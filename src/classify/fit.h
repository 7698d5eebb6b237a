/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fit.h
 * @brief Steps of a fit of labels; only this room includes it.
 */
#ifndef HFI_CLASSIFY_FIT_H
#define HFI_CLASSIFY_FIT_H

#include "fit/fit.h"
#include <holdfast/classify.h>

/** A fit of readings whose readings are labels: the rows with a label, standardised inputs, kernel, mean, starts and priors are those of hfi_fit. What it takes for
 * readings, in `y`, is -1 for class 0 and 1 for all others; they say where a constant mean starts and nothing else. */
typedef struct hfi_class_fit {
    hfi_fit base;
    hf_data data;
    hf_fit_settings settings;
    double *reading;                  /* rows of the data */
    size_t *label;                    /* of base.row: base.n */
    const hf_class_data *given;       /* the caller's */
    const hf_class_settings *choices; /* the caller's */
} hfi_class_fit;

/** Training: a trainer's priors, boxes and free parameters, with an objective that it does not know. */
typedef struct hfi_class_search {
    hfi_trainer *trainer;
    /** Log evidence at the trainer's present values; `gradient`, or NULL, has an entry for every one of
     * a state and is zero before. */
    hf_status (*evaluate)(void *arg, double *value, double *gradient);
    /** Told after an evaluation that it was the best so far: later ones may start where it ended. */
    void (*improved)(void *arg);
    void *arg;
    size_t iterations, restarts;
} hfi_class_search;

/** Maximises log evidence + priors over the trainer's free parameters from `state` (in and out), then
 * the same from seeded random starts around it; the best is left. Fills the trainer's report of its
 * last optimisation; the model is left at the result, for which evaluate() is called last, without a
 * gradient. Errors as of hfi_trainer_search(). */
hf_status hfi_class_train(hfi_class_search *how, double *state);

/** Checks data and settings, gathers, and makes the trainer; *fit is zeroed on error. */
hf_status hfi_class_fit_init(hf_context *ctx, const hf_class_data *data, const hf_class_settings *settings,
                             hfi_class_fit *fit);
void hfi_class_fit_free(hfi_class_fit *fit);
/** hfi_class_check_labels(), and that each class occurs and there are two. */
hf_status hfi_class_check_data(hf_context *ctx, const hf_class_data *data);
/** What a report says of the fit, of the trainer and of the posterior. @return the warning that a user should see, or HF_OK. */
hf_status hfi_class_fit_report(const hfi_class_fit *fit, const double *state, const hf_posterior *posterior,
                               hf_status solved, hf_class_report *report);

#endif
