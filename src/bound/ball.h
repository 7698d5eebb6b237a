/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ball.h
 * @brief The part that a region leaves of the cube [-1, 1]^m of a box's coordinates u.
 */
#ifndef HFI_BOUND_BALL_H
#define HFI_BOUND_BALL_H

#include <stddef.h>

/** A convex set that u is in besides, p and r of m entries: k + p'u + sum_a r_a u_a^2 / 2 <= 0, r_a
 * >= 0. */
typedef struct hfi_ball {
    const double *p, *r;
    double k;
} hfi_ball;

#endif
