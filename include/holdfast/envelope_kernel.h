/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope_kernel.h
 * @brief Shape of an envelope's kernel, found by leaving readings out.
 *
 * The bounds of envelope.h are sure only for the kernel that they are given. Where nobody knows its
 * lengthscales, cross-validation is what the literature on these bounds does: the kernel ridge
 * regression s(x) = k_x'(K + ridge)^-1 y whose predictions of readings that were left out are
 * nearest,
 *
 *     minimise over lengthscales and ridge  mean over i of (y_i - s_-i(x_i))^2,
 *         y_i - s_-i(x_i) = (A^-1 y)_i / (A^-1)_ii,   A = K + ridge I.
 *
 * Readings at one input count as one, with the mean of their values: they would predict each other.
 * The ridge is thrown away afterwards. Nothing is said about amplitudes, which change nothing in s:
 * they stay, and with them the units of the norm bound.
 *
 * Thread-safe, with a context for each thread.
 */
#ifndef HOLDFAST_ENVELOPE_KERNEL_H
#define HOLDFAST_ENVELOPE_KERNEL_H

#include <holdfast/envelope.h>

HF_BEGIN_DECLS

/** Result of a search. */
typedef struct hf_kernel_search {
    /** that were searched; 0: there was nothing to find, and the rest is 0 or NaN */
    size_t parameters;
    /** distinct inputs that were predicted */
    size_t readings;
    /** of the mean above */
    size_t evaluations;
    /** root of the mean where it ended, target units */
    double error;
    /** where it ended, in units of k(x,x) */
    double ridge;
} hf_kernel_search;

/**
 * Sets the parameters of `kernel` to where that mean is least. It sets those that measure inputs,
 * frequencies or nothing, and leaves those that are held (lengthscale=2 in the expression holds
 * one, ~2 starts there). A grid along their common size and the ridge comes first. Golden sections
 * follow from each of its three lowest valleys: of one parameter after the other, then along the
 * way that all of them went. The best of these goes on to the end. All is on the logarithmic scale,
 * between a quarter of the readings' spacing and ten times their range. Deterministic; the number
 * of threads changes no digit. A kernel with white is refused as by hf_envelope_create().
 * @param readings noise bounds are not looked at; at least three distinct inputs, else
 *         HF_ERR_NO_DATA. If there are more than 1024, every so many-th is taken
 * @param report   may be NULL
 * Errors, which leave the kernel alone: HF_ERR_ARGUMENT, HF_ERR_DIMENSION, HF_ERR_NOT_FINITE,
 * HF_ERR_MEMORY, HF_ERR_CANCELLED (progress "search").
 * Cost: O(n^3) an evaluation, some hundreds of them.
 */
HF_API hf_status hf_envelope_kernel_search(hf_context *ctx, hf_kernel *kernel,
                                           const hf_bounded_readings *readings,
                                           hf_kernel_search *report);

HF_END_DECLS

#endif
