/* SPDX-License-Identifier: Apache-2.0 */
/* Leave-one-out predictions in the user's units. */
#include "posterior/posterior.h"

hf_status hf_leave_one_out(hf_context *ctx, const hf_posterior *posterior, double *mean, double *var)
{
    if (posterior == NULL || mean == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the %s is NULL", posterior == NULL ? "posterior" : "mean");
    const hfi_solution *s = &posterior->solution;
    double *cavity = hfi_alloc(ctx, s->n, 3 * sizeof *cavity);
    if (cavity == NULL) return HF_ERR_MEMORY;
    double *variance = cavity + s->n, *prior = variance + s->n;
    hf_status status = hfi_solution_cavities(ctx, posterior->kernel, s, cavity, variance);
    if (status >= 0) {
        hf_mean_evaluate(posterior->mean, s->n, s->z, s->d, prior);
        for (size_t i = 0; i < s->n; i++) {
            mean[i] = hfi_scaling_mean(&posterior->scaling, cavity[i] + prior[i]);
            if (var != NULL) var[i] = hfi_scaling_variance(&posterior->scaling, variance[i]);
        }
    }
    hfi_free(ctx, cavity);
    return status;
}
