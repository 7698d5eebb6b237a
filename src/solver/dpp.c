/* SPDX-License-Identifier: Apache-2.0 */
/* Determinantal point processes: the public face of the greedy choice and of the chain of swaps. */
#include "solver/chain.h"
#include "solver/choose.h"

#include <holdfast/dpp.h>
#include <math.h>
#include <string.h>

static hf_status check_dpp_call(hf_context *ctx, const char *function, const hf_kernel *kernel, size_t n,
                                const double *x, size_t ldx, size_t m, const void *rows)
{
    if (kernel == NULL || x == NULL || rows == NULL)
        return hfi_refuse(ctx, "%s: %s is NULL", function,
                          kernel == NULL ? "the kernel"
                          : x == NULL    ? "x"
                                         : "rows");
    if (n == 0 || m == 0)
        return hfi_refuse(ctx, "%s: there are %zu rows, of which %zu are asked for", function, n, m);
    return hfi_choose_check_rows(ctx, kernel, n, x, ldx);
}

/* The quality in units of its largest, so that no square overflows. */
static hf_status scale_quality(hf_context *ctx, size_t n, const double *quality, double **scaled,
                               double *largest)
{
    *scaled = NULL;
    *largest = 1.0;
    if (quality == NULL) return HF_OK;
    *largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (!(quality[i] >= 0.0) || !isfinite(quality[i]))
            return hfi_fail(ctx, isnan(quality[i]) || isinf(quality[i]) ? HF_ERR_NOT_FINITE : HF_ERR_ARGUMENT,
                            "the quality of row %zu (counted from 0) is %g; give finite ones >= 0", i,
                            quality[i]);
        *largest = fmax(*largest, quality[i]);
    }
    if (*largest == 0.0)
        return hfi_refuse(ctx, "the quality of all %zu rows is 0: there is nothing to choose", n);
    *scaled = hfi_alloc_unset(ctx, n, sizeof **scaled);
    if (*scaled == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) (*scaled)[i] = quality[i] / *largest;
    return HF_OK;
}

/* With arguments that are in order. */
static hf_status choose_dpp_rows(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                 size_t ldx, const double *quality, size_t m, double enough, size_t *rows,
                                 size_t *chosen, double *log_det)
{
    double *scaled, largest, sum;
    size_t count = 0, *found = NULL;
    hf_status status = scale_quality(ctx, n, quality, &scaled, &largest);
    if (status < 0) return status;
    found = hfi_alloc(ctx, m, sizeof *found);
    status = found == NULL
                 ? HF_ERR_MEMORY
                 : hfi_choose_greedy(ctx, kernel, n, x, ldx, scaled, m, enough, found, &count, &sum);
    if (status >= 0) {
        memcpy(rows, found, count * sizeof *rows);
        *chosen = count;
        if (log_det != NULL) *log_det = sum + 2.0 * (double)count * log(largest);
    }
    HFI_FREE(ctx, found, scaled);
    return status;
}

hf_status hf_dpp_greedy(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x, size_t ldx,
                        const double *q, size_t m, double enough, size_t *rows, size_t *chosen,
                        double *log_det)
{
    const hf_status status = check_dpp_call(ctx, "hf_dpp_greedy", kernel, n, x, ldx, m, rows);
    if (status < 0) return status;
    if (chosen == NULL) return hfi_refuse(ctx, "hf_dpp_greedy: chosen is NULL");
    if (!(enough >= 0.0))
        return hfi_refuse(
            ctx, "hf_dpp_greedy: rows up to the variance %g are not worth choosing; give at least 0", enough);
    return choose_dpp_rows(ctx, kernel, n, x, ldx, q, m < n ? m : n, enough, rows, chosen, log_det);
}

size_t hf_dpp_mixing_steps(size_t n, size_t m, double tolerance)
{
    if (m == 0 || m >= n) return 0;
    const double steps =
        ceil((double)n * (double)m * (log(log((double)n)) + log((double)m) - 2.0 * log(tolerance)));
    if (!(steps < (double)SIZE_MAX)) return SIZE_MAX;
    return steps > 1.0 ? (size_t)steps : 1;
}

/* The chain from the greedy rows; what it did goes to *report, which has `steps` and is complete but for it. */
static hf_status sample(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x, size_t ldx,
                        uint64_t stream_number, bool trace_wanted, size_t *rows, hf_dpp_report *report)
{
    hfi_swap_log log = {.trace = NULL};
    hfi_chain_summary chain = {.mean = NAN, .sd = NAN, .drift = NAN, .correlation = NAN};
    if (trace_wanted) {
        log.trace = hfi_alloc_unset(ctx, report->steps, sizeof *log.trace);
        if (log.trace == NULL) return HF_ERR_MEMORY;
    }
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_SWAPS, stream_number);
    hf_status status =
        hfi_choose_mdpp(ctx, kernel, n, x, ldx, report->chosen, rows, report->steps, &stream, &log);
    if (status >= 0 && trace_wanted) status = hfi_chain_summarise(ctx, report->steps, log.trace, &chain);
    hfi_free(ctx, log.trace);
    if (status < 0) return status;
    report->proposals = log.proposals;
    report->accepted = log.accepted;
    report->acceptance = log.proposals > 0 ? (double)log.accepted / (double)log.proposals : NAN;
    report->log_det = log.log_det;
    report->log_det_mean = chain.mean;
    report->log_det_sd = chain.sd;
    report->drift = chain.drift;
    report->correlation = chain.correlation;
    report->independent = (double)report->steps / (2.0 * chain.correlation);
    return HF_OK;
}

hf_status hf_dpp_sample(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x, size_t ldx,
                        size_t m, size_t steps, uint64_t stream, size_t *rows, hf_dpp_report *report)
{
    hf_status status = check_dpp_call(ctx, "hf_dpp_sample", kernel, n, x, ldx, m, rows);
    if (status < 0) return status;
    if (m > n) m = n;
    size_t *found = hfi_alloc(ctx, m, sizeof *found);
    if (found == NULL) return HF_ERR_MEMORY;
    hf_dpp_report done = {.acceptance = NAN, .drift = NAN, .correlation = NAN, .independent = NAN};
    status =
        hfi_choose_greedy(ctx, kernel, n, x, ldx, NULL, m, 0.0, found, &done.chosen, &done.log_det_start);
    done.log_det = done.log_det_mean = done.log_det_start;
    /* Without another set, or where no set has a volume, there is nothing to swap. */
    if (status >= 0 && done.chosen < n && isfinite(done.log_det_start)) {
        done.steps = steps > 0 ? steps : hf_dpp_mixing_steps(n, done.chosen, 0.01);
        status = sample(ctx, kernel, n, x, ldx, stream, report != NULL, found, &done);
    }
    if (status >= 0) {
        hfi_sort_indices(found, done.chosen);
        memcpy(rows, found, done.chosen * sizeof *rows);
        if (report != NULL) *report = done;
    }
    hfi_free(ctx, found);
    return status;
}
