/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file planes.h
 * @brief Kernels that are inner products of one or two functions of a plane u(x) = turn sum_a f_a
 * x_a, f of either sign:
 *
 *     wave    cos(u(x) - u(z)) = cos u cos u' + sin u sin u'      f = frequency, turn = 2 pi
 *     swell   cos u(x) cos u(z)                                   f = frequency, turn = 2 pi
 *     tilt    exp(u(x)) exp(u(z))                                 f = rate, turn = 1
 *
 * Positive semidefinite, being inner products. |u| is cut where waves are no more, exponents where
 * squares would overflow.
 */
#ifndef HFI_KERNEL_PLANES_H
#define HFI_KERNEL_PLANES_H

#include "kernel/tile.h"

typedef struct hfi_plane {
    hfi_form form;
    size_t columns;
    const size_t *column;
    const double *slope; /* f */
    size_t at;           /* its first parameter */
    double turn;
} hfi_plane;

/** Features at a point, and what they become per unit of u. */
typedef struct hfi_plane_point {
    double re, im, re_slope, im_slope;
} hfi_plane_point;

hfi_plane hfi_plane_of(const hf_kernel *kernel, const hfi_leaf *leaf);
hfi_plane_point hfi_plane_at(const hfi_plane *plane, const double *x);
/** k(x, z) as tiles have it: of a wave by the difference of phases, 1 for equal rows. */
double hfi_plane_between(const hfi_plane *plane, const double *x, const double *z);
static inline double hfi_plane_value(hfi_plane_point a, hfi_plane_point b)
{
    return a.re * b.re + a.im * b.im;
}
/** d value / du at the first point. */
static inline double hfi_plane_slope(hfi_plane_point a, hfi_plane_point b)
{
    return a.re_slope * b.re + a.im_slope * b.im;
}

void hfi_plane_tile(const hfi_tile *tile, const hfi_leaf *leaf, double *out, double *spare);
void hfi_plane_adjoint(const hfi_tile *tile, const hfi_leaf *leaf, const double *adjoint,
                       double *spare, double *grad);
void hfi_plane_backward(const hfi_tile *tile, const hfi_leaf *leaf, const double *adjoint,
                        double *spare, double *grad);

#endif
