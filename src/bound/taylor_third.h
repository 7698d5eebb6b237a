/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file taylor_third.h
 * @brief Third and fourth derivatives of sums over the anchors, whatever the weights: of the mean
 * and of covariances.
 *
 * Forms se and matern52 alone. Serial, no allocation.
 */
#ifndef HFI_BOUND_TAYLOR_THIRD_H
#define HFI_BOUND_TAYLOR_THIRD_H

#include "bound/taylor.h"

/** Parts of the scratch; m and n are those of the models. */
typedef struct hfi_third_scratch {
    double *x, *w;   /* axes: the centre, and the box's half-widths, in units of a term */
    double *q;       /* n */
    double *weight;  /* n: 8 a psi''' */
    double *curve;   /* n: 4 a psi'' */
    double *sums;    /* axes (axes + 1) (axes + 2) / 6 */
    double *columns; /* n x axes: what is between centre and anchors, times w */
    double *slope;   /* m: of the remainder */
    double *share;   /* m */
} hfi_third_scratch;

/** How many numbers that takes, as HFI_LAY_OUT. */
size_t hfi_third_lay_out(const hfi_taylor *taylor, double *scratch, hfi_third_scratch *b);
/** Where the box is in units of a term: x and w; returns tau, rounded up. */
double hfi_third_place(const hfi_taylor *taylor, const hfi_term *term, const double *centre,
                       const double *half, const hfi_third_scratch *b);
/** sum_i |weight_i| E(q_i) from above, E(q) the largest fourth derivative at squared distances of q
 * and more, q_i that of anchor i from the box; after hfi_third_place(). */
double hfi_third_fourth_size(const hfi_term *term, size_t n, const double *weight,
                             const hfi_third_scratch *b);
/** t += third derivatives at the centre of sum_i weight_i k(x, z_i), m x m x m, a <= b <= c alone;
 * after hfi_third_place(). Leaves columns, not q. O(n axes^3 / 6). */
void hfi_third_add_cubic(const hfi_taylor *taylor, const hfi_term *term, const double *weight,
                         const hfi_third_scratch *b, double *t);
/** A-priori rounding of T(u, u, u) / 6 and of half its derivatives, `size` = sum_i |weight_i|: n
 * products of a weight and three coordinates, like the sums of lower degree. */
double hfi_third_rounding(const hfi_term *term, size_t n, double size, double tau,
                          const hfi_third_scratch *b);
/** t[abc] += entry, at a <= b <= c alone. */
void hfi_third_add_sorted(size_t m, size_t a, size_t b, size_t c, double entry, double *t);
/** The other entries of a symmetric t. */
void hfi_third_fill_up(size_t m, double *t);

#endif
