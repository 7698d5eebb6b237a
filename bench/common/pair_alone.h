/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pair_alone.h
 * @brief The speed limit of streamed covariances: the arithmetic of a pair of points and nothing
 * else.
 */
#ifndef BENCH_PAIR_ALONE_H
#define BENCH_PAIR_ALONE_H

#include <stddef.h>

/** Evaluates `pairs` Matern-5/2 covariances of points with 8 coordinates, all data in the
 * first-level cache: 8 differences and squares, a
 *  root, the exponential of the library (the fastest at hand), a polynomial, and two multiply-adds
 *  that use the result. `overlapped`: with the
 *  next row's distances in the same loop, which hides the roots' latency. One thread; returns a sum
 *  that means nothing. */
double bench_pair_alone(size_t pairs, int overlapped);

#endif
