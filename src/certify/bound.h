/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bound.h
 * @brief What a bound over boxes is to the search: a view of the posterior, and a table of functions for each kind of bound.
 *
 * Everything here is in the solver's units, and a box is given by its centre and half-widths: { x : |x_j - centre_j| <= half_j }. All d inputs are there,
 * the number of an output among them; what is fixed has half-width 0. Rounding of centres and half-widths is the caller's business: the half-widths are rounded up.
 */
#ifndef HFI_CERTIFY_BOUND_H
#define HFI_CERTIFY_BOUND_H

#include "posterior/posterior.h"
#include <holdfast/certify.h>

/** A posterior and the box that is asked about. Owned by the caller, who keeps it while states made from it live. */
typedef struct hfi_subject {
    const hf_posterior *posterior;
    size_t d;             /* inputs, all of them */
    const double *lower;  /* d: the whole box; contains the user's in spite of the change of units */
    const double *upper;  /* d */
    size_t free_count;    /* inputs whose sides differ */
    const size_t *free;   /* their numbers, ascending */
    const double *middle; /* d: the centre of the whole box, exactly the value where an input is fixed */
    const double *extent; /* free_count: its half-widths, rounded up */
} hfi_subject;

/** What a bound says about one box. The arrays are the caller's and hold d entries. */
typedef struct hfi_enclosure {
    double lower,
        upper; /* of the mean or the variance; -inf and inf where it says nothing. Include the bound's own allowance for rounding */
    double *
        gap_lower; /* >= 0: how much each input adds to the distance between `lower` and what the bound would say of a point; 0 where fixed. */
    double *gap_upper;
    double *at_lower; /* a point of the box where the value should be small */
    double *at_upper; /* large */
} hfi_enclosure;

/** A kind of bound. */
typedef struct hfi_bound_kind {
    unsigned bit; /* HF_BOUND_... */
    /** What is computed once for a whole box, into *state. HF_OK with *state NULL: it does not apply to this posterior. */
    hf_status (*create)(hf_context *ctx, const hfi_subject *subject, void **state);
    void (*destroy)(void *state); /* NULL is allowed */
    /** Doubles of scratch that one call needs. */
    size_t (*scratch)(const void *state);
    /** Encloses the latent mean over a box inside the whole one. No allocation; several threads at once. NULL: it has none. */
    void (*mean)(const void *state, const double *centre, const double *half, double *scratch,
                 hfi_enclosure *out);
    /** The same for the latent variance, white noise included as hf_predict_latent() does. */
    void (*variance)(const void *state, const double *centre, const double *half, double *scratch,
                     hfi_enclosure *out);
} hfi_bound_kind;

/** The kinds beside the Taylor bounds, which the search itself is built on (kinds.c); a NULL ends the list. */
extern const hfi_bound_kind *const hfi_bound_kinds[];

#endif
