/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file query.h
 * @brief Points beside the readings that a training looks at, and what they add to its objective.
 *
 * The addition is a function F(mu, Sigma) of the posterior's mean and covariance at q points x,
 * such as the logarithm of an expected utility. An evaluator of the inducing solver, or of block
 * actions with a bound, may have a query. It then adds F to the value and its derivatives to the
 * gradient, in all that a state holds: kernel, mean, noise, inducing inputs or entries of actions;
 * those in x go to x_bar. Weights of robust sites are held, as the objectives of readings hold
 * them. With dF = sum_a mubar_a dmu_a + sum_ab Sbar_ab dSigma_ab, Sbar symmetric, and names as in
 * solver/inducing.h:
 *
 *     mu_a = m(x_a) + y_a'c       Sigma_ab = k(x_a, x_b) - v_a'v_b + y_a'y_b
 *     vbar_a = Lb^-T [mubar_a c + 2 sum_b Sbar_ab y_b] - 2 sum_b Sbar_ab v_b
 *     kbar_a = Lu^-T vbar_a
 *     alpha, gamma += sum_a mubar_a y_a        dense -= sum_ab Sbar_ab y_a y_b'
 *
 * and in solver/projected.h, with b_a = A'k(X, x_a):
 *
 *     mu_a = m(x_a) + b_a'u       Sigma_ab = k(x_a, x_b) - b_a'G^-1 b_b
 *     bbar_a = mubar_a u - 2 sum_b Sbar_ab G^-1 b_b
 *     ubar += sum_a mubar_a b_a                Gbar += sum_ab Sbar_ab (G^-1 b_a)(G^-1 b_b)'
 */
#ifndef HFI_QUERY_H
#define HFI_QUERY_H

#include "posterior/posterior.h"
#include <holdfast/train.h>

/** F at a mean (q) and covariance (q x q), and its derivatives: q and q x q (both triangles; may
 * not be symmetric), not NULL. An error ends the evaluation. */
typedef hf_status (*hfi_query_add)(void *arg, size_t count, const double *mean, const double *cov,
                                   double *value, double *mean_bar, double *cov_bar);

typedef struct hfi_query {
    hf_context *ctx;
    size_t count, d;
    double *x; /* count x d, scaled inputs; may be changed between evaluations */
    hfi_query_add add;
    void *arg;
    /* of the last evaluation */
    double value;
    double *mean, *covariance;         /* latent, white noise included; scaled units */
    double *mean_bar, *covariance_bar; /* made symmetric */
    double *x_bar;                     /* count x d; of the last one with a gradient */
    double *room;                      /* three columns of m for each point */
    size_t m;
} hfi_query;

/** m: rows of the largest matrix beside the points: inducing inputs, or readings. */
hf_status hfi_query_init(hf_context *ctx, size_t q, size_t d, size_t m, hfi_query_add f, void *arg,
                         hfi_query *out);
void hfi_query_free(hfi_query *query);

/** Prior mean and covariance at the points, to begin with. */
hf_status hfi_query_prior(hfi_query *query, const hf_kernel *kernel, const hf_mean *mean);
/** F at what mean and covariance have become. HF_ERR_NOT_FINITE when any of it is not finite. */
hf_status hfi_query_tell(hfi_query *query);
/** x_bar anew, and gradient +=, from the prior: kernel parameters, coefficients of the mean. */
hf_status hfi_query_prior_adjoint(hfi_query *query, const hf_kernel *kernel, const hf_mean *mean,
                                  double *gradient);
/** The same from covariances with n anchors z, of weights w (n x count, column-major). `z_grad`
 * (n x d) +=, or NULL. */
hf_status hfi_query_cross_adjoint(hfi_query *q, const hf_kernel *kernel, size_t n, const double *z,
                                  const double *w, double *gradient, double *z_grad);

#endif
