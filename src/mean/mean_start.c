/* SPDX-License-Identifier: Apache-2.0 */
/* Where training of a prior mean begins. */
#include "kernel/kernel.h"
#include "mean/mean_impl.h"

#include <math.h>

/* Keeps the readings that count at the front of `kept`; NaN marks a missing reading whatever `present` says.
 */
static size_t gather_present_readings(size_t n, const double *y, const bool *present, double *kept)
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

/* The average of each output's readings; of all readings where an output has none. */
static hf_status start_outputs(hf_context *ctx, hf_mean *mean, size_t n, const double *x, size_t ldx,
                               const double *y, const bool *present)
{
    double *kept = hfi_alloc(ctx, n, sizeof *kept);
    if (kept == NULL) return HF_ERR_MEMORY;
    const size_t all = gather_present_readings(n, y, present, kept);
    const double common = all > 0 ? average(kept, all) : 0.0;
    for (size_t k = 0; all > 0 && k < mean->count; k++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if ((present == NULL || present[i]) && !isnan(y[i]) &&
                (size_t)hfi_output_of(x[i * ldx + mean->d - 1], mean->count) == k)
                kept[count++] = y[i];
        mean->values[k] = count > 0 ? average(kept, count) : common;
    }
    hfi_free(ctx, kept);
    if (all > 0) return HF_OK;
    return hfi_fail(ctx, HF_ERR_NO_DATA,
                    "none of the %zu readings is present, so the prior mean has no start", n);
}

hf_status hfi_mean_start(hf_context *ctx, hf_mean *mean, size_t n, const double *x, size_t ldx,
                         const double *y, const bool *present)
{
    if (mean->held || mean->count == 0) return HF_OK;
    if (mean->kind == HF_MEAN_OUTPUTS) return start_outputs(ctx, mean, n, x, ldx, y, present);
    double *kept = hfi_alloc(ctx, n, sizeof *kept);
    if (kept == NULL) return HF_ERR_MEMORY;
    size_t count = gather_present_readings(n, y, present, kept);
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
