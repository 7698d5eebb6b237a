/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file incomplete.h
 * @brief Regularised incomplete Gamma and Beta functions: distribution functions of gamma, Poisson
 * and negative binomial variables. Pure.
 */
#ifndef HFI_SITES_INCOMPLETE_H
#define HFI_SITES_INCOMPLETE_H

/** sum_m z^m / ((a + 1) ... (a + m)), for 0 <= z < a + 1. */
double hfi_gamma_series(double a, double z);
/** Gamma(a, z) = z^a exp(-z) times this, for z >= a + 1. */
double hfi_gamma_fraction(double a, double z);

/** P(a, z) = gamma(a, z) / Gamma(a) and Q = 1 - P, for a > 0; z <= 0 counts as 0. Relative accuracy
 * 1e-13 times the size of a log z, O(sqrt a) steps. */
double hfi_gamma_below(double a, double z);
double hfi_gamma_above(double a, double z);

/** I_x(a, b) for a, b > 0, x in [0, 1]; `rest` is 1 - x, to be given because it may be small.
 * Accuracy and cost as above, with the larger of a and b. Source: DLMF 8.17.22. */
double hfi_beta_below(double a, double b, double x, double rest);

#endif
