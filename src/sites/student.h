/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file student.h
 * @brief The Student-t density of one reading y as a function of its latent value f. With r = y -
 * f, the squared scale s and nu degrees of freedom
 *
 *     log p = log Gamma((nu+1)/2) - log Gamma(nu/2) - log(pi nu s)/2 - (nu+1)/2 log(1 + r^2 / (nu s))
 *
 * which is also a mixture of normal densities over the precision factor tau ~ Gamma(nu/2, rate
 * nu/2):
 *
 *     p = E[N(y; f, s / tau)]
 *
 * All functions are pure and want s > 0, nu > 0 and finite numbers; no residual is too large.
 */
#ifndef HFI_SITES_STUDENT_H
#define HFI_SITES_STUDENT_H

#include "core/core.h"

/** Degrees of freedom, and what of the densities depends on nothing else. */
typedef struct hfi_student {
    double nu;
    /* log Gamma((nu+1)/2) - log Gamma(nu/2) - log(pi nu)/2, its derivative */
    double constant, constant_nu;
    /* (nu/2) log(nu/2) - log Gamma(nu/2) - log(2 pi)/2, its derivative */
    double mixture, mixture_nu;
} hfi_student;

hfi_student hfi_student_make(double nu);

/** The log density and what differentiates an approximation of it. */
typedef struct hfi_student_slopes {
    double value;
    double f, ff, fff;               /* first, second and third derivative in f */
    double scale, f_scale, ff_scale; /* derivatives of value, f and ff in log s */
    double nu, f_nu, ff_nu;          /* the same in nu */
} hfi_student_slopes;

void hfi_student_density(const hfi_student *t, double r, double s, hfi_student_slopes *out);

/** Precision (nu + 1) / (nu s + r^2) of the normal density that touches the t density at r and, up
 * to a factor, lies below it elsewhere: the weight of iteratively re-weighted least squares. */
double hfi_student_precision(const hfi_student *t, double r, double s);

/** The product of the t density with a cavity f ~ N(m, v), in terms of r = y - m. */
typedef struct hfi_student_tilted {
    double log_z;     /* log integral of the product */
    double shift;     /* mean of f under it, less m */
    double variance;  /* of f under it */
    double precision; /* 1 / variance - 1 / v; of either sign */
    double slope;     /* d log_z / d m = shift / v */
    double scale, nu; /* d log_z / d log s and / d nu */
} hfi_student_tilted;

/** By the trapezoidal rule in log tau, given which everything is normal: relative accuracy 1e-12
 * whatever v, s and r are. */
void hfi_student_tilt(const hfi_student *t, double r, double v, double s, hfi_student_tilted *out);

/** The density to the power `power` in (0, 1], for fractional cavities. Up to a factor it is a
 * Student-t density again, with power (nu + 1) - 1 degrees of freedom: `powered` is
 * hfi_student_power(t, power). out->precision is that of the product less 1 / v, as for power 1. */
hfi_student hfi_student_power(const hfi_student *t, double power);
void hfi_student_tilt_power(const hfi_student *t, const hfi_student *powered, double power,
                            double r, double v, double s, hfi_student_tilted *out);

/** E[log p] for f ~ N(m, v) in terms of r = y - m, with its derivatives. */
typedef struct hfi_student_expected {
    double value;
    double m, v;      /* d value / d m, d value / d v */
    double scale, nu; /* d value / d log s, d value / d nu */
} hfi_student_expected;

/** By the trapezoidal rule in (f - m) / sqrt(v); relative accuracy 1e-10 while v < 100 nu s. */
void hfi_student_expect(const hfi_student *t, double r, double v, double s,
                        hfi_student_expected *out);

/** The variance of a normal density with the same central 95 % interval as the t density: s (q /
 * 1.96)^2, where q is the 0.975 quantile. Finite where the t density's own variance nu s / (nu - 2)
 * is not; tends to s as nu grows. */
double hfi_student_normal_variance(const hfi_student *t, double s);

/** log Gamma for x > 0, without the global that the C library's function writes to; relative
 * accuracy 1e-14. */
double hfi_log_gamma(double x);
/** Its derivative. */
double hfi_digamma(double x);

#endif
