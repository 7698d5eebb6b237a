/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file contaminate.h
 * @brief Damage data on purpose, by the protocols of the robust regression literature; and
 * train/test splits.
 *
 * Let s be the standard deviation of the targets as given (n - 1 in the denominator). k =
 * round(share * n) rows are chosen at random without replacement; u is a draw from U(0, 1), afresh
 * for every number:
 *
 *     uniform      half of the rows y + s U(3, 9), the others y - s U(3, 9); the odd one is added
 *     asymmetric   all of them y - s U(3, 9)
 *     focused      inputs: median of each + 0.1 MAD u; targets: median(y) - 3 s + 0.1 MAD(y) u
 *
 * MAD is the median absolute deviation without the factor 1.4826. Rows whose target is missing
 * (NaN) are neither counted nor damaged; missing inputs do not enter the medians. Halves are
 * rounded up. Source: Altamirano, Briol, Knoblauch, "Robust and Conjugate Gaussian Process
 * Regression" (2024), section 5, and the papers after it.
 *
 * Thread-safe, with a context for each thread.
 */
#ifndef HOLDFAST_CONTAMINATE_H
#define HOLDFAST_CONTAMINATE_H

#include <holdfast/context.h>

HF_BEGIN_DECLS

/** How readings are damaged; the rules are at the top of this file. */
typedef enum hf_contamination {
    HF_CONTAMINATION_NONE = 0,
    HF_CONTAMINATION_UNIFORM,
    HF_CONTAMINATION_ASYMMETRIC,
    HF_CONTAMINATION_FOCUSED
} hf_contamination;

/**
 * Damages rows in place.
 * @param x     n x d row-major inputs with row stride ldx; may be NULL unless focused, and is
 *              changed only by focused
 * @param y     n targets, changed
 * @param mask  n entries, set true where a row was damaged; may be NULL
 * @param share in [0, 1]
 * @return HF_OK; HF_ERR_ARGUMENT for a share outside [0, 1] or a missing array; HF_ERR_DIMENSION
 * for ldx < d; HF_ERR_NO_DATA for fewer than two targets, or for shifts of targets that are all
 * equal (they would change nothing); HF_ERR_NOT_FINITE for infinite data, or a new target beyond
 * the range of a double; HF_ERR_MEMORY. After an error nothing is changed. Draws from the stream
 * (seed, "contaminate"); the same seed damages the same rows on every machine. The context's seed
 * is not used. O(n d log n).
 */
HF_API hf_status hf_contaminate(hf_context *ctx, hf_contamination kind, double share, uint64_t seed,
                                size_t n, size_t d, double *x, size_t ldx, double *y, bool *mask);

/**
 * A random split of n rows.
 * @param seed       same seed, same permutation; the context's is not used
 * @param test_share in [0, 1], else HF_ERR_ARGUMENT
 * @param order      n entries, receives a permutation of 0..n-1 that does not depend on test_share;
 *                   may be NULL when n is 0
 * @param train      receives n - round(test_share * n): so many rows at the front of `order` are
 *                   for training, the rest for testing
 * Errors: HF_ERR_ARGUMENT also for a NULL. O(n).
 */
HF_API hf_status hf_split(hf_context *ctx, uint64_t seed, double test_share, size_t n,
                          size_t *order, size_t *train);

HF_END_DECLS

#endif
