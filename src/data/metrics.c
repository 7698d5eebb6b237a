/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of Gaussian predictions. */
#include "core/core.h"

#include <holdfast/metrics.h>

#include <math.h>

#define SQRT_HALF        0.70710678118654752440 /* 1 / sqrt(2) */
#define SQRT_2_OVER_PI   0.79788456080286535588
#define ONE_OVER_SQRT_PI 0.56418958354775628695

/* Running means: no sum overflows as long as its mean does not. */
typedef struct scores {
    size_t n;
    double absolute;
    double scale; /* largest |error| so far: squares are kept relative to it, so that 1e300 squared does no
                     harm */
    double squares;
    double nlpd;
    double crps;
    size_t inside50, inside90, inside95;
} scores;

static void add_square(scores *s, double size)
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

static void add_row(scores *s, double error, double sd)
{
    double size = fabs(error), z = size / sd;
    double count = (double)++s->n;
    s->absolute += (size - s->absolute) / count;
    add_square(s, size);
    double nlpd = HFI_HALF_LOG_2PI + log(sd) + 0.5 * z * z;
    s->nlpd = isinf(nlpd) || isinf(s->nlpd) ? INFINITY : s->nlpd + (nlpd - s->nlpd) / count;
    double crps = size * erf(z * SQRT_HALF) + sd * (SQRT_2_OVER_PI * exp(-0.5 * z * z) - ONE_OVER_SQRT_PI);
    s->crps += (crps - s->crps) / count;
    s->inside50 += z <= HF_HALF_WIDTH_50 ? 1 : 0;
    s->inside90 += z <= HF_HALF_WIDTH_90 ? 1 : 0;
    s->inside95 += z <= HF_HALF_WIDTH_95 ? 1 : 0;
}

static hf_status check_row(hf_context *ctx, size_t row, double y, double mean, double sd)
{
    if (!(sd > 0) || isinf(sd))
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "metrics: the standard deviation of row %zu is %g; it must be positive and finite",
                        row + 1, sd);
    if (!isfinite(y) || !isfinite(mean) || !isfinite(y - mean))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                        "metrics: row %zu has target %g and prediction %g; their difference is not finite",
                        row + 1, y, mean);
    return HF_OK;
}

hf_status hf_metrics_gaussian(hf_context *ctx, size_t n, const double *y, const double *mean,
                              const double *sd, hf_metrics *out)
{
    if (out == NULL || (n > 0 && (y == NULL || mean == NULL || sd == NULL)))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_metrics_gaussian: an array or out is NULL");
    scores s = {0};
    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i]) || isnan(mean[i]) || isnan(sd[i])) continue;
        hf_status status = check_row(ctx, i, y[i], mean[i], sd[i]);
        if (status != HF_OK) return status;
        add_row(&s, y[i] - mean[i], sd[i]);
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
