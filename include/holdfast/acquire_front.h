/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file acquire_front.h
 * @brief Where to measure next: with several objectives, or by Thompson's method.
 *
 * Thread-safe, with a context for each thread: posteriors are only read.
 */
#ifndef HOLDFAST_ACQUIRE_FRONT_H
#define HOLDFAST_ACQUIRE_FRONT_H

#include <holdfast/acquire.h>
#include <holdfast/front.h>
#include <holdfast/path.h>

HF_BEGIN_DECLS

/**
 * Thompson's method: the place where one function drawn from the posterior is largest. Several
 * streams make a batch, each place as likely as it is to be the best.
 * @param model     posterior of f, to be made large; one output, inputs as many as the domain has
 * @param stream    which function: the path of hf_path_create() with its usual number of features
 * @param settings, guess_count, guesses as of hf_acquire_maximise()
 * @param x         d entries
 * @param report    or NULL: `value` is the function's, mean and sd are the posterior's
 * The same place for the same seed and stream, whatever the threads. Errors, with outputs
 * untouched: those of hf_path_create() and hf_acquire_maximise().
 * Source: Thompson, On the likelihood that one unknown probability exceeds another, 1933.
 * Cost: hf_path_create(), then as hf_maximise_ucb(), with O((features + n) d) a value.
 */
HF_API hf_status hf_thompson_maximise(hf_context *ctx, const hf_posterior *model, uint64_t stream,
                                      const hf_domain *domain, const hf_search_settings *settings,
                                      size_t guess_count, const double *guesses, double *x,
                                      hf_argmax *report);

/** Several objectives, all to be made large. A view: everything is the caller's. Zero what is not
 * used. */
typedef struct hf_acquire_front {
    /** sizeof(hf_acquire_front) */
    size_t size;
    /** m, 1 to 3. Default: 0. */
    size_t objectives;
    /** m posteriors, independent, each of one output, with as many inputs. Default: none. */
    const hf_posterior *const *objective;
    /** n. Default: 0. */
    size_t points;
    /** n x m: what is known to be reached, say posterior means at feasible trials. Dominated
     * points may be among them. Default: none. */
    const double *values;
    /** m values that are not worth having: what is below one of them counts nothing. Default:
     * none. */
    const double *reference;
    /** Inequalities c_j(x) <= limit_j, as in hf_acquire. Default: 0. */
    size_t constraints;
    /** Default: none. */
    const hf_posterior *const *constraint;
    /** Default: none. */
    const double *limit;
    /** Points that are being evaluated, pending x d, stride d. EHVI is averaged over joint draws
     * of the objectives there: each draw has a front of its own, with the values drawn, and the
     * objectives' distribution elsewhere is that given these values. Default: 0. */
    size_t pending;
    /** Default: none. */
    const double *pending_x;
    /** 0: 128. Quasi-random, in pairs of opposite ones. Default: 0. */
    size_t draws;
    /** with the context's seed it determines the draws. Default: 0. */
    uint64_t stream;
} hf_acquire_front;
HF_SETTINGS(hf_acquire_front)

/**
 * log EHVI(x) + sum_j log P(c_j(x) <= limit_j) at `count` points (count x d, stride d), with exact
 * gradients; EHVI is hf_ehvi_log()'s of the latent posteriors, of pending points the mean over
 * `draws`.
 * @param values    count entries; -DBL_MAX where the logarithm is -infinity
 * @param gradients count x d, or NULL. Where an sd is 0, that of the means
 * Errors, with outputs untouched: HF_ERR_ARGUMENT, HF_ERR_DIMENSION, HF_ERR_NOT_FINITE,
 * HF_ERR_MEMORY, HF_ERR_CANCELLED. O(count m (n_j (d + n_j) + boxes)), n_j the readings; of p
 * pending points O(p n_j^2 + p^3) once, and draws times as many boxes.
 */
HF_API hf_status hf_ehvi_evaluate(hf_context *ctx, const hf_acquire_front *front, size_t count,
                                  const double *x, double *values, double *gradients);
/**
 * argmax of that over a domain, as hf_acquire_maximise() does it, with the same parameters.
 * @param maximiser or NULL: `value` is the logarithm; mean and sd are those of objective 0
 * Errors: those of hf_ehvi_evaluate() and hf_acquire_maximise(); outputs untouched. Cost: as
 * hf_maximise_ucb(), with values and gradients of hf_ehvi_evaluate().
 */
HF_API hf_status hf_ehvi_maximise(hf_context *ctx, const hf_acquire_front *objectives,
                                  const hf_domain *domain, const hf_search_settings *settings,
                                  size_t guess_count, const double *guesses, double *x,
                                  hf_argmax *maximiser);

HF_END_DECLS

#endif
