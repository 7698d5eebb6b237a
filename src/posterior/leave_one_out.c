/* SPDX-License-Identifier: Apache-2.0 */
/* Leave-one-out predictions in the user's units. */
#include "posterior/posterior.h"

hf_status hf_leave_one_out(hf_context *ctx, const hf_posterior *posterior, double *mean, double *var)
{
    hf_status status = hfi_posterior_need_exact(
        ctx, posterior, "leave-one-out",
        "a fit with any solver tells it of every reading (hf_reading, hf_model_rows)");
    if (status < 0) return status;
    if (mean == NULL) return hfi_refuse(ctx, "the mean is NULL");
    const hfi_solution *s = &posterior->solution;
    double *cavity = hfi_alloc(ctx, s->n, 3 * sizeof *cavity);
    if (cavity == NULL) return HF_ERR_MEMORY;
    double *variance = cavity + s->n, *prior = variance + s->n;
    status = hfi_solution_cavities(ctx, posterior->kernel, s, cavity, variance);
    if (status >= 0) {
        hf_mean_evaluate(posterior->mean, s->n, s->z, s->d, prior);
        for (size_t i = 0; i < s->n; i++) {
            const size_t output = hfi_scaling_output(&posterior->scaling, s->z + i * s->d);
            mean[i] = hfi_scaling_mean(&posterior->scaling, output, cavity[i] + prior[i]);
            if (var != NULL) var[i] = hfi_scaling_variance(&posterior->scaling, output, variance[i]);
        }
    }
    hfi_free(ctx, cavity);
    return status;
}
