/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metrics.h
 * @brief How good are predictions: error, density, calibration.
 */
#ifndef HOLDFAST_METRICS_H
#define HOLDFAST_METRICS_H

#include <holdfast/context.h>
#include <holdfast/transform.h>

HF_BEGIN_DECLS

/** Half widths, in standard deviations, of the central intervals that hold 50, 90 and 95 % of a
 * normal distribution. */
#define HF_HALF_WIDTH_50 0.67448975019608174320
#define HF_HALF_WIDTH_90 1.64485362695147271486
#define HF_HALF_WIDTH_95 1.95996398454005423552

/** Scores over n rows, in the units of the target. */
typedef struct hf_metrics {
    /** rows scored (rows with a missing target or prediction are not) */
    size_t n;
    /** mean |y - mean| */
    double mae;
    /** sqrt(mean (y - mean)^2) */
    double rmse;
    /** mean of -log N(y; mean, sd^2), natural logarithm; +inf where |y - mean| / sd exceeds 1e154
     */
    double nlpd;
    /** share of y inside the central 50 % interval of N(mean, sd^2) */
    double coverage50;
    double coverage90;
    double coverage95;
    /** mean continuous ranked probability score of N(mean, sd^2) */
    double crps;
} hf_metrics;

/**
 * Scores `n` predictions.
 * @param y    targets, n entries; NaN: missing
 * @param mean predictions, n entries; NaN: missing
 * @param sd   standard deviations of the *observed* reading (noise included), n entries, positive
 *         and finite;
 * NaN: missing
 * @return HF_OK; HF_WARN_ROWS_SKIPPED when rows with something missing were left out (`n` of the
 * result says how many were scored); HF_ERR_NO_DATA when no row can be scored; HF_ERR_ARGUMENT for
 * an sd that is not positive; HF_ERR_NOT_FINITE for an infinite target or prediction.
 *
 * With z = (y - mean) / sd: CRPS = sd (z erf(z / sqrt 2) + 2 phi(z) - 1 / sqrt pi), coverage counts
 * |z| <= half width (ends included). O(n). Two threads may call it, each with a context of its own.
 */
HF_API hf_status hf_metrics_gaussian(hf_context *ctx, size_t n, const double *y, const double *mean,
                                     const double *sd, hf_metrics *out);

/**
 * Scores `n` predictions of y = g^-1(z) (transform.h), in the units of y.
 * @param g         the transform; with HF_TRANSFORM_NONE this is hf_metrics_gaussian()
 * @param y         as for hf_metrics_gaussian()
 * @param mean, sd  of z for the *observed* reading; as for hf_metrics_gaussian()
 *
 * mae: mean |y - median|, which is the y of mean z, for no other number makes it smaller; rmse: of
 * the mean of y. nlpd: hf_transform_log_density(), with the Jacobian, +inf where a y is outside of
 * the domain. Coverage counts y in g^-1(mean -+ half width sd), ends included. crps:
 * hf_transform_crps().
 * @return as hf_metrics_gaussian(); HF_ERR_ARGUMENT also for HF_TRANSFORM_AUTO; HF_ERR_NOT_FINITE
 * also where a prediction of y is too large for a double. O(n). Thread-safe as that one.
 */
HF_API hf_status hf_metrics_transformed(hf_context *ctx, size_t n, hf_transform g, const double *y,
                                        const double *mean, const double *sd, hf_metrics *out);

/** Scores of predicted class probabilities over n rows. */
typedef struct hf_class_metrics {
    /** rows scored (rows with a missing label or prediction are not) */
    size_t n;
    /** share of rows whose most probable class, the first of equal ones, is the label */
    double accuracy;
    /** mean of -log of the label's probability, natural logarithm; +inf where one is 0 */
    double nlpd;
    /** mean of sum_c (p_c - [c is the label])^2, in [0, 2]; of two classes twice (p_1 - y)^2 */
    double brier;
    /** expected calibration error: sum over bins of their share of rows times |accuracy -
     * confidence| */
    double calibration_error;
} hf_class_metrics;

/** One bin of a reliability diagram: rows whose largest probability lies in it. */
typedef struct hf_calibration_bin {
    size_t n;
    /** mean of the rows' largest probability; 0 in an empty bin */
    double confidence;
    /** share of rows whose most probable class is the label; 0 in an empty bin */
    double accuracy;
} hf_calibration_bin;

/**
 * Scores class probabilities of `n` rows.
 * @param label       the rows' classes, n entries < classes; SIZE_MAX: missing
 * @param probability n x classes, row-major without gaps; rows sum to 1 to 1e-6; a row with a NaN
 *         is missing
 * @param bins        >= 1: how many equal parts of (0, 1] the largest probability is sorted into,
 *         part b being (b / bins, (b + 1) / bins]; 10 and 15 are usual
 * @param bin         `bins` entries or NULL: what is in each
 * @return HF_OK; HF_WARN_ROWS_SKIPPED when rows with something missing were left out (`n` of the
 * result says how many were scored); HF_ERR_NO_DATA when no row can be scored; HF_ERR_ARGUMENT for
 * a label that is no class, probabilities outside of [0, 1], a row that does not sum to 1; for no
 * class or no bin at all.
 *
 * The expected calibration error of few rows is biased upwards (about sqrt(bins / n)): compare it
 * at equal n. O(n classes + bins). Two threads may call it, each with a context of its own.
 *
 * Sources: Brier, "Verification of forecasts expressed in terms of probability" (1950); Naeini,
 * Cooper, Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning" (2015).
 */
HF_API hf_status hf_metrics_class(hf_context *ctx, size_t n, size_t classes, const size_t *label,
                                  const double *probability, size_t bins, hf_calibration_bin *bin,
                                  hf_class_metrics *out);

HF_END_DECLS

#endif
