/* SPDX-License-Identifier: Apache-2.0 */
/* Determinantal point processes: the public face of the greedy choice and of the chain of swaps. */
#include "solver/chain.h"
#include "solver/choose.h"

#include <holdfast/dpp.h>
#include <math.h>
#include <string.h>

static hf_status check(hf_context *ctx, const char *function, const hf_kernel *kernel, size_t n,
                       const double *x, size_t ldx, size_t m, const void *rows)
{
    if (kernel == NULL || x == NULL || rows == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "%s: %s is NULL", function,
                        kernel == NULL ? "the kernel"
                        : x == NULL    ? "x"
                                       : "rows");
    if (n == 0 || m == 0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "%s: there are %zu rows, of which %zu are asked for", function,
                        n, m);
    return hfi_choose_check_rows(ctx, kernel, n, x, ldx);
}

hf_status hf_dpp_greedy(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x, size_t ldx,
                        size_t m, double enough, size_t *rows, size_t *chosen, double *log_det)
{
    hf_status status = check(ctx, "hf_dpp_greedy", kernel, n, x, ldx, m, rows);
    if (status < 0) return status;
    if (chosen == NULL) return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_dpp_greedy: chosen is NULL");
    if (!(enough >= 0.0))
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "hf_dpp_greedy: rows up to the variance %g are not worth choosing; give at least 0",
                        enough);
    if (m > n) m = n;
    size_t count = 0, *found = hfi_alloc(ctx, m, sizeof *found);
    if (found == NULL) return HF_ERR_MEMORY;
    status = hfi_choose_greedy(ctx, kernel, n, x, ldx, m, enough, found, &count, log_det);
    if (status >= 0) {
        memcpy(rows, found, count * sizeof *rows);
        *chosen = count;
    }
    hfi_free(ctx, found);
    return status;
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
    hf_status status = check(ctx, "hf_dpp_sample", kernel, n, x, ldx, m, rows);
    if (status < 0) return status;
    if (m > n) m = n;
    size_t *found = hfi_alloc(ctx, m, sizeof *found);
    if (found == NULL) return HF_ERR_MEMORY;
    hf_dpp_report done = {.acceptance = NAN, .drift = NAN, .correlation = NAN, .independent = NAN};
    status = hfi_choose_greedy(ctx, kernel, n, x, ldx, m, 0.0, found, &done.chosen, &done.log_det_start);
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
