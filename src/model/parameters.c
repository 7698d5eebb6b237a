/* SPDX-License-Identifier: Apache-2.0 */
/* Hyperparameters in the user's units. */
#include "model/class_model.h"

#include <math.h>

size_t hf_model_parameters(const hf_model *model)
{
    if (model == NULL) return 0;
    if (model->outputs > 1) return model->parameters;
    if (model->classes > 0) return hfi_class_parameters(model);
    return hf_kernel_parameters(model->posterior->kernel) + hf_mean_coefficients(model->posterior->mean) +
           (hfi_model_noise_name(model) != NULL ? 1 : 0);
}

static void to_user(const hfi_scaling *scaling, hf_parameter *parameter)
{
    double factor = hfi_scaling_factor(scaling, parameter->unit, parameter->column);
    if (isnan(factor)) {
        parameter->unit = HF_UNIT_NONE;
        return;
    }
    parameter->value *= factor;
    parameter->lower *= factor;
    parameter->upper *= factor;
}

/* Coefficients of the mean: y = y_shift + y_scale (b_0 + sum_j b_j (x_j - x_shift_j) / x_scale_j), collected
 * for 1, x_1, ... */
void hfi_model_mean_parameter(const hf_model *model, size_t k, hf_parameter *out)
{
    const hf_posterior *posterior = model->posterior;
    const hfi_scaling *scaling = &posterior->scaling;
    const double *b = hf_mean_values(posterior->mean);
    size_t count = hf_mean_coefficients(posterior->mean);
    *out = (hf_parameter){.name = "mean",
                          .lower = -INFINITY,
                          .upper = INFINITY,
                          .fixed = hf_mean_held(posterior->mean) ||
                                   hf_mean_get_kind(posterior->mean) == HF_MEAN_MEDIAN,
                          .unit = HF_UNIT_OUTPUT,
                          .column = SIZE_MAX};
    if (hf_mean_get_kind(posterior->mean) == HF_MEAN_OUTPUTS) {
        out->value = hfi_scaling_mean(scaling, k, b[k]);
    } else if (k == 0) {
        double value = b[0];
        for (size_t j = 1; j < count; j++) value -= b[j] * scaling->x_shift[j - 1] / scaling->x_scale[j - 1];
        out->value = scaling->y_shift + scaling->y_scale * value;
    } else {
        out->value = scaling->y_scale * b[k] / scaling->x_scale[k - 1];
        out->column = k - 1;
        out->unit = HF_UNIT_NONE; /* a slope: target per input, for which the list of units has no name */
    }
}

hf_status hfi_model_kernel_parameter(const hf_model *model, size_t i, hf_parameter *out)
{
    hf_status status = hf_kernel_parameter(model->posterior->kernel, i, out);
    if (status >= 0) to_user(&model->posterior->scaling, out);
    return status;
}

hf_status hf_model_parameter(const hf_model *model, size_t i, hf_parameter *out)
{
    if (model == NULL || out == NULL || i >= hf_model_parameters(model)) return HF_ERR_ARGUMENT;
    if (model->outputs > 1) return hfi_model_outputs_parameter(model, i, out);
    if (model->classes > 0) return hfi_class_parameter(model, i, out);
    const hf_posterior *posterior = model->posterior;
    size_t kernel = hf_kernel_parameters(posterior->kernel);
    size_t mean = hf_mean_coefficients(posterior->mean);
    if (i < kernel) return hfi_model_kernel_parameter(model, i, out);
    if (i < kernel + mean) {
        hfi_model_mean_parameter(model, i - kernel, out);
        if (mean > 1) out->name = model->mean_name[i - kernel];
        return HF_OK;
    }
    *out = (hf_parameter){.name = hfi_model_noise_name(model),
                          .value = hf_posterior_noise(posterior),
                          .lower = 0.0,
                          .upper = INFINITY,
                          .fixed = model->noise_held,
                          .unit = hfi_model_has_likelihood(model) ? HF_UNIT_NONE : HF_UNIT_OUTPUT2,
                          .column = SIZE_MAX};
    return HF_OK;
}
