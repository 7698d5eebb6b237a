/* SPDX-License-Identifier: Apache-2.0 */
/* Priors of hyperparameters, and the units that they are in. */
#include "fit/fit.h"
#include <math.h>
#include <string.h>

/* In standardised units; docs/methods/robust-default.md says where they come from. */
static const double noise_lower = 1e-6, noise_prior = -3.506557897319982; /* log 0.03 */
static const double noise_prior_sd = 3.0, scale_prior_sd = 2.0, factor_prior_sd = 2.0;

/* Scaled with the inputs' number (Hvarfner, Hellsten and Nardi 2024), for inputs in [0, 1]: a density of l
 * with parameters sqrt 2 + log(d) / 2 and sqrt 3 is largest where its logarithm is sqrt 2 + log(d) / 2 - 3,
 * and as a function of that logarithm it is a normal one about there, to a factor. Searches are often of
 * functions without noise: there may be less of it. */
static const double dimension_mode = -1.585786437626905, dimension_prior_sd = 1.7320508075688772;
static const double dimension_noise_lower = 1e-7;

static bool is_measured(const hfi_fit *fit, size_t column)
{
    return !fit->code || !fit->code[column];
}

/* Inputs that are no codes of categories; the number of an output counts. */
static size_t measured_inputs(const hfi_fit *fit)
{
    size_t count = 0;
    if (!fit->code) return fit->d;
    for (size_t j = 0; j < fit->d; j++) count += is_measured(fit, j) ? 1 : 0;
    return count;
}

/* How many inputs share the distance that lengthscale i is part of. The array found last is remembered in *last
 * (zero at first): going through all parameters in order takes time linear in their number, which may be 100 000. */
size_t hfi_fit_inputs_of(const hfi_fit *fit, size_t i, const hf_parameter *parameter, hfi_fit_array *last)
{
    const hf_kernel *kernel = fit->kernel;
    const char *bracket = strchr(parameter->name, '[');
    if (!bracket && parameter->column != SIZE_MAX) return 1;
    if (!bracket) return hf_kernel_dimension(kernel) - (fit->d - measured_inputs(fit));
    if (i >= last->end) {
        const size_t length = (size_t)(bracket - parameter->name) + 1;
        hf_parameter other = *parameter;
        *last = (hfi_fit_array){.begin = i, .end = i};
        while (hf_kernel_parameter(kernel, last->end, &other) >= 0 &&
               strncmp(other.name, parameter->name, length) == 0)
            last->end++;
    }
    return last->end - last->begin;
}

bool hfi_fit_is_lengthscale(const hf_parameter *parameter)
{
    return parameter->unit == HF_UNIT_INPUT && strstr(parameter->name, "lengthscale") != NULL;
}

double hfi_fit_reference(const hfi_fit *fit, const hf_parameter *parameter)
{
    const hf_fit_settings *settings = fit->settings;
    if (settings->standardise && !settings->unit_inputs) return 1.0;
    const double factor = hfi_scaling_factor(&fit->measured, parameter->unit, parameter->column);
    const double applied = hfi_scaling_factor(&fit->scaling, parameter->unit, parameter->column);
    if (isfinite(factor / applied) && factor > 0.0) return factor / applied;
    /* Shared by inputs of different scales: their geometric mean. */
    const double inputs = (double)measured_inputs(fit);
    double sum = 0.0;
    for (size_t j = 0; j < fit->d; j++)
        if (is_measured(fit, j)) sum += log(fit->measured.x_scale[j] / fit->scaling.x_scale[j]) / inputs;
    double y = 0.0; /* and that of the outputs' */
    for (size_t k = 0; !settings->standardise && k < fit->outputs; k++)
        y += log(hfi_scaling_scale(&fit->measured, hfi_fit_output_at(fit, k))) / (double)fit->outputs;
    hfi_scaling one = {.d = 1, .x_scale = &(double){exp(sum)}, .y_scale = exp(y)};
    return hfi_scaling_factor(&one, parameter->unit, 0);
}

/* Range of an input among the readings, in the units of the fit: what [0, 1] is there. */
static double range_of(const hfi_fit *fit, size_t column)
{
    if (fit->settings->unit_inputs) return 1.0;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < fit->n; i++) {
        low = fmin(low, fit->x[i * fit->d + column]);
        high = fmax(high, fit->x[i * fit->d + column]);
    }
    return high > low ? high - low : 1.0;
}

/* Its logarithm; of a lengthscale that inputs share, their mean. */
static double log_range(const hfi_fit *fit, const hf_parameter *p)
{
    const size_t numbers = fit->outputs > 1 ? 1 : 0;
    const double inputs = (double)(measured_inputs(fit) - numbers);
    double sum = 0.0;
    if (p->column != SIZE_MAX) return log(range_of(fit, p->column));
    for (size_t j = 0; j + numbers < fit->d; j++)
        if (is_measured(fit, j)) sum += log(range_of(fit, j)) / inputs;
    return sum;
}

static bool scales_with_dimension(const hfi_fit *fit)
{
    return fit->settings->lengthscale_prior == HF_PRIOR_DIMENSION;
}

double hfi_least_noise(hf_prior_kind lengthscale_prior)
{
    return lengthscale_prior == HF_PRIOR_DIMENSION ? dimension_noise_lower : noise_lower;
}

double hfi_fit_least_noise(const hfi_fit *fit)
{
    return hfi_least_noise(fit->settings->lengthscale_prior);
}

void hfi_fit_noise_prior(hfi_trainer *t, size_t at, double unit)
{
    t->prior_mean[at] = noise_prior + unit;
    t->prior_sd[at] = noise_prior_sd;
}

void hfi_fit_kernel_prior(const hfi_fit *fit, hfi_trainer *t, size_t i, const hf_parameter *p,
                          hfi_fit_array *last)
{
    const double unit = log(hfi_fit_reference(fit, p));
    if (hfi_fit_is_lengthscale(p)) {
        const double share = 0.5 * log((double)hfi_fit_inputs_of(fit, i, p, last));
        const bool scaled = scales_with_dimension(fit);
        t->prior_mean[i] = share + (scaled ? dimension_mode + log_range(fit, p) : 0.5 + unit);
        t->prior_sd[i] = scaled ? dimension_prior_sd : scale_prior_sd;
    } else if (hfi_kernel_is_of_codes(fit->kernel, i)) {
        t->prior_mean[i] = 0.0;
        t->prior_sd[i] = scale_prior_sd;
    } else if (p->unit == HF_UNIT_OUTPUT) {
        /* Entries of a coregionalisation's factor, of either sign: what keeps scale and lengthscale from
         * running away together. */
        t->prior_mean[i] = 0.0;
        t->prior_sd[i] = factor_prior_sd * exp(unit);
    } else if (p->unit == HF_UNIT_OUTPUT2 || p->unit == HF_UNIT_OUTPUT2_INPUT2) {
        t->prior_mean[i] = unit;
        t->prior_sd[i] = scale_prior_sd;
    }
}
