/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file latent.h
 * @brief Approximate evidence of readings by any likelihood of the table (sites/likelihood.h), with
 * the exact or the inducing solver.
 *
 * Everything is relative to the prior mean: latent g = f - m with prior N(0, K), and sites
 * exp(h g - w g^2/2), whose posterior has the mean g, the covariance (K^-1 + W)^-1 and
 * a = K^-1 g = h - W g, which the solver calls weights of the mean. A method looks for sites:
 *
 *     Laplace   h = W g + l'(f), w = -l''(f):  log evidence = sum l(f) - a'g/2 - log det(I + K W)/2
 *     EP        tilted moments:  log evidence = sum log Z_i + log of the Gaussian integral of all
 *                                sites - those with each cavity
 *     variational   h = W g + E[l'], w = -E[l'']:  lower bound sum E[l] - KL(posterior || prior)
 *
 * Where a log density is not concave some w are negative, which the exact solver alone can
 * condition on. A solver conditions on them (hfi_latent_condition()) and differentiates. EP and
 * the variational bound need a Gaussian evidence with the sites held still, and no more. Laplace
 * also has its mode answer to the prior, through bend_i = l'''_i / 2: (d value / d f_i) of the
 * determinant is variance_i bend_i. Parameters move the densities, and for Laplace its determinant
 * and its mode too.
 */
#ifndef HFI_INFERENCE_LATENT_H
#define HFI_INFERENCE_LATENT_H

#include "inference/curved.h"
#include "inference/mode.h"
#include "objective/evaluator.h"
#include "search/anderson.h"
#include "sites/likelihood.h"

typedef struct hfi_latent_problem hfi_latent_problem;

/** A way to look for sites: a row of a table by hf_inference. */
typedef struct hfi_latent_method {
    /** Sets value, w, linear, latent, alpha and half_third. */
    hf_status (*find_sites)(hfi_latent_problem *p, double *value);
    /** After a settling, for Laplace also after the solver's gradient: d value / d log dispersion
     * and / d shape. */
    void (*slopes)(const hfi_latent_problem *p, double bar[2]);
    bool mode;   /* the mode answers to the prior, through half_third */
    double tilt; /* of the problem, to begin with */
} hfi_latent_method;

extern const hfi_latent_method hfi_latent_laplace, hfi_latent_ep, hfi_latent_variational;
/** NULL: that inference is not of this table. */
const hfi_latent_method *hfi_latent_method_of(hf_inference inference);

struct hfi_latent_problem {
    hf_context *ctx;
    const hfi_likelihood *likelihood;
    const hfi_latent_method *method;
    const hf_kernel *kernel; /* the caller's, as are their values */
    const hf_mean *mean;
    /* of the likelihood; the caller sets both before an evaluation. Default: 1 */
    double dispersion;
    double shape;
    /* EP: share of a site that its cavity is without. Default: 1; less: fractional EP */
    double power;
    /* Distance to the wanted sites, in units of the marginal posterior, at which EP and the
     * variational iteration have settled. The gradient is in error by it, the value by its square.
     * Default: 1e-10, or 1e-6 where a log density is not concave. */
    double tolerance;
    /* A variational bound that is below, and rises too slowly to get there, is left early. Default:
     * -infinity */
    double floor;
    size_t rows, d;
    const double *x;
    size_t ldx;
    size_t n; /* rows with a reading: their numbers, inputs (n x d) and readings */
    size_t *row;
    double *inputs;
    hfi_seen *seen;
    double *extra; /* known variances, beyond the dispersion */

    double *matrix; /* exact: n x n, of `curved`; NULL for the inducing solver */
    bool owns_matrix;
    /* NULL, or receives a way out where a conditioning finds no posterior: hfi_curved_factor() */
    double *escape;
    hfi_curved curved; /* exact: K */
    /* The inducing solver's: its sites are of these rows; `inducing` in it is borrowed. */
    hfi_evaluator inducing;
    double *vectors;
    /* One after the other: precisions, h, a, g, and the marginal variances of the posterior, when
     * they were asked for. */
    double *w, *linear, *alpha, *latent, *variance;
    double *offset; /* prior mean m */
    /* VFE: how much of the derivative of the trace in w the marginal variances get */
    double tilt;
    double trace_bar[2]; /* VFE under EP: what the trace adds to the slopes; set by a gradient */
    double *half_third;  /* l'''/2, or 0 for EP */
    double *answer;      /* Laplace, with a gradient: (K^-1 + W)^-1 of variance_i bend_i */
    double *kept_w, *kept_linear, *kept_alpha; /* where an evaluation starts, one after the other */
    bool started;                              /* these are of use */
    /* log det(I + K W) of the last conditioning; VFE: + the trace of its bound */
    double log_det;
    hfi_likelihood_slopes *at;         /* Laplace: at the latent values */
    hfi_likelihood_tilted *tilted;     /* EP: moments */
    hfi_likelihood_expected *expected; /* variational */
    double *work;                      /* HFI_LATENT_WORK x n */
    bool converged;                    /* so has the last evaluation's iteration */
    size_t rounds;                     /* steps it took */
    size_t factorisations;             /* of all evaluations */
};

enum {
    HFI_LATENT_WORK = 6,
    HFI_LATENT_KEPT = 3 /* vectors from w on that an evaluation starts from */
};

/** Rows and model of a problem; all outlive it but y, shift and extra. */
typedef struct hfi_latent_given {
    const hf_kernel *kernel;
    const hf_mean *mean;
    size_t rows;
    const double *x;
    size_t ldx;
    const double *y;     /* `rows` readings that the likelihood allows; NaN: none */
    const double *shift; /* `rows` numbers added to the latent values, or NULL */
    const double *extra; /* `rows` known variances added to the dispersion, or NULL */
    /* NULL: the exact solver; else the inducing one, which a factorisation changes */
    hfi_inducing *inducing;
    /* n x n memory for the exact solver, n readings; NULL: the problem has its own */
    double *matrix;
} hfi_latent_given;

/** A problem of the rows with a reading. *out is zeroed on error. HF_ERR_TOO_LARGE when it cannot
 * fit. */
hf_status hfi_latent_problem_init(hf_context *ctx, const hfi_likelihood *likelihood,
                                  hf_inference inference, const hfi_latent_given *given,
                                  hfi_latent_problem *out);
void hfi_latent_problem_free(hfi_latent_problem *p);
/** The approximate log evidence at the present values of kernel, mean, dispersion and shape.
 * `gradient`, or NULL: kernel parameters, mean coefficients, log dispersion (if the likelihood has
 * one, or inducing inputs are trained; else not touched), the shape (if it has one), and where they
 * are trained the inducing inputs. An iteration that does not converge is no error: p->converged
 * tells. */
hf_status hfi_latent_evaluate(hfi_latent_problem *p, double *value, double *gradient);
/** Evaluations start from now on where the last one ended. */
void hfi_latent_keep(hfi_latent_problem *p);
/** The part of an evaluation that is cheap: offsets, and readings at the present dispersion and
 * shape. */
void hfi_latent_place(hfi_latent_problem *p);
/** Sites of the last evaluation: z = f + a / w, d = 1 / w, arrays of all rows; those without a
 * reading, and those of which nothing is left: infinite variance. Where a log density is not
 * concave w is at least a hundredth of hfi_likelihood.touch: a posterior K - K S K with S positive
 * semi-definite cannot be given the negative precisions of wild readings, but its mean stays
 * exactly what it was. */
void hfi_latent_sites(const hfi_latent_problem *p, double *target, double *variance);

/* ---- where a log density is not concave (latent_stable.c) ---- */

/** g and a at a place that outliers have little say in: re-weighted least squares while the
 * dispersion shrinks from that of all residuals to the present one. */
hf_status hfi_latent_cold(hfi_latent_problem *p);
/** Sites of the re-weighted least squares at g, for which there always is a posterior. */
void hfi_latent_touch(hfi_latent_problem *p, double widening);
/** A step up for a search whose `self` is a problem, from the place of a failed conditioning. It
 * goes by the positive part of the precisions, by re-weighting or along p->escape;
 * HF_ERR_NOT_POSITIVE_DEFINITE where none leads up. */
hf_status hfi_latent_leave_saddle(hfi_mode_search *search);

/* ---- solvers: of a problem's own (latent_solver.c), exact, inducing ---- */

/** Prepares conditionings at the present kernel and mean. */
hf_status hfi_latent_prepare(hfi_latent_problem *p);
/** Factors for the covariances at the present kernel. */
hf_status hfi_latent_exact_prepare(hfi_latent_problem *p);
/** The posterior under the sites (w, linear) in place: `alpha`, `latent` (not those of the
 * problem), log_det and, if not NULL, the marginal variances. */
hf_status hfi_latent_condition(hfi_latent_problem *p, double *alpha, double *latent,
                               double *variance);
hf_status hfi_latent_exact_condition(hfi_latent_problem *p, double *alpha, double *latent,
                                     double *variance);
hf_status hfi_latent_inducing_condition(hfi_latent_problem *p, double *alpha, double *latent,
                                        double *variance);
/** The same for other linear coefficients but the precisions of the last time: `alpha` and
 * `latent` alone. O(n^2). */
void hfi_latent_exact_mean(hfi_latent_problem *p, double *alpha, double *latent);
/** Laplace's evidence has a tangent in place of log det in directions that are all but flat; the
 * gradient knows. *log_det receives that. */
hf_status hfi_latent_exact_soften(hfi_latent_problem *p, double *log_det);
/** The gradient at the sites that an evaluation ended with; for Laplace also `answer`. */
hf_status hfi_latent_gradient(hfi_latent_problem *p, double *gradient);
hf_status hfi_latent_exact_gradient(hfi_latent_problem *p, double *gradient);
hf_status hfi_latent_inducing_gradient(hfi_latent_problem *p, double *gradient);

/* ---- iteration of site precisions and linear coefficients to a fixed point (latent_sites.c):
 * what expectation propagation and the variational bound have in common ---- */

typedef struct hfi_site_loop {
    hfi_latent_problem *p;
    /** Posterior and moments at the sites in place (w and linear). Sets what follows; `usable`
     * false, and nothing else, where the sites have no posterior. */
    hf_status (*measure)(struct hfi_site_loop *loop);
    bool ascends; /* the value must not fall from one point to the next */
    double step;  /* share of the way to the wanted sites that a step makes */
    bool usable;
    double value;
    /* largest distance to a wanted site, in units of the marginal posterior */
    double change;
    /* that of the point before; 0 at sites kept, else infinite to begin with */
    double before;
    double *wanted;               /* 2 n: precisions, then linear coefficients */
    double *cavity;               /* 2 n: means, then variances; the method's own */
    double *numbers;              /* block that the arrays are cut from */
    double *at, *residual, *next; /* 2 n each: sites in units of their reading */
    double *unit; /* n: marginal variances to begin with, so that all numbers are of one size */
    hfi_anderson history;
} hfi_site_loop;

/** From the sites kept to a fixed point (p->converged) or as near as it goes; the posterior, the
 * moments and the value are those at the sites left in place. Without sites kept it starts from
 * Laplace's, which are near, or where log densities are not concave from those of re-weighted least
 * squares. HF_ERR_NOT_POSITIVE_DEFINITE: there is no posterior to report. */
hf_status hfi_site_loop_run(hfi_site_loop *loop);

#endif
