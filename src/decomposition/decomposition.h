/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file decomposition.h
 * @brief Bound A: each covariance is enclosed by functions that are sums over the coordinates, and
 * their sum over the anchors is minimised exactly.
 *
 * A kernel is compiled to a plan, a tree of
 *
 *     convex    psi(phi), phi = sum of one function per coordinate: (x - z)^2 or sin^2; psi is convex and falls, so that its chord over the phi of the
 *               box lies above and its tangent in the middle below
 *     wave      cos(2 pi f (x - z)) of one coordinate, which is its own estimate
 *     linear    sum v x z, likewise
 *     plane     a cosine or an exponential of u = sum w x, of which two lines in u are estimates: where the cosine is neither
 *               concave nor convex in the box, its tangent at the centre less and plus what it
 *               curves at most, or its range
 *     constant  a number; table, a number by outputs (coregion); codes, a number for each category
 *               that differs
 *
 * and of sums and products. A product is estimated by McCormick's inequality, from the ranges of
 * its factors: of its two planes the better one at the box's centre. Everything then adds up to one
 * parabola per coordinate and one sinusoid per coordinate and frequency.
 *
 * Source: Patane, Blaas, Laurenti, Cardelli, Roberts, Kwiatkowska, Adversarial robustness
 * guarantees for Gaussian processes, JMLR 23, 2022, section 5 and appendix B; here the sinusoids of
 * one frequency are added before they are minimised.
 */
#ifndef HFI_DECOMPOSITION_DECOMPOSITION_H
#define HFI_DECOMPOSITION_DECOMPOSITION_H

#include "bound/subject.h"

/* ---- bound A of means, of every kernel. Its width grows with the sum of |t|.
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
