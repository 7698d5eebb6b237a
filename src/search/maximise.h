/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file maximise.h
 * @brief Maximising an objective in a box, by any optimiser.
 */
#ifndef HFI_SEARCH_MAXIMISE_H
#define HFI_SEARCH_MAXIMISE_H

#include "search/objective.h"
#include <holdfast/train.h>

/** One search, as optimisers see it (below). */
typedef struct hfi_search_run hfi_search_run;

/** An optimiser: climbs by hfi_search_look() and leaves in the run where and why it stopped. */
typedef hf_status (*hfi_optimiser)(hfi_search_run *run);

/** L-BFGS of NLopt, kept from ever seeing a number that is not finite (lbfgs.c). */
hf_status hfi_by_lbfgs(hfi_search_run *run);
/** Steps to the maximum of a quadratic model in a radius in which it is trusted (trust.c); for
 * objectives that know their curvature. It takes a third to a half of the evaluations. */
hf_status hfi_by_trust_region(hfi_search_run *search);
/** Adam (Kingma and Ba 2015), clipped to the box. A step into what has no value is taken back and
 * halved. The last point is the result, as in the publications that train so (adam.c). */
hf_status hfi_by_adam(hfi_search_run *run);

typedef struct hfi_search_settings {
    hfi_optimiser by;
    size_t most; /* evaluations; of Adam: steps */
    /* nats: an iteration that gains no more ends the search. Default: 0, never. Not Adam's */
    double enough;
    /* largest entry of the gradient at which L-BFGS has converged. Default: 0, for 1e-3 */
    double flat;
    double rate;         /* of Adam */
    const char *stage;   /* of progress, which compares the next two; NULL: none is told */
    size_t *evaluations; /* counted on; NULL: nobody counts */
    size_t budget;       /* that are expected */
} hfi_search_settings;

/** The point that a search ended at. */
typedef struct hfi_optimum {
    hf_stop stop;
    double value, log_prior;
    double gradient_norm; /* largest derivative of their sum that does not point out of the box */
    hf_status status;     /* warning of the evaluation there */
} hfi_optimum;

/** Maximises value + log prior from theta (in and out; untouched on error) over the free entries of
 * the space. L-BFGS and the trust region put the start into the box and stop at a gradient of 1e-3
 * or a relative change of 1e-7. Where nothing is free the value at theta is the answer. Errors:
 * those of the objective; HF_ERR_NOT_POSITIVE_DEFINITE, with the kind's message, where no point had
 * a value; HF_ERR_CANCELLED; HF_ERR_MEMORY. */
hf_status hfi_maximise(hf_context *ctx, const hfi_objective *objective, const hfi_space *space,
                       const hfi_search_settings *settings, double *theta, hfi_optimum *out);

/* ---- for optimisers -------------------------------------------------------------------------- */

/** As of all searches: largest gradient entry at which one has converged, relative change at which
 * it ends. */
static const double hfi_search_flat = 1e-3, hfi_search_still = 1e-7;

struct hfi_search_run {
    hf_context *ctx;
    const hfi_objective *objective;
    const hfi_space *space;
    const hfi_search_settings *settings;
    size_t count;                        /* entries of a point: those that are free */
    double *point, *lower, *upper;       /* the start as it was given; the box */
    double *theta, *slopes, *best_theta; /* all entries: at the last evaluation; at the best */
    hfi_optimum here, best;
    double best_total; /* value + log prior */
    bool any;          /* there is a best one */
};

/** The start, put into the box. */
void hfi_search_enter(hfi_search_run *run);
/** Value + log prior at a point, and its gradient; remembers the best, tells progress.
 * HF_ERR_NOT_POSITIVE_DEFINITE: there is no finite one. */
hf_status hfi_search_look(hfi_search_run *run, const double *point, double *total,
                          double *gradient);
/** The last evaluation becomes the result. */
void hfi_search_take_last(hfi_search_run *run);

/** One entry's step of Adam: moves its moments (by the gradient, at step `count` from 1), and the
 * step is the learning rate times *up / *down. */
void hfi_adam_entry(double gradient, size_t count, double *first, double *second, double *up,
                    double *down);

#endif
