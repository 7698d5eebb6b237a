/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file quadratic.h
 * @brief Lower bounds of quadratic functions over the cube [-1, 1]^m.
 */
#ifndef HFI_CERTIFY_QUADRATIC_H
#define HFI_CERTIFY_QUADRATIC_H

#include <stddef.h>

/** Doubles of work. */
size_t hfi_quadratic_work(size_t m);

/**
 * A number below sign (g'u + u'H u / 2) for every u in the cube; H is m x m, symmetric, both triangles. Its own rounding is taken off.
 *
 * H is split into P + D with a diagonal D and P positive semi-definite; P is replaced by its tangent at a point v, which leaves a separable function whose minimum is exact
 * in each coordinate. v is 0 or the end of a coordinate descent, whichever gives more. D_a = H_aa - theta sum_b |H_ab| with the smallest theta of a few whose P has a Cholesky
 * factor; theta = 1 needs none.
 *
 * @param point     v of the descent: the function is small there (m entries)
 * @param predicted the function at v
 * @param gap       m entries: shares of predicted less the bound; NULL if not wanted
 */
double hfi_quadratic_lower(size_t m, double sign, const double *g, const double *h, double *point,
                           double *predicted, double *gap, double *work);

#endif
