/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file loops.h
 * @brief The loops over anchors in which the Taylor bounds spend their time, compiled for several
 * processors.
 */
#ifndef HFI_TAYLOR_LOOPS_H
#define HFI_TAYLOR_LOOPS_H

#include "kernel/forms.h"
#include <stddef.h>

#define HFI_PAIR_LANES 32u /* anchors at once; arrays of pairs are padded to a multiple of it */
#define HFI_SHARP_INPUTS                                                                           \
    24u /* moving inputs, at most, of what is computed with pairs or cubic terms */
#define HFI_SHARP_ANCHORS 2048u /* taken by pairs, at most */

/* psi of q = r^2, of the radial forms as kernel.h lists them. */

/** q[i] := sum_j (x_j - z[i + j ldz])^2 for `count` points, all in units of the lengthscales. */
void hfi_radial_distance(size_t count, size_t d, const double *x, const double *z, size_t ldz,
                         double *q);
/** value[i] := a[i] psi(q[i]), q >= 0. */
void hfi_radial_values(hfi_form form, double alpha, size_t count, const double *q, const double *a,
                       double *value);
/** The same, slope[i] := 2 a[i] psi'(q[i]) and curve[i] := 4 a[i] psi''(q[i]), so that with u = x -
 * z
 *
 *     d a psi / dx = slope u        d2 a psi / dx dx' = slope I + curve u u'
 *
 * Derivatives without a bound at q = 0 are given as 0: curve of matern32, both of matern12. */
void hfi_radial_weights(hfi_form form, double alpha, size_t count, const double *q, const double *a,
                        double *value, double *slope, double *curve);

/** The same of se and matern52, whose functions psi(|u|^2) have four derivatives: curve as above,
 * third[i] := 8 a[i] psi'''(q[i]), so that the third derivatives are third u_a u_b u_c + curve
 * (1_ab u_c + 1_ac u_b + 1_bc u_a). That of matern52 is not bounded at q = 0: it is cut off there,
 * where it multiplies 0. */
void hfi_radial_third_weights(hfi_form form, size_t count, const double *q, const double *a,
                              double *curve, double *third);
/** size[i] := a bound of the fourth derivative of psi(|u|^2) in any direction of length 1, for all
 * u with
 * |u|^2 >= q[i], but for rounding; decreasing. se and matern52. */
void hfi_radial_fourth(hfi_form form, size_t count, const double *q, double *size);

/** The sum of n numbers, in eight lanes. */
double hfi_sum_anchors(size_t n, const double *value);
/** matrix := sum_ij w_i w_j y_i y_j' g^3 (weight_0 + weight_1 g + ...), g = y_i'y_j, over `count`
 * points with `axes` coordinates y[i + a ld]; symmetric, axes x axes. Reads y and w up to the next
 * multiple of HFI_PAIR_LANES, where they must be finite. Each pair once. */
void hfi_pair_sums(size_t count, size_t axes, size_t ld, const double *y, const double *w,
                   size_t degrees, const double *weight, double *matrix);
/** sums[...] := sum_i w_i y_a y_b y_c for a <= b <= c, in the order of three loops, over n points
 * with `axes` coordinates y[i + a ld]; axes (axes + 1) (axes + 2) / 6 numbers. `product` n. */
void hfi_triple_sums(size_t n, size_t axes, size_t ld, const double *y, const double *w,
                     double *product, double *sums);
/** out[a] := side_a sum_bc t_abc side_b side_c, t m x m x m. */
void hfi_cube_slices(size_t m, const double *t, const double *side, double *out);

#endif
