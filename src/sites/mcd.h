/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mcd.h
 * @brief The search for the h rows of least covariance determinant, and what it is made of; for the
 * sites room only. Rows here are complete, finite and comparable in scale (robust_covariance.c sees
 * to that).
 */
#ifndef HFI_SITES_MCD_H
#define HFI_SITES_MCD_H

#include "core/core.h"
#include <stddef.h>

typedef struct hfi_mcd_rows {
    size_t n, p;
    const double *u; /* n x p, row-major without gaps */
} hfi_mcd_rows;

/** Mean and covariance of some rows, the covariance factored for distances. */
typedef struct hfi_mcd_fit {
    double *mean; /* p */
    /* p x p, lower, column-major; with something on the diagonal when singular */
    double *factor;
    double log_determinant; /* of what was factored */
    bool singular;
} hfi_mcd_fit;

/** Room for one thread: `fit` (p and p x p in front of it), distances and a copy (n each), chosen
 * rows. */
typedef struct hfi_mcd_scratch {
    double *block;
    hfi_mcd_fit fit;
    double *distance, *copy; /* n: squared distances from the fit */
    double *work;            /* p */
    bool *chosen;            /* n */
} hfi_mcd_scratch;

hf_status hfi_mcd_scratch_create(hf_context *ctx, size_t n, size_t p, hfi_mcd_scratch *out);
void hfi_mcd_scratch_free(hf_context *ctx, hfi_mcd_scratch *scratch);
void hfi_mcd_fit_copy(size_t p, const hfi_mcd_fit *from, hfi_mcd_fit *to);

/** Mean (p) and covariance (p x p, both triangles) of the `count` rows that are chosen, divided by
 * count. Two passes. */
void hfi_mcd_moments(const hfi_mcd_rows *rows, const bool *chosen, size_t count, double *mean,
                     double *covariance);
/** scratch->fit := that of the chosen rows. */
void hfi_mcd_fit_chosen(const hf_context *ctx, const hfi_mcd_rows *rows, size_t count,
                        hfi_mcd_scratch *scratch);
/** The h rows nearest to scratch->fit (of equally distant ones the first) become the chosen ones,
 * and the fit theirs. */
void hfi_mcd_concentrate(const hf_context *ctx, const hfi_mcd_rows *rows, size_t h,
                         hfi_mcd_scratch *scratch);

/** chosen := the h <= n rows of least covariance determinant that the search finds; *steps counts
 * what mcd_search.c says. */
hf_status hfi_mcd_search(hf_context *ctx, const hfi_mcd_rows *rows, size_t h, size_t starts,
                         bool *chosen, size_t *steps);
/** The same for p = 1 and rows in ascending order: exact, O(n). 2 h > n. */
void hfi_mcd_window(size_t n, const double *u, size_t h, bool *chosen);

/* ---- the chi-squared distribution with a whole number of degrees of freedom ------------------ */

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
