/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file classify.h
 * @brief Internal face of the classify room: one evaluation of an approximate evidence of labels of two classes.
 *
 * Everything is relative to the prior mean: latent g = f - m, a = K^-1 g, which the solver calls weights of the mean. Every method ends with site
 * precisions w and with a; (K^-1 + W)^-1 is the covariance of the approximation, and
 *
 *     Laplace       log evidence = sum l(f) - a'g/2 - log det(I + K W)/2,       a = l'(f), w = -l''(f)
 */
#ifndef HFI_CLASSIFY_H
#define HFI_CLASSIFY_H

#include "classify/likelihood.h"
#include "posterior/posterior.h"
#include "train/curved.h"

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

    double *matrix;    /* n x n, of `curved` */
    hfi_curved curved; /* K, and the precisions w */
    double *vectors;
    double *offset;                /* prior mean m */
    double *latent, *force, *pull; /* g, a, h = a + W g */
    double *variance;              /* of f under the approximation */
    double *kept_force;            /* where an evaluation starts */
    bool started;                  /* that is of use */
    hfi_class_slopes *at;          /* at the latent values */
    /* What the value answers to: d value / dK = (aa' - R + va' + av')/2 and d value / dm = a + v; v is how a mode answers to its prior. */
    double *v;
    double *work;   /* HFI_CLASS_WORK x n */
    bool converged; /* so has the last evaluation's iteration */
    size_t rounds;  /* steps it took */
} hfi_class_problem;

enum {
    HFI_CLASS_WORK = 5
};

/** Labels as every function of this room takes them: HF_ERR_ARGUMENT for one out of range, HF_ERR_NO_DATA where none is left; names the row. */
hf_status hfi_class_check_labels(hf_context *ctx, size_t n, const size_t *label, size_t classes);
/** How many classes a link is for: HF_ERR_ARGUMENT otherwise. */
hf_status hfi_class_check_link(hf_context *ctx, hf_link link, size_t classes);
/** Rows with a label must be finite: HF_ERR_NOT_FINITE names the first that is not. */
hf_status hfi_class_check_rows(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                               const size_t *label);

/** A problem of checked labels of two classes; the arguments outlive it. *out is zeroed on error. HF_ERR_TOO_LARGE when it cannot fit. */
hf_status hfi_class_problem_init(hf_context *ctx, hf_link link, hf_inference inference,
                                 const hf_kernel *kernel, const hf_mean *mean, size_t rows, const double *x,
                                 size_t ldx, const size_t *label, hfi_class_problem *out);
void hfi_class_problem_free(hfi_class_problem *p);
/** The approximate log evidence at the present values of kernel and mean. `gradient`, or NULL: kernel parameters, mean coefficients. An iteration that does
 * not converge is no error: p->converged tells. */
hf_status hfi_class_evaluate(hfi_class_problem *p, double *value, double *gradient);
/** Evaluations start from now on where the last one ended. */
void hfi_class_keep(hfi_class_problem *p);
/** Sites of the last evaluation: z = f + a / w, d = 1 / w, arrays of all rows; those without a label, and those of which nothing is left: infinite variance. */
void hfi_class_sites(const hfi_class_problem *p, double *target, double *variance);

/** The method: value, a, w; with `gradient` also R in the curved matrix, variance and v. */
hf_status hfi_class_laplace(hfi_class_problem *p, bool gradient, double *value);

#endif
