/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file enclosure.h
 * @brief Intervals that surely hold the exact covariance of two points.
 */
#ifndef HFI_KERNEL_ENCLOSURE_H
#define HFI_KERNEL_ENCLOSURE_H

#include "core/interval.h"
#include <holdfast/kernel.h>

/**
 * *lower <= k(x, z) <= *upper for the real number that the formulas of kernel.h define from exactly these inputs and exactly the parameters that
 * hf_kernel_parameter() tells, without the rules for extremes that the double code has (there the interval is just wide enough, [0, tiny]). `same`
 * says both are the same row (white). The output that a number stands for is that of hfi_output_of(), as everywhere.
 *
 * Equal inputs are at distance exactly 0, so that k(x, x) of a stationary term without products is its outputscale and the interval a point.
 * Relative width for ordinary pairs some 1e-18 where long double has 64 digits; products by cosines, sums with both signs and exponents beyond
 * some tens lose what they must. No allocation; any number of threads. Half a microsecond to three, some twenty times hfi_kernel_value(). What is assumed of the machine: interval.h.
 * @return false, and nothing written, where an input is not finite, a bound overflows even long double, or hfi_interval_usable() is false.
 */
bool hfi_kernel_enclose(const hf_kernel *kernel, const double *x, const double *z, bool same,
                        long double *lower, long double *upper);

#endif
