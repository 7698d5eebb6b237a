/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file trust_search.h
 * @brief Maximisation in a box with a model of the curvature and a radius in which it is trusted.
 *
 * A step s from x maximises g's - s'B s / 2 with no entry beyond the radius, where B is what the objective says of its curvature
 * (renewed where a step gained much) and, between these, the symmetric rank-one update from every point that had a value (Nocedal and Wright 2006, chapters 4
 * and 6.2). The radius grows where the model was right and shrinks where it was not.
 */
#ifndef HFI_TRUST_SEARCH_H
#define HFI_TRUST_SEARCH_H

#include "core/core.h"
#include <holdfast/train.h>

typedef struct hfi_trust_search {
    hf_context *ctx;
    size_t count; /* entries of a point, at least 1 */
    const double *lower, *upper;
    size_t most;   /* evaluations */
    double enough; /* nats: it also ends where no more is to be gained; 0: only by its own tolerances */
    /** Value and gradient at a point. HF_ERR_NOT_POSITIVE_DEFINITE, or a value that is not finite: there is none there, the
     * search steps back. Other errors end the search. */
    hf_status (*evaluate)(void *arg, const double *point, double *value, double *gradient);
    /** Minus the second derivatives, or nearly, at the point evaluated last: count x count, both triangles. */
    hf_status (*curvature)(void *arg, double *matrix);
    void *arg;
    /* results */
    hf_stop stop;
    double value;         /* at the best point */
    double gradient_norm; /* largest entry there that does not push out of the box */
    hf_status status;     /* warning of the evaluation there */
} hfi_trust_search;

/** Maximises from `point`, which is put into the box first and receives the best point seen. Stops at a gradient of 1e-3 or a
 * relative change of 1e-7. HF_ERR_NOT_POSITIVE_DEFINITE (no message) when the start has no value. O(count^3) beside an evaluation. */
hf_status hfi_trust_maximise(hfi_trust_search *search, double *point);

#endif
