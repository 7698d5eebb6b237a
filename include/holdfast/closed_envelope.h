/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file closed_envelope.h
 * @brief Envelopes in closed form, the norm that readings ask for, and the probabilistic bound to
 * compare with.
 *
 * All but the last hold the optimal envelope of envelope.h inside: looser, but one factorisation
 * and then O(n^2) a query. y_i and e_i are the midpoint and half width of what is left of the
 * intervals at input i. For readings with an offset m all this is about f - m; centre and bounds
 * are m more, rounding allowed for.
 *
 * **Around a kernel model** s(x) = alpha'k_x (Proposition 3 of the paper named in envelope.h), for
 * readings with |y_i - f(x_i)| <= e_i:
 *
 *     |f(x) - s(x)| <= P(x) sqrt(G^2 - N^2) + sum_i e_i |(K^-1 k_x)_i| + |y'K^-1 k_x - s(x)|
 *
 * with the power function P(x)^2 = k(x,x) - k_x'K^-1 k_x and N the norm of the smoothest function
 * consistent with the readings. The paper writes G^2 + D with D = -N^2, the least of 1/4 nu'K nu +
 * nu'y + sum e_i |nu_i|; one of its two programs subtracts D instead, which is valid and looser.
 * Models: kernel ridge regression alpha = (K + n lambda I)^-1 y, the smoothest consistent function
 * (which lies inside the optimal envelope), or any alpha.
 *
 * **Ellipsoid.** For any d_i > 0 every consistent f satisfies |f|^2 + sum_i (y_i - f(x_i))^2 / d_i
 * <= G^2 + sum_i e_i^2 / d_i. So, with mean mu and latent standard deviation sd of the Gaussian
 * process posterior whose sites are (y_i, d_i),
 *
 *     |f(x) - mu(x)| <= sd(x) sqrt(G^2 + sum_i e_i^2/d_i - y'(K + D)^-1 y).
 *
 * It is smooth in x, and any posterior from hf_solve_exact() is turned into a guaranteed envelope
 * (hf_closed_envelope_posterior()).
 *
 * **GP confidence bound**, for comparison only: it holds with a probability, not surely (equation
 * 17): mu +- (G + 4 s sqrt(gamma + 1 + ln(1/p))) sd, gamma = 1/2 log det(I + K/s^2), s the noise
 * standard deviation and s^2 the variance of its sites, p the probability of failure.
 *
 * **Ill-conditioned K.** No bound relies on K^-1: the factor, with jitter if it needs some, only
 * proposes the weights w = K^-1 k_x. The bound is evaluated with the true K in a form that is valid
 * for every w (docs/methods/envelope-closed.md). Jitter and rounding in the factor make a bound
 * wider, not wrong. The rounding of the evaluation itself is added, as for the ordinary bounds of
 * envelope.h.
 *
 * **Threads.** A hf_closed_envelope is immutable: any number of threads may ask the same one, each
 * with a context of its own.
 *
 * **Units** are the caller's, as in envelope.h. Sources: the paper named there; for the ellipsoid
 * Lahr, Scampicchio, Koehler, Zeilinger, 2026 (arXiv 2603.16481); for the GP bound Chowdhury,
 * Gopalan, "On kernelized multi-armed bandits", 2017.
 */
#ifndef HOLDFAST_CLOSED_ENVELOPE_H
#define HOLDFAST_CLOSED_ENVELOPE_H

#include <holdfast/envelope.h>
#include <holdfast/posterior.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

typedef struct hf_closed_envelope hf_closed_envelope;

/** Which closed form. */
typedef enum hf_closed_method {
    /** Proposition 3 around kernel ridge regression */
    HF_CLOSED_RIDGE = 0,
    /** Proposition 3 around the smoothest consistent function */
    HF_CLOSED_MINIMUM_NORM,
    /** around the posterior of sites (y, d) */
    HF_CLOSED_ELLIPSOID,
    /** not sure, only probable */
    HF_CLOSED_GP
} hf_closed_method;

/** How a closed form is set up. Each method looks at its own numbers; all must be finite and not
 * negative. */
typedef struct hf_closed_settings {
    /** sizeof(hf_closed_settings) */
    size_t size;
    /** lambda of n lambda I. Default: 0.01. */
    double ridge;
    /** Sites of the ellipsoid, d_i = site (e_i / G)^2. An e_i counts as at least a thousandth of
     * the largest. Exact readings alone have d_i = site 1e-12 of the kernel's variance. 0: chosen
     * for the least mean width over the inputs of the readings, each with and without the reading
     * that was made there. The choice is about the number of readings, where the noise is worth as
     * much as the norm. It is larger when they are far apart. Default: 0. */
    double site;
    /** s of the GP bound; 0: e / 2.58, the largest noise bound read as a 99 % quantile. Default: 0.
     */
    double noise_sd;
    /** p of the GP bound, between 0 and 1. Default: 0.01. */
    double probability;
} hf_closed_settings;

/** The defaults that the fields name. */
HF_SETTINGS(hf_closed_settings)

/**
 * A closed form for the readings, kernel and norm bound of `envelope`, of which nothing is kept.
 * Its jitter is added to the diagonal of K here too: valid, and looser. Readings with one limit are
 * left out of all but the smoothest function that is the centre, which only widens.
 * @param settings NULL for the defaults
 * Errors, which leave *out alone: HF_ERR_ARGUMENT (NULL, a method that is none, settings, the GP
 * bound for exact readings without noise_sd), HF_ERR_TOO_LARGE, HF_ERR_MEMORY, HF_ERR_CANCELLED,
 * HF_ERR_NOT_POSITIVE_DEFINITE. HF_WARN_JITTER: K needed jitter for its factor (the message says
 * how much); the bounds remain valid for K itself, but are wider.
 * Cost n^3/3, ridge twice; choosing sites 9 n^3 more. 16 n^2 bytes kept, choosing sites 24 n^2 for
 * the time being.
 */
HF_API hf_status hf_closed_envelope_create(hf_context *ctx, const hf_envelope *envelope,
                                           hf_closed_method method,
                                           const hf_closed_settings *settings,
                                           hf_closed_envelope **out);
/** Proposition 3 around the model alpha'k_x with the n = hf_envelope_readings() finite coefficients
 * given (else HF_ERR_NOT_FINITE). Otherwise the same. Cost n^3/3, and O(n^2 d). */
HF_API hf_status hf_closed_envelope_model(hf_context *ctx, const hf_envelope *envelope,
                                          const double *alpha, hf_closed_envelope **out);
/**
 * The ellipsoid around a fitted posterior: the unknown is prior mean + g with |g| <= norm in the
 * RKHS of the posterior's kernel, both as the solver sees them (scaled units:
 * hf_posterior_kernel()). Every target z_i of the posterior's sites must be known to be near the
 * unknown f: |z_i - f(x_i)| <= b_i. The centre is the posterior mean, the site variances (and
 * jitter) are the d_i; the calibration factor does not enter.
 * @param noise_bound b_i of all anchors, >= 0, user units; looked at where `bounds` is NULL. Only
 *         for plain Gaussian sites, whose targets are the readings
 * @param bounds      b_i, one for each of the hf_posterior_anchors() anchors, user units, or NULL.
 *                    A robust site's target is not the reading: with |y_i - f(x_i)| <= e_i it is
 *                    b_i = e_i + |z_i - y_i|. Readings without a site, those set aside among them,
 *                    need none.
 * The posterior is not kept. Errors: HF_ERR_ARGUMENT (NULL, a solver that is not exact, a kernel
 * with white, a norm or bound that is none; a site variance that is not the
 * noise's without `bounds`); HF_ERR_INCONSISTENT when the ellipsoid is empty, HF_ERR_TOO_LARGE,
 * HF_ERR_MEMORY. O(n^2 d), 16 n^2 bytes.
 */
HF_API hf_status hf_closed_envelope_posterior(hf_context *ctx, const hf_posterior *posterior,
                                              double norm, double noise_bound, const double *bounds,
                                              hf_closed_envelope **out);
HF_API void hf_closed_envelope_free(hf_closed_envelope *closed);

/**
 * The factor on P or sd: sqrt(G^2 - N^2), the root of the ellipsoid, or beta; around a posterior in
 * the solver's units. NaN for NULL. O(1).
 */
HF_API double hf_closed_envelope_radius(const hf_closed_envelope *closed);

/**
 * Bounds at m queries, all threads, same digits for any number. x m x d row-major, stride ldx;
 * lower, upper, centre m entries, any may be NULL, untouched on error. The bounds are symmetric
 * about the centre: s(x) or mu(x). O(n^2) a query, in blocks; 8 n 96 bytes a thread. Reports
 * progress ("bounds"); can be cancelled. HF_ERR_ARGUMENT, HF_ERR_NOT_FINITE (x; a bound that
 * overflows), HF_ERR_DIMENSION, HF_ERR_MEMORY, HF_ERR_CANCELLED.
 */
HF_API hf_status hf_closed_envelope_bounds(hf_context *ctx, const hf_closed_envelope *closed,
                                           size_t m, const double *x, size_t ldx, double *lower,
                                           double *upper, double *centre);

/** One point of a growth curve. */
typedef struct hf_norm_point {
    /** the first so many readings */
    size_t readings;
    /** of the smoothest function consistent with them: never falls */
    double norm;
} hf_norm_point;

/**
 * The norm that readings ask for: of the smoothest function consistent with the first n_1 < n_2 <
 * ... < n of them (`points` entries, about evenly spaced in log n; 1 to n; the last is all of
 * them). With exact readings it is sqrt(y'K^-1 y). A certified *lower* estimate of |f|: no data can
 * certify an upper one; where the curve has flattened a safety factor of 1.2 to 2 is what the
 * literature takes. A curve that goes on rising shows that the noise is larger than thought, or the
 * kernel too smooth. So does one that jumps when the noise bounds are made a little smaller.
 * Errors as hf_envelope_consistency(), `points` out of range (HF_ERR_ARGUMENT), and
 * HF_ERR_INCONSISTENT where no norm is enough; curve is untouched. Reports progress ("norm"); can
 * be cancelled. The last point costs what hf_envelope_create() does, the others together about as
 * much.
 */
HF_API hf_status hf_norm_estimate(hf_context *ctx, const hf_kernel *kernel,
                                  const hf_bounded_readings *readings, size_t points,
                                  hf_norm_point *curve);

HF_END_DECLS

#endif
