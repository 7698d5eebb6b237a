/* SPDX-License-Identifier: Apache-2.0 */
/* An objective of readings, once. */
#include "objective/evaluator_impl.h"
#include <math.h>
#include <string.h>

static hf_status check_objective(hf_context *ctx, hf_objective objective, const hf_kernel *kernel,
                                 const hf_mean *mean, const hf_sites *sites, const double *x, size_t ldx)
{
    const size_t d = hf_kernel_dimension(kernel);
    if ((unsigned)objective > HF_OBJECTIVE_WLOO)
        return hfi_refuse(ctx, "hf_objective_evaluate: there is no objective %d", (int)objective);
    if (ldx < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "row stride %zu is less than the %zu inputs of the kernel",
                        ldx, d);
    if (hf_mean_get_kind(mean) == HF_MEAN_LINEAR && hf_mean_coefficients(mean) != d + 1)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the linear mean has %zu inputs, but the kernel has %zu",
                        hf_mean_coefficients(mean) - 1, d);
    for (size_t i = 0; i < hf_sites_count(sites); i++)
        for (size_t j = 0; j < d; j++)
            if (!isfinite(x[i * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu (counted from 0) is %g", j, i,
                                x[i * ldx + j]);
    return HF_OK;
}

hf_status hf_objective_evaluate(hf_context *ctx, hf_objective objective, const hf_kernel *kernel,
                                const hf_mean *mean, const hf_sites *sites, const double *x, size_t ldx,
                                double *value, double *gradient)
{
    if (!kernel || !mean || !sites || !x || !value)
        return hfi_refuse(ctx, "hf_objective_evaluate: kernel, mean, sites, x and value are required");
    hf_status s = check_objective(ctx, objective, kernel, mean, sites, x, ldx);
    if (s < 0) return s;
    hfi_evaluator e;
    const bool leave_one_out = gradient && objective != HF_OBJECTIVE_EVIDENCE;
    const size_t rows = hf_sites_count(sites), d = hf_kernel_dimension(kernel);
    s = hfi_grid_wanted(ctx, rows) ? hfi_evaluator_init_group(ctx, &e, leave_one_out, rows, d, x, ldx)
                                   : hfi_evaluator_init(ctx, &e, leave_one_out, rows, d, x, ldx);
    if (s < 0) return s;
    /* Collected aside: a call that fails leaves the caller's numbers alone. */
    const size_t count = hf_kernel_parameters(kernel) + hf_mean_coefficients(mean) + hf_sites_channels(sites);
    double *found = hfi_alloc(ctx, count, sizeof *found), result = 0.0;
    s = found ? hf_kernel_copy(ctx, kernel, &e.kernel) : HF_ERR_MEMORY;
    if (s >= 0) s = hf_mean_copy(ctx, mean, &e.mean);
    if (s >= 0) s = hf_sites_copy(ctx, sites, &e.sites);
    if (s >= 0) s = hfi_evaluator_select(&e);
    if (s >= 0) s = hfi_evaluator_run(&e, objective, &result, gradient ? found : NULL);
    if (s >= 0 && !isfinite(result))
        s = hfi_fail(ctx, HF_ERR_NOT_FINITE, "the objective overflows; give the target in other units");
    if (s >= 0) {
        *value = result;
        if (gradient) memcpy(gradient, found, count * sizeof *gradient);
    }
    hfi_free(ctx, found);
    hf_kernel_free(e.kernel);
    hf_mean_free(e.mean);
    hf_sites_free(e.sites);
    hfi_evaluator_free(&e);
    return s;
}
