/* SPDX-License-Identifier: Apache-2.0 */
/* All outputs of a point at once. */
#include "posterior/posterior.h"

#include <string.h>

/* Rows (x, t) for every point and output. */
static void spread_rows(size_t m, size_t outputs, size_t d, const double *x, size_t ldx, double *rows)
{
    const size_t own = outputs > 1 ? d - 1 : d;
    for (size_t i = 0; i < m; i++)
        for (size_t t = 0; t < outputs; t++) {
            double *row = rows + (i * outputs + t) * d;
            memcpy(row, x + i * ldx, own * sizeof *row);
            if (outputs > 1) row[own] = (double)t;
        }
}

/* One block of T x T after the other; nothing of a block that fails. */
static hf_status covariances(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *rows,
                             double *out)
{
    const size_t outputs = posterior->scaling.outputs, d = posterior->solution.d;
    hf_status status = HF_OK;
    for (size_t i = 0; i < m && status >= 0; i++)
        status = hf_predict_covariance(ctx, posterior, outputs, rows + i * outputs * d, d,
                                       out + i * outputs * outputs, outputs);
    return status;
}

hf_status hf_predict_outputs(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *x,
                             size_t ldx, double *mean, double *var_latent, double *var_observed,
                             double *covariance)
{
    if (posterior == NULL) return hfi_refuse(ctx, "hf_predict_outputs: the posterior is NULL");
    const size_t outputs = posterior->scaling.outputs, d = posterior->solution.d;
    const size_t own = outputs > 1 ? d - 1 : d;
    size_t count, square = 0;
    if (m > 0 && x == NULL) return hfi_refuse(ctx, "x is NULL, but has %zu rows", m);
    if (ldx < own)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of x are %zu apart, but there are %zu inputs", ldx, own);
    if (!hfi_size_mul(m, outputs, &count) || (covariance != NULL && !hfi_size_mul(count, outputs, &square)))
        return hfi_out_of_memory(ctx);
    double *rows = hfi_alloc(ctx, count, d * sizeof *rows);
    double *aside = hfi_alloc(ctx, square, sizeof *aside);
    hf_status status = rows != NULL && aside != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        spread_rows(m, outputs, d, x, ldx, rows);
        status = hfi_posterior_check_rows(ctx, posterior, count, rows, d);
    }
    if (status >= 0 && covariance != NULL) status = covariances(ctx, posterior, m, rows, aside);
    if (status >= 0) {
        const hf_status predicted =
            hf_predict(ctx, posterior, count, rows, d, mean, var_latent, var_observed);
        status = hfi_worse(predicted, status);
    }
    if (status >= 0 && covariance != NULL) memcpy(covariance, aside, square * sizeof *covariance);
    HFI_FREE(ctx, rows, aside);
    return status;
}
