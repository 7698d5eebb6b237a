/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fit.h
 * @brief Steps of a fit of labels; only this room includes it.
 */
#ifndef HFI_CLASSIFY_FIT_H
#define HFI_CLASSIFY_FIT_H

#include "fit/fit.h"
#include "inference/latent_fit.h"
#include <holdfast/classify.h>

/** A fit of readings whose readings are labels: the rows with a label, standardised inputs, kernel,
 * mean, starts and priors are those of hfi_fit. It takes for readings, in `y`, -1 for class 0 and 1
 * for all others; they say where a constant mean starts and nothing else. */
typedef struct hfi_class_fit {
    hfi_fit base;
    hf_data data;
    hf_fit_settings settings;
    double *reading;            /* rows of the data */
    size_t *label;              /* of base.row: base.n */
    const hf_class_data *given; /* the caller's */
    hf_link link;
    hf_inference inference; /* no longer auto */
} hfi_class_fit;

/** The part that all links have in common: checks data and what settings no link has, and makes
 * `settings` those of a fit of readings. *fit is zeroed before. */
hf_status hfi_class_fit_begin(hf_context *ctx, const hf_class_data *data,
                              const hf_fit_settings *settings, hfi_class_fit *fit);
/** That, for two classes; gathers, and makes the trainer; *fit is zeroed on error. */
hf_status hfi_class_fit_init(hf_context *ctx, const hf_class_data *data,
                             const hf_fit_settings *settings, hfi_class_fit *fit);
void hfi_class_fit_free(hfi_class_fit *fit);
/** Fills in a report about the fit, the trainer and the posterior. @return the warning that a user
 * should see, or HF_OK. */
hf_status hfi_class_fit_report(const hfi_class_fit *fit, const double *state,
                               const hf_posterior *posterior, hf_status solved,
                               hf_class_report *report);

/** hf_classifier_fit() for the softmax link. Data, settings and `out` are not NULL. */
hf_status hfi_softmax_fit(hf_context *ctx, const hf_class_data *data,
                          const hf_fit_settings *settings, bool own_kernels, hf_classifier **out,
                          hf_class_report *report);

#endif
