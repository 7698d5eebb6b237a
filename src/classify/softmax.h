/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file softmax.h
 * @brief More than two classes: Laplace's approximation under the softmax link, and the
 * probabilities that follow.
 *
 * Every class c has a latent function f_c, a priori independent of the others, and p(class c) =
 * exp(f_c) / sum_b exp(f_b). The C functions are outputs: the kernel and the mean are those of rows
 * whose last input is the number of the class. All vectors are C n long, class after class; with p
 * the probabilities at the mode and K = diag(K_1, ..., K_C),
 *
 *     a = l'(f) = y - p        W = -l''(f) = D - P P',   D = diag(p),
 *                              P = the diag(p_c) on top of each other
 *     log evidence = sum l(f) - a'g/2 - log det(I + K W)/2,       g = f - m = K a
 *
 * W couples the classes of one reading only. With E_c = D_c^1/2 (I + D_c^1/2 K_c D_c^1/2)^-1
 * D_c^1/2 and M = sum_c E_c (n x n; J: C identities on top of each other)
 *
 *     S = (K + W^-1)^-1 = E - E J M^-1 J' E
 *     log det(I + K W) = sum_c log det(I + D_c K_c) + log det M
 *
 * which costs C n^3, not C^3 n^3. Source: Rasmussen and Williams, Gaussian processes for machine
 * learning, 2006, sections 3.5 and 5.5.3, algorithms 3.3 and 3.4.
 */
#ifndef HFI_SOFTMAX_H
#define HFI_SOFTMAX_H

#include "posterior/posterior.h"

/** Whether the error of probabilities of so many classes is estimated and not bounded. */
static inline bool hfi_softmax_is_estimate(size_t classes)
{
    return classes > 4;
}

typedef struct hfi_softmax_problem {
    hf_context *ctx;
    /* the caller's, as are their values; of d inputs, the last being the class */
    const hf_kernel *kernel;
    const hf_mean *mean;
    size_t d, classes;
    size_t n; /* labelled rows */
    size_t *label;
    double *inputs; /* C n x d: the labelled rows with the class put last, class after class */

    double *matrices; /* block that the next ones are cut from */
    double *k, *e;    /* C of n x n, lower triangles: K_c, E_c */
    double *m;        /* n x n: factor of M */
    double *spare;    /* 3 of n x n: for the gradient */
    double log_det;   /* of I + K W */

    double *vectors;
    double *offset;         /* prior mean m */
    double *latent, *alpha; /* g, a */
    double *probability;    /* p */
    double *slope;          /* y - p */
    double *kept_alpha;     /* a that an evaluation starts from */
    bool started;           /* that is of use */
    double *v;              /* how the mode answers to its prior: d value / dm = a + v */
    double *work;           /* HFI_SOFTMAX_WORK x C n */
    /* NULL, or: likelihoods are expectations over it (softmax_spread.c) */
    struct hfi_softmax_spread *spread;
    bool converged; /* so has the last evaluation's iteration */
    size_t rounds;  /* steps it took */
} hfi_softmax_problem;

enum {
    HFI_SOFTMAX_WORK = 4
};

/** A problem of checked labels below `classes`, SIZE_MAX for none; kernel and mean outlive it. x:
 * rows x (d - 1), row-major, stride ldx, read here. *out is zeroed on error. HF_ERR_TOO_LARGE when
 * it cannot fit, HF_ERR_DIMENSION for a kernel without an input for the class. */
hf_status hfi_softmax_init(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                           size_t rows, const double *x, size_t ldx, const size_t *label,
                           size_t classes, hfi_softmax_problem *out);
void hfi_softmax_free(hfi_softmax_problem *p);
/** HF_ERR_ARGUMENT unless the kernel makes the classes independent; looked up at the readings. */
hf_status hfi_softmax_check_kernel(const hfi_softmax_problem *p);
/** The approximate log evidence at the present values of kernel and mean. `gradient`, or NULL:
 * kernel parameters, mean coefficients. An iteration that does not converge is no error:
 * p->converged tells. */
hf_status hfi_softmax_evaluate(hfi_softmax_problem *p, double *value, double *gradient);
/** From the mode, where the last evaluation ended, to the mean that goes best with the covariance
 * there: latent, alpha. The evaluation's sites stay, its factors do not. 4 C n^3 flops, then C n^3
 * and some 1000 C n exponentials for each of 5 to 20 steps. */
hf_status hfi_softmax_correct(hfi_softmax_problem *p);
/** The posterior of the last evaluation: a dense S = R R' with R = Q L^-T, W = Q Q' (C - 1 columns
 * for each reading), L L' = I + Q'K Q. ((C-1) n)^3/3 + C n ((C-1) n)^2 flops, 8 (2C-1) (C-1) n^2
 * bytes. */
hf_status hfi_softmax_solution(hfi_softmax_problem *p, hfi_solution *out);
/** That as a posterior of C outputs without noise, in the units of `scaling`. */
hf_status hfi_softmax_give(hfi_softmax_problem *p, const hfi_scaling *scaling, hf_posterior **out);
/** HF_WARN_NOT_CONVERGED, unless the last evaluation's iteration has converged. */
hf_status hfi_softmax_check_converged(const hfi_softmax_problem *p);
/** One for n readings of `classes` classes and d inputs with the class: zeroed arrays.
 * HF_ERR_TOO_LARGE, HF_ERR_MEMORY; *out is zeroed on error. */
hf_status hfi_softmax_solution_alloc(hf_context *ctx, size_t n, size_t d, size_t classes,
                                     hfi_solution *out);
/** R and log_det of such a one from its anchors, class after class, and the probabilities at the
 * mode in `entry`, with the kernel: as they were made, at the same cost. */
hf_status hfi_softmax_restore(hf_context *ctx, const hf_kernel *kernel, size_t classes,
                              hfi_solution *s);

/* ---- steps of an evaluation ------------------------------------------------------------------ */

/** Probabilities and slopes at f, C values `stride` apart, for one label; returns log p(label).
 * `probability` and `slope` may be NULL. */
double hfi_softmax_density(size_t classes, size_t label, size_t stride, const double *f,
                           double *probability, double *slope);
/** E_c, M and log det for the probabilities in place. C n^3 flops. */
hf_status hfi_softmax_factor(hfi_softmax_problem *p);
/** out := S x, after that; out := K x. Neither may overlap. */
void hfi_softmax_s(const hfi_softmax_problem *p, const double *x, double *out);
void hfi_softmax_k(const hfi_softmax_problem *p, const double *x, double *out);
/** To the mode from the kept place or from 0, whichever is higher; factor and slopes are those at
 * it. */
hf_status hfi_softmax_mode(hfi_softmax_problem *p, double *value);
/** Newton's method from the latent values in place. */
hf_status hfi_softmax_newton(hfi_softmax_problem *p);
/** Sum of the expected log likelihoods at f (C n); expected probabilities, less what W lacks of
 * theirs, and slopes are left in their places. Where it has just been is not looked at again. */
double hfi_softmax_look_around(hfi_softmax_problem *p, const double *f);
/** Makes p->spread, for expectations over the last evaluation's covariance; to be freed, after an
 * error too. HF_ERR_MEMORY. */
hf_status hfi_softmax_spread_make(hfi_softmax_problem *p);
void hfi_softmax_spread_free(hfi_softmax_problem *p);
/** Derivatives of the value at the mode. 2 C n^3 flops. */
hf_status hfi_softmax_gradient(hfi_softmax_problem *p, double *gradient);

/* ---- probabilities --------------------------------------------------------------------------- */

/** Doubles of scratch for the next function. */
size_t hfi_softmax_scratch(size_t classes);
/** E[softmax(f)] for f ~ N(mean, covariance) (C x C, both triangles). *error, or NULL: for up to
 * four classes a bound on the error of each probability; else an estimate of it: three standard
 * errors of a quasi-Monte-Carlo sum of a fixed sequence. Allocates nothing, deterministic. */
void hfi_softmax_probability(size_t classes, const double *mean, const double *covariance,
                             double *probability, double *error, double *scratch);

/** Factor of the covariance of the differences to the last class from that of the values, v;
 * `stride` columns of which the first C - 1 are used; row C - 1 is zero. */
void hfi_softmax_differences(size_t classes, const double *v, size_t stride, double *factor);
/** `count` points of C - 1 numbers, spread as normal ones are, the same always. */
hf_status hfi_softmax_normals(hf_context *ctx, size_t classes, size_t count, double *points);

/** hf_classify_predict() for a posterior of C outputs; latent_mean and latent_var are m x C. `loss`
 * is that of the rule, or NULL. */
hf_status hfi_softmax_predict(hf_context *ctx, const hf_posterior *posterior, size_t classes,
                              const double *loss, size_t m, const double *x, size_t ldx,
                              double *probability, size_t *winner, double *latent_mean,
                              double *latent_var, double *error);

/* ---- the public interface's part ------------------------------------------------------------- */

/** hf_class_evidence() of checked arguments. */
hf_status hfi_softmax_evidence(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                               size_t n, const double *x, size_t ldx, const size_t *label,
                               size_t classes, double *value, double *gradient);
/** The posterior of hf_classify_exact() of checked arguments; `correct`: with the corrected
 * mean. */
hf_status hfi_softmax_posterior(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                size_t n, const double *x, size_t ldx, const size_t *label,
                                size_t classes, bool correct, hf_posterior **out, double *value);
/** `expression`, a kernel of the features, as one of C independent functions, "coregion('column',
 * ...)*...": the same hyperparameters for all with `shared`, else each its own. The text is the
 * caller's, hfi_free(); NULL when out of memory. `column`: name of the input with the class, NULL
 * for x<d>. */
char *hfi_softmax_expression(hf_context *ctx, const char *expression, const char *column, size_t d,
                             size_t classes, bool shared);

#endif
