/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file enclosure.h
 * @brief Intervals that surely hold the exact covariance of two points, and of one point with all
 * points of a box.
 */
#ifndef HFI_KERNEL_ENCLOSURE_H
#define HFI_KERNEL_ENCLOSURE_H

#include "core/interval.h"
#include <holdfast/kernel.h>

/**
 * *lower <= k(x, z) <= *upper for the real number that the formulas of kernel.h define. It is from
 * exactly these inputs and exactly the parameters that hf_kernel_parameter() tells. The rules for
 * extremes that the double code has do not count (there the interval is just wide enough, [0,
 * tiny]). `same` says both are the same row (white). The output that a number stands for is that of
 * hfi_output_of(), as everywhere.
 *
 * Equal inputs are at distance exactly 0, so that k(x, x) of a stationary term without products is
 * its outputscale and the interval a point. Relative width for ordinary pairs some 1e-18 where long
 * double has 64 digits; products by cosines, sums with both signs and exponents beyond some tens
 * lose what they must. No allocation; any number of threads. Half a microsecond to three, some
 * twenty times hfi_kernel_value(). Assumptions about the machine: interval.h.
 * @return false, and nothing written, where an input is not finite, a bound overflows even long
 *                double, or hfi_interval_usable() is false.
 */
bool hfi_kernel_enclose(const hf_kernel *kernel, const double *x, const double *z, bool same,
                        long double *lower, long double *upper);

/**
 * The same for every x of the box x[0] .. x[d-1], with derivatives in x: a jet of
 * hfi_kernel_jet_size() intervals, its value first, from order 1 on the d slopes, and of order 2
 * the second derivatives, lower triangle row by row. Those of k(., z), white as it is; z = NULL
 * stands for k(x, x) and its derivatives, which with `same` is the prior variance.
 *
 * Each interval is the natural one of its formula: of radial kernels, whose value is a monotone
 * function of a sum of squares, the value's is the range to rounding; sums and products take what
 * each factor may be without regard to the others. Where matern12 has a kink (x = z) its slopes are
 * those of all sides; a box over several outputs or categories holds the values of all, and slopes
 * between the steps. A box of zero width gives what hfi_kernel_enclose() gives. `scratch` of
 * hfi_kernel_jet_scratch() intervals, one per thread; no allocation. Bounds of derivatives may be
 * infinite and then say nothing: the second ones of matern12 where x = z is in the box, along the
 * inputs that it sees.
 * @return false where a bound of the value is not finite; jet is spoilt then.
 */
bool hfi_kernel_enclose_box(const hf_kernel *kernel, const hfi_interval *x, const double *z,
                            bool same, int order, hfi_interval *jet, hfi_interval *scratch);
size_t hfi_kernel_jet_size(const hf_kernel *kernel, int order);
size_t hfi_kernel_jet_scratch(const hf_kernel *kernel, int order);

/**
 * With phi(x) = k(x, .), white left out, in the kernel's reproducing space: norm[p], p = 0 .. 3, is
 * at least |(v . d/dx)^p phi(x)| for every x of the box and every v with |v_j| <= half[j]; infinite
 * where the kernel is not smooth enough. A function f of norm N in that space is then within N
 * norm[p] / p! of its Taylor polynomial of order p - 1 about any point from which the box reaches
 * no farther than `half`. Exact for stationary kernels up to rounding where v = half; with `linear`
 * among factors, the triangle inequality. Microseconds; no allocation.
 * @return false for a box over several outputs or categories, and where hfi_interval_usable() is
 * false.
 */
bool hfi_kernel_feature_norms(const hf_kernel *kernel, const hfi_interval *x,
                              const long double *half, long double norm[4]);

#endif
