/* SPDX-License-Identifier: Apache-2.0 */
/* Where training of a prior mean begins. */
#include "mean/mean_impl.h"

#include <math.h>

/* Keeps the readings that count at the front of `kept`; NaN marks a missing reading whatever `present` says.
 */
static size_t gather(size_t n, const double *y, const bool *present, double *kept)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if ((present == NULL || present[i]) && !isnan(y[i])) kept[count++] = y[i];
    return count;
}

/* Average of count >= 1 numbers. Scaled, because the sum of readings near 1e308 overflows where their
 * average does not; by a power of two, so that the scaling itself rounds nothing. */
static double average(const double *values, size_t count)
{
    double largest = 0.0, sum = 0.0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(values[i]));
    int exponent = 0;
    (void)frexp(largest, &exponent);
    for (size_t i = 0; i < count; i++) sum += ldexp(values[i], -exponent);
    return ldexp(sum / (double)count, exponent);
}

hf_status hfi_mean_start(hf_context *ctx, hf_mean *mean, size_t n, const double *x, size_t ldx,
                         const double *y, const bool *present)
{
    (void)x; /* slopes start at zero whatever the inputs are */
    (void)ldx;
    if (mean->held || mean->count == 0) return HF_OK;
    double *kept = hfi_alloc(ctx, n, sizeof *kept);
    if (kept == NULL) return HF_ERR_MEMORY;
    size_t count = gather(n, y, present, kept);
    hf_status status = HF_OK;
    if (count == 0) {
        status = hfi_fail(ctx, HF_ERR_NO_DATA,
                          "none of the %zu readings is present, so the prior mean has no start", n);
    } else {
        for (size_t k = 1; k < mean->count; k++) mean->values[k] = 0.0;
        mean->values[0] = mean->kind == HF_MEAN_MEDIAN ? hfi_median(kept, count) : average(kept, count);
    }
    hfi_free(ctx, kept);
    return status;
}
