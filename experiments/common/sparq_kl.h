/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq_kl.h
 * @brief Kullback-Leibler distances between posteriors of one function: from a few readings, from
 * many, and the variational one that a few places have of many readings.
 *
 * A pivoted factor L of the prior covariance of n readings (SE kernel, zero mean) makes f = L u
 * with r standard normal u. Every posterior here is one of u with a mean a and a precision C = I +
 * G' D^-1 G. G are the rows that its readings have and D their noise variances, so that
 *
 *     KL[q || p] = 1/2 (tr C_p C_q^-1 - r + (a_q - a_p)' C_p (a_q - a_p) + log det C_q - log det C_p)
 *
 * is exact whatever repeats among the readings: no covariance matrix is inverted. The law of
 * f elsewhere, given u, is the same for all.
 */
#ifndef EXPERIMENTS_SPARQ_KL_H
#define EXPERIMENTS_SPARQ_KL_H

#include <stdbool.h>
#include <stddef.h>

/** Readings of f that there could be, and the factor of their covariance. */
typedef struct kl_frame {
    size_t n, r;
    double variance, lengthscale; /**< of the kernel */
    const double *x;              /**< n */
    const double *noise;          /**< n: variances */
    double *l;                    /**< n x r */
    size_t *pivot;                /**< r: the readings whose rows of L are triangular */
} kl_frame;

/** A posterior of u: its precision, that's factor, and what makes its mean of readings y. */
typedef struct kl_posterior {
    const kl_frame *frame;
    double *precision; /**< r x r */
    double *factor;    /**< r x r lower: precision = factor factor' */
    double *project;   /**< r x r, or NULL for the identity */
    const bool *holds; /**< n: the readings it has; NULL: all */
    double log_det;
} kl_posterior;

/** x and noise must stay. Rank: until no reading's variance given the pivots exceeds 1e-10 of the
 * prior's. O(n r^2). */
void kl_frame_make(size_t n, const double *x, const double *noise, double variance,
                   double lengthscale, kl_frame *out);
void kl_frame_free(kl_frame *frame);

/** That of the readings held (NULL: all). `holds` must stay. O(n r^2). */
void kl_exact(const kl_frame *frame, const bool *holds, kl_posterior *out);
/** The best that a variational posterior of all readings can be through f at m of their places
 * (Titsias 2009). O((n + m) r^2). */
void kl_variational(const kl_frame *frame, size_t m, const size_t *rows, kl_posterior *out);
void kl_posterior_free(kl_posterior *posterior);

/** a := the mean, given readings (n; those not held are not looked at). */
void kl_mean(const kl_posterior *posterior, const double *y, double *a);
/** KL[q || p] for these means. */
double kl_distance(const kl_posterior *q, const kl_posterior *p, const double *mean_q,
                   const double *mean_p);
/** The same, expected over y from the model, where p has all readings and q some of them. */
double kl_expected_part(const kl_posterior *q, const kl_posterior *p);
/** The same for a variational q: KL[N(0, K + D) || N(0, Q + D)] + 1/2 tr D^-1 (K - Q). */
double kl_expected_variational(const kl_posterior *q, const kl_posterior *p);
/** tr(K - Q) / least noise, which bounds it (SparQ-GP-UCB, eq. 51). */
double kl_trace_bound(const kl_posterior *variational);
/** Sum of all eigenvalues of K but the m largest. */
double kl_tail(const kl_frame *frame, size_t m);
/** Mean and variance of f at x. */
void kl_predict(const kl_posterior *posterior, const double *a, double x, double *mean,
                double *variance);
/** Readings among those not held, one after another where f is least known given those held and
 * those before: holds[] is set for `count` more, as far as there are any. */
void kl_choose(const kl_frame *frame, size_t count, bool *holds);

#endif
