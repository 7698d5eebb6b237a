/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file path.h
 * @brief Functions drawn from a posterior, to be evaluated anywhere: what one plausible f does.
 *
 * hf_sample() draws values at points that are known beforehand, at a cost cubic in their number. A
 * path is a whole function: as many points as one likes, one after the other, with exact gradients.
 * With the posterior mean(x) = m(x) + k(x, Z) t and cov(x, x') = k(x, x') - k(x, Z) R R' k(Z, x'),
 *
 *     f(x) = m(x) + g(x) + k(x, Z) v,    v = t - R (R' g(Z) + w)
 *
 * where g is drawn from the prior and w from what the readings' noise adds (pathwise conditioning,
 * or Matheron's rule). g is a weighted sum of random waves, whose frequencies come from the
 * kernel's spectral density. Over the streams f has exactly the posterior's mean and covariance,
 * whoever solved it. One g is normal only given its frequencies: with those its covariance is off
 * by O(1/sqrt(features)).
 *
 * Kernels: se, matern12, matern32, matern52, rq, periodic, sm, linear, constant, coregion,
 * category, and their sums and products. A kernel with white has no paths, since its values at
 * different places have nothing to do with each other: HF_ERR_ARGUMENT names it.
 *
 * Sources: Wilson, Borovitskiy, Terenin, Mostowsky, Deisenroth, Efficiently sampling functions from
 * Gaussian process posteriors, 2020; Rahimi, Recht, Random features for large-scale kernel
 * machines, 2007.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_PATH_H
#define HOLDFAST_PATH_H

#include <holdfast/posterior.h>

HF_BEGIN_DECLS

typedef struct hf_path hf_path;
typedef struct hf_path_workspace hf_path_workspace;

/**
 * Draws one function. The path keeps nothing of the posterior, which may be freed.
 * @param stream   which one: the same seed of the context and the same stream make the same path,
 *                 whatever the threads
 * @param features waves for each term of the kernel; 0: 1024; at most 2^20. A term that is linear,
 *                 a constant or a coregion alone is drawn exactly, by one
 * Cost: features n d for the readings, and O(n^2) (exact), O(n rank) (projected) or
 * O(n^2 rank + rank^3) (inducing). Memory features d + n d. Reports progress; can be cancelled.
 * HF_WARN_JITTER: what inducing inputs leave of the prior was singular to rounding; the path is
 * usable. Errors, with *out untouched: HF_ERR_ARGUMENT (NULL, features, a kernel without paths),
 * HF_ERR_MEMORY, HF_ERR_NOT_FINITE, HF_ERR_CANCELLED.
 */
HF_API hf_status hf_path_create(hf_context *ctx, const hf_posterior *posterior, uint64_t stream,
                                size_t features, hf_path **out);
HF_API void hf_path_free(hf_path *path);
/** Number of inputs d, that of the posterior; 0 for NULL. With several outputs the last input is
 * the number of the output. */
HF_API size_t hf_path_dimension(const hf_path *path);

/** Scratch for evaluating this path, one for each thread. NULL, with a message, when out of memory
 * or the path is NULL. */
HF_API hf_path_workspace *hf_path_workspace_create(hf_context *ctx, const hf_path *path);
HF_API void hf_path_workspace_free(hf_path_workspace *workspace);
/**
 * The function at x (d entries) in the user's units, and its exact gradient (d entries, or NULL).
 * Inputs that are numbers of outputs or codes of categories have gradient 0.
 * Allocates nothing; thread-safe with a workspace of one's own. O((features + n) d). Errors, with
 * no message and outputs untouched: HF_ERR_ARGUMENT (NULL, a workspace of another path, a number
 * that is no output), HF_ERR_NOT_FINITE.
 */
HF_API hf_status hf_path_evaluate(const hf_path *path, hf_path_workspace *workspace,
                                  const double *x, double *value, double *gradient);
/**
 * The function at m points: the same numbers as hf_path_evaluate() to rounding, on all threads.
 * @param x      m x d row-major, stride ldx
 * @param values m entries, user's units
 * Reports progress; can be cancelled. Errors, with values untouched: HF_ERR_ARGUMENT,
 * HF_ERR_DIMENSION, HF_ERR_NOT_FINITE, HF_ERR_MEMORY, HF_ERR_CANCELLED. O(m (features + n) d).
 */
HF_API hf_status hf_path_many_rows(hf_context *ctx, const hf_path *path, size_t m, const double *x,
                                   size_t ldx, double *values);

HF_END_DECLS

#endif
