/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file posterior.h
 * @brief The one object every solver ends in, and everything one can ask of it.
 *
 * A posterior is immutable while it is only predicted from: any number of threads may predict from
 * the same const posterior, each with a workspace of its own, without locks and without
 * allocation. hf_posterior_add/remove/replace/refresh change it and need exclusive access; they,
 * hf_posterior_backward_error(), hf_leave_one_out() and hf_influence_of_removal() are about
 * readings as anchors and need the exact solver (HF_ERR_ARGUMENT otherwise). hf_influence() takes
 * projected posteriors too, hf_influence_inducing() inducing ones.
 *
 * **Units.** Inputs and outputs of every function here are in the user's units. A posterior may
 * carry a scaling (standardisation chosen by hf_fit); it is applied on the way in and undone on
 * the way out.
 *
 * **Several outputs.** A posterior of several correlated outputs has one input more than the data:
 * the last one is the number of the output, 0, 1, .... Everything here asks about that output and
 * answers in its units, each output with its own noise. Another number there is HF_ERR_ARGUMENT.
 * hf_predict_outputs() asks about all of them at once.
 *
 * **Latent and observed.** "Latent" is the function f(x); "observed" is a new uncontaminated
 * reading f(x) + e, whose variance is larger by the noise variance. If the fit calibrated its
 * intervals with a factor kappa >= 1 (hf_posterior_calibration()), the observed variance is kappa
 * (latent + noise); the latent variance is untouched.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_POSTERIOR_H
#define HOLDFAST_POSTERIOR_H

#include <holdfast/expert.h>
#include <holdfast/kernel.h>
#include <holdfast/mean.h>
#include <holdfast/sites.h>
#include <holdfast/solver.h>

HF_BEGIN_DECLS

typedef struct hf_posterior hf_posterior;
typedef struct hf_posterior_workspace hf_posterior_workspace;

/** Report of a solve. */
typedef struct hf_solve_report {
    /** readings that entered */
    size_t anchors;
    /** absolute amount added to the diagonal, 0 if none, in squared (scaled) target units */
    double jitter;
    /** estimated 1-norm condition number of K + D, as of the last solve, refresh or check */
    double condition;
    /** relative backward error of factor and weights (K + D scaled to a unit diagonal), as of then;
     * online updates make it grow, hf_posterior_backward_error() looks */
    double backward;
    /** log N(z; m, K + D) of the sites, in the scaled units the solver works in; NaN unless exact
     */
    double log_evidence;
    /** memory held */
    double bytes;
} hf_solve_report;

/**
 * Bytes and floating point operations that an exact solve of n readings with d inputs needs; either
 * may be NULL.
 */
HF_API void hf_exact_cost(size_t n, size_t d, double *bytes, double *flops);

/**
 * The exact solver: factors K + D for the present sites and returns the posterior.
 * @param kernel, mean, sites copied; sites holds n readings
 * @param x       n x d row-major inputs, stride ldx, d = dimension of the kernel. Copied.
 * Errors: HF_ERR_TOO_LARGE (message: bytes needed and available), HF_ERR_NO_DATA,
 * HF_ERR_NOT_FINITE, HF_ERR_NOT_POSITIVE_DEFINITE, HF_ERR_DIMENSION. HF_WARN_JITTER: usable, see
 * hf_posterior_report_of(). Cost n^3/3 + O(n^2 d) flops, n^2 doubles.
 */
HF_API hf_status hf_solve_exact(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                const hf_sites *sites, const double *x, size_t ldx,
                                hf_posterior **out);
/**
 * The inducing solver: one pass over the readings, then a posterior whose anchors are the m
 * inducing inputs z (m x d, stride ldz, finite, no two rows equal: HF_ERR_ARGUMENT names them). Its
 * variance can be below the exact one between inducing inputs. Errors as hf_solve_exact(). O(n m^2)
 * flops, O(m^2) memory beside x.
 */
HF_API hf_status hf_solve_inducing(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                   const hf_sites *sites, const double *x, size_t ldx,
                                   hf_inducing_method method, size_t m, const double *z, size_t ldz,
                                   hf_posterior **out);
/**
 * The projected solver (computation-aware; Wenger et al. 2022, 2024): anchors are the present
 * readings, and the variance is never below the exact posterior's. @param report may be NULL.
 * HF_ERR_ARGUMENT: more actions than readings, none at all, a tolerance that is no number.
 * HF_WARN_NOT_CONVERGED: Krylov actions reached their count before the tolerance; the posterior is
 * usable and its variance says what is missing. Cost n^2 (d + i) flops a pass, 8 n i bytes.
 */
HF_API hf_status hf_solve_projected(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                    const hf_sites *sites, const double *x, size_t ldx,
                                    const hf_projection *projection, hf_posterior **out,
                                    hf_projection_report *report);
/**
 * The computational part of a projected posterior's latent variance: combined minus exact (Wenger
 * et al. 2022), m entries, user units squared, >= 0; zero for the exact solver. It is what more
 * actions could take away; the rest is what only more readings could. HF_ERR_ARGUMENT for the
 * inducing solver, whose difference to the exact posterior has no sign and is no uncertainty. Needs
 * an exact factor of all anchors, made for the call and thrown away: O(n^3/3 + m n^2), n^2 doubles;
 * HF_ERR_TOO_LARGE where that does not fit. HF_WARN_JITTER when that factor needed jitter: usable.
 * Absolute error about 1e-14 of the prior variance. Reports progress; can be cancelled; var is
 * untouched on error.
 */
HF_API hf_status hf_predict_computational(hf_context *ctx, const hf_posterior *posterior, size_t m,
                                          const double *x, size_t ldx, double *var);

/**
 * The part that a projection left uncomputed, measured against the exact posterior of the same
 * sites. Kw = K + D (the site variances in D), r = z - m, v = Kw^-1 r, C = A (A'Kw A)^-1 A' and
 * |v|^2_G = v'Gv. Nothing here has a unit.
 */
typedef struct hf_projection_error {
    /** |v - C r|_Kw / |v|_Kw, from 0 (all computed) to 1 (nothing). */
    double rho;
    /** |v|_Kw = sqrt(r'Kw^-1 r): the least RKHS norm of a function that has the values r at the
     * readings, for the kernel k + d there. */
    double norm;
    /** rho norm. For every x, |exact mean - mean| <= remaining sqrt(computational variance). */
    double remaining;
    /** |exact mean - m| in the RKHS of k */
    double mean_norm;
    /** |exact mean - mean| in the RKHS of k; <= remaining */
    double mean_error;
    /** c = sqrt(1 + largest d / least eigenvalue of K); infinite where K is singular to rounding;
     * NaN unless asked for. */
    double factor;
    /** rho c mean_norm >= mean_error, the published bound; NaN with the factor */
    double bound;
} hf_projection_error;

/**
 * Fills *out for a projected posterior; for an exact one everything left uncomputed is zero.
 * `norm` and `rho` are those of Proposition F.2, `bound` that of F.3 of "Robust and
 * Computation-Aware Gaussian Processes" (2025), whose printed (S125) lacks a factor Kw.
 * `remaining` needs no condition: by M = Kw^-1 - C >= 0, |k_x'M r|^2 <= (k_x'M k_x) (r'M r).
 * @param factor whether to compute c too: all eigenvalues of K, some ten times as long
 *
 * rho is rounding where it is below some eps condition(Kw). HF_ERR_ARGUMENT for inducing
 * posteriors and NULL; HF_ERR_TOO_LARGE, HF_ERR_MEMORY, HF_ERR_CANCELLED; *out is untouched on
 * error. HF_WARN_JITTER when the exact factor needed jitter. O(n^3), n^2 doubles. Thread-safe.
 */
HF_API hf_status hf_projected_error(hf_context *ctx, const hf_posterior *posterior, bool factor,
                                    hf_projection_error *out);
/**
 * Worst-case errors at m points (x: m x d row-major, stride ldx), over all functions h of the unit
 * ball of the RKHS of kw = k + noise: k plus the sites' variances d at the readings, plus the
 * noise variance s2 anywhere else. The posterior's linear rule is applied to the values of h at
 * the readings, prior mean zero (Proposition 4.2 of the paper above):
 *
 *     total         = sup |h(x) - mean of h(x)|            = sqrt(latent variance + s2)
 *     part          = sup |exact mean of h - mean of h|    = sqrt(computational variance)
 *
 * in the user's units for a norm of 1. For h of norm B multiply by B (Corollary E.1). The readings
 * saw h = z - m. Robust sites have pseudo-targets z, so the guarantee is about the function less
 * what the weights took away. It holds if that has a norm of at most B. No B below
 * hf_projected_error()'s `norm` agrees with the readings.
 * @param total m entries; @param part m entries or NULL. Both untouched on error.
 *
 * HF_ERR_ARGUMENT for inducing posteriors, whose variance bounds no such error, and NULL; others
 * as hf_predict() and hf_predict_computational(), whose costs these are. Thread-safe.
 */
HF_API hf_status hf_predict_worst_case(hf_context *ctx, const hf_posterior *posterior, size_t m,
                                       const double *x, size_t ldx, double *total, double *part);
HF_API void hf_posterior_free(hf_posterior *posterior);

/**
 * Adds an expert's mean m (expert.h) to a posterior of differences. A fit with hf_data.mean, the
 * hf_expert_mean() of the readings' rows, knows f - m; lifted it knows f: predictions, gradients,
 * draws, acquisitions and readings added later are all of the readings themselves.
 *
 *     mean(x) := mean(x) + m(x)      variances stay
 *
 * @param posterior of one output and as many inputs; changed, so nobody else may use it meanwhile
 * @param by        copied; its kernel in the user's units
 * Errors, which leave the posterior alone: HF_ERR_DIMENSION; HF_ERR_ARGUMENT: several outputs, a
 * posterior lifted before; an expert's kernel that has one lengthscale for inputs, `linear` or
 * `category`, where the posterior has standardised these; HF_ERR_MEMORY. A lifted posterior is
 * slower by O(h d) at each point, of h labelled readings, and cannot be certified: m has no bound
 * over a box. O(h d).
 */
HF_API hf_status hf_posterior_lift(hf_context *ctx, hf_posterior *posterior, const hf_expert *by);

/** The solver that computed it; HF_SOLVER_AUTO for NULL. */
HF_API hf_solver hf_posterior_solver(const hf_posterior *posterior);
/** Columns of R in S = R R': readings (exact), inducing inputs, or actions. */
HF_API size_t hf_posterior_rank(const hf_posterior *posterior);
/** Number of inputs d. */
HF_API size_t hf_posterior_dimension(const hf_posterior *posterior);
/** Number of anchors: rows of Z, for the exact solver the readings that have a site. */
HF_API size_t hf_posterior_anchors(const hf_posterior *posterior);
/** How the solve went: jitter, condition, error, cost. NULL for NULL. Owned by the posterior; it is
 * of the present readings, so that hf_posterior_add() and its like change it. */
HF_API const hf_solve_report *hf_posterior_report_of(const hf_posterior *posterior);
/** Noise variance of a reading (of output 0), user units squared (without calibration). */
HF_API double hf_posterior_noise(const hf_posterior *posterior);
/** Number of outputs, 1 unless there are several; noise variance of one of them, NaN if there is
 * none. */
HF_API size_t hf_posterior_outputs(const hf_posterior *posterior);
HF_API double hf_posterior_output_noise(const hf_posterior *posterior, size_t output);
/** kappa: factor on observed variances; 1 if none. */
HF_API double hf_posterior_calibration(const hf_posterior *posterior);
/** Kernel and mean as the solver sees them (scaled units). Owned by the posterior. */
HF_API const hf_kernel *hf_posterior_kernel(const hf_posterior *posterior);
HF_API const hf_mean *hf_posterior_mean_function(const hf_posterior *posterior);

/* ---- one point, no allocation --------------------------------------------------------------- */

/** Scratch for predicting from this posterior; one per thread. O(n) memory. Stays valid while the
 * posterior's storage does not grow (readings may be added until it is full, then it doubles);
 * predicting with a workspace that is too small for the posterior is HF_ERR_ARGUMENT. NULL when out
 * of memory. */
HF_API hf_posterior_workspace *hf_posterior_workspace_create(hf_context *ctx,
                                                             const hf_posterior *posterior);
HF_API void hf_posterior_workspace_free(hf_posterior_workspace *workspace);

/**
 * Latent mean and variance at one point x (d entries), and their gradients.
 * @param var may be NULL: the mean-only path, O(n d) instead of O(n^2).
 * @param gradient_mean d entries, d mean / d x, or NULL
 * @param gradient_var  d entries, d var / d x, or NULL (costs another O(n^2))
 * Variance is never negative. Allocates nothing; thread-safe with one workspace per thread.
 * HF_ERR_NOT_FINITE if x is not finite.
 */
HF_API hf_status hf_predict_latent(const hf_posterior *posterior, hf_posterior_workspace *workspace,
                                   const double *x, double *mean, double *var,
                                   double *gradient_mean, double *gradient_var);
/**
 * The same for a new reading: var = kappa (latent var + noise). Errors: those of
 * hf_predict_latent(). Cost: that of hf_predict_latent().
 */
HF_API hf_status hf_predict_observed(const hf_posterior *posterior,
                                     hf_posterior_workspace *workspace, const double *x,
                                     double *mean, double *var, double *gradient_mean,
                                     double *gradient_var);

/* ---- many points ---------------------------------------------------------------------------- */

/**
 * m points at once, blocked and on all threads: same numbers as the one-point functions to
 * rounding.
 * @param x            m x d row-major, stride ldx
 * @param mean         m entries
 * @param var_latent   m entries or NULL
 * @param var_observed m entries or NULL; both NULL is the mean-only path
 * Cost m n (d + n) flops with variance, m n d without. Memory O(n) per thread times a block,
 * whatever m is, and 8 or 16 bytes a point, so that a cancelled call leaves the outputs alone.
 * Reports progress; can be cancelled.
 * Errors, with outputs untouched: HF_ERR_ARGUMENT (NULL), HF_ERR_DIMENSION (ldx below the inputs),
 * HF_ERR_NOT_FINITE (names the row), HF_ERR_TOO_LARGE, HF_ERR_MEMORY, HF_ERR_CANCELLED.
 */
HF_API hf_status hf_predict(hf_context *ctx, const hf_posterior *posterior, size_t m,
                            const double *x, size_t ldx, double *mean, double *var_latent,
                            double *var_observed);

/**
 * All T outputs at m points: the same numbers as hf_predict() at the m T rows (x, 0), ..., (x, T -
 * 1).
 * @param x   m x (d - 1) row-major, the inputs without the number of the output (with one output: m
 *         x d), stride ldx
 * @param mean, var_latent, var_observed m x T row-major; as for hf_predict()
 * @param covariance m x T x T, latent, between the outputs at each point, or NULL: m more solves of
 *                   T columns. Its diagonals are the latent variances to rounding.
 * Cost as hf_predict() of m T points. Outputs are untouched on error.
 * Errors: those of hf_predict().
 */
HF_API hf_status hf_predict_outputs(hf_context *ctx, const hf_posterior *posterior, size_t m,
                                    const double *x, size_t ldx, double *mean, double *var_latent,
                                    double *var_observed, double *covariance);

/** Latent covariance of m points: m x m, symmetric, both triangles, stride ldc. Its diagonal is the
 * latent variance to rounding. O(m n^2 + m^2 n).
 * Errors: those of hf_predict(); HF_ERR_DIMENSION also for ldc below m.
 */
HF_API hf_status hf_predict_covariance(hf_context *ctx, const hf_posterior *posterior, size_t m,
                                       const double *x, size_t ldx, double *covariance, size_t ldc);

/**
 * `count` joint draws of the latent function at m points into samples (count x m row-major). Seeded
 * by the context's seed and `stream`; sample k is the same however many are asked for.
 * HF_WARN_JITTER when the covariance was singular to rounding, as it is for points close together:
 * the draws are usable. O(m^3 + m n^2).
 * Errors: those of hf_predict_covariance(); HF_ERR_NOT_POSITIVE_DEFINITE where no jitter helps.
 */
HF_API hf_status hf_sample(hf_context *ctx, const hf_posterior *posterior, size_t m,
                           const double *x, size_t ldx, size_t count, uint64_t stream,
                           double *samples);

/* ---- what the readings say about each other ------------------------------------------------- */

/** Leave-one-out latent mean and variance of every anchor in the user's units (mean, var: anchors
 * entries, var may be NULL). Accurate also for readings with next to no weight. O(n^3/3), n^2
 * doubles.
 * Errors, with outputs untouched: HF_ERR_ARGUMENT (NULL, another solver than the exact one),
 * HF_ERR_MEMORY, HF_ERR_CANCELLED.
 */
HF_API hf_status hf_leave_one_out(hf_context *ctx, const hf_posterior *posterior, double *mean,
                                  double *var);

/**
 * Posterior influence function of anchor i (< anchors): KL( posterior || posterior with the site
 * of reading i replaced ) over the latent values at the anchors, in nats.
 * @param target, variance the replacing site (user units); variance = infinity means the reading
 *         is removed.
 *
 * For a robust site, what a reading moved to y would do is the site that hf_sites_robust() makes
 * of y: bounded in y (Altamirano, Briol, Knoblauch 2024; for projections Proposition 4.1 of
 * "Robust and Computation-Aware Gaussian Processes"). With a Gaussian site it grows as y^2 (there,
 * F.1).
 *
 * A projected posterior keeps its actions A as they are; removal sets row i of A to zero, as
 * leave-one-out does. Hence a variance that grows is not the same as removal in the end: it takes
 * away all that the reading's actions saw. White noise of the kernel counts as noise there. Jitter
 * is left out. Errors: HF_ERR_ARGUMENT (an inducing posterior, no such anchor, a variance that is
 * not positive, NULL), HF_ERR_NOT_FINITE (target), HF_ERR_MEMORY; *kl is untouched. O(n^2) per
 * call; projected, with q actions, O(n^2 d + n q^2 + q^3) and 8 n q bytes. Thread-safe.
 */
HF_API hf_status hf_influence(hf_context *ctx, const hf_posterior *posterior, size_t i,
                              double target, double variance, double *kl);
/**
 * The same for an inducing posterior, which keeps no readings: KL over the inducing values, which
 * is that over all of f.
 * @param method   the one the posterior was solved with: FITC adds what the inducing inputs leave
 *         open to the noise
 * @param x        the reading's inputs, d entries
 * @param target, variance           its present site (user units), variance finite:
 *         hf_sites_targets(), hf_sites_variances()
 * @param moved_to, with the replacing one, target and variance; infinite: removed
 *
 * The caller answers for the reading being one of the posterior's: it cannot be checked. The
 * inducing inputs stay. A reading that determines q(x) by itself loses digits: about eps / (1 - h
 * / d), h its latent variance. Errors as above; HF_ERR_ARGUMENT for other posteriors. O(m^3) for
 * the factor of K_ZZ, 8 m^2 bytes. Thread-safe.
 */
HF_API hf_status hf_influence_inducing(hf_context *ctx, const hf_posterior *posterior,
                                       hf_inducing_method method, const double *x, double target,
                                       double variance, double moved_to, double with, double *kl);
/**
 * The influence of several sites that change together, over all of f or on some of it:
 * KL( posterior || posterior with the sites of `count` anchors replaced ) in nats.
 *
 * A reading whose row mates' weights follow it changes their sites, too: with several outputs and
 * weights centred on the other outputs this is the posterior influence function of "MO-RCGP",
 * section 3.2. It is marginal over one output with x the rows of that output, joint with m = 0. As
 * there, the marginal is never above the joint one, and with weights that are bounded in the
 * reading both are. The caller makes the sites (sites.h, outputs.h).
 * @param count, anchor     >= 1 different anchors
 * @param target, variance  their new sites (user units); variance = infinity: removed
 * @param m, x, ldx         the divergence is over the latent values at m rows of x, d entries each;
 *        m = 0: over all of f, x is not looked at. With one site, m = 0 gives hf_influence()
 *
 * White noise of the kernel belongs to readings, not to f at x. Where values at x follow from each
 * other to rounding, jitter of 1e-10 of their variance and more goes into their covariance. The
 * result may be that much too small. Errors: HF_ERR_ARGUMENT (another solver than the exact one, no
 * such anchor, one twice; a variance that is not positive, NULL);
 * HF_ERR_NOT_FINITE (a target, a row of x), HF_ERR_TOO_LARGE, HF_ERR_CANCELLED, HF_ERR_MEMORY; *kl
 * is untouched. With k sites O(n^2 (k + m) + (k + m)^2 (n + m) + k^3), 8 (k + m)(n + k + m) bytes.
 * Thread-safe.
 */
HF_API hf_status hf_influence_sites(hf_context *ctx, const hf_posterior *posterior, size_t count,
                                    const size_t *anchor, const double *target,
                                    const double *variance, size_t m, const double *x, size_t ldx,
                                    double *kl);
/** The influence of removing each anchor, all at once: n entries, KL(posterior || posterior without
 * reading i). O(n^3).
 * Errors: those of hf_leave_one_out().
 */
HF_API hf_status hf_influence_of_removal(hf_context *ctx, const hf_posterior *posterior,
                                         double *kl);

/* ---- online --------------------------------------------------------------------------------- */

/** Adds a reading as a site (target, variance in user units; variance > 0): O(n^2) instead of
 * O(n^3). Hyperparameters stay. The new anchor is the last one. When storage is full it doubles:
 * four times the memory for a moment beside the old one. HF_ERR_NOT_POSITIVE_DEFINITE for a
 * repetition of anchors whose variance is too small to tell them apart.
 *
 * This and the functions below leave the posterior as it was when they fail. */
HF_API hf_status hf_posterior_add(hf_context *ctx, hf_posterior *posterior, const double *x,
                                  double target, double variance);
/** Removes anchor i; later anchors move up by one. The last one cannot be removed (HF_ERR_NO_DATA).
 * O(n^2). */
HF_API hf_status hf_posterior_remove(hf_context *ctx, hf_posterior *posterior, size_t i);
/**
 * Gives anchor i another site; its variance may change by any factor. O(n^2). Errors:
 * HF_ERR_ARGUMENT (NULL, another solver, no such anchor, a variance that is not positive and
 * finite), HF_ERR_NOT_FINITE (target), HF_ERR_NOT_POSITIVE_DEFINITE, HF_ERR_MEMORY.
 */
HF_API hf_status hf_posterior_replace(hf_context *ctx, hf_posterior *posterior, size_t i,
                                      double target, double variance);
/** Recomputes the backward error of factor and weights, O(n^2 d): *backward. HF_WARN_DRIFT above
 * 1e-10.
 * Errors: HF_ERR_ARGUMENT (NULL, another solver than the exact one), HF_ERR_MEMORY.
 */
HF_API hf_status hf_posterior_backward_error(hf_context *ctx, hf_posterior *posterior,
                                             double *backward);
/**
 * Factors afresh, O(n^3/3): removes all drift. Errors: HF_ERR_ARGUMENT (NULL, another solver than
 * the exact one), HF_ERR_NOT_POSITIVE_DEFINITE, HF_ERR_MEMORY.
 */
HF_API hf_status hf_posterior_refresh(hf_context *ctx, hf_posterior *posterior);

HF_END_DECLS

#endif
