/* SPDX-License-Identifier: Apache-2.0 */
#include "common/exp_alone.h"

#include "kernel/vector.h" /* instead of math.h */

/* math.h does not declare the vector variants without -ffast-math; this file must not include it. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#pragma omp declare simd notinbranch
#endif
extern double exp(double);

enum {
    BLOCK = 2048
};

HFI_CLONES void bench_exp_alone(size_t count, const double *arguments, double *out)
{
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        size_t length = count - begin < BLOCK ? count - begin : BLOCK;
        double *block = out + begin;
#pragma omp simd
        for (size_t i = 0; i < length; ++i) block[i] = exp(arguments[i]);
    }
}
