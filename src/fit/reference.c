/* SPDX-License-Identifier: Apache-2.0 */
/* Units that starts, boxes and priors of hyperparameters follow. */
#include "fit/fit.h"
#include <math.h>

bool hfi_fit_is_measured(const hfi_fit *fit, size_t column)
{
    return !fit->code || !fit->code[column];
}

size_t hfi_fit_measured_inputs(const hfi_fit *fit)
{
    size_t count = 0;
    if (!fit->code) return fit->d;
    for (size_t j = 0; j < fit->d; j++) count += hfi_fit_is_measured(fit, j) ? 1 : 0;
    return count;
}

double hfi_fit_reference(const hfi_fit *fit, const hf_parameter *parameter)
{
    const hf_fit_settings *settings = fit->settings;
    if (settings->standardise && !settings->unit_inputs) return 1.0;
    const double factor = hfi_scaling_factor(&fit->measured, parameter->unit, parameter->column);
    const double applied = hfi_scaling_factor(&fit->scaling, parameter->unit, parameter->column);
    if (isfinite(factor / applied) && factor > 0.0) return factor / applied;
    /* Shared by inputs of different scales: their geometric mean. */
    const double inputs = (double)hfi_fit_measured_inputs(fit);
    double sum = 0.0;
    for (size_t j = 0; j < fit->d; j++)
        if (hfi_fit_is_measured(fit, j))
            sum += log(fit->measured.x_scale[j] / fit->scaling.x_scale[j]) / inputs;
    double y = 0.0; /* and that of the outputs' */
    for (size_t k = 0; !settings->standardise && k < fit->outputs; k++)
        y += log(hfi_scaling_scale(&fit->measured, hfi_fit_output_at(fit, k))) / (double)fit->outputs;
    hfi_scaling one = {.d = 1, .x_scale = &(double){exp(sum)}, .y_scale = exp(y)};
    return hfi_scaling_factor(&one, parameter->unit, 0);
}
