/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file block_real.h
 * @brief The number that block_radial.c is compiled for: double, or float where HFI_BLOCK_SINGLE is
 * defined.
 */
#ifndef HFI_KERNEL_BLOCK_REAL_H
#define HFI_KERNEL_BLOCK_REAL_H

#include "kernel/vector.h"

#ifdef HFI_BLOCK_SINGLE

typedef float real;
#define REAL(number) number##f
#define REAL_LANES   16u /* numbers in the widest vector */
/* exp(-t) is 0 beyond: far above the last number that is not subnormal, because products with those
 * below are a hundred times as slow. */
#define REAL_CUT 60.0f
/* Below every distance that is not 0 by more than rounding; its reciprocal times any weight is
 * finite. */
#define REAL_TINY 1e-15f

extern float sqrtf(float);

HFI_INLINE real real_sqrt(real a)
{
    return sqrtf(a);
}

/* exp(-a) for a in [0, REAL_CUT], and anything beyond, as exp_minus() with q of degree 4 (relative
 * error 1.1e-8 before rounding). */
HFI_INLINE real real_exp_minus(real a)
{
    const float shift = 0x1.8p23f;
    const float k = shift - a * 0x1.715476p0f, n = k - shift;
    const float r = (-a - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    const float r2 = r * r;
    const float q01 = 0.5f + r * 0x1.5554dcp-3f, q23 = 0x1.55551ap-5f + r * 0x1.120ba2p-7f;
    const float q = q01 + r2 * (q23 + r2 * 0x1.6d113cp-10f);
    union {
        float number;
        unsigned int bits;
    } power = {k}, result = {1.0f + (r + r2 * q)};
    result.bits += power.bits << 23;
    return result.number;
}

#else

typedef double real;
#define REAL(number) number
#define REAL_LANES   8u
#define REAL_CUT     600.0
#define REAL_TINY    1e-150

HFI_INLINE real real_sqrt(real a)
{
    return sqrt(a);
}

HFI_INLINE real real_exp_minus(real a)
{
    return exp_minus(a);
}

#endif

#endif
