/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bound.h
 * @brief A posterior and the box that is asked about, as bounds see them; and one of these bounds.
 *
 * Everything here is in the solver's units, and a box is given by its centre and half-widths: { x :
 * |x_j - centre_j| <= half_j }. All d inputs are there, the number of an output among them; what is
 * fixed has half-width 0. Rounding of centres and half-widths is the caller's business: the
 * half-widths are rounded up.
 */
#ifndef HFI_BOUND_BOUND_H
#define HFI_BOUND_BOUND_H

#include "posterior/posterior.h"
#include <holdfast/certify.h>

/** A posterior and the box that is asked about. Owned by the caller, who keeps it while states made
 * from it live. */
typedef struct hfi_subject {
    const hf_posterior *posterior;
    size_t d; /* inputs, all of them */
    /* d: the whole box; contains the user's in spite of the change of units */
    const double *lower;
    const double *upper; /* d */
    size_t free_count;   /* inputs whose sides differ */
    const size_t *free;  /* their numbers, ascending */
    /* d: the centre of the whole box, exactly the value where an input is fixed */
    const double *middle;
    const double *extent; /* free_count: its half-widths, rounded up */
} hfi_subject;

/* ---- bound A (decomposition.h) of means, of every kernel. Its width grows with the sum of |t|.
 * Cost n (d + the kernel's parts), some tenths of a microsecond an anchor ---- */

/** A bound of one box. The arrays are the caller's and hold d entries. */
typedef struct hfi_enclosure {
    double lower,
        /* of the mean; -inf and inf where it says nothing. Include the bound's own allowance for
         * rounding */
        upper;
    /* >= 0: how much each input adds to the distance between `lower` and what the bound would say
     * of a point; 0 where fixed. */
    double *gap_lower;
    double *gap_upper;
    double *at_lower; /* a point of the box where the value should be small */
    double *at_upper; /* large */
} hfi_enclosure;

/** Computes what a whole box needs once, into *out. HF_OK with *out NULL: it does not apply to this
 * posterior. */
hf_status hfi_decomposition_create(hf_context *ctx, const hfi_subject *subject, void **out);
void hfi_decomposition_free(void *of); /* NULL is allowed */
/** Doubles of scratch that one call needs. */
size_t hfi_decomposition_scratch(const void *of);
/** Encloses the latent mean over a box inside the whole one. No allocation; several threads at
 * once. */
void hfi_decomposition_mean(const void *of, const double *centre, const double *half,
                            double *scratch, hfi_enclosure *out);

#endif
