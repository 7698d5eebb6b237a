/* SPDX-License-Identifier: Apache-2.0 */
/* The soft threshold of robust weights, from the residuals. */
#include "sites/sites.h"

#include <float.h>
#include <math.h>

/* When most residuals are (nearly) zero the rule gives (nearly) zero, which is no threshold. This share of
 * the readings' own spread, which no wild reading can move, leaves the exact readings alone and gives the
 * others next to no weight. */
static const double SMALLEST_SHARE = 1e-6;

/* Residuals of the present readings into r; their number, or the first reading whose centre is unusable. */
static hf_status residuals(hf_context *ctx, size_t n, const double *y, const double *centre, double *r,
                           size_t *count)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i])) continue;
        if (!isfinite(y[i]) || !isfinite(centre[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "threshold: reading %zu is %g and its centre %g", i, y[i],
                            centre[i]);
        /* The difference of two finite numbers can overflow. */
        r[kept++] = fmax(-DBL_MAX, fmin(DBL_MAX, y[i] - centre[i]));
    }
    if (kept == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "threshold: none of the %zu readings is present", n);
    *count = kept;
    return HF_OK;
}

/* The (1 - eps) quantile of |r|; r is overwritten. */
static double quantile_rule(double *r, size_t count, double eps)
{
    for (size_t i = 0; i < count; i++) r[i] = fabs(r[i]);
    return hfi_quantile(r, count, 1.0 - eps);
}

static double largest(const double *r, size_t count)
{
    double value = 0.0;
    for (size_t i = 0; i < count; i++) value = fmax(value, fabs(r[i]));
    return value;
}

static double never_zero(double threshold, double spread, double largest_residual)
{
    double c = fmax(threshold, SMALLEST_SHARE * spread);
    if (c < DBL_MIN) c = SMALLEST_SHARE * largest_residual;
    return c >= DBL_MIN ? fmin(c, DBL_MAX) : 1.0;
}

/* 1.4826 x MAD of the present readings themselves; `scratch` has room for two copies. */
static double spread_of(size_t n, const double *y, double *scratch)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(y[i])) scratch[count++] = y[i];
    return hfi_mad(scratch, count, scratch + n);
}

hf_status hf_robust_threshold(hf_context *ctx, hf_threshold_rule rule, size_t n, const double *y,
                              const double *centre, double eps, double *threshold)
{
    if (threshold == NULL) return hfi_refuse(ctx, "hf_robust_threshold: threshold is NULL");
    if (rule == HF_THRESHOLD_GIVEN) {
        if (*threshold > 0.0) return HF_OK;
        return hfi_refuse(ctx, "the given threshold is %g; give a positive number", *threshold);
    }
    if (rule != HF_THRESHOLD_QUANTILE && rule != HF_THRESHOLD_MAD)
        return hfi_refuse(ctx, "%d is no threshold rule", (int)rule);
    if (rule == HF_THRESHOLD_QUANTILE && !(eps >= 0.0 && eps < 1.0))
        return hfi_refuse(ctx, "eps is %g; give a share of at least 0 and less than 1, say 0.1", eps);
    if (n > 0 && (y == NULL || centre == NULL))
        return hfi_refuse(ctx, "hf_robust_threshold: %s is NULL", y == NULL ? "y" : "centre");
    double *r = hfi_alloc(ctx, n, 2 * sizeof *r);
    if (r == NULL) return HF_ERR_MEMORY;
    size_t count = 0;
    hf_status status = residuals(ctx, n, y, centre, r, &count);
    if (status >= 0) {
        double largest_residual = largest(r, count);
        double c = rule == HF_THRESHOLD_MAD ? 3.0 * hfi_mad(r, count, r + n) : quantile_rule(r, count, eps);
        *threshold = never_zero(c, spread_of(n, y, r), largest_residual);
    }
    hfi_free(ctx, r);
    return status;
}
