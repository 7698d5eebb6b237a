/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kronecker.h
 * @brief The evidence of several outputs that were all read everywhere, without ever forming K.
 *
 * With N samples of T outputs, a kernel B_tt' k(x, x') and noise s_t (S = diag(s)), readings
 * ordered by sample,
 *
 *     K + D = k(X, X) (x) B + I (x) S,    S^-1/2 B S^-1/2 = U diag(l) U',    k(X, X) = Q diag(m) Q'
 *     det(K + D) = prod_t s_t^N prod_it (1 + m_i l_t)
 *     alpha = Q [ (Q' R S^-1/2 U)_it / (1 + m_i l_t) ] U' S^-1/2                        R, alpha: N x T
 *
 * and, with c_i = sum_t l_t / (1 + m_i l_t), g_t = sum_i m_i / (1 + m_i l_t), h_t = sum_i 1 / (1 +
 * m_i l_t),
 *
 *     d/dk = (alpha B alpha' - Q diag(c) Q') / 2          d/dB = (alpha' k alpha - S^-1/2 U diag(g) U' S^-1/2) / 2
 *     d/ds_t = (sum_i alpha_it^2 - (S^-1/2 U diag(h) U' S^-1/2)_tt) / 2
 *
 * O(N^3 + T^3 + N^2 T) instead of O((N T)^3). Source: Rakitsch, Lippert, Borgwardt, Stegle, "It is
 * all in the noise: efficient multi-task Gaussian process inference with structured residuals"
 * (2013).
 */
#ifndef HFI_TRAIN_KRONECKER_H
#define HFI_TRAIN_KRONECKER_H

#include "objective/evaluator.h"
#include "objective/samples.h"

/** Buffers for evaluating again and again. */
typedef struct hfi_kronecker {
    hfi_samples samples;
    size_t coregion; /* first parameter of the coregion, and how many it has */
    size_t coregion_count;
    double *x;      /* N x d, output 0 */
    double *k, *q;  /* N x N: k(X, X) and its eigenvectors */
    double *w;      /* N x N: weights of the gradient */
    double *values; /* N + T: eigenvalues m, l */
    double *small;  /* several T x T and T */
    double *wide;   /* several N x T */
} hfi_kronecker;

/**
 * Into e->kronecker, if the kernel is one coregion times the rest. The readings of the evaluator
 * must be a full table of at least three outputs (with two, factoring K is as fast); else nothing
 * happens. `sample` and `place_of` as in hfi_samples_init().
 */
hf_status hfi_kronecker_init(hfi_evaluator *e, size_t outputs, const size_t *sample,
                             const size_t *place_of);
void hfi_kronecker_free(hfi_evaluator *e);
/** Whether all sites are present and as Gaussian ones are: only then is D what it has to be. */
bool hfi_kronecker_applies(const hfi_evaluator *e);

#endif
