/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file chi_squared.h
 * @brief The chi-squared distribution with a whole number of degrees of freedom; for the sites room
 * only.
 */
#ifndef HFI_SITES_CHI_SQUARED_H
#define HFI_SITES_CHI_SQUARED_H

#include <stddef.h>

/** P(X <= x) for X ~ chi^2 with k >= 1 degrees of freedom: the regularised incomplete gamma
 * function P(k/2, x/2), by its series below k/2 + 1 and its continued fraction above. Absolute
 * accuracy 1e-14 for k up to some hundreds. 0 for x <= 0; NaN for NaN. */
double hfi_chi_squared_cdf(size_t k, double x);

/** The x with hfi_chi_squared_cdf(k, x) = p, for p in [0, 1]: 0 and infinity at the ends, NaN
 * outside. Newton steps kept inside a bracket. */
double hfi_chi_squared_quantile(size_t k, double p);

/** Factor that turns a covariance matrix of the nearest share `share` of normal points into that of
 * all: share / P(chi^2_{p+2} <= q), P(chi^2_p <= q) = share. For Z ~ N(0, I_p), E[Z Z'; |Z|^2 <= q]
 * = P(chi^2_{p+2} <= q) I: r^2 times the density of |Z|^2 in p dimensions is p times that in p + 2.
 * 1 for share >= 1. Source: Croux and Haesbroeck, "Influence function and efficiency of the minimum
 * covariance determinant scatter matrix estimator" (1999). */
double hfi_chi_squared_consistency(size_t p, double share);

#endif
