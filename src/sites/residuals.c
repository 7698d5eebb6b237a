/* SPDX-License-Identifier: Apache-2.0 */
/* The residuals a mixture is fitted to: sorted, so that no sum depends on the order of the rows; and without
 * the ones that are hopelessly far out. One reading at 1e12 thus does not stretch the outliers' range until nothing
 * else looks like an outlier. */
#include "sites/mixture.h"

#include <math.h>

/* Fewer residuals than this cannot tell an outlier from an inlier. */
enum {
    FEWEST = 4
};

/* A residual further out than so many scales needs no mixture: it is an outlier. Well beyond the last window
 * of the prune mixture (389). Also beyond what gross errors of several standard deviations of the target make of
 * residuals whose scale is a hundredth of it. */
static const double FURTHEST = 1e3;

static const double MAD_TO_SD = 1.482602218505602;

/* 1.4826 x median |t|. When more than half are exactly zero, a hundredth of what the others typically are. The
 * zeros are then tight and the others far out, which is what such data say. */
static double robust_scale(const double *t, size_t n, double *scratch)
{
    for (size_t i = 0; i < n; i++) scratch[i] = fabs(t[i]);
    double scale = MAD_TO_SD * hfi_median(scratch, n);
    if (scale > 0.0) return scale;
    size_t zeros = 0;
    while (zeros < n && scratch[zeros] == 0.0) zeros++; /* the median has sorted it */
    scale = zeros < n ? 0.01 * hfi_median(scratch + zeros, n - zeros) : 1.0;
    return scale > 0.0 ? scale : 1.0;
}

static hf_status gather_kept_residuals(hf_context *ctx, size_t n, const double *t, const bool *skip,
                                       double *kept, size_t *count)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (skip != NULL && skip[i]) continue;
        if (isnan(t[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "standardised residual %zu is not a number", i);
        kept[used++] = t[i];
    }
    *count = used;
    return HF_OK;
}

/* Scales the residuals and deals with the far ones; returns how many are left. */
static size_t limit(double *t, size_t count, double scale, bool keep_far)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        double scaled = t[i] / scale;
        if (keep_far || fabs(scaled) <= FURTHEST) t[left++] = fmax(-FURTHEST, fmin(FURTHEST, scaled));
    }
    return left;
}

hf_status hfi_residuals_create(hf_context *ctx, size_t n, const double *t, const bool *skip, bool keep_far,
                               hfi_residuals *out)
{
    double *kept = hfi_alloc(ctx, n, 2 * sizeof *kept);
    if (kept == NULL) return HF_ERR_MEMORY;
    size_t count = 0;
    hf_status status = gather_kept_residuals(ctx, n, t, skip, kept, &count);
    double scale = status >= 0 && count > 0 ? robust_scale(kept, count, kept + n) : 1.0;
    if (status >= 0 && isinf(scale))
        status =
            hfi_fail(ctx, HF_ERR_NOT_FINITE, "half of the %zu standardised residuals are infinite", count);
    if (status < 0) {
        hfi_free(ctx, kept);
        return status;
    }
    double largest = 0.0, furthest = count >= FEWEST ? FURTHEST : INFINITY;
    count = limit(kept, count, scale, keep_far);
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(kept[i]));
    (void)hfi_median(kept, count); /* sorts */
    if (count < FEWEST) count = 0;
    *out = (hfi_residuals){.n = count, .t = kept, .scale = scale, .largest = largest, .furthest = furthest};
    return HF_OK;
}

void hfi_residuals_free(hf_context *ctx, hfi_residuals *residuals)
{
    hfi_free(ctx, residuals->t);
    *residuals = (hfi_residuals){0};
}
