/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file decomposition_bound.h
 * @brief Bound A (decomposition.h) of means, of every kernel. Its width grows with the sum of |t|.
 *
 * Cost n (d + the kernel's parts), some tenths of a microsecond an anchor.
 */
#ifndef HFI_BOUND_DECOMPOSITION_BOUND_H
#define HFI_BOUND_DECOMPOSITION_BOUND_H

#include "bound/bound.h"

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
