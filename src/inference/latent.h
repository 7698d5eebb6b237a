/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file latent.h
 * @brief Approximate evidence of readings by any likelihood of the table (sites/likelihood.h), with the
 * exact or the inducing solver.
 *
 * Everything is relative to the prior mean: latent g = f - m with prior N(0, K), and sites
 * exp(h g - w g^2/2), whose posterior has the mean g, the covariance (K^-1 + W)^-1 and
 * a = K^-1 g = h - W g, which the solver calls weights of the mean. A method looks for sites:
 *
 *     Laplace   h = W g + l'(f), w = -l''(f):  log evidence = sum l(f) - a'g/2 - log det(I + K W)/2
 *     EP        tilted moments:                log evidence = sum log Z_i + log of the Gaussian integral
 *                                              of all sites - those with each cavity
 *
 * A solver conditions on them (hfi_latent_condition()) and differentiates. Beyond a Gaussian evidence
 * with the sites held still, which is all for EP, Laplace has its mode answer to the prior, through
 * bend_i = l'''_i / 2: (d value / d f_i) of the determinant is variance_i bend_i. The dispersion moves
 * the densities, and for Laplace its determinant and its mode too.
 */
#ifndef HFI_INFERENCE_LATENT_H
#define HFI_INFERENCE_LATENT_H

#include "inference/curved.h"
#include "objective/evaluator.h"
#include "sites/likelihood.h"

typedef struct hfi_latent_problem {
    hf_context *ctx;
    const hfi_likelihood *likelihood;
    hf_inference inference;
    const hf_kernel *kernel; /* the caller's, as are their values */
    const hf_mean *mean;
    double dispersion; /* of the likelihood; the caller sets it before an evaluation. Default: 1 */
    size_t rows, d;
    const double *x;
    size_t ldx;
    size_t n; /* rows with a reading: their numbers, inputs (n x d) and readings */
    size_t *row;
    double *inputs;
    hfi_seen *seen;

    double *matrix;    /* exact: n x n, of `curved`; NULL for the inducing solver */
    hfi_curved curved; /* exact: K */
    /* The inducing solver's: its sites are of these rows; `inducing` in it is borrowed. */
    hfi_evaluator inducing;
    double *vectors;
    double *w, *pull;       /* precisions, h */
    double *offset;         /* prior mean m */
    double *latent, *force; /* g, a */
    double *variance;       /* marginal ones of the posterior, when they were asked for */
    double tilt;            /* VFE: how much of the derivative of the trace in w the marginal variances get */
    /* VFE under EP: what the trace adds to the slope of log dispersion; set by a gradient */
    double trace_slope;
    double *bend;               /* l'''/2, or 0 for EP */
    double *answer;             /* Laplace, with a gradient: (K^-1 + W)^-1 of variance_i bend_i */
    double *kept_w, *kept_pull; /* where an evaluation starts */
    bool started;               /* these are of use */
    double log_det;             /* log det(I + K W) of the last conditioning; VFE: + the trace of its bound */
    hfi_likelihood_slopes *at;  /* Laplace: at the latent values */
    hfi_likelihood_tilted *tilted; /* EP: moments */
    double *work;                  /* HFI_LATENT_WORK x n */
    /* On the way of a search: EP's sites to 1e-6 of the marginal posterior, which the gradient is then in
     * error by, not to 1e-10. */
    bool rough;
    bool converged; /* so has the last evaluation's iteration */
    size_t rounds;  /* steps it took */
} hfi_latent_problem;

enum {
    HFI_LATENT_WORK = 6
};

/** A problem of the rows with a reading; the arguments outlive it.
 * @param y        `rows` readings that the likelihood allows; NaN: none
 * @param shift    `rows` numbers added to the latent values, or NULL
 * @param inducing NULL: the exact solver; else the inducing one, which a factorisation changes
 * *out is zeroed on error. HF_ERR_TOO_LARGE when it cannot fit. */
hf_status hfi_latent_problem_init(hf_context *ctx, const hfi_likelihood *likelihood, hf_inference inference,
                                  const hf_kernel *kernel, const hf_mean *mean, size_t rows, const double *x,
                                  size_t ldx, const double *y, const double *shift, hfi_inducing *inducing,
                                  hfi_latent_problem *out);
void hfi_latent_problem_free(hfi_latent_problem *p);
/** The approximate log evidence at the present values of kernel, mean and dispersion. `gradient`, or NULL:
 * kernel parameters, mean coefficients, log dispersion (if the likelihood has one, or inducing inputs are
 * trained; else not touched), and where they are trained the inducing inputs. An iteration that does not
 * converge is no error: p->converged tells. */
hf_status hfi_latent_evaluate(hfi_latent_problem *p, double *value, double *gradient);
/** Evaluations start from now on where the last one ended. */
void hfi_latent_keep(hfi_latent_problem *p);
/** Sites of the last evaluation: z = f + a / w, d = 1 / w, arrays of all rows; those without a reading, and
 * those of which nothing is left: infinite variance. */
void hfi_latent_sites(const hfi_latent_problem *p, double *target, double *variance);

/* ---- methods: value, and w, pull, latent, force, bend ---- */

/** EP: d value / d log dispersion with the sites held, from the tilted moments. */
double hfi_latent_tilted_slope(const hfi_latent_problem *p);
hf_status hfi_latent_laplace(hfi_latent_problem *p, double *value);
hf_status hfi_latent_ep(hfi_latent_problem *p, double *value);

/* ---- solvers ---- */

/** Factors for the covariances at the present kernel. */
hf_status hfi_latent_exact_prepare(hfi_latent_problem *p);
/** The posterior under the sites (w, pull) in place: `force`, `latent` (not those of the problem), log_det
 * and, if not NULL, the marginal variances. */
hf_status hfi_latent_condition(hfi_latent_problem *p, double *force, double *latent, double *variance);
hf_status hfi_latent_exact_condition(hfi_latent_problem *p, double *force, double *latent, double *variance);
hf_status hfi_latent_inducing_condition(hfi_latent_problem *p, double *force, double *latent,
                                        double *variance);
/** The same for other pulls but the precisions of the last time: `force` and `latent` alone. O(n^2). */
void hfi_latent_exact_mean(hfi_latent_problem *p, double *force, double *latent);
/** The gradient at the sites that an evaluation ended with; for Laplace also `answer`. */
hf_status hfi_latent_exact_gradient(hfi_latent_problem *p, double *gradient);
hf_status hfi_latent_inducing_gradient(hfi_latent_problem *p, double *gradient);

#endif
