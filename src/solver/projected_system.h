/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file projected_system.h
 * @brief Block actions against readings: the matrices that solving, leave-one-out and training
 * share.
 *
 * Everything that belongs to a reading is kept "by place": in the order of the blocks, so that
 * block a is the places first[a] .. first[a+1]-1. With D = d + white noise of the kernel and K
 * without it, B = K A is n x i; the rest is in projected.h.
 */
#ifndef HFI_PROJECTED_SYSTEM_H
#define HFI_PROJECTED_SYSTEM_H

#include "solver/projected.h"

typedef struct hfi_block_system {
    hf_context *ctx;
    const hfi_block_actions *actions;
    size_t n, d;
    size_t count;            /* actions */
    size_t *row;             /* by place: row of the table */
    double *x;               /* by place, n x d */
    double *r;               /* by place: z - m */
    double *noise;           /* by place: D */
    double *prior;           /* by place: k(x, x) without white noise */
    double *white;           /* by place: the kernel's white noise */
    double *b;               /* n x count: B, and what becomes of it */
    hfi_projected_core core; /* its capacity is its count */
} hfi_block_system;

/** Room for `actions` over the present readings of the sites (all `actions->n` rows when NULL),
 * whose inputs are copied. The actions stay the caller's. *out is zeroed on error. */
hf_status hfi_block_system_init(hf_context *ctx, const hfi_block_actions *actions,
                                const hf_sites *sites, size_t d, const double *x, size_t ldx,
                                hfi_block_system *out);
/** Frees what an initialised or zeroed system owns. */
void hfi_block_system_free(hfi_block_system *system);
/** Gives B's memory back until the next pass, for whoever needs as much elsewhere meanwhile. */
void hfi_block_system_release(hfi_block_system *system);
/** One pass: B and the core for the actions' present entries, from r and, in `noise`, the variances
 * d of the sites, to which the kernel's white noise is added. Errors as
 * hfi_projected_core_factor(). */
hf_status hfi_block_system_project(hfi_block_system *system, const hf_kernel *kernel,
                                   hfi_precision precision);
/** The same for r and d of these sites. */
hf_status hfi_block_system_factor(hfi_block_system *system, const hf_kernel *kernel,
                                  const hf_mean *mean, const hf_sites *sites,
                                  hfi_precision precision);
/** First step over the rows, after the factor: weighted_l = b_l'u, square_l = b_l'G^-1 b_l (n
 * entries each, by place). B becomes B L^-T. O(n count^2). */
void hfi_block_system_rows(hfi_block_system *system, double *weighted, double *square);
/** Second step: the rows of B become (G^-1 b_l)'. O(n count^2). */
void hfi_block_system_inverse_rows(hfi_block_system *system);

/* ---- leave-one-out (projected_cavity.c) ------------------------------------------------------ */

/** Contributions of every block to leaving out one of its readings, with P = G^-1 and o all other
 * blocks. */
typedef struct hfi_block_rest {
    /* pi = P_aa; 1 / pi is the variance of the block's A'z given all other blocks */
    double *precision;
    double *latent; /* the part of 1 / pi that is not noise */
    double *weight; /* f = u_a / pi: the block's surprise given all other blocks */
    double *shift;  /* f less the block's own A'r */
    double *noise;  /* by place: jitter and noise of the block's other readings in 1 / pi */
    double *target; /* by place: A'r of the block's other readings */
} hfi_block_rest;

/** Leaving out one reading; mean and variance are without it, less the prior mean, white noise
 * included. With s its entry, k, D, r its own, q = b'P b, c = e_a'P b, m = b'u:
 *
 *     tau = k - q + c e        M = m - c f         e = c / pi
 *     kappa = e - s tau        omega = f - s (r - M)
 *     sigma = 1/pi - s^2 D - 2 s e + s^2 tau
 *     mean = M + kappa omega / sigma              variance = tau - kappa^2 / sigma
 *
 * tau, M and e are what the other blocks say; kappa is the covariance with the rest of the block,
 * omega its surprise and sigma its variance. Mean and variance are exactly what projecting anew
 * with s = 0 gives. sigma = 0: nothing is left in the block, and it says nothing. */
typedef struct hfi_block_cavity {
    double own, rest_variance, rest_mean; /* e, tau, M */
    double kappa, omega, sigma;
    double mean, variance;
} hfi_block_cavity;

/** `inverse`: count x count, receives P (both triangles). The arrays of `rest` (count or n entries
 * each) are the caller's. */
void hfi_block_rest_prepare(const hfi_block_system *system, double *inverse, hfi_block_rest *rest);
hfi_block_cavity hfi_block_cavity_at(const hfi_block_system *system, const hfi_block_rest *rest,
                                     size_t block, size_t place, double square, double cross,
                                     double weighted);

#endif
