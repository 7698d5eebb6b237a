/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file given.h
 * @brief A posterior given the values of f at some points, before these are known.
 *
 * With C = cov(P, P) = L L' over p points, w(x) = L^-1 cov(P, x) and f(P) = mean(P) + L e:
 *
 *     mean(x | f(P)) = mean(x) + w(x)' e        var(x | f(P)) = var(x) - |w(x)|^2
 *
 * so that one w serves whatever the values are. w_k(x) is a sum over anchors and points,
 * W' k([Z; P], x), W = [-S k(Z, P); I] L^-T, for every solver.
 */
#ifndef HFI_GIVEN_H
#define HFI_GIVEN_H

#include "posterior/posterior.h"

/** Latent; user's units outside, the posterior's inside. */
typedef struct hfi_given {
    const hf_posterior *posterior; /* the caller's */
    size_t p, rows;                /* rows = anchors + p */
    double scale;                  /* of f, in the user's units */
    double *mean;                  /* p, user's units */
    double *factor;                /* L, p x p, lower, column-major, user's units */
    double *inputs;                /* rows x d: Z, then P */
    double *weights;               /* W, rows x p, column-major */
    double *room;                  /* of the one-point functions */
} hfi_given;

/** Points p x d, stride d, checked by the caller; a posterior of one output. C may get jitter.
 * HF_ERR_MEMORY, HF_ERR_NOT_FINITE, HF_ERR_CANCELLED, HF_ERR_NOT_POSITIVE_DEFINITE; on error
 * `given` can only be ended. O(p n^2 + p^3). */
hf_status hfi_given_begin(hf_context *ctx, const hf_posterior *posterior, size_t p, const double *x,
                          hfi_given *given);
void hfi_given_end(hf_context *ctx, hfi_given *given);

/** w(x) (p entries). Not thread-safe. O((n + p) (d + p)). */
void hfi_given_at(hfi_given *given, const double *x, double *w);
/** gradient (d entries) := d/dx sum_k q_k w_k(x). Not thread-safe. O((n + p) (d + p)). */
void hfi_given_gradient(hfi_given *given, const double *x, const double *q, double *gradient);
/** w at m points (x m x d, stride d; w m x p, row-major), on all threads. HF_ERR_MEMORY. */
hf_status hfi_given_many(hf_context *ctx, const hfi_given *g, size_t m, const double *x, double *w);

#endif
