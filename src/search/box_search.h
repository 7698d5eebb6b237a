/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file box_search.h
 * @brief L-BFGS in a box for objectives that some points have no value of.
 */
#ifndef HFI_BOX_SEARCH_H
#define HFI_BOX_SEARCH_H

#include "core/core.h"
#include <holdfast/train.h>

typedef struct hfi_box_search {
    hf_context *ctx;
    size_t count; /* entries of a point, at least 1 */
    const double *lower, *upper;
    double enough; /* 0, or: a step that gains less ends the search */
    double flat;   /* 0: 1e-3; the largest entry of the gradient at which it is one of a top */
    size_t most;   /* evaluations */
    /** Value and gradient at a point. HF_ERR_NOT_POSITIVE_DEFINITE, HF_ERR_NOT_FINITE, or a value that is not finite: there is none
     * there, the search steps back. Other errors end the search. */
    hf_status (*evaluate)(void *arg, const double *point, double *value, double *gradient);
    /** Told after an evaluation that it was the best one so far; NULL if nobody cares. */
    void (*improved)(void *arg);
    void *arg;
    /* results */
    hf_stop stop;
    double value;         /* at the best point */
    double gradient_norm; /* largest entry there that does not push out of the box */
    hf_status status;     /* warning of the evaluation there */
} hfi_box_search;

/** Maximises from `point`, which is put into the box first and receives the best point seen. Stops at a gradient of `flat`, a gain below `enough` or a relative
 * change of 1e-7. HF_ERR_NOT_POSITIVE_DEFINITE (no message) when no point had a value. */
hf_status hfi_box_maximise(hfi_box_search *search, double *point);

#endif
