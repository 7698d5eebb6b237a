/* SPDX-License-Identifier: Apache-2.0 */
/* How well a chain has mixed: its correlation and its drift. */
#include "solver/chain.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum {
    LAGS = 128 /* even */
};
/* Numbers that differ by this share differ by rounding. */
static const double ROUNDING = 1e-12;

typedef struct stretch {
    double mean, variance;
    double correlation; /* NaN where there is no variance */
    size_t count;
} stretch;

static double mean_of(size_t count, const double *series)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += series[i] - series[0];
    return series[0] + sum / (double)count;
}

/* Sum of the autocovariances over all lags, positive and negative, of a centred series; *complete: the sum has ended
 * by itself, before the last lag that was looked at. */
static double covariance_sum(size_t count, const double *series, bool *complete)
{
    const size_t lags = count > 4 * (size_t)LAGS ? LAGS : count;
    double sum = 0.0, before = INFINITY, variance = 0.0;
    size_t lag = 0;
    for (; lag < lags; lag += 2) {
        double pair = hfi_dot(count - lag, series, series + lag);
        if (lag == 0) variance = pair;
        if (lag + 1 < count) pair += hfi_dot(count - lag - 1, series, series + lag + 1);
        before = fmin(before, pair);
        if (before <= 0.0) break;
        sum += before;
    }
    *complete = lag < lags || lags == count;
    return (2.0 * sum - variance) / (double)count;
}

/* A series that has been centred. */
static double centred_correlation(size_t count, double *series)
{
    const double variance = hfi_dot(count, series, series) / (double)count;
    bool complete;
    double sum = covariance_sum(count, series, &complete), lengthened = 1.0;
    while (!complete) {
        count /= 2;
        lengthened *= 2.0;
        for (size_t i = 0; i < count; i++) series[i] = 0.5 * (series[2 * i] + series[2 * i + 1]);
        sum = covariance_sum(count, series, &complete);
    }
    return fmax(1.0, lengthened * sum / variance);
}

/* Mean, variance and correlation of a series, which is destroyed. */
static stretch examine(size_t count, double *series)
{
    stretch s = {.mean = mean_of(count, series), .correlation = NAN, .count = count};
    for (size_t i = 0; i < count; i++) series[i] -= s.mean;
    s.variance = hfi_dot(count, series, series) / (double)count;
    if (s.variance > pow(ROUNDING * (1.0 + fabs(s.mean)), 2.0))
        s.correlation = centred_correlation(count, series);
    else
        s.variance = 0.0;
    return s;
}

static double squared_error(const stretch *s)
{
    return s->variance > 0.0 ? s->variance * s->correlation / (double)s->count : 0.0;
}

static double drift(const stretch *a, const stretch *b)
{
    const double error = sqrt(squared_error(a) + squared_error(b)), moved = fabs(a->mean - b->mean);
    if (error > 0.0) return moved / error;
    return moved > ROUNDING * (1.0 + fabs(b->mean)) ? INFINITY : NAN;
}

static stretch examine_part(const double *trace, size_t first, size_t count, double *work)
{
    memcpy(work, trace + first, count * sizeof *work);
    return examine(count, work);
}

hf_status hfi_chain_summarise(hf_context *ctx, size_t steps, const double *trace, hfi_chain_summary *out)
{
    const size_t half = steps - steps / 2, quarter = steps / 4;
    double *work = hfi_alloc_unset(ctx, half, sizeof *work);
    if (work == NULL) return HF_ERR_MEMORY;
    const stretch later = examine_part(trace, steps - half, half, work);
    *out =
        (hfi_chain_summary){.mean = later.mean, .sd = sqrt(later.variance), .drift = NAN, .correlation = NAN};
    if (steps >= HFI_CHAIN_SHORTEST) {
        const stretch second = examine_part(trace, quarter, quarter, work);
        const stretch fourth = examine_part(trace, steps - quarter, quarter, work);
        out->drift = drift(&second, &fourth);
        out->correlation = later.correlation;
    }
    hfi_free(ctx, work);
    return HF_OK;
}
