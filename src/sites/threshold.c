/* SPDX-License-Identifier: Apache-2.0 */
/* The soft threshold of robust weights, from the residuals. */
#include "sites/outputs.h"
#include "sites/sites.h"

#include <float.h>
#include <math.h>

/* When most residuals are (nearly) zero the rule gives (nearly) zero, which is no threshold. This share of
 * the readings' own spread leaves the exact readings alone and gives the others next to no weight. No wild reading can
 * move that spread. */
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

static double find_largest_residual(const double *r, size_t count)
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
        double largest_residual = find_largest_residual(r, count);
        double c = rule == HF_THRESHOLD_MAD ? 3.0 * hfi_mad(r, count, r + n) : quantile_rule(r, count, eps);
        *threshold = never_zero(c, spread_of(n, y, r), largest_residual);
    }
    hfi_free(ctx, r);
    return status;
}

/* ---- thresholds of several outputs, each from its own residuals -------------------------------------- */

/* The order statistic at or below the (1 - eps) quantile, unless it is next to nothing: then `interpolated`,
 * which never is. */
static hf_status lower_statistic(hf_context *ctx, size_t n, const double *y, const double *centre, double eps,
                                 double interpolated, double *threshold)
{
    double *r = hfi_alloc(ctx, n, 3 * sizeof *r);
    if (r == NULL) return HF_ERR_MEMORY;
    double *present = r + n;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i])) continue;
        present[count] = y[i];
        r[count++] = fmin(DBL_MAX, fabs(y[i] - centre[i]));
    }
    (void)hfi_median(r, count); /* sorts */
    const size_t place = (size_t)((double)(count - 1) * (1.0 - eps));
    const double value = fmax(r[place], SMALLEST_SHARE * hfi_mad(present, count, present + n));
    *threshold = value >= DBL_MIN ? fmin(value, DBL_MAX) : interpolated;
    hfi_free(ctx, r);
    return HF_OK;
}

hf_status hfi_outputs_threshold(hf_context *ctx, hf_outputs_threshold rule, size_t n, const double *y,
                                const double *centre, double eps, double *threshold)
{
    const hf_threshold_rule plain = rule == HF_OUTPUTS_MAD ? HF_THRESHOLD_MAD : HF_THRESHOLD_QUANTILE;
    double value = 0.0;
    hf_status status = hf_robust_threshold(ctx, plain, n, y, centre, eps, &value);
    if (status >= 0 && rule == HF_OUTPUTS_LOWER)
        status = lower_statistic(ctx, n, y, centre, eps, value, &value);
    if (status >= 0) *threshold = value;
    return status;
}

hf_status hfi_outputs_check_threshold(hf_context *ctx, hf_outputs_threshold rule, size_t outputs,
                                      const double *eps)
{
    if (rule == HF_OUTPUTS_MAD) return HF_OK;
    if (rule != HF_OUTPUTS_LINEAR && rule != HF_OUTPUTS_LOWER)
        return hfi_refuse(ctx, "%d is no threshold rule for outputs", (int)rule);
    if (eps == NULL) return hfi_refuse(ctx, "thresholds by a quantile need eps, a share for each output");
    for (size_t t = 0; t < outputs; t++)
        if (!(eps[t] >= 0.0 && eps[t] < 1.0))
            return hfi_refuse(ctx,
                              "eps of output %zu is %g; give a share of at least 0 and less than 1, say 0.1",
                              t, eps[t]);
    return HF_OK;
}

hf_status hf_outputs_thresholds(hf_context *ctx, hf_outputs_threshold rule, size_t n, size_t outputs,
                                const double *y, size_t ldy, const double *centre, const double *eps,
                                double *threshold)
{
    if (outputs == 0 || threshold == NULL || (n > 0 && (y == NULL || centre == NULL)))
        return hfi_refuse(ctx, "hf_outputs_thresholds: there are no outputs, or an array is NULL");
    if (ldy < outputs)
        return hfi_fail(ctx, HF_ERR_DIMENSION,
                        "hf_outputs_thresholds: rows are %zu apart but have %zu outputs", ldy, outputs);
    hf_status status = hfi_outputs_check_threshold(ctx, rule, outputs, eps);
    if (status < 0) return status;
    double *block = hfi_alloc(ctx, 2 * n + outputs, sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    double *column = block + outputs;
    for (size_t t = 0; t < outputs && status >= 0; t++) {
        bool any = false;
        for (size_t i = 0; i < n; i++) {
            column[i] = y[i * ldy + t];
            column[n + i] = centre[i * outputs + t];
            any = any || !isnan(column[i]);
        }
        status = any ? hfi_outputs_threshold(ctx, rule, n, column, column + n, eps ? eps[t] : 0.1, &block[t])
                     : hfi_fail(ctx, HF_ERR_NO_DATA, "output %zu has no reading in any of %zu rows", t, n);
    }
    for (size_t t = 0; t < outputs && status >= 0; t++) threshold[t] = block[t];
    hfi_free(ctx, block);
    return status;
}
