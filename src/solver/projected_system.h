/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file projected_system.h
 * @brief Block actions against readings: the matrices that solving, leave-one-out and training share.
 *
 * Everything that belongs to a reading is kept "by place": in the order of the blocks, so that block a is the places
 * first[a] .. first[a+1]-1. With D = d + white noise of the kernel and K without it,
 *
 *     B = K A (n x i),  T = A'B,  Lambda = A'DA (diagonal),  G = T + Lambda = L L',  u = G^-1 A'r,  r = z - m
 *
 * Jitter, where G needs it to be factored, is relative to G's own diagonal and counts as more of Lambda: noise that the
 * projected readings A'z are said to have. It makes the posterior more careful, never less: S = A G^-1 A' only shrinks.
 */
#ifndef HFI_PROJECTED_SYSTEM_H
#define HFI_PROJECTED_SYSTEM_H

#include "solver/projected.h"

typedef struct hfi_block_system {
    hf_context *ctx;
    const hfi_block_actions *actions;
    size_t n, count, d;
    size_t *row;   /* by place: row of the table */
    double *x;     /* by place, n x d */
    double *r;     /* by place: z - m */
    double *noise; /* by place: D */
    double *prior; /* by place: k(x, x) without white noise */
    double *white; /* by place: the kernel's white noise */
    double *b;     /* n x count: B, and what becomes of it */
    double *t;     /* count x count: T, both triangles */
    double *lambda;
    double *factor; /* count x count: L, lower */
    double *rhs;    /* A'r */
    double *u;      /* G^-1 A'r */
    double *scale;  /* roots of G's diagonal */
    double jitter;  /* relative to the diagonal of G */
    double log_det; /* of G */
} hfi_block_system;

/** Room for `actions` over the present readings of the sites (as many as the actions have), whose inputs are copied in
 * their order. The actions stay the caller's. *out is zeroed on error. */
hf_status hfi_block_system_init(hf_context *ctx, const hfi_block_actions *actions, const hf_sites *sites,
                                size_t d, const double *x, size_t ldx, hfi_block_system *out);
void hfi_block_system_free(hfi_block_system *system);
/** One pass: all of the above for these parameters and the actions' present entries. HF_WARN_JITTER;
 * HF_ERR_NOT_POSITIVE_DEFINITE when the entries of a block are all zero; HF_ERR_NOT_FINITE. */
hf_status hfi_block_system_factor(hfi_block_system *system, const hf_kernel *kernel, const hf_mean *mean,
                                  const hf_sites *sites, hfi_precision precision);
/** First step over the rows, after the factor: weighted_l = b_l'u, square_l = b_l'G^-1 b_l (n entries each, by place). B becomes
 * B L^-T. O(n count^2). */
void hfi_block_system_rows(hfi_block_system *system, double *weighted, double *square);
/** Second step: the rows of B become (G^-1 b_l)'. O(n count^2). */
void hfi_block_system_inverse_rows(hfi_block_system *system);

/* ---- leave-one-out (projected_cavity.c) ------------------------------------------------------------------ */

/** What every block contributes to leaving out one of its readings, with P = G^-1 and o all other blocks. */
typedef struct hfi_block_rest {
    double *precision; /* pi = P_aa; 1 / pi is the variance of the block's A'z given all other blocks */
    double *latent;    /* the part of 1 / pi that is not noise */
    double *weight;    /* f = u_a / pi: the block's surprise given all other blocks */
    double *shift;     /* f less the block's own A'r */
    double *noise;     /* by place: jitter and noise of the block's other readings in 1 / pi */
    double *target;    /* by place: A'r of the block's other readings */
} hfi_block_rest;

/** Leaving out one reading; mean and variance are without it, less the prior mean, white noise included. With s its entry,
 * k, D, r its own, q = b'P b, c = e_a'P b, m = b'u:
 *
 *     tau = k - q + c e        M = m - c f         e = c / pi                  what the other blocks say
 *     kappa = e - s tau        omega = f - s (r - M)                           covariance with, and surprise of,
 *     sigma = 1/pi - s^2 D - 2 s e + s^2 tau                                   the rest of the block, of this variance
 *     mean = M + kappa omega / sigma              variance = tau - kappa^2 / sigma
 *
 * exactly what projecting anew with s = 0 gives. sigma = 0: nothing is left in the block, and it says nothing. */
typedef struct hfi_block_cavity {
    double own, rest_variance, rest_mean; /* e, tau, M */
    double kappa, omega, sigma;
    double mean, variance;
} hfi_block_cavity;

/** `inverse`: count x count, receives P (both triangles). The arrays of `rest` (count or n entries each) are the caller's. */
void hfi_block_rest_prepare(const hfi_block_system *system, double *inverse, hfi_block_rest *rest);
hfi_block_cavity hfi_block_cavity_at(const hfi_block_system *system, const hfi_block_rest *rest, size_t block,
                                     size_t place, double square, double cross, double weighted);

/** Absolute jitter: the most that was added to an entry of G's diagonal. */
double hfi_block_system_jitter(const hfi_block_system *system);

#endif
