/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file student_impl.h
 * @brief One evaluation of an approximate evidence under Student-t noise; only inference/student*.c and its tests include this.
 *
 * Everything is relative to the prior mean: residual r = y - m, latent g = f - m, so that a = K^-1 g is what the solver calls
 * weights of the mean. Each method ends with site precisions w and with a, and approximates log p(y) by
 *
 *     Laplace       sum l(g) - a'g/2 - log det(I + K W)/2 (hfi_curved_soften()),      a = l'(g), w = -l''(g)
 *     EP            of Rasmussen and Williams (2006), section 3.6, for sites exp(h g - w g^2/2); a = h - W g
 *     variational   sum E_q[l] - KL(q || prior),                a = E_q[l'], w = -E_q[l'']; a lower bound
 *
 * all of them with W = diag(w), (K^-1 + W)^-1 the covariance of q.
 */
#ifndef HFI_STUDENT_IMPL_H
#define HFI_STUDENT_IMPL_H

#include "inference/curved.h"
#include "objective/evaluator.h"
#include "sites/student.h"
#include <math.h>

/** Of hfi_student_problem.tolerance: what an answer is known to, and what will do on the way there. */
static const double hfi_student_exact = 1e-6, hfi_student_rough = 1e-4;

typedef struct hfi_student_problem {
    hfi_evaluator *evaluator; /* exact, selected; its matrix is the scratch of `curved` */
    hf_student_method method;
    hfi_student t;
    double power;        /* EP: share of a site that its cavity is without; 1, or less for fractional EP */
    hfi_student powered; /* the density to that power */
    /* Of the sites of EP and the variational method: largest distance to a wanted site, in units of the marginal posterior. The gradient, exact at the fixed
     * point, is in error by it, the value by its square. */
    double tolerance;
    /* Value the variational bound has to reach to be of use: where it is below and rises too slowly
     * to get there, its iteration ends early. -infinity: nothing. */
    double floor;
    size_t n;
    hfi_curved curved; /* K, and the precisions w */
    double *vectors;
    double *residual, *scale;                        /* r, s of the present readings */
    double *latent, *force;                          /* g, a */
    double *pull;                                    /* h; EP alone */
    double *variance;                                /* diagonal of Sigma */
    double *kept_precision, *kept_force, *kept_pull; /* where an evaluation starts */
    bool started;                                    /* these are of use */

    /* What the value answers to: d value / dK = (aa' - R + va' + av')/2 and d value / dm = a + v. v is how Laplace's mode answers to
     * its prior, and 0 for the others. */
    double *v;
    double *scale_bar; /* d value / d log s_i */
    double nu_bar;     /* d value / d nu */

    double *work;   /* HFI_STUDENT_WORK x n */
    void *moments;  /* n of the method's: slopes, tilted moments, expectations */
    bool converged; /* so has the last evaluation's iteration */
    bool replaced;  /* expectation propagation had no fixed point: Laplace took over */
    size_t factorisations;
} hfi_student_problem;

enum {
    HFI_STUDENT_WORK = 5
};

/** A problem of the evaluator's present readings. *out is zeroed on error. HF_ERR_TOO_LARGE when it cannot fit. */
hf_status hfi_student_problem_init(hfi_evaluator *evaluator, hf_student_method method,
                                   hfi_student_problem *out);
void hfi_student_problem_free(hfi_student_problem *p);

/** The approximate log evidence at the present kernel, mean and noise of the evaluator. `gradient`, or NULL: kernel parameters, mean
 * coefficients, log sigma^2, nu. An iteration that does not converge is no error: p->converged tells. */
hf_status hfi_student_evaluate(hfi_student_problem *p, double nu, double *value, double *gradient);
/** The part of an evaluation that is cheap: nu, residuals and scales at the present values of the evaluator. */
void hfi_student_place(hfi_student_problem *p, double nu);
/** Evaluations start from now on where the last one ended. */
void hfi_student_keep(hfi_student_problem *p);

/** Targets and variances of positive sites with exactly the mean of the last approximation: z = m + g + a / w, d = 1 / w. The precision w
 * is the method's own, but at least a hundredth of hfi_student_precision(): a posterior K - K S K with S positive semi-definite cannot
 * be given the negative precisions of wild readings. Arrays of all rows; absent readings: infinite variance. */
void hfi_student_sites(const hfi_student_problem *p, double *target, double *variance);

/* ---- the methods: value, a, w; with `gradient` also R in the curved matrix, variance and what the value answers to ---- */

hf_status hfi_student_laplace(hfi_student_problem *p, bool gradient, double *value);
hf_status hfi_student_ep(hfi_student_problem *p, bool gradient, double *value);
hf_status hfi_student_variational(hfi_student_problem *p, bool gradient, double *value);

/** g and a at a place that outliers have little say in: re-weighted least squares while the scale shrinks from that of all residuals
 * to the present one. */
hf_status hfi_student_cold(hfi_student_problem *p);
/** Sites of the re-weighted least squares at g: precisions and pulls, for which there always is a posterior. */
void hfi_student_positive(hfi_student_problem *p);
/** a := b - R K b, g := K a, after a factorisation: the mean under the precisions w for sites exp(b g - w g^2/2). */
void hfi_student_mean(hfi_student_problem *p, const double *b);

#endif
