/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file classify.h
 * @brief Internal face of the classify room: one evaluation of an approximate evidence of labels of two classes.
 *
 * Everything is relative to the prior mean: latent g = f - m with prior N(0, K), and sites exp(h g - w g^2/2), whose posterior has the mean g, the
 * covariance (K^-1 + W)^-1 and a = K^-1 g = h - W g, which the solver calls weights of the mean. A method looks for sites:
 *
 *     Laplace       h = W g + l'(f), w = -l''(f):      log evidence = sum l(f) - a'g/2 - log det(I + K W)/2
 *     EP            tilted moments:                    log evidence = sum log Z_i + log of the Gaussian integral of all sites - those with each cavity
 *
 * A solver conditions on them (hfi_class_condition()) and differentiates. Beyond a Gaussian evidence with the sites held still, which is all for EP, Laplace
 * has its mode answer to the prior, through bend_i = l'''_i / 2: (d value / d f_i) of the determinant is variance_i bend_i.
 */
#ifndef HFI_CLASSIFY_H
#define HFI_CLASSIFY_H

#include "classify/likelihood.h"
#include "inference/curved.h"
#include "objective/evaluator.h"
#include "posterior/posterior.h"

/** For who owns the classifier: the posterior that it owns. */
hf_posterior *hfi_classifier_posterior(hf_classifier *classifier);

typedef struct hfi_class_problem {
    hf_context *ctx;
    hf_link link;
    hf_inference inference;
    const hf_kernel *kernel; /* the caller's, as are their values */
    const hf_mean *mean;
    size_t rows, d;
    const double *x;
    size_t ldx;
    size_t n; /* labelled rows: their numbers, inputs (n x d) and signs */
    size_t *row;
    double *inputs, *sign;

    double *matrix;    /* exact: n x n, of `curved`; NULL for the inducing solver */
    hfi_curved curved; /* exact: K */
    hfi_evaluator
        inducing; /* the inducing solver's: its sites are of the labelled rows; `inducing` in it is borrowed */
    double *vectors;
    double *w, *pull;       /* precisions, h */
    double *offset;         /* prior mean m */
    double *latent, *force; /* g, a */
    double *variance;       /* marginal ones of the posterior, when they were asked for */
    double tilt;            /* VFE: how much of the derivative of the trace in w the marginal variances get */
    double *bend;           /* l'''/2, or 0 for EP */
    double *kept_w, *kept_pull; /* where an evaluation starts */
    bool started;               /* these are of use */
    double log_det;             /* log det(I + K W) of the last conditioning; VFE: + the trace of its bound */
    hfi_class_slopes *at;       /* Laplace: at the latent values */
    struct hfi_class_tilted *tilted; /* EP: moments */
    double *work;                    /* HFI_CLASS_WORK x n */
    bool
        rough; /* on the way of a search: EP's sites to 1e-6 of the marginal posterior, which the gradient is then in error by, not to 1e-10 */
    bool converged; /* so has the last evaluation's iteration */
    size_t rounds;  /* steps it took */
} hfi_class_problem;

enum {
    HFI_CLASS_WORK = 6
};

/** Labels as every function of this room takes them: HF_ERR_ARGUMENT for one out of range, HF_ERR_NO_DATA where none is left; names the row. */
hf_status hfi_class_check_labels(hf_context *ctx, size_t n, const size_t *label, size_t classes);
/** How many classes a link is for: HF_ERR_ARGUMENT otherwise. */
hf_status hfi_class_check_link(hf_context *ctx, hf_link link, size_t classes);
/** Rows with a label must be finite: HF_ERR_NOT_FINITE names the first that is not. */
hf_status hfi_class_check_rows(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                               const size_t *label);

/** A problem of checked labels of two classes; the arguments outlive it. With `inducing` (NULL: exact), which a factorisation changes, by that solver.
 * *out is zeroed on error. HF_ERR_TOO_LARGE when it cannot fit. */
hf_status hfi_class_problem_init(hf_context *ctx, hf_link link, hf_inference inference,
                                 const hf_kernel *kernel, const hf_mean *mean, size_t rows, const double *x,
                                 size_t ldx, const size_t *label, hfi_inducing *inducing,
                                 hfi_class_problem *out);
void hfi_class_problem_free(hfi_class_problem *p);
/** The approximate log evidence at the present values of kernel and mean. `gradient`, or NULL: kernel parameters, mean coefficients, and
 * where they are trained the inducing inputs after one entry that is 0. An iteration that does not converge is no error: p->converged tells. */
hf_status hfi_class_evaluate(hfi_class_problem *p, double *value, double *gradient);
/** Evaluations start from now on where the last one ended. */
void hfi_class_keep(hfi_class_problem *p);
/** Sites of the last evaluation: z = f + a / w, d = 1 / w, arrays of all rows; those without a label, and those of which nothing is left: infinite variance. */
void hfi_class_sites(const hfi_class_problem *p, double *target, double *variance);

/* ---- methods: value, and w, pull, latent, force, bend ---- */

hf_status hfi_class_laplace(hfi_class_problem *p, double *value);
hf_status hfi_class_ep(hfi_class_problem *p, double *value);

/* ---- solvers ---- */

/** Factors for the covariances at the present kernel. */
hf_status hfi_class_exact_prepare(hfi_class_problem *p);
/** The posterior under the sites (w, pull) in place: `force`, `latent` (not those of the problem), log_det and, if not NULL, the marginal variances. */
hf_status hfi_class_condition(hfi_class_problem *p, double *force, double *latent, double *variance);
hf_status hfi_class_exact_condition(hfi_class_problem *p, double *force, double *latent, double *variance);
hf_status hfi_class_inducing_condition(hfi_class_problem *p, double *force, double *latent, double *variance);
/** The same for other pulls but the precisions of the last time: `force` and `latent` alone. O(n^2). */
void hfi_class_exact_mean(hfi_class_problem *p, double *force, double *latent);
/** The gradient at the sites that an evaluation ended with. */
hf_status hfi_class_exact_gradient(hfi_class_problem *p, double *gradient);
hf_status hfi_class_inducing_gradient(hfi_class_problem *p, double *gradient);

#endif
