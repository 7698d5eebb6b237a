/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file eulbo.h
 * @brief A climb of EULBO under way: between the training of a fit and its end.
 */
#ifndef HFI_EULBO_H
#define HFI_EULBO_H

#include "fit/fit.h"
#include "objective/query.h"
#include "optimise/optimise.h"
#include "optimise/utility.h"
#include <holdfast/eulbo.h>

typedef struct hfi_eulbo {
    hf_context *ctx;
    hf_eulbo_settings settings;
    hf_search_settings search;
    const hf_domain *domain;
    size_t guess_count;
    const double *guesses;
    hfi_fit *fit;
    hf_posterior *start; /* the surrogate that the bound has trained */
    hf_workspace *workspace;
    double *gradients; /* 2 d, of a prediction */
    double *points;    /* q x d, user's units */
    double best, unit; /* user's units */
    hfi_utility utility;
    hf_eulbo_report report;
} hfi_eulbo;

/** The surrogate, what is to be improved upon, and the points to start from (eulbo_start.c). */
hf_status hfi_eulbo_begin(hfi_eulbo *e, double *state);
/** Climbs from there: state and points become the best that was seen (eulbo_climb.c). */
hf_status hfi_eulbo_climb(hfi_eulbo *e, double *state);

#endif
