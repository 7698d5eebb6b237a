/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file curved.h
 * @brief A Gaussian posterior of n latent values under site precisions of either sign.
 *
 * Prior N(0, K), precisions W = diag(w). A log density that is not concave, as Student-t's, has
 * readings of negative precision: they widen the posterior, which exists as long as K^-1 + W is
 * positive definite. With W+ = max(W, 0), the set N of the o readings of negative precision and s =
 * sqrt(-w) on it,
 *
 *     B = I + W+^1/2 K W+^1/2            always positive definite, eigenvalues from 1
 *     H = I - s Sigma+_NN s              positive definite if and only if K^-1 + W is; Sigma+ = (K^-1 + W+)^-1
 *     log det(I + K W) = log det B + log det H
 *     R = K^-1 - K^-1 Sigma K^-1 = W+^1/2 B^-1 W+^1/2 - F F',   F = K^-1 Sigma+_:N s chol(H)^-T
 *     Sigma = (K^-1 + W)^-1 = K - K R K
 *
 * so neither K nor W is ever inverted. One factorisation costs n^3/3 + 2 o n^2.
 */
#ifndef HFI_TRAIN_CURVED_H
#define HFI_TRAIN_CURVED_H

#include "core/core.h"

typedef struct hfi_curved {
    hf_context *ctx;
    size_t n;
    double *k; /* n x n, both triangles: the caller fills it */
    double *b; /* n x n, the caller's: factor of B, lower; after hfi_curved_finish() R, lower */
    double *w; /* n */
    double log_det;
    double *root; /* n: W+^1/2 */
    size_t negatives, capacity;
    size_t *negative;                      /* N */
    double *f;                             /* n x o */
    double *f_rows;                        /* o x n: F' */
    double *h;                             /* o x o: factor of H, and H */
    double *work;                          /* 3 n */
    size_t flat;                           /* directions softened, hfi_curved_soften() */
    double *flat_excess, *flat_r, *flat_k; /* 1/h_j - 1/limit; n each: p_j, K p_j */
    /* n x (n + 1), made when hfi_curved_variances() needs it */
    double *spare;
} hfi_curved;

/** `b` is n x n memory of the caller's that outlives the object. *out is zeroed on error. */
hf_status hfi_curved_init(hf_context *ctx, size_t n, double *b, hfi_curved *out);
void hfi_curved_free(hfi_curved *c);
/** Bytes of an object with `negatives` readings of negative precision, b included. */
double hfi_curved_bytes(size_t n, size_t negatives);

/** Factors for the precisions in c->w. HF_ERR_NOT_POSITIVE_DEFINITE (no message) when K^-1 + W is
 * not; then, if `escape` is not NULL, it receives u with the direction K u along which -f'(K^-1 +
 * W) f is positive. */
hf_status hfi_curved_factor(hfi_curved *c, double *escape);
/** out := R x, out != x. */
void hfi_curved_r(const hfi_curved *c, const double *x, double *out);
/** out := K x. */
void hfi_curved_k(const hfi_curved *c, const double *x, double *out);

/** After a factorisation, for Laplace's evidence, which is singular where a direction of the
 * posterior loses its curvature: with the eigenvalues h_j of H, those below `limit` count in
 * *log_det by the tangent of the logarithm, log(limit) + (h_j / limit - 1). The derivatives of the
 * result are those of log det(I + K W) with
 *
 *     R + sum_j e_j p_j p_j'  for R,     Sigma_ii - e_j (K p_j)_i^2  for Sigma_ii  (in N: the last
 *     term divided by 1 - h_j),
 *
 * e_j = 1/h_j - 1/limit, p_j = K^-1 Sigma+_:N s u_j for the eigenvectors u_j. O(o^3). */
hf_status hfi_curved_soften(hfi_curved *c, double limit, double *log_det);
/** Makes these changes: to `variance`, and to R, after hfi_curved_finish(). */
void hfi_curved_soften_variances(const hfi_curved *c, double limit, double *variance);
void hfi_curved_soften_r(hfi_curved *c);

/** After a factorisation, which stays: `variance` receives the diagonal of Sigma. n^3/3 + 2 o n^2
 * flops. */
hf_status hfi_curved_variances(hfi_curved *c, double *variance);
/** After a factorisation: b becomes R (both triangles) and `variance` the diagonal of Sigma. n^3
 * flops. hfi_curved_r() is not for use afterwards. */
hf_status hfi_curved_finish(hfi_curved *c, double *variance);

#endif
