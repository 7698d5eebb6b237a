/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of Gaussian predictions. */
#include "core/core.h"
#include "core/normal.h"

#include <holdfast/metrics.h>

#include <math.h>

/* Running means: no sum overflows as long as its mean does not. */
typedef struct running_scores {
    size_t n;
    double absolute;
    double scale; /* largest |error| so far: squares are kept relative to it, so that 1e300 squared does no
                     harm */
    double squares;
    double nlpd;
    double crps;
    size_t inside50, inside90, inside95;
} running_scores;

static void add_square(running_scores *s, double size)
{
    if (size > s->scale) {
        double shrink = s->scale / size;
        s->squares = s->squares * shrink * shrink + 1;
        s->scale = size;
    } else if (size > 0) {
        double relative = size / s->scale;
        s->squares += relative * relative;
    }
}

/* One reading beside its prediction. */
typedef struct scored_reading {
    double from_median, from_mean; /* |y - median|, |y - mean| */
    double distance;               /* from the median in standard deviations of what is modelled */
    double nlpd, crps;
} scored_reading;

static void add_row(running_scores *s, const scored_reading *r)
{
    const double count = (double)++s->n;
    s->absolute += (r->from_median - s->absolute) / count;
    add_square(s, r->from_mean);
    s->nlpd = isinf(r->nlpd) || isinf(s->nlpd) ? INFINITY : s->nlpd + (r->nlpd - s->nlpd) / count;
    s->crps += (r->crps - s->crps) / count;
    s->inside50 += r->distance <= HF_HALF_WIDTH_50 ? 1 : 0;
    s->inside90 += r->distance <= HF_HALF_WIDTH_90 ? 1 : 0;
    s->inside95 += r->distance <= HF_HALF_WIDTH_95 ? 1 : 0;
}

static scored_reading normal_row(double y, double mean, double sd)
{
    const double size = fabs(y - mean), z = size / sd;
    return (scored_reading){.from_median = size,
                            .from_mean = size,
                            .distance = z,
                            .nlpd = HFI_HALF_LOG_2PI + log(sd) + 0.5 * z * z,
                            .crps = hfi_normal_crps(size, sd)};
}

/* Moments of y = g^-1(z), z normal. */
static scored_reading transformed_row(hf_transform transform, double y, double mean, double sd)
{
    const double variance = sd * sd;
    double average;
    hf_transform_moments(transform, mean, variance, &average, NULL);
    return (scored_reading){.from_median = fabs(y - hf_transform_inverse(transform, mean)),
                            .from_mean = fabs(y - average),
                            .distance = fabs(hf_transform_residual(transform, y, mean, variance)),
                            .nlpd = -hf_transform_log_density(transform, y, mean, variance),
                            .crps = hf_transform_crps(transform, y, mean, variance)};
}

static hf_status check_row(hf_context *ctx, size_t row, double y, double mean, double sd)
{
    if (!(sd > 0) || isinf(sd))
        return hfi_refuse(ctx,
                          "metrics: the standard deviation of row %zu is %g; it must be positive and finite",
                          row + 1, sd);
    if (!isfinite(y) || !isfinite(mean) || !isfinite(y - mean))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                        "metrics: row %zu has target %g and prediction %g; their difference is not finite",
                        row + 1, y, mean);
    return HF_OK;
}

/* Rows that are not finite have been refused. */
static hf_status check_scores(hf_context *ctx, size_t i, const scored_reading *r)
{
    if (isfinite(r->from_median) && isfinite(r->from_mean) && isfinite(r->crps)) return HF_OK;
    return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                    "metrics: the prediction of row %zu, or its error, is too large for a number", i + 1);
}

static hf_status score_predictions(hf_context *ctx, size_t n, hf_transform transform, const double *y,
                                   const double *mean, const double *sd, hf_metrics *out)
{
    running_scores s = {0};
    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i]) || isnan(mean[i]) || isnan(sd[i])) continue;
        hf_status status = check_row(ctx, i, y[i], mean[i], sd[i]);
        if (status != HF_OK) return status;
        const scored_reading r = transform == HF_TRANSFORM_NONE
                                     ? normal_row(y[i], mean[i], sd[i])
                                     : transformed_row(transform, y[i], mean[i], sd[i]);
        if (transform != HF_TRANSFORM_NONE) status = check_scores(ctx, i, &r);
        if (status != HF_OK) return status;
        add_row(&s, &r);
    }
    if (s.n == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA,
                        "metrics: none of %zu rows has a target, a prediction and a standard deviation", n);
    double rows = (double)s.n;
    *out = (hf_metrics){
        .n = s.n,
        .mae = s.absolute,
        .rmse = s.scale * sqrt(s.squares / rows),
        .nlpd = s.nlpd,
        .coverage50 = (double)s.inside50 / rows,
        .coverage90 = (double)s.inside90 / rows,
        .coverage95 = (double)s.inside95 / rows,
        .crps = s.crps,
    };
    if (s.n < n)
        return hfi_fail(ctx, HF_WARN_ROWS_SKIPPED,
                        "metrics: %zu of %zu rows have no target or no prediction and were left out", n - s.n,
                        n);
    return HF_OK;
}

hf_status hf_metrics_gaussian(hf_context *ctx, size_t n, const double *y, const double *mean,
                              const double *sd, hf_metrics *out)
{
    if (out == NULL || (n > 0 && (y == NULL || mean == NULL || sd == NULL)))
        return hfi_refuse(ctx, "hf_metrics_gaussian: an array or out is NULL");
    return score_predictions(ctx, n, HF_TRANSFORM_NONE, y, mean, sd, out);
}

hf_status hf_metrics_transformed(hf_context *ctx, size_t n, hf_transform transform, const double *y,
                                 const double *mean, const double *sd, hf_metrics *out)
{
    if (out == NULL || (n > 0 && (y == NULL || mean == NULL || sd == NULL)))
        return hfi_refuse(ctx, "hf_metrics_transformed: an array or out is NULL");
    if (hf_transform_domain(transform) == NULL)
        return hfi_refuse(ctx, "hf_metrics_transformed: %d is none of the transforms none, sqrt and log",
                          (int)transform);
    return score_predictions(ctx, n, transform, y, mean, sd, out);
}
