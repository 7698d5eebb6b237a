/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file vector.h
 * @brief exp, log, sin and cos in vectors, and functions compiled for several processors.
 *
 * glibc declares its vector functions (libmvec) only under -ffast-math, which this project never uses: linked
 * into a shared library it changes the rounding of the whole host process. So the prototypes are given here,
 * and math.h must not be included beside this header. A function marked HFI_CLONES is compiled for 512, 256
 * and 128 bits; the loader picks one. Where any of this is missing (another compiler, another C library) the
 * same loops call the scalar functions.
 */
#ifndef HFI_KERNEL_VECTOR_H
#define HFI_KERNEL_VECTOR_H

#if defined(__has_include)
#if __has_include(<features.h>)
#include <features.h>
#endif
#endif

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#pragma omp declare simd notinbranch
extern double exp(double);
#pragma omp declare simd notinbranch
extern double log(double);
#pragma omp declare simd notinbranch
extern double sin(double);
#pragma omp declare simd notinbranch
extern double cos(double);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Resolvers run before the sanitizers' run-time is ready. */
#define HFI_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#else
extern double exp(double);
extern double log(double);
extern double sin(double);
extern double cos(double);
#endif
extern double sqrt(double);
extern double fabs(double);

/* clang takes "omp simd" as an order and warns where it cannot obey, as it cannot without vector functions. */
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

#ifndef HFI_CLONES
#define HFI_CLONES
#endif

#endif
