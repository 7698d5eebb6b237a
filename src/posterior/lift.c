/* SPDX-License-Identifier: Apache-2.0 */
/* An expert's mean on top of a posterior of differences. */
#include "posterior/posterior.h"

#include <math.h>

/* Only differences of inputs can be taken to other units, and codes to none. */
static hf_status check_inputs(hf_context *ctx, const hfi_scaling *scaling, const hf_kernel *kernel)
{
    bool linear = false, moved = false, *code = hfi_alloc(ctx, scaling->d, sizeof *code);
    hf_status s = code != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        (void)hf_kernel_parameter(kernel, i, &p);
        linear = linear || p.unit == HF_UNIT_OUTPUT2_INPUT2;
    }
    if (s >= 0) (void)hfi_kernel_codes(kernel, code);
    for (size_t j = 0; j < scaling->d && s >= 0; j++) {
        const bool shifted = scaling->x_shift[j] != 0.0;
        moved = moved || (linear && shifted) || (code[j] && (shifted || scaling->x_scale[j] != 1.0));
    }
    hfi_free(ctx, code);
    if (s >= 0 && moved)
        s = hfi_refuse(ctx,
                       "the expert's kernel is of inputs as they are, which the posterior has standardised");
    return s;
}

/* The expert's kernel for the posterior's inputs. Its variances stay: only correlations count. */
static hf_status rescale(hf_context *ctx, const hfi_scaling *scaling, hf_kernel *kernel)
{
    hf_status s = HF_OK;
    for (size_t i = 0; i < hf_kernel_parameters(kernel) && s >= 0; i++) {
        hf_parameter p;
        (void)hf_kernel_parameter(kernel, i, &p);
        if (p.unit == HF_UNIT_OUTPUT2 || p.unit == HF_UNIT_OUTPUT) continue;
        const double factor = hfi_scaling_factor(scaling, p.unit, p.column);
        if (!isfinite(factor) || !(factor > 0.0))
            return hfi_refuse(ctx,
                              "the expert's kernel has one %s for inputs that the posterior scales "
                              "differently; give each input its own",
                              p.name);
        if (factor != 1.0) s = hf_kernel_set(ctx, kernel, p.name, p.value / factor);
    }
    return s;
}

hf_status hf_posterior_lift(hf_context *ctx, hf_posterior *posterior, const hf_expert *expert)
{
    hf_kernel *kernel = NULL;
    if (ctx == NULL || posterior == NULL || expert == NULL)
        return hfi_refuse(ctx, "hf_posterior_lift: a context, a posterior and an expert are needed");
    const hfi_scaling *scaling = &posterior->scaling;
    const hf_status one = hfi_posterior_need_one(ctx, posterior, "the mean of an expert");
    if (one < 0) return one;
    if (hfi_expert_inputs(expert) != scaling->d)
        return hfi_fail(ctx, HF_ERR_DIMENSION,
                        "hf_posterior_lift: the posterior has %zu inputs, the expert's readings have %zu",
                        scaling->d, hfi_expert_inputs(expert));
    if (hfi_mean_lifted(posterior->mean))
        return hfi_refuse(ctx, "hf_posterior_lift: the posterior has the mean of an expert already");
    hf_status s = HF_OK;
    if (hfi_expert_kernel(expert) != NULL) s = hf_kernel_copy(ctx, hfi_expert_kernel(expert), &kernel);
    if (s >= 0 && kernel != NULL) s = check_inputs(ctx, scaling, kernel);
    if (s >= 0 && kernel != NULL) s = rescale(ctx, scaling, kernel);
    if (s >= 0)
        s = hfi_mean_lift(ctx, posterior->mean, expert, kernel, scaling->x_shift, scaling->x_scale,
                          scaling->y_scale);
    hf_kernel_free(kernel);
    return s;
}
