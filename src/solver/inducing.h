/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file inducing.h
 * @brief The inducing solver: m inputs Z stand for all readings. O(n m^2) in one pass over the
 * rows, memory O(m^2) and a chunk of rows, whatever n is.
 *
 * With Kuu = K_ZZ (+ jitter) = Lu Lu', k_j = K_Z,x_j, precision p_j of reading j (0 when it is
 * absent):
 *
 *     Sigma = Kuu + sum_j p_j k_j k_j' = Lu (I + V V') Lu',    B = I + V V' = Lb Lb'
 *     b = sum_j p_j k_j (z_j - m_j),   t = Sigma^-1 b,   S = Kuu^-1 - Sigma^-1
 *
 * VFE and DTC have p_j = 1 / d_j, FITC has 1 / (d_j + k_jj - q_jj), q_jj = k_j' Kuu^-1 k_j. White
 * noise of the kernel belongs to d_j here: p_j = 1 / (d_j + white_j + ...). S = R R' with R = Lu^-T
 * U diag(sqrt(1 - 1/lambda)), where B = U diag(lambda) U'.
 *
 * Everything is computed with whitened columns v_j = Lu^-1 k_j (and y_j = Lb^-1 v_j): the latent
 * mean of reading j is m_j + v_j'w, w = Lu' t, its variance k_jj - q_jj + h_j + white_j with q_jj =
 * |v_j|^2 and h_j = |y_j|^2.
 *
 * In a group of processes (hf_context_set_group()) each one looks at its share of the rows, and all
 * get the same.
 */
#ifndef HFI_INDUCING_H
#define HFI_INDUCING_H

#include "solver/solver.h"

/** Every Kuu gets this much jitter, relative to hfi_jitter_scale(). */
#define HFI_INDUCING_JITTER 1e-10

typedef struct hfi_inducing {
    hf_context *ctx;
    hf_inducing_method method;
    size_t m, d;
    double *z;         /* m x d */
    bool train_inputs; /* gradients with respect to z are wanted */
    /* results of hfi_inducing_factor, at the kernel, mean, sites and rows it was called with */
    /* m x m, lower, column-major; the strict upper triangle is scratch, here and below */
    double *lu;
    double *lb;       /* m x m, lower, column-major */
    double *t;        /* m: weights of the mean */
    double *whitened; /* m: c = Lb^-1 Lu^-1 b = Lb' w */
    double *w;        /* m: Lu' t = Lb^-T c */
    double jitter;    /* absolute amount on the diagonal of Kuu */
    double scale;     /* what the jitter is relative to */
    double norm;      /* 1-norm of Kuu */
    double log_det;   /* log det B + sum over present readings of log(1 / p_j) */
    double quadratic; /* sum_j p_j r_j^2 - |whitened|^2,  r = z - m */
    /* sum_j (k_jj - q_jj) / (d_j + white_j) over present readings: the VFE trace term */
    double unresolved;
    size_t present;
    double *sums; /* B (m x m), then Lu^-1 b (m), then some scalars: what the pass adds up */
} hfi_inducing;

/** Copies z (m x d, stride ldz). *out is zeroed on error. O(m^2) memory and a chunk:
 * HF_ERR_TOO_LARGE when there is not enough. */
hf_status hfi_inducing_init(hf_context *ctx, hf_inducing_method method, size_t m, size_t d,
                            const double *z, size_t ldz, hfi_inducing *out);
void hfi_inducing_free(hfi_inducing *inducing);
/** Bytes held at the peak, and flops of one factorisation, for n readings. */
void hfi_inducing_cost(size_t n, size_t d, size_t m, double *bytes, double *flops);

/** One pass over `rows` rows of x. Presence, z and d come from the sites. HF_WARN_JITTER when Kuu
 * needed more than the jitter every Kuu gets (1e-10 of its scale); HF_ERR_NO_DATA when no reading
 * is present; HF_ERR_NOT_FINITE when something overflows. The sums of several processes are added
 * up (hfi_group_sum). After an error the results are undefined until the next call. */
hf_status hfi_inducing_factor(hfi_inducing *u, const hf_kernel *kernel, const hf_mean *mean,
                              const hf_sites *sites, size_t rows, const double *x, size_t ldx);
/** Log of the objective the method is named after (VFE: the bound), from the last factorisation. */
double hfi_inducing_log_evidence(const hfi_inducing *u);
/** Latent mean (prior mean included) and variance (white included, as in predictions) of f at every
 * row, from the last factorisation; `cavity` leaves out the reading's own site. The rows need not
 * be those of the factorisation unless it does. `marginal_mean`, `marginal_variance`: rows entries.
 * O(rows m^2). */
hf_status hfi_inducing_marginals(hfi_inducing *u, const hf_kernel *kernel, const hf_mean *mean,
                                 const hf_sites *sites, size_t rows, const double *x, size_t ldx,
                                 bool cavity, double *marginal_mean, double *marginal_variance);
/** The solution (dense form, anchors Z) from the last factorisation. Its log_det is that of Q + D
 * (FITC: + diag(K - Q)), its condition that of Kuu, its backward error that of B w = Lu^-1 b.
 * O(m^3). */
hf_status hfi_inducing_solution(hfi_inducing *u, hfi_solution *out);

/** Sums that one pass over the rows makes behind B and Lu^-1 b in hfi_inducing.sums. */
enum {
    HFI_INDUCING_LOG_PRECISION, /* sum log p_j */
    HFI_INDUCING_SQUARES,       /* sum p_j r_j^2 */
    HFI_INDUCING_UNRESOLVED,    /* sum (k_jj - q_jj) / (d_j + white_j) */
    HFI_INDUCING_SCALARS
};

#endif
