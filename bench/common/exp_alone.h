/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file exp_alone.h
 * @brief The speed limit of a Gram matrix: libmvec's exp and the writing of its results, nothing
 * else.
 */
#ifndef BENCH_EXP_ALONE_H
#define BENCH_EXP_ALONE_H

#include <stddef.h>

/** out[i] = exp(arguments[i mod 2048]) for `count` entries; the arguments stay in the first-level
 * cache. */
void bench_exp_alone(size_t count, const double *arguments, double *out);

#endif
