/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file normal.h
 * @brief The standard normal distribution where subtraction leaves nothing: logs and ratios.
 *
 * phi is its density and Phi its distribution function.
 */
#ifndef HFI_CORE_NORMAL_H
#define HFI_CORE_NORMAL_H

/** From here on hfi_normal_expand() is exact to rounding. */
#define HFI_NORMAL_TAIL 4.0

/** The tails of the continued fraction of Mills' ratio: for t >= HFI_NORMAL_TAIL,
 * phi(t) / Phi(-t) = t + c, c = 1/(t + e), e = 2/(t + g), g = 3/(t + 4/(t + ...)). */
typedef struct hfi_normal_fraction {
    double c, e, g;
} hfi_normal_fraction;
hfi_normal_fraction hfi_normal_expand(double t);

/** phi(u). */
double hfi_normal_density(double u);
/** Phi(u), relative accuracy 1e-14 until it underflows. */
double hfi_normal_cdf(double u);
/** log Phi(u); phi(u) / Phi(u). Relative accuracy 1e-14 on the whole line. */
double hfi_log_normal_cdf(double u);
double hfi_normal_hazard(double u);
/** CRPS of N(0, sd^2) at `error`; sd 0 scores the absolute error. */
double hfi_normal_crps(double error, double sd);
/** The u with Phi(u) = p, 0 < p < 1, to some 1e-14 relative, absolute where |u| < 1. */
double hfi_normal_quantile(double p);

/** h(z) = phi(z) + z Phi(z) = E[max(z + e, 0)], e standard normal: what expected improvements are
 * made of. h' = Phi, h'' = phi. Relative accuracy of h and of the ratios: 1e-13; h itself may
 * underflow, its log does not before z^2 overflows. */
typedef struct hfi_normal_excess {
    double log_h;
    double slope;   /**< Phi(z) / h(z) */
    double density; /**< phi(z) / h(z) */
} hfi_normal_excess;
hfi_normal_excess hfi_normal_excess_at(double z);

#endif
