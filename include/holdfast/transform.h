/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file transform.h
 * @brief Skewed positive targets: a fixed monotone g, so that z = g(y) is what a Gaussian process
 * models (a warped Gaussian process).
 *
 *     none   g(y) = y                      any y
 *     sqrt   g(y) = sqrt(y)      y >= 0    y = max(z, 0)^2
 *     log    g(y) = log(y)       y > 0     y = exp(z)
 *
 * A prediction is z ~ N(m, v). Its statement about y is exact, by the change of variables:
 *
 *     quantiles   g^-1 of those of z: g^-1(m + q sqrt v), never below 0 but with none
 *     density     N(g(y); m, v) |g'(y)|
 *     log         mean exp(m + v/2), variance (exp(v) - 1) exp(2 m + v)
 *     sqrt        with s = sqrt v, a = m / s, Phi and phi of the standard normal:
 *                 mean     M2 = (m^2 + v) Phi(a) + m s phi(a)
 *                 variance M4 - M2^2,
 *                          M4 = (m^4 + 6 m^2 v + 3 v^2) Phi(a) + (m^3 s + 5 m s^3) phi(a)
 *
 * The normal distribution of sqrt has mass below z = 0, where there is no y: all of it is at y = 0,
 * with the probability Phi(-a). There the density of y is that probability; elsewhere it is per
 * unit of y. Densities of readings at 0 are therefore not comparable with another transform's.
 *
 * All functions: `g` is one of the above and not HF_TRANSFORM_AUTO, for which numbers are
 * NaN. NaN in gives NaN out. Results too large for a double are infinite. O(1); thread-safe; no
 * errors are left anywhere.
 *
 * **Where it is used.** hf_fit_settings.transform, in hf_fit(): the one target of a table is
 * transformed, and what the model says is about y. hf_fit_data() and the posterior are about z. A
 * reading outside of the domain of g is an error that names it, also where it may be a wrong one:
 * it has no z, and no model of z can tell whether it is wrong. Leave such a field empty, or take a
 * transform that has a place for it. HF_TRANSFORM_AUTO tries only those that have.
 *
 * Source: Snelson, Rasmussen, Ghahramani, "Warped Gaussian processes" (2004), with g held.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_TRANSFORM_H
#define HOLDFAST_TRANSFORM_H

#include <holdfast/context.h>

HF_BEGIN_DECLS

/** The transforms, from the mildest to the strongest. */
typedef enum hf_transform {
    HF_TRANSFORM_NONE = 0,
    HF_TRANSFORM_SQRT,
    HF_TRANSFORM_LOG,
    /** hf_fit() chooses; no function */
    HF_TRANSFORM_AUTO
} hf_transform;

/** Whether y is in the domain of g. False for NaN and infinities. */
HF_API bool hf_transform_accepts(hf_transform g, double y);
/** The domain of y, in words: "positive", "0 or more", "a number"; NULL for HF_TRANSFORM_AUTO. */
HF_API const char *hf_transform_domain(hf_transform g);

/** g(y), in the units of z; NaN outside of the domain. */
HF_API double hf_transform_forward(hf_transform g, double y);
/** g^-1(z), in the units of y; non-decreasing in z, and 0 for sqrt where z is below 0. */
HF_API double hf_transform_inverse(hf_transform g, double z);
/** log |g'(y)|; NaN outside of the domain, infinite for sqrt at 0. */
HF_API double hf_transform_log_derivative(hf_transform g, double y);

/**
 * Mean and variance of y where z ~ N(mean, variance), by the formulas above.
 * @param variance of z, >= 0
 * @param y_mean, y_variance where they go; either may be NULL
 * Errors of rounding: some 1e-14 of the result; of sqrt of m^2 + v and its square where m is more
 * than 5 standard deviations below 0, which leaves y = 0 all but surely.
 */
HF_API void hf_transform_moments(hf_transform g, double mean, double variance, double *y_mean,
                                 double *y_variance);

/** Log density of y where z ~ N(mean, variance), variance > 0, Jacobian included; for sqrt at y = 0
 * the log of its probability. Minus infinity outside of the domain. */
HF_API double hf_transform_log_density(hf_transform g, double y, double mean, double variance);

/** (g(y) - mean) / sqrt(variance), the standardised residual of y: its size is at most h just where
 * y is in the central interval g^-1(mean -+ h sqrt(variance)). For sqrt at y = 0 that makes it 0
 * where the mean is below 0. Minus infinity outside of the domain. */
HF_API double hf_transform_residual(hf_transform g, double y, double mean, double variance);

/**
 * Continuous ranked probability score of the distribution F of y where z ~ N(mean, variance),
 * variance > 0: the integral of (F(x) - [x >= y])^2 over all x, in closed form. In the units of y.
 * Any finite y has one. Rounding: some 1e-16 of the mean of y.
 *
 * Source for log: Baran, Lerch, "Log-normal distribution based ensemble model output statistics
 * models for probabilistic wind-speed forecasting" (2015).
 */
HF_API double hf_transform_crps(hf_transform g, double y, double mean, double variance);

HF_END_DECLS

#endif
