/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file subject.h
 * @brief A posterior and the box that is asked about, as bounds see them.
 *
 * Everything here is in the solver's units, and a box is given by its centre and half-widths: { x :
 * |x_j - centre_j| <= half_j }. All d inputs are there, the number of an output among them; what is
 * fixed has half-width 0. Rounding of centres and half-widths is the caller's business: the
 * half-widths are rounded up.
 */
#ifndef HFI_BOUND_SUBJECT_H
#define HFI_BOUND_SUBJECT_H

#include "posterior/posterior.h"

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

#endif
