/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file loops.h
 * @brief The loops over anchors in which the Taylor bounds spend their time, compiled for several processors.
 */
#ifndef HFI_CERTIFY_LOOPS_H
#define HFI_CERTIFY_LOOPS_H

#include <stddef.h>

/** Functions psi of q = r^2, as kernel.h lists them. */
typedef enum hfi_radial {
    HFI_RADIAL_SE,
    HFI_RADIAL_MATERN12,
    HFI_RADIAL_MATERN32,
    HFI_RADIAL_MATERN52,
    HFI_RADIAL_RQ
} hfi_radial;

/** q[i] := sum_j (x_j - z[i + j ldz])^2 for `count` points, all in units of the lengthscales. */
void hfi_radial_distance(size_t count, size_t d, const double *x, const double *z, size_t ldz, double *q);
/** value[i] := a[i] psi(q[i]), q >= 0. */
void hfi_radial_values(hfi_radial form, double alpha, size_t count, const double *q, const double *a,
                       double *value);
/** The same, slope[i] := 2 a[i] psi'(q[i]) and curve[i] := 4 a[i] psi''(q[i]), so that with u = x - z
 *
 *     d a psi / dx = slope u        d2 a psi / dx dx' = slope I + curve u u'
 *
 * What is not bounded at q = 0 is given as 0: curve of matern32, both of matern12. */
void hfi_radial_weights(hfi_radial form, double alpha, size_t count, const double *q, const double *a,
                        double *value, double *slope, double *curve);

#endif
