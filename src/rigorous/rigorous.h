/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rigorous.h
 * @brief Ranges that are proof against rounding: every number on the way is an interval that surely
 * holds the exact one (core/interval.h).
 *
 * The posterior's stored doubles define a real function of the user's x,
 *
 *     x~ = (x - shift) / scale        mean(x) = y_scale (m(x~) + sum t_i k(x~, z_i)) + y_shift
 *     sd(x) = y_scale sqrt(k(x~, x~) - k' (K + D + jitter)^-1 k)
 *
 * with kernel parameters, anchors z, weights t, coefficients of m, site variances and jitter as
 * they are stored, all operations exact, and K the covariances of the anchors; the stored factor is
 * not part of it. Bounds of this function over a box are certified. The
 * answer of hf_predict_latent() differs from it by the rounding of a prediction.
 *
 * A box is bounded by the Taylor polynomial about a point of it, whose coefficients are intervals,
 * and the remainder N norm_p / p!: N is the norm of mean - m in the kernel's space, sqrt(t' K t),
 * enclosed once, and norm_p what hfi_kernel_feature_norms() says. The sd is the length of the
 * posterior's features: it moves no faster than the prior's, |phi(x) - phi(c)|. Where the kernel
 * has second derivatives it is within norm_2 / 2 of the length of their linear part, the root of a
 * quadratic.
 *
 * A quantity may be a probability of class 1 of two, too (link.h): of the mean and sd in user
 * units, monotone in both.
 */
#ifndef HFI_RIGOROUS_RIGOROUS_H
#define HFI_RIGOROUS_RIGOROUS_H

#include "bound/problem.h"

/** Quantities computed once for a posterior, which must stay as it is while this lives. */
typedef struct hfi_rigorous hfi_rigorous;

/**
 * O(n^2) enclosures of covariances on all threads, half a microsecond to three each; with `spread`,
 * what bounds of the sd need too: 8 n^2 bytes. HF_ERR_ARGUMENT with a message where
 * hfi_interval_usable() is false (valgrind), or `spread` is asked of a posterior that is not exact.
 * HF_ERR_NOT_FINITE where a covariance of two anchors is not. HF_ERR_CANCELLED by `watch`, which
 * may be NULL.
 */
hf_status hfi_rigorous_create(hf_context *ctx, hfi_watch *watch, const hf_posterior *posterior,
                              bool spread, hfi_rigorous **out);
void hfi_rigorous_free(hfi_rigorous *rigorous);

/** Problems that are proof against rounding. */
extern const hfi_problem_functions hfi_problem_rigorous;

/* Boxes: hfi_problem_rigorous, whose `shared` is a hfi_rigorous. Lower and upper ends
 * are proof, and so are attained values: the value at argmin is surely at most lower_attained, that
 * at argmax at least upper_attained. Cost of a box: n (1 + d + d^2) interval operations for means,
 * n^2 for the sd, d n^2 where the kernel has second derivatives. A bound is NaN where it overflows
 * or the box is over several outputs. */

/** The probability of class 1 (link.h; lambda 1) of any latent mean and standard deviation from
 * these intervals. A microsecond (probit) to half a millisecond (logit, standard deviations above
 * 1). */
hfi_interval hfi_rigorous_probability(hf_link link, hfi_interval mean, hfi_interval sd);

#endif
