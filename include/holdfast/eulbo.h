/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file eulbo.h
 * @brief Where to measure next with a surrogate that few inducing inputs or actions limit: the
 * surrogate learns for the question (EULBO), or places its inducing inputs for it.
 *
 * A sparse surrogate must choose what of the readings it represents. Trained by its bound alone
 * (ELBO) it represents all of them equally well; what is asked next depends on the best few. The
 * expected lower bound utility adds the expected log utility of the points X to the bound:
 *
 *     EULBO(X, theta) = ELBO(theta) + log prior(theta) + weight U(X, theta)
 *     U = E_q[log u(f(X))] or log E_q[u(f(X))]      u = softplus((max_a f(x_a) - best) / unit)
 *
 * and is maximised in X, hyperparameters and, where the fit trains them, inducing inputs or entries
 * of block actions together. q(f) is the posterior; softplus(r) = log(1 + exp(r)) is the smooth
 * improvement; unit is `temperature` times the scale of the targets. f is to be made large. To
 * make it small, fit -f.
 *
 * Sources: Maus, Kim, Pleiss, Cunningham, Gardner, Approximation-aware Bayesian optimization,
 * NeurIPS 2024; Moss, Ober, Picheny, Inducing point allocation for sparse Gaussian processes in
 * high-throughput Bayesian optimisation, AISTATS 2023. docs/methods/eulbo.md says what differs.
 */
#ifndef HOLDFAST_EULBO_H
#define HOLDFAST_EULBO_H

#include <holdfast/optimise.h>
#include <holdfast/settings.h>
#include <holdfast/train.h>

HF_BEGIN_DECLS

/** Expectation of u that is maximised. */
typedef enum hf_eulbo_utility {
    /** log E[u]: values spread, as expected improvement does */
    HF_UTILITY_LOG_EXPECTED = 0,
    /** E[log u], as published: shuns what is uncertain */
    HF_UTILITY_EXPECTED_LOG
} hf_eulbo_utility;

/** How EULBO is climbed. Start from hf_eulbo_settings_default(). */
typedef struct hf_eulbo_settings {
    /** sizeof(hf_eulbo_settings) */
    size_t size;
    /** Points to measure next, q. Default: 1. */
    size_t batch;
    /** Value to be improved upon, user's units. Default: NaN (the largest posterior mean at a
     * reading, by the surrogate that the bound alone has trained). */
    double best;
    /** Expectation that is maximised. Default: HF_UTILITY_LOG_EXPECTED. */
    hf_eulbo_utility utility;
    /** Unit of the improvement, in scales of the targets; in [0.01, 100]. Published: 1. Default:
     * 0.1. */
    double temperature;
    /** Factor of U; > 0. Default: 1. */
    double weight;
    /** Adam's step for the surrogate's parameters; >= 0. 0 leaves it as the bound has trained it.
     * Default: 0.01. */
    double rate_model;
    /** Adam's step for points, in sides of the box; >= 0. Default: 0.001. */
    double rate_points;
    /** true: surrogate and points step together; false: in turn. Default: false. */
    bool joint;
    /** Longest gradient of either; > 0. Default: 2. */
    double clip;
    /** Epochs at most; 0: the best points of the surrogate as it is. Default: 30. */
    size_t epochs;
    /** Steps an epoch; >= 1. Default: 8. */
    size_t steps;
    /** Epochs in a row without a gain that end the climb; >= 1. Default: 3. */
    size_t patience;
    /** Where numbers fail, so often on from the best, with rates / 10. Default: 8. */
    size_t retries;
    /** Quasi-random draws for q > 1; >= 1. Default: 128. */
    size_t draws;
    /** Search for the start, by the surrogate that the bound has trained. Default: NULL (the
     * defaults). */
    const hf_search_settings *search;
} hf_eulbo_settings;
HF_SETTINGS(hf_eulbo_settings)

/** Course of a climb. Nats. */
typedef struct hf_eulbo_report {
    /** ELBO + log prior before the climb */
    double elbo_start;
    /** U before it */
    double utility_start;
    /** of the result */
    double elbo;
    double utility;
    /** what was to be improved upon, user's units */
    double best;
    /** made */
    size_t epochs;
    /** of EULBO */
    size_t evaluations;
    /** made */
    size_t retries;
    /** ended because nothing was gained any more */
    bool settled;
    /** of the surrogate as it ended */
    hf_fit_report fit;
    double seconds;
} hf_eulbo_report;

/**
 * Fits a surrogate to readings, then climbs EULBO from there: the q points where to measure next,
 * and the surrogate that goes with them.
 *
 * The start: the fit as hf_fit_data() makes it; then the point where U is largest (a search as of
 * hf_maximise_ucb()), for q > 1 followed by the candidates that add most to it, one by one.
 * The result is the best that was seen, never below the start. Robust weights, suspects and
 * thresholds stay as the fit has settled them. With Krylov actions the climb sees the inducing
 * inputs that they are trained with. Points stay on lattices and at categories where the start
 * puts them. The same for the same arguments, whatever the threads.
 *
 * @param data     readings of one output, without prior means of their own; a missing y is left out
 * @param fit      inducing or projected solver, an objective that is a bound (evidence, weighted,
 *                 rcagp), trained; no minibatches, Student-t sites, stages (more than 4096 readings
 *                 with fixed inducing inputs and L-BFGS) or checkpoint. Presets sgpr, rcsvgp, cagp,
 *                 rcagp. train_inducing and train_actions say whether those move
 * @param how      NULL: the defaults
 * @param domain   a box of data->d inputs; the box of a trust region too (hf_trust_region_box())
 * @param guesses  guess_count x d: further starts, put into the box; NULL for none
 * @param x        q x d row-major
 * @param posterior the surrogate as it ended, to be freed; or NULL
 * @param report   or NULL
 * Warnings are those of the fit. Errors, outputs untouched: HF_ERR_ARGUMENT, HF_ERR_DIMENSION,
 * HF_ERR_NOT_FINITE, HF_ERR_NO_DATA, HF_ERR_NOT_POSITIVE_DEFINITE, HF_ERR_TOO_LARGE,
 * HF_ERR_MEMORY, HF_ERR_CANCELLED (progress "eulbo"). Cost: the fit, the search, and one or two
 * evaluations of the bound with gradient a step: O(n m (m + d)) with m inducing inputs, O(n^2 d)
 * with block actions; milliseconds for some hundred readings.
 */
HF_API hf_status hf_eulbo(hf_context *ctx, const hf_data *data, const hf_fit_settings *fit,
                          const hf_eulbo_settings *how, const hf_domain *domain, size_t guess_count,
                          const double *guesses, double *x, hf_posterior **posterior,
                          hf_eulbo_report *report);

/**
 * Rows for a sparse surrogate to be built on when the next question is where f is large: a greedy
 * determinantal point process (hf_dpp_greedy()) over all rows. Its kernel is the posterior's, and
 * its quality the expected improvement over the largest posterior mean at a row. A fit takes them
 * as hf_fit_settings.inducing_inputs.
 * @param of        posterior of f, one output
 * @param x         n x d row-major, stride ldx, user's units; n >= 1
 * @param m         at most so many rows, >= 1
 * @param rows      m entries: the chosen rows, in the order of choice
 * @param count     how many: fewer where rows equal each other, or promise less than 1e-150 of the
 *                  best one
 * Errors as for hf_dpp_greedy(), outputs untouched. O(n m^2) and a prediction of n points.
 * Thread-safe, with a context for each thread.
 */
HF_API hf_status hf_dpp_quality(hf_context *ctx, const hf_posterior *of, size_t n, const double *x,
                                size_t ldx, size_t m, size_t *rows, size_t *count);

HF_END_DECLS

#endif
