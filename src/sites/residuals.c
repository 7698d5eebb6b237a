/* SPDX-License-Identifier: Apache-2.0 */
/* The residuals a mixture is fitted to: sorted, so that no sum depends on the order of the rows, and limited,
 * so that one reading at 1e12 does not stretch the outliers' range until nothing else looks like an outlier.
 */
#include "sites/mixture.h"

#include <math.h>

/* Fewer residuals than this cannot tell an outlier from an inlier. */
enum {
    FEWEST = 4
};

/* A residual further out than so many scales counts as so far out. Beyond the last window of the prune
 * mixture, hence without effect on which residuals it can hold. */
static const double FURTHEST = 1e3;

static const double MAD_TO_SD = 1.482602218505602;

/* 1.4826 x median |t|. When more than half are exactly zero, a hundredth of what the others typically are, so
 * that the zeros are tight and the others far out, which is what such data say. */
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

double hfi_residual_scaled(double t, double scale)
{
    return fmax(-FURTHEST, fmin(FURTHEST, t / scale));
}

static hf_status gather(hf_context *ctx, size_t n, const double *t, const bool *skip, double *kept,
                        size_t *count)
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

hf_status hfi_residuals_create(hf_context *ctx, size_t n, const double *t, const bool *skip,
                               hfi_residuals *out)
{
    double *kept = hfi_alloc(ctx, n, 2 * sizeof *kept);
    if (kept == NULL) return HF_ERR_MEMORY;
    size_t count = 0;
    hf_status status = gather(ctx, n, t, skip, kept, &count);
    double scale = status >= 0 && count > 0 ? robust_scale(kept, count, kept + n) : 1.0;
    if (status >= 0 && isinf(scale))
        status =
            hfi_fail(ctx, HF_ERR_NOT_FINITE, "half of the %zu standardised residuals are infinite", count);
    if (status < 0) {
        hfi_free(ctx, kept);
        return status;
    }
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        kept[i] = hfi_residual_scaled(kept[i], scale);
        largest = fmax(largest, fabs(kept[i]));
    }
    (void)hfi_median(kept, count); /* sorts */
    *out = (hfi_residuals){.n = count >= FEWEST ? count : 0, .t = kept, .scale = scale, .largest = largest};
    return HF_OK;
}

void hfi_residuals_free(hf_context *ctx, hfi_residuals *residuals)
{
    hfi_free(ctx, residuals->t);
    *residuals = (hfi_residuals){0};
}
