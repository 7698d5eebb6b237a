/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file acquire.h
 * @brief Acquisition functions: how much one more evaluation promises, and the place that promises
 * most.
 *
 * f is to be made large. A posterior says f(x) ~ N(mean, sd^2), latent; `best` is what f is known
 * to reach, say the posterior mean where it is largest. With z = (mean - best) / sd, phi and Phi
 * the normal density and distribution function, h(z) = phi(z) + z Phi(z):
 *
 *     ei      sd h(z) = E[max(f - best, 0)]   expected improvement (Mockus 1978; Jones et al. 1998)
 *     log-ei  its logarithm, which has slopes where ei is rounded to 0 (Ament et al. 2023)
 *     pi      Phi(z)                          probability of improvement (Kushner 1964)
 *     log-pi  its logarithm
 *     ucb     mean + beta sd                  upper confidence bound (Srinivas et al. 2010)
 *
 * To make f small, fit -f.
 *
 * Where f at other points P is not known yet, S joint draws f_s(P) of the posterior stand for what
 * it may be. Each has its own best_s = max(best, max f_s(P)) and its own mean given f_s(P); the sd
 * given f(P) is the same for all. The value is the average over s, so that the expectation over
 * f(x) stays exact: q-EI and q-log-EI point by point (Snoek et al. 2012; Wilson et al. 2018).
 */
#ifndef HOLDFAST_ACQUIRE_H
#define HOLDFAST_ACQUIRE_H

#include <holdfast/optimise.h>

HF_BEGIN_DECLS

/** Which function. */
typedef enum hf_acquisition {
    HF_ACQUIRE_LOG_EI = 0,
    HF_ACQUIRE_EI,
    HF_ACQUIRE_UCB,
    HF_ACQUIRE_LOG_PI,
    HF_ACQUIRE_PI
} hf_acquisition;

/**
 * The formula, and its derivatives in mean and sd (each may be NULL).
 * @param sd   >= 0. At 0 the limits: ei max(mean - best, 0), pi 0, 1/2 or 1, and slopes in sd of 0
 *             except where mean = best
 * @param best finite; ucb does not look at it
 * @param multiplier beta of ucb, finite; only ucb looks at it
 *
 * Relative accuracy 1e-12 of ei and pi; of their logarithms 1e-12 of the larger of them and 1, far
 * beyond where ei and pi underflow. A logarithm of 0, or one that overflows, is -DBL_MAX, with
 * slopes of 0; slopes that overflow are 0 too. NaN for arguments that make no sense. Thread-safe;
 * allocates nothing. O(1).
 */
HF_API double hf_acquisition_value(hf_acquisition kind, double mean, double sd, double best,
                                   double multiplier, double *dmean, double *dsd);

/** An acquisition function. A view: everything is the caller's. Zero what is not used. */
typedef struct hf_acquire {
    /** sizeof(hf_acquire) */
    size_t size;
    /** Default: HF_ACQUIRE_LOG_EI. */
    hf_acquisition kind;
    /** of f, one output. Default: none. */
    const hf_posterior *posterior;
    /** what is to be improved upon, latent, user's units: finite, or -infinity where no feasible
     * point is known. Not looked at by ucb. Default: 0. */
    double best;
    /** of ucb: finite; >= 0 to explore. Default: 0. */
    double beta;
    /** Inequalities that f's place must satisfy, c_j(x) <= limit_j: posteriors of c_j with as
     * many inputs, independent of f. The acquisition function is multiplied by prod_j P(c_j(x)
     * <= limit_j), its logarithm grows by the sum of their logarithms (Schonlau et al. 1998;
     * Gardner et al. 2014). With best = -infinity, and nothing pending or against, that product
     * alone is the value. Not for ucb, which can be negative. Pending points do not change it.
     * Default: 0. */
    size_t constraints;
    /** `constraints` of them. Default: none. */
    const hf_posterior *const *constraint;
    /** finite, user's units of each. Default: none. */
    const double *limit;
    /** Points that have been asked for and not been answered yet: the function is averaged over
     * what f may be there, as if f were known there without noise. The mean of log-ei and log-pi
     * is that of ei and pi, then its logarithm. ucb keeps its mean and has the smaller sd.
     * Default: 0. */
    size_t pending;
    /** pending x d. Default: none. */
    const double *pending_x;
    /** Points whose f, drawn together with that of the pending ones, is to be improved upon too:
     * where readings are noisy, those that may be the best (Letham et al. 2019). Then, as with
     * pending points, `best` may be -infinity: only these are improved upon. Not for ucb.
     * Default: 0. */
    size_t against;
    /** against x d. Default: none. */
    const double *against_x;
    /** 0: 128. Quasi-random, in pairs of opposite ones. Default: 0. */
    size_t draws;
    /** with the context's seed it determines the draws. Default: 0. */
    uint64_t stream;
} hf_acquire;
HF_SETTINGS(hf_acquire)

/**
 * The acquisition function at `count` points (count x d, stride d), user's units, with its exact
 * gradients.
 * @param values    count entries
 * @param gradients count x d, or NULL. Where sd is 0, that of the mean
 *
 * HF_ERR_ARGUMENT, HF_ERR_DIMENSION, HF_ERR_NOT_FINITE, HF_ERR_MEMORY, HF_ERR_CANCELLED; outputs
 * untouched. O(count n (d + n)); with gradients one point after the other. Points that are pending
 * or to be improved upon, p of them: O(p n^2 + p^3) once, and O(p (n + S)) a point.
 */
HF_API hf_status hf_acquire_evaluate(hf_context *ctx, const hf_acquire *acquire, size_t count,
                                     const double *x, double *values, double *gradients);

/**
 * argmax of the acquisition function over a domain, boxes with lattices and categories included.
 * Looks at many points, climbs from the best as hf_maximise_ucb() does.
 * @param settings NULL: the defaults, but of samples and starts no more than keep a call below some
 *                 2 10^9 multiplications
 * @param guesses  guess_count x d, e.g. the incumbent; NULL for none
 * @param x        d entries
 * @param report   or NULL: `value` is the acquisition function's; mean and sd are those of
 *                 `posterior`
 * Deterministic, whatever the threads. Errors as for hf_acquire_evaluate(); outputs untouched.
 * Cost: as hf_maximise_ucb(), with values and gradients of hf_acquire_evaluate().
 */
HF_API hf_status hf_acquire_maximise(hf_context *ctx, const hf_acquire *a, const hf_domain *domain,
                                     const hf_search_settings *settings, size_t guess_count,
                                     const double *guesses, double *x, hf_argmax *report);

/**
 * q places to be evaluated side by side: each where it pays most given the pending points and the
 * places before it. Then up to `sweeps` times each place anew, given all others (0: never), until
 * none moves. The places of ei add E[max(max f - best, 0)] of the whole batch, q-EI, which every
 * sweep lets grow; the batch of the last one is kept if its sum is larger.
 * @param sweeps  0, or for ei and log-ei: so many at most; 2 or 3 do
 * @param guesses guess_count x d, further starts of the first q searches; NULL for none
 * @param x       q x d
 * @param values_or_null q entries: the acquisition function of each place given those before it
 * With candidates a place can repeat where nothing else promises more. Errors as for
 * hf_acquire_maximise(); outputs untouched. Cost: (1 + sweeps) q calls of that.
 * hf_acquire_ascend() then moves all places at once.
 */
HF_API hf_status hf_acquire_batch(hf_context *ctx, const hf_acquire *a, const hf_domain *domain,
                                  const hf_search_settings *settings, size_t q, size_t sweeps,
                                  size_t guess_count, const double *guesses, double *x,
                                  double *values_or_null);

/**
 * Value of a batch as a function of all its places at once, and its exact gradient:
 *
 *     log sum_k P(x_k) E[max(f(x_k) - m_k, 0)],   m_k = max(best, f(pending), f(against),
 *                                                           f(x_1), ..., f(x_k-1))
 *
 * P(x) is the probability of the constraints (1 without). Without constraints the sum is q-EI, the
 * expected improvement of the best of the batch (Ginsbourger et al. 2010; Wilson et al. 2018). The
 * expectation over f(x_k) is exact, that over everything before it the mean of the draws, which
 * are the same for every x.
 * @param a         of kind log-ei or ei (the value is a logarithm for both); a `best` of -infinity
 *                  needs points pending or against
 * @param x         q x d, q >= 1
 * @param value     -DBL_MAX where the sum is 0
 * @param gradients q x d, or NULL. 0 where the sum is 0. Where draws of two places tie, one of the
 *                  two slopes
 * Errors as for hf_acquire_evaluate(); outputs untouched. O(p n^2 + p^3 + S p^2), p the points
 * that are pending, against, and of the batch.
 */
HF_API hf_status hf_acquire_joint(hf_context *ctx, const hf_acquire *a, size_t q, const double *x,
                                  double *value, double *gradients);

/**
 * Climbs hf_acquire_joint() with all q places at once, from those that hf_acquire_batch() found or
 * any others. Inputs on a lattice, categories and fixed inputs stay; of candidates nothing moves.
 * The places that come back are never worth less than those given, by the same draws.
 * @param iterations evaluations at most; 0: 60
 * @param x          q x d, inside the domain; moved
 * @param gain       or NULL: by how much the value grew, >= 0
 * Deterministic, whatever the threads. Errors as for hf_acquire_joint(), and HF_ERR_ARGUMENT for a
 * place outside the domain; outputs untouched. Cost: that of as many values.
 */
HF_API hf_status hf_acquire_ascend(hf_context *ctx, const hf_acquire *a, const hf_domain *domain,
                                   size_t iterations, size_t q, double *x, double *gain);

HF_END_DECLS

#endif
