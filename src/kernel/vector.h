/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file vector.h
 * @brief Elementary functions in vectors, and functions compiled for several processors.
 *
 * glibc declares its vector functions (libmvec) only under -ffast-math, which this project never
 * uses: linked into a shared library it changes the rounding of the whole host process. So the
 * prototypes are given here, and math.h must not be included beside this header. A function marked
 * HFI_CLONES is compiled for 512, 256 and 128 bits; the loader picks one. Where any of this is
 * missing (another compiler, another C library) the same loops call the scalar functions.
 *
 * HFI_VECTOR, which cmake/HoldfastVector.cmake gives to the files of loops, is 0 for all widths, or
 * the one width there is.
 */
#ifndef HFI_KERNEL_VECTOR_H
#define HFI_KERNEL_VECTOR_H

#include "kernel/loops.h"

#if !defined(HFI_VECTOR)
#define HFI_VECTOR 0
#endif

#if defined(__has_include)
#if __has_include(<features.h>)
#include <features.h>
#endif
#endif

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#pragma omp declare simd notinbranch
extern double log(double);
#pragma omp declare simd notinbranch
extern double sin(double);
#pragma omp declare simd notinbranch
extern double cos(double);
#if HFI_VECTOR == 0 && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Resolvers run before the sanitizers' run-time is ready. */
#define HFI_CHOSEN_AT_RUN_TIME
#define HFI_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#else
extern double log(double);
extern double sin(double);
extern double cos(double);
#endif
extern double sqrt(double);
extern double fabs(double);

/* clang takes "omp simd" as an order and warns where it cannot obey, as it cannot without vector
 * functions. */
#define HFI_PRAGMA(text) _Pragma(#text)
#if defined(__GNUC__) && !defined(__clang__)
#define HFI_SIMD          HFI_PRAGMA(omp simd)
#define HFI_SIMD_SUM(...) HFI_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define HFI_UNROLL        HFI_PRAGMA(GCC unroll 8)
#else
#define HFI_SIMD
#define HFI_SIMD_SUM(...)
#define HFI_UNROLL
#endif

#if HFI_VECTOR == 512
#define HFI_CLONES __attribute__((target("arch=x86-64-v4")))
#elif HFI_VECTOR == 256
#define HFI_CLONES __attribute__((target("arch=x86-64-v3")))
#elif !defined(HFI_CLONES)
#define HFI_CLONES
#endif

/* A clone must hold what it calls: a function alone is compiled once, for the oldest processor. */
#if defined(__GNUC__)
#define HFI_INLINE static inline __attribute__((always_inline))
#else
#define HFI_INLINE static inline
#endif

/* A select, not fmin: NaN passes through, and it is one instruction. */
#define CUT(a, limit) ((a) > (limit) ? (limit) : (a))

/* exp(-a) for a in [0, 700], where nothing overflows and nothing is subnormal. Without a call and
 * without special cases it takes three quarters of the time of libmvec's exp, and it is a vector
 * with every compiler. exp(-a) = 2^n exp(r), |r| <= log(2) / 2, and exp(r) = 1 + r + r^2 q(r) with
 * q of degree 9 interpolated at Chebyshev points (relative error 1.6e-17). */
HFI_INLINE double exp_minus(double a)
{
    /* adding it rounds to an integer, which the low bits then hold */
    const double shift = 0x1.8p52;
    const double k = shift - a * 0x1.71547652b82fep0, n = k - shift;
    /* log(2) in two parts, of which the first has so few bits that its product with n is exact. */
    const double r = (-a - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b3ap-40;
    const double r2 = r * r, r4 = r2 * r2;
    const double q01 = 0.5 + r * 0x1.5555555555556p-3;
    const double q23 = 0x1.5555555553d63p-5 + r * 0x1.11111111109b3p-7;
    const double q45 = 0x1.6c16c1788bd90p-10 + r * 0x1.a01a01a7c41d5p-13;
    const double q67 = 0x1.a019b90d2ae7ap-16 + r * 0x1.71de0dae63bb3p-19;
    const double q89 = 0x1.289185613a3d6p-22 + r * 0x1.af38a9b0ec855p-26;
    const double q = (q01 + r2 * q23) + r4 * ((q45 + r2 * q67) + r4 * q89);
    union {
        double number;
        unsigned long long bits;
    } power = {k}, result = {1.0 + (r + r2 * q)};
    result.bits += power.bits << 52; /* n is added to the exponent */
    return result.number;
}

/* exp(-a) for any a >= 0; the last 1e-304 of the range is cut off. */
HFI_INLINE double decay(double a)
{
    const double e = exp_minus(CUT(a, HFI_EXP_CUT));
    return a > HFI_EXP_CUT ? 0.0 : e;
}

#endif
