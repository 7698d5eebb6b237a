/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file candidates.h
 * @brief Fits of the same readings with several settings, and which of them predicts them best.
 */
#ifndef HFI_CANDIDATES_H
#define HFI_CANDIDATES_H

#include "model/model.h"

/** One way to fit: its settings and, once it was fitted, what that left in the model and what it
 * says of each reading when that is left out. Begin with {.name = ..., .settings = ...}. */
typedef struct hfi_candidate {
    const char *name;
    hf_fit_settings settings; /* without "auto" */
    hf_status status;
    hf_posterior *posterior;
    hf_fit_report report;
    hf_reading *reading;
    double *density; /* log density of the reading; NaN where there is none */
    double *refit;   /* the same of hyperparameters that it had no say in; NaN where not told */
    char message[1000];
} hfi_candidate;

/** A candidate's mean gain over another, in nats a reading, and its standard error; NaN for fewer
 * than ten readings. */
typedef struct hfi_gain {
    double mean, error;
} hfi_gain;

/** The thing chosen, for the remark, and the rule that chose. */
typedef struct hfi_contest {
    const char *what; /* "transform" */
    const char *none; /* why a single candidate had no rival */
    /* A candidate that sets a reading aside is no better than one that keeps it: calling readings
     * wrong makes the others easy to predict. */
    bool keeps;
} hfi_contest;

/**
 * Fits the candidates one after the other. A later one is better only by more than two standard
 * errors over the best before it. The best one's fit ends in the model, with its message in the
 * context, the seconds of all and a remark: "WHAT: NAME (why)". As hfi_model_fit_rows().
 */
hf_status hfi_candidates_choose(hf_context *ctx, hf_model *model, const hfi_contest *contest,
                                hfi_candidate *list, size_t count, size_t *best);

#endif
