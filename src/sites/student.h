/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file student.h
 * @brief The Student-t density of one reading as functions of its latent value f, with r = y - f and squared scale s:
 *
 *     log p = log Gamma((nu+1)/2) - log Gamma(nu/2) - log(pi nu s)/2 - (nu+1)/2 log(1 + r^2 / (nu s))
 *
 * All functions are pure. s > 0, nu > 1, everything finite.
 */
#ifndef HFI_SITES_STUDENT_H
#define HFI_SITES_STUDENT_H

#include "core/core.h"

/** The log density and what differentiates an approximation of it. */
typedef struct hfi_student_slopes {
    double value;
    double f, ff, fff;               /* first, second and third derivative in f */
    double scale, f_scale, ff_scale; /* derivatives of value, f and ff in log s */
    double nu, f_nu, ff_nu;          /* the same in nu */
} hfi_student_slopes;

void hfi_student_density(double r, double s, double nu, hfi_student_slopes *out);

/** Precision (nu + 1) / (nu s + r^2) of the normal density that touches log p at r and lies below it elsewhere: the weight of
 * iteratively re-weighted least squares. */
double hfi_student_precision(double r, double s, double nu);

/** The variance of a normal density with the same central 95 % interval as the t density's: s (q / 1.96)^2, q its 0.975
 *  quantile. Finite where the t density's own variance nu s / (nu - 2) is not; tends to s as nu grows. */
double hfi_student_normal_variance(double s, double nu);

/** Derivative of log Gamma, x > 0. */
double hfi_digamma(double x);

#endif
