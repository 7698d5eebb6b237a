/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file quantile.h
 * @brief Quantiles of numbers, which are sorted in place.
 */
#ifndef EXPERIMENTS_QUANTILE_H
#define EXPERIMENTS_QUANTILE_H

#include <stddef.h>

/** The quantile of that probability in [0, 1], linear between order statistics; NaN where there are
 * none. */
double quantile_of(double *values, size_t count, double probability);
double median_of(double *values, size_t count);

#endif
