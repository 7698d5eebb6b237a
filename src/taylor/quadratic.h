/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file quadratic.h
 * @brief Lower bounds of quadratic and cubic functions over the cube [-1, 1]^m.
 */
#ifndef HFI_TAYLOR_QUADRATIC_H
#define HFI_TAYLOR_QUADRATIC_H

#include "bound/ball.h"

/** Doubles of work. */
size_t hfi_quadratic_work(size_t m);

/**
 * A number below sign (g'u + u'H u / 2) for every u in the cube and, unless it is NULL, in the
 * ball; H is m x m, symmetric, both triangles. Its own rounding is taken off.
 *
 * H is split into P + D with a diagonal D and P positive semi-definite; P is replaced by its
 * tangent at a point v, which leaves a separable function whose minimum is exact in each
 * coordinate. v is 0 or the end of a coordinate descent, whichever gives more. D_a = H_aa - theta
 * sum_b |H_ab| with the smallest theta of a few whose P has a Cholesky factor; theta = 1 needs
 * none.
 *
 * For a ball, mu (k + p'u + sum r_a u_a^2 / 2), which is nowhere above 0 in it, is added with the
 * mu >= 0 of the largest bound (weak duality): the function that is left stays separable. Its least
 * value over the cube is thus a concave function of mu, and the slope of that is the ball's
 * function at the minimiser.
 *
 * @param point     v of the descent: the function is small there (m entries)
 * @param predicted the function at v, outside of the ball with what is added there
 * @param gap       m entries: shares of predicted less the bound; NULL if not wanted
 */
double hfi_quadratic_lower(size_t m, double sign, const double *g, const double *h,
                           const hfi_ball *ball, double *point, double *predicted, double *gap,
                           double *work);

/** sign (g'u + u'H u / 2 + T(u, u, u) / 6), T symmetric, m x m x m; m <= HFI_SHARP_INPUTS. */
typedef struct hfi_cubic {
    size_t m;
    double sign;
    const double *g, *h, *t;
    const hfi_ball *ball; /* or NULL */
} hfi_cubic;

/** When to be content. */
typedef struct hfi_cubic_effort {
    size_t parts; /* of the cube that may be looked at */
    /* a bound that need not be better; once a value below it is met not much effort is made.
     * Infinite: as good as can be had */
    double enough;
    double want; /* distance of bound and least value */
} hfi_cubic_effort;

/** As hfi_quadratic_lower(), of a cubic function and as narrow as the effort allows: the cube is
 * split, best part first, and in each part the cubic term is bounded by its norm or the sizes of
 * its entries. The first part is the cube. */
double hfi_cubic_lower(const hfi_cubic *cubic, const hfi_cubic_effort *effort, double *point,
                       double *predicted, double *gap, double *work);
/** Doubles of work for so many parts. */
size_t hfi_cubic_work(size_t m, size_t parts);

/** The largest eigenvalue of a positive semi-definite matrix (m x m), from above: the 2^squares-th
 * root of the trace of that power. Work 2 m x m. */
double hfi_largest_eigenvalue(size_t m, const double *matrix, int squares, double *work);

#endif
