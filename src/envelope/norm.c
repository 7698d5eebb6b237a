/* SPDX-License-Identifier: Apache-2.0 */
/* The norm that readings ask for, as they come in. */
#include "envelope/envelope.h"
#include <holdfast/closed_envelope.h>

#include <math.h>

/* Number `k` of `points` counts, about evenly spaced in log n: above the one before, leaving one each for the rest. */
static size_t count_at(size_t n, size_t points, size_t k, size_t before)
{
    const double share = (double)(k + 1) / (double)points;
    const size_t even = (size_t)(exp(log((double)n) * share) + 0.5), most = n - (points - 1 - k);
    const size_t count = even > before ? even : before + 1;
    return k + 1 == points || count > most ? most : count;
}

static hf_status estimate(hf_context *ctx, const hf_kernel *kernel, const hf_bounded_readings *readings,
                          size_t points, hf_norm_point *curve)
{
    hf_bounded_readings first = *readings;
    double norm = 0.0;
    for (size_t k = 0; k < points; k++) {
        if (!hfi_progress(ctx, "norm", (double)k / (double)points, NAN)) return hfi_cancelled(ctx);
        hf_consistency report;
        first.n = count_at(readings->n, points, k, k > 0 ? curve[k - 1].readings : 0);
        const hf_status status = hf_envelope_consistency(ctx, kernel, &first, INFINITY, &report, NULL);
        if (status < 0) return status;
        if (!isfinite(report.minimum_norm))
            return hfi_fail(ctx, HF_ERR_INCONSISTENT,
                            "no function of any norm meets the first %zu readings: some at one input, or at "
                            "inputs that are nearly one, contradict each other",
                            first.n);
        /* More readings cannot take back what few certify; rounding might. */
        norm = fmax(norm, report.minimum_norm);
        curve[k] = (hf_norm_point){first.n, norm};
    }
    return HF_OK;
}

hf_status hf_norm_estimate(hf_context *ctx, const hf_kernel *kernel, const hf_bounded_readings *readings,
                           size_t points, hf_norm_point *curve)
{
    if (!ctx || !kernel || !readings || !curve)
        return hfi_refuse(ctx,
                          "a norm estimate needs a context, a kernel, readings and a place for the result");
    hf_status status = hfi_readings_check(ctx, kernel, readings);
    if (status < 0) return status;
    if (points == 0 || points > readings->n)
        return hfi_refuse(ctx, "%zu points were asked for; 1 to %zu, the number of readings", points,
                          readings->n);
    hf_norm_point *found = hfi_alloc(ctx, points, sizeof *found);
    if (!found) return HF_ERR_MEMORY;
    status = estimate(ctx, kernel, readings, points, found);
    for (size_t k = 0; k < points && status >= 0; k++) curve[k] = found[k];
    hfi_free(ctx, found);
    return status;
}
