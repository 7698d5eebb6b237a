/* SPDX-License-Identifier: Apache-2.0 */
/* Hyperparameters in the user's units: the kernel's, of several outputs the covariances between them instead of what
 * these are made of, then means and noises. */
#include "model/target.h"

#include "kernel/kernel.h"

#include <math.h>
#include <stdarg.h>

/* ---- the list -------------------------------------------------------------------------------- */

static char *name_it(const hf_model *model, const char *format, ...) HF_PRINTF(2, 3);

static char *name_it(const hf_model *model, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    hfi_print_list(text, sizeof text, format, args);
    va_end(args);
    return hfi_memory_strdup(&model->memory, text);
}

/* Where the parameters of a coregion are: factor[s,q] for q <= s, q < rank, row by row, then own[s] if any. */
typedef struct coregion {
    size_t first, factors, own, outputs;
} coregion;

static bool is_coregion(const coregion *list, size_t count, size_t parameter)
{
    for (size_t i = 0; i < count; i++)
        if (parameter >= list[i].first && parameter < list[i].first + list[i].factors + list[i].own)
            return true;
    return false;
}

static bool is_fixed(const hf_kernel *kernel, size_t i)
{
    hf_parameter p = {0};
    return hf_kernel_parameter(kernel, i, &p) >= 0 && p.fixed;
}

/* True when all that makes the variance of output s is held. */
static bool is_row_held(const hf_kernel *kernel, const coregion *c, size_t s)
{
    size_t begin = c->first, rank = 0;
    /* Rows get longer by one until they have as many entries as the rank is. */
    while (rank < c->outputs && rank * (rank + 1) / 2 + (c->outputs - rank) * rank < c->factors) rank++;
    for (size_t i = 0; i < s; i++) begin += i + 1 < rank ? i + 1 : rank;
    const size_t length = s + 1 < rank ? s + 1 : rank;
    for (size_t k = 0; k < length; k++)
        if (!is_fixed(kernel, begin + k)) return false;
    return c->own == 0 || is_fixed(kernel, c->first + c->factors + s);
}

/* The entries of B of coregion i that are told. */
static hf_status list_coregion(hf_context *ctx, hf_model *model, const coregion *list, size_t count, size_t i)
{
    const hf_kernel *kernel = model->posterior->kernel;
    const hfi_scaling *scaling = &model->posterior->scaling;
    const size_t outputs = list[i].outputs;
    const bool independent = model->settings.independent && count == outputs;
    double *b = hfi_alloc(ctx, outputs, outputs * sizeof *b);
    if (b == NULL) return HF_ERR_MEMORY;
    hf_status status = hf_kernel_get_coregion(ctx, kernel, i, b);
    for (size_t s = 0; s < outputs && status >= 0; s++)
        for (size_t t = 0; t <= s && status >= 0; t++) {
            if (independent && (s != i || t != i)) continue;
            hfi_model_parameter *p = &model->parameter[model->parameters];
            *p = (hfi_model_parameter){.kind = HFI_PARAMETER_COREGION, .index = i, .s = s, .t = t};
            p->value = b[s * outputs + t] * hfi_scaling_scale(scaling, s) * hfi_scaling_scale(scaling, t);
            p->fixed = is_row_held(kernel, &list[i], s) && is_row_held(kernel, &list[i], t);
            p->name = count == 1 || independent
                          ? name_it(model, "coregionalisation[%zu,%zu]", s, t)
                          : name_it(model, "coregion%zu.coregionalisation[%zu,%zu]", i + 1, s, t);
            if (p->name == NULL)
                status = hfi_out_of_memory(ctx);
            else
                model->parameters++;
        }
    hfi_free(ctx, b);
    return status;
}

static hf_status list_one(hf_context *ctx, hf_model *model, hfi_parameter_kind kind, size_t s, char *name)
{
    if (name == NULL) return hfi_out_of_memory(ctx);
    model->parameter[model->parameters++] = (hfi_model_parameter){.kind = kind, .s = s, .name = name};
    return HF_OK;
}

/* "mean", or of several "mean[0]" and so on. */
static hf_status list_means(hf_context *ctx, hf_model *model)
{
    const size_t count = hf_mean_coefficients(model->posterior->mean);
    hf_status status = HF_OK;
    for (size_t k = 0; k < count && status >= 0; k++)
        status = list_one(ctx, model, HFI_PARAMETER_MEAN, k,
                          count > 1 ? name_it(model, "mean[%zu]", k) : name_it(model, "mean"));
    return status;
}

hf_status hfi_outputs_parameters(hf_context *ctx, hf_model *model)
{
    const char *noise = hfi_model_noise_name(model);
    const bool one = model->outputs == 1 || model->settings.shared_noise;
    hf_status status = HF_OK;
    for (size_t t = 0; noise != NULL && t < (one ? 1 : model->outputs) && status >= 0; t++)
        status = list_one(ctx, model, HFI_PARAMETER_NOISE, t,
                          one ? name_it(model, "%s", noise) : name_it(model, "noise[%zu]", t));
    return status;
}

/* That a latent function is of a class is said by entries of coregions that are held, and not told. */
static hf_status list_model_parameters(hf_context *ctx, hf_model *model, const coregion *list, size_t count)
{
    hf_status status = HF_OK;
    for (size_t i = 0; i < hf_kernel_parameters(model->posterior->kernel); i++)
        if (!is_coregion(list, count, i) ||
            (model->kind->parameters == NULL && !is_fixed(model->posterior->kernel, i)))
            model->parameter[model->parameters++] =
                (hfi_model_parameter){.kind = HFI_PARAMETER_KERNEL, .index = i};
    for (size_t i = 0; model->kind->parameters != NULL && i < count && status >= 0; i++)
        status = list_coregion(ctx, model, list, count, i);
    if (status >= 0) status = list_means(ctx, model);
    return status < 0 || model->kind->parameters == NULL ? status : model->kind->parameters(ctx, model);
}

/* Makes the list, once the posterior is there. */
static hf_status list_parameters(hf_context *ctx, hf_model *model)
{
    const hf_kernel *kernel = model->posterior->kernel;
    const size_t count = hfi_model_functions(model) > 1 ? hf_kernel_coregions(kernel) : 0;
    size_t most =
        hf_kernel_parameters(kernel) + hf_mean_coefficients(model->posterior->mean) + model->outputs;
    coregion *list = hfi_alloc(ctx, count, sizeof *list);
    if (list == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        list[i].outputs = hf_kernel_coregion_outputs(kernel, i);
        hfi_kernel_coregion(kernel, i, &list[i].first, &list[i].factors, &list[i].own, NULL);
        most += list[i].outputs * (list[i].outputs + 1) / 2;
    }
    model->parameter = hfi_alloc(ctx, most, sizeof *model->parameter);
    const hf_status status =
        model->parameter != NULL ? list_model_parameters(ctx, model, list, count) : HF_ERR_MEMORY;
    hfi_free(ctx, list);
    return status;
}

/* ---- one of them ----------------------------------------------------------------------------- */

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
static void tell_mean(const hf_model *model, size_t k, hf_parameter *out)
{
    const hf_posterior *posterior = model->posterior;
    const hfi_scaling *scaling = &posterior->scaling;
    const double *b = hf_mean_values(posterior->mean);
    size_t count = hf_mean_coefficients(posterior->mean);
    out->lower = -INFINITY;
    out->fixed = hf_mean_held(posterior->mean) || hf_mean_get_kind(posterior->mean) == HF_MEAN_MEDIAN;
    out->unit = HF_UNIT_OUTPUT;
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

static void tell_noise(const hf_model *model, size_t output, hf_parameter *out)
{
    const hf_posterior *p = model->posterior;
    const bool shared = model->outputs > 1 && model->settings.shared_noise;
    out->value = shared ? hfi_posterior_noise(p, 0) : hf_posterior_output_noise(p, output);
    out->lower = 0.0;
    out->fixed = model->noises_held != NULL ? model->noises_held[output] : model->noise_held;
    out->unit = (shared && model->settings.standardise) || hfi_model_has_likelihood(model) ? HF_UNIT_NONE
                                                                                           : HF_UNIT_OUTPUT2;
}

size_t hf_model_parameters(const hf_model *model)
{
    return model != NULL ? model->parameters : 0;
}

hf_status hf_model_parameter(const hf_model *model, size_t i, hf_parameter *out)
{
    if (out == NULL || i >= hf_model_parameters(model)) return HF_ERR_ARGUMENT;
    const hfi_model_parameter *p = &model->parameter[i];
    if (p->kind == HFI_PARAMETER_KERNEL) return hfi_model_kernel_parameter(model, p->index, out);
    *out = (hf_parameter){.name = p->name, .upper = INFINITY, .column = SIZE_MAX};
    if (p->kind == HFI_PARAMETER_MEAN) {
        tell_mean(model, p->s, out);
    } else if (p->kind == HFI_PARAMETER_NOISE) {
        tell_noise(model, p->s, out);
    } else {
        out->value = p->value;
        out->lower = p->s == p->t ? 0.0 : -INFINITY;
        out->fixed = p->fixed;
        out->unit = HF_UNIT_OUTPUT2;
    }
    return HF_OK;
}

hf_status hfi_model_finish(hf_context *ctx, hf_model *model)
{
    const hf_status status = hfi_model_find_ranges(ctx, model);
    return status < 0 ? status : list_parameters(ctx, model);
}
