/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file closed.h
 * @brief The parts of every closed form: weights from one factor, and a bound that holds for any
 * weights.
 *
 * All methods are one inequality in a Hilbert space (docs/methods/envelope-closed.md). F stands for
 * the unknown, |F| <= whole, and its part along a known direction F0 is at least `along`. At a
 * query, with any weights w,
 *
 *     f(x) = w'target + (noise part, |.| <= sum noise_i |w_i|) + <F, g>        |g|^2 = k(x,x) - 2
 *     w'k_x + w'A w
 *
 * and A = K (Proposition 3), K + D (ellipsoid) or K + s^2 I (GP). w = A^-1 k_x as the factor has
 * it: jitter and rounding make w worse, and the bound wider, not wrong.
 */
#ifndef HFI_ENVELOPE_CLOSED_H
#define HFI_ENVELOPE_CLOSED_H

#include "envelope/envelope.h"
#include "posterior/posterior.h"
#include <holdfast/closed_envelope.h>

struct hf_closed_envelope {
    hfi_memory memory;
    hf_kernel *kernel;
    hf_mean *mean;       /* NULL: zero */
    hfi_scaling scaling; /* identity but around a posterior */
    size_t d, n, all;
    /* all x d: the n readings of which w is made, then those that only the centre looks at */
    double *x;
    double *matrix; /* n x n, both triangles: A */
    double *factor; /* n x n, lower triangle: of A, or of A with jitter */
    double *sd;     /* n: root of A's diagonal */
    double *target, *noise;
    double *weight;        /* all: the centre is sum weight_i k(x, x_i) */
    double *dual;          /* n: F0 is made of these; zero when there is none */
    double length, spread; /* at least |F0|; sum |dual_i| sd_i */
    double whole, along;
    double slack; /* what adding the offset may lose to rounding */
};

/** Zeroed arrays; scaling the identity, length 1. HF_ERR_TOO_LARGE, HF_ERR_MEMORY. */
hf_status hfi_closed_allocate(hf_context *ctx, const hf_kernel *kernel, size_t n, size_t all,
                              hf_closed_envelope **out);
/** `along`, `length` and `spread` from `dual`, target and noise: <F, F0> = dual'target -
 * |dual|'noise at least, |F0|^2 = dual'A dual. `work` n. */
void hfi_closed_direction(hf_closed_envelope *closed, double *work);
/** Rounding of sums of n terms with values of the kernel in them, relative to the sum of sizes. */
double hfi_closed_unit(const hf_closed_envelope *closed);

#endif
