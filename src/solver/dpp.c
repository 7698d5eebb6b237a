/* SPDX-License-Identifier: Apache-2.0 */
/* Determinantal point processes: the public face of the greedy choice and of the chain of swaps. */
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
