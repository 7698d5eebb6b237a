/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metrics.h
 * @brief How good are predictions: error, density, calibration.
 */
#ifndef HOLDFAST_METRICS_H
#define HOLDFAST_METRICS_H

#include <holdfast/context.h>

HF_BEGIN_DECLS

/** Half widths, in standard deviations, of the central intervals that hold 50, 90 and 95 % of a normal
 * distribution. */
#define HF_HALF_WIDTH_50 0.67448975019608174320
#define HF_HALF_WIDTH_90 1.64485362695147271486
#define HF_HALF_WIDTH_95 1.95996398454005423552

/** Scores over n rows, in the units of the target. */
typedef struct hf_metrics {
    size_t n;    /**< rows scored (rows with a missing target or prediction are not) */
    double mae;  /**< mean |y - mean| */
    double rmse; /**< sqrt(mean (y - mean)^2) */
    double nlpd; /**< mean of -log N(y; mean, sd^2), natural logarithm; +inf where |y - mean| / sd exceeds
                    1e154 */
    double coverage50; /**< share of y inside the central 50 % interval of N(mean, sd^2) */
    double coverage90;
    double coverage95;
    double crps; /**< mean continuous ranked probability score of N(mean, sd^2) */
} hf_metrics;

/**
 * Scores `n` predictions.
 * @param y    targets, n entries; NaN: missing
 * @param mean predictions, n entries; NaN: missing
 * @param sd   standard deviations of the *observed* reading (noise included), n entries, positive and finite;
 * NaN: missing
 * @return HF_OK; HF_WARN_ROWS_SKIPPED when rows with something missing were left out (`n` of the result says
 * how many were scored); HF_ERR_NO_DATA when no row can be scored; HF_ERR_ARGUMENT for an sd that is not
 * positive; HF_ERR_NOT_FINITE for an infinite target or prediction.
 *
 * With z = (y - mean) / sd: CRPS = sd (z erf(z / sqrt 2) + 2 phi(z) - 1 / sqrt pi), coverage counts |z| <=
 * half width (ends included). O(n). Two threads may call it, each with a context of its own.
 */
HF_API hf_status hf_metrics_gaussian(hf_context *ctx, size_t n, const double *y, const double *mean,
                                     const double *sd, hf_metrics *out);

HF_END_DECLS

#endif
