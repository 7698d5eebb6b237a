/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file inducing_impl.h
 * @brief How objectives of the inducing solver are differentiated.
 *
 * Every objective is a function of what the whitened columns v_j and the readings say about each
 * other:
 *
 *     F = sum_j f(mu_j, h_j, q_jj, k_jj, white_j, z_j, d_j, s_j, p_j, r_j) - penalty KL(q(u) || p(u)) + [evidence] g(B, c)
 *
 * with mu_j = v_j'w, h_j = v_j'B^-1 v_j, q_jj = v_j'v_j, B = I + sum_j p_j v_j v_j' = Lb Lb', c =
 * Lb^-1 sum_j p_j r_j v_j, w = Lb^-T c, and g = (|c|^2 - log det B)/2. With y_j = Lb^-1 v_j the
 * derivative in B is Lb^-T T Lb^-1, where
 *
 *     T y = dense y + tau y - (alpha c' + c alpha') y / 2
 *
 * and that in the right side sum_j p_j r_j v_j is Lb^-T gamma. The rest is local to a reading:
 *
 *     vbar_j = Lb^-T [ mubar_j c + p_j r_j gamma + 2 hbar_j y_j + 2 p_j T y_j ] + 2 qbar_j v_j
 *     kbar_j = Lu^-T vbar_j          Kuubar = -Lu^-T (sum_j vbar_j v_j') Lu^-1 / 2
 */
#ifndef HFI_INDUCING_IMPL_H
#define HFI_INDUCING_IMPL_H

#include "objective/evaluator.h"
#include "solver/inducing_chunk.h"

/** Derivatives of the objective in what belongs to one reading; one entry for each reading of a
 * chunk. */
typedef struct hfi_inducing_bars {
    double *mu, *h, *q;      /* mu_j, h_j, q_jj */
    double *prior, *white;   /* k_jj without white, white_j */
    double *offset;          /* prior mean */
    double *z, *d, *s;       /* of the site, and noise variance s_j */
    double *log_p, *r;       /* in log p_j (p_j itself can be too small to be squared) and in r_j */
    double *mean, *variance; /* work: latent mean and variance */
    double *numbers;         /* block that the arrays are cut from */
} hfi_inducing_bars;

hf_status hfi_inducing_bars_init(hf_context *ctx, size_t capacity, hfi_inducing_bars *bars);
/** The readings' part of the objective (0 for the evidence, which is known from the factorisation)
 * and its direct derivatives, those through B and c not included. The chunk is loaded and
 * solved. */
double hfi_inducing_terms(hf_objective objective, const hfi_inducing_chunk *chunk,
                          hfi_inducing_bars *bars);

/** State that the passes after the factorisation share. */
typedef struct hfi_inducing_reverse {
    hfi_evaluator *e;
    hf_objective objective;
    hfi_inducing_chunk chunk;
    hfi_inducing_bars bars;
    double penalty; /* of KL */
    double tau;
    double *alpha, *gamma; /* m each */
    /* m x m, both triangles; then m for sum_j mubar_j y_j and 1 for the value */
    double *dense;
    bool has_dense;
    double *vbar;    /* m x chunk */
    double *partial; /* one vector of m for each job of a chunk */
    double *room;    /* per thread: dense times the columns of a job */
    /* gradient, then sum_j vbar_j v_j' (m x m): what the processes of a group add up */
    double *sums;
    size_t count; /* entries of the gradient */
} hfi_inducing_reverse;

/** Buffers; `gradient` adds what differentiating needs. */
hf_status hfi_inducing_reverse_init(hfi_evaluator *e, hf_objective objective, bool gradient,
                                    hfi_inducing_reverse *run);
void hfi_inducing_reverse_free(hfi_inducing_reverse *run);
/** Value of an objective that is not the evidence; and alpha, gamma, dense, tau if `gradient`. One
 * pass. */
hf_status hfi_inducing_forward(hfi_inducing_reverse *run, bool gradient, double *value);
/** The evaluator's query (query.h): its value, and its share of alpha, gamma and dense if
 * `gradient`; then of the gradient and of sum_j vbar_j v_j' (m x m). */
hf_status hfi_inducing_query_forward(hfi_inducing_reverse *run, bool gradient);
hf_status hfi_inducing_query_backward(hfi_inducing_reverse *run, double *gradient, double *square);
/** The gradient (run->count entries). One pass. */
hf_status hfi_inducing_backward(hfi_inducing_reverse *run, double *gradient);
/** Kuubar from sum_j vbar_j v_j' (lower triangle, destroyed), and on to kernel parameters, the
 * jitter's scale and, if z_grad is not NULL, inducing inputs. */
hf_status hfi_inducing_prior_adjoint(hfi_evaluator *e, double *square, double *theta,
                                     double *z_grad);
/** B := L^-1 B or L^-T B for all columns of a square B, on all threads. */
void hfi_inducing_divide(const hf_context *ctx, size_t m, const double *l, bool transposed,
                         double *b);

#endif
