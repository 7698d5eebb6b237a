/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file classes_moments.h
 * @brief Expectations of the softmax link under a normal distribution, for bounds: quick, with an
 * error that is known, and with derivatives.
 *
 * With f ~ N(m, S), p = softmax(f) and a weight for each class, G = E[a'p] has
 *
 *     dG/dm_i = E[p_i (a_i - a'p)]          H_ij = d2G/dm_i dm_j = E[1_ij p_i (a_i - a'p) - p_i p_j (a_i + a_j - 2 a'p)]          dG/dS = H/2
 *
 * all of which are sums of the moments E[p_i p_j p_k]. The k-th derivative of a'softmax along
 * directions v_1, ..., v_k is the joint cumulant of a, v_1, ..., v_k under p.
 */
#ifndef HFI_SOFTMAX_CLASSES_MOMENTS_H
#define HFI_SOFTMAX_CLASSES_MOMENTS_H

#include "core/core.h"

/** Where moments are taken: what is made once for a number of classes. Up to four classes: products
 * of trapezoidal rules. More: a fixed sequence of points. */
typedef struct hfi_rules {
    hfi_memory memory;
    size_t classes;
    double wanted; /* error asked of a product of rules */
    /* more than four classes: (classes - 1) x points, one normal number after the other */
    double *z;
    size_t points;
} hfi_rules;

hf_status hfi_rules_create(hf_context *ctx, size_t classes, double wanted, hfi_rules *out);
void hfi_rules_free(hfi_rules *rules);
/** Doubles of scratch that one call needs. */
size_t hfi_rules_scratch(const hfi_rules *rules);
/** Entries of the third moments: i <= j <= k. */
size_t hfi_third_count(size_t classes);

/** p := E[softmax(f)], not normalised; third := E[p_i p_j p_k], or NULL. Returns the error of each
 * entry: a bound for up to four classes, else six standard errors of the sum, estimated from its
 * eight parts. */
double hfi_moments(const hfi_rules *rules, const double *mean, const double *covariance, double *p,
                   double *third, double *scratch);
/** The same with fifth := E[p_i p_j p_k p_l p_o], i <= j <= k <= l <= o, in place of the third
 * moments, for at most four classes. */
double hfi_moments_fifth(const hfi_rules *rules, const double *mean, const double *covariance,
                         double *p, double *fifth, double *scratch);
size_t hfi_fifth_count(size_t classes);
/** From the moments, for the weights a: gradient (C) and Hessian (C x C), each entry off by at most
 * 6 max |a| times the error of the moments. */
void hfi_moments_slopes(size_t classes, const double *third, const double *a, double *gradient,
                        double *hessian);

/* ---- loops (classes_loops.c) ---- */

/** p (classes x count) := softmax of base + along z for `count` numbers z; work 2 count. */
void hfi_softmax_line(size_t classes, size_t count, const double *base, const double *along,
                      const double *z, double *p, double *work);
/** The same where p comes with the latent values in it. */
void hfi_softmax_columns(size_t classes, size_t count, double *p, double *work);
/** mean += sums of weight p_i; third (or NULL) += sums of weight p_i p_j p_k; work 2 count. */
void hfi_softmax_sums(size_t classes, size_t count, const double *p, const double *weight,
                      double *mean, double *third, double *work);
/** fifth += sums of weight and five probabilities; work 4 count. */
void hfi_softmax_fifths(size_t classes, size_t count, const double *p, const double *weight,
                        double *fifth, double *work);
/** out += factor z */
void hfi_add_multiple(size_t count, double factor, const double *z, double *out);

#endif
