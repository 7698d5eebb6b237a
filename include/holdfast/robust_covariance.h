/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file robust_covariance.h
 * @brief Location and covariance of rows of which up to almost half may be wrong: the minimum
 * covariance determinant.
 *
 * The h rows of n complete ones, p values each, are sought whose covariance matrix has the smallest
 * determinant; their mean m and covariance S are the *raw* estimate,
 *
 *     m = 1/h sum x_i          S = 1/h sum (x_i - m)(x_i - m)'    (sums over the support, h rows)
 *
 * and c S, c = a / P(chi^2_{p+2} <= q_a), a = h/n, P(chi^2_p <= q_a) = a, is consistent for normal
 * rows. One step of reweighting follows: mean and covariance of the rows whose squared distance is
 * at most the 0.975 quantile of chi^2_p. The squared distance of x is (x - m)'(c S)^-1 (x - m). The
 * covariance is divided by the number of rows, times the same factor for a = 0.975. No factor for
 * small samples is applied: with few rows the covariance is a little too small.
 *
 * The support is found by concentration steps: the h rows nearest by the distance of the last h
 * rows are taken, and the determinant never grows. They start from `starts` random sets of p + 1
 * rows and from the half of the rows nearest to the medians. They go on until nothing changes. The
 * paper takes two steps and follows the ten best; the best minimum is often not among them. More
 * than 600 rows are first cut into up to five lots of about 300 that share the starts, two steps
 * each; the best hundred are continued on all of those lots together (1500 rows at most), and the
 * ten best of that on all rows. With one column the support is found exactly. Nothing promises that
 * more columns reach the global minimum; more starts make it likelier.
 *
 * Multiplying x by an invertible matrix and shifting it transforms the estimate likewise; the order
 * of the rows does not change a digit (of equal rows either may be marked), nor does the number of
 * threads.
 *
 * Sources: Rousseeuw and Van Driessen, "A fast algorithm for the minimum covariance determinant
 * estimator" (1999); Croux and Haesbroeck, "Influence function and efficiency of the minimum
 * covariance determinant scatter matrix estimator" (1999) for the factors.
 *
 * Thread-safe, with a context for each thread.
 */
#ifndef HOLDFAST_ROBUST_COVARIANCE_H
#define HOLDFAST_ROBUST_COVARIANCE_H

#include <holdfast/context.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

/** How the support is sought and what becomes of it. */
typedef struct hf_robust_covariance_settings {
    /** sizeof(hf_robust_covariance_settings) */
    size_t size;
    /** Share of the complete rows that make the support, in [0.5, 1]: h = that share of n, rounded
     * down, but at least (n + p + 1) / 2 rounded down. 0 is that least h, which withstands the
     * most wrong rows. 1 takes all rows: the classical estimate is the raw one. Default: 0. */
    double support_fraction;
    /** Random starts, at least 1. Default: 500. */
    size_t starts;
    /** Whether to take the reweighting step. Without it the estimate is m and c S. Default: true.
     */
    bool reweight;
} hf_robust_covariance_settings;

/**
 * Where results go; every array is the caller's. Only `location` and `covariance` are required, the
 * others may be NULL.
 */
typedef struct hf_robust_covariance_arrays {
    /** p */
    double *location;
    /** p x p, both triangles; symmetric, so row- or column-major */
    double *covariance;
    /** p: m */
    double *raw_location;
    /** p x p: S, without the factor */
    double *raw_covariance;
    /** n: robust distances, the root of (x - location)' covariance^-1 (x - location). NaN for
     * incomplete rows; infinite for rows off the plane of a singular estimate. In no unit. */
    double *distance;
    /** n: among the h rows of the raw estimate */
    bool *support;
    /** n: weight 1 in the reweighting step (without that step: the support) */
    bool *kept;
    /** p: unit normal of the hyperplane that holds the support when the estimate is singular; else
     * zeros */
    double *normal;
} hf_robust_covariance_arrays;

/** Report of an estimate. */
typedef struct hf_robust_covariance_report {
    /** rows without a missing value, and the others */
    size_t complete, skipped;
    /** h */
    size_t support;
    /** rows of weight 1 */
    size_t kept;
    /** p, or less when the estimate is singular */
    size_t rank;
    /** concentration steps of the last stage, on all rows, over its candidates; 0 where none was
     * needed */
    size_t steps;
    /** log det S; -infinity when singular. In logarithms of the columns' units. */
    double log_determinant;
    /** c, and the factor in `covariance` */
    double raw_factor, final_factor;
} hf_robust_covariance_report;

/** The defaults that the fields name. */
HF_SETTINGS(hf_robust_covariance_settings)

/**
 * The estimate from n rows of p values.
 * @param x        n x p, row-major, row i at x + i * ldx; NaN = missing. Rows with a missing value
 *         are left out.
 * @param settings NULL for the defaults
 * @param out      must not overlap x
 * @param report   may be NULL
 * @return HF_OK; HF_WARN_ROWS_SKIPPED (rows were incomplete, the rest was enough);
 * HF_WARN_SINGULAR: h or more rows lie in a hyperplane (a constant column, duplicates, columns that
 * depend on each other), so that the determinant is zero. The estimate is then the one within the
 * plane, factors and quantiles with `rank` in the place of p, and `normal` tells the plane; the
 * message names columns that are constant. A direction counts as flat when its standard deviation
 * in the support is below some 1e-6 of what the columns' own would make it.
 * Errors: HF_ERR_NO_DATA (2 p complete rows or fewer), HF_ERR_NOT_FINITE (an infinite value),
 * HF_ERR_DIMENSION (ldx < p), HF_ERR_ARGUMENT, HF_ERR_MEMORY. Values further than 1e100 robust
 * scales from their column's median count as that far.
 * Cost: O(10 starts min(n, 600) p^2 + steps n p^2), on the context's threads; 2 n p doubles and n
 * per candidate in work. The seed of the context draws the starts.
 */
HF_API hf_status hf_robust_covariance(hf_context *ctx, size_t n, size_t p, const double *x,
                                      size_t ldx, const hf_robust_covariance_settings *settings,
                                      const hf_robust_covariance_arrays *out,
                                      hf_robust_covariance_report *report);

HF_END_DECLS

#endif
