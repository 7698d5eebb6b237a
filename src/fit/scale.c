/* SPDX-License-Identifier: Apache-2.0 */
/* Where numbers lie, and how far they spread. */
#include "fit/fit.h"
#include <math.h>
#include <string.h>

void hfi_fit_mean_and_sd(size_t n, const double *values, size_t stride, double *mean, double *sd)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(values[i * stride]));
    *mean = 0.0;
    *sd = 1.0;
    if (largest == 0.0) return;
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) sum += values[i * stride] / largest;
    sum /= (double)n;
    for (size_t i = 0; i < n; i++) {
        const double u = values[i * stride] / largest - sum;
        squares += u * u;
    }
    const double spread = sqrt(squares / (double)n);
    *mean = sum * largest;
    /* Below this the spread is rounding of the numbers themselves. */
    if (spread > 1e-13 && spread * largest >= 1e-300) *sd = spread * largest;
}

/* 1.4826 MAD, else the interquartile range, else the sd: the first that is not zero. */
hf_status hfi_fit_robust_scale(hf_context *ctx, size_t n, const double *y, double *location, double *scale)
{
    double *sorted = hfi_alloc(ctx, n, 2 * sizeof *sorted);
    if (!sorted) return HF_ERR_MEMORY;
    memcpy(sorted, y, n * sizeof *y);
    *location = hfi_median(sorted, n);
    double s = hfi_mad(y, n, sorted + n);
    if (!(s > 0.0)) s = (hfi_quantile(sorted, n, 0.75) - hfi_quantile(sorted, n, 0.25)) / 1.349;
    double mean = 0.0, sd = 1.0;
    hfi_fit_mean_and_sd(n, y, 1, &mean, &sd);
    if (!(s > 1e-13 * fabs(*location)) || !isfinite(s)) s = sd;
    hfi_free(ctx, sorted);
    *scale = s;
    return HF_OK;
}
