/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metrics.h
 * @brief How good are predictions: error, density, calibration.
 */
#ifndef HOLDFAST_METRICS_H
#define HOLDFAST_METRICS_H

#include <holdfast/context.h>

HF_BEGIN_DECLS

/** Scores over n rows, in the units of the target. */
typedef struct hf_metrics {
    size_t n;          /**< rows scored (rows with a missing target or prediction are not) */
    double mae;        /**< mean |y - mean| */
    double rmse;       /**< sqrt(mean (y - mean)^2) */
    double nlpd;       /**< mean of -log N(y; mean, sd^2), natural logarithm, sd of the observed reading */
    double coverage50; /**< share of y inside the central 50 % interval of N(mean, sd^2) */
    double coverage90;
    double coverage95;
    double crps;       /**< mean continuous ranked probability score of N(mean, sd^2) */
} hf_metrics;

/** Scores `n` predictions. mean, sd > 0 (observed), y: n entries each. O(n). Thread-safe. HF_ERR_NO_DATA when no row can be scored. */
HF_API hf_status hf_metrics_gaussian(hf_context *ctx, size_t n, const double *y, const double *mean, const double *sd,
                                     hf_metrics *out);

HF_END_DECLS

#endif
