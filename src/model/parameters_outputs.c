/* SPDX-License-Identifier: Apache-2.0 */
/* Hyperparameters of several outputs: the covariances between them instead of what these are made of, then a mean and a noise for each. */
#include "model/model.h"

#include "kernel/kernel.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the list ---------------------------------------------------------------------------------------------
 */

static char *name_it(hf_context *ctx, const hf_model *model, const char *format, ...) HF_PRINTF(3, 4);

static char *name_it(hf_context *ctx, const hf_model *model, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *name = hfi_memory_strdup(&model->memory, text);
    if (name == NULL) hfi_out_of_memory(ctx);
    return name;
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
                          ? name_it(ctx, model, "coregionalisation[%zu,%zu]", s, t)
                          : name_it(ctx, model, "coregion%zu.coregionalisation[%zu,%zu]", i + 1, s, t);
            if (p->name == NULL)
                status = HF_ERR_MEMORY;
            else
                model->parameters++;
        }
    hfi_free(ctx, b);
    return status;
}

static hf_status list_output(hf_context *ctx, hf_model *model, int kind, const char *word, size_t output)
{
    hfi_model_parameter *p = &model->parameter[model->parameters];
    *p = (hfi_model_parameter){.s = output};
    p->kind = kind == HFI_PARAMETER_MEAN ? HFI_PARAMETER_MEAN : HFI_PARAMETER_NOISE;
    p->name = name_it(ctx, model, "%s[%zu]", word, output);
    if (p->name == NULL) return HF_ERR_MEMORY;
    model->parameters++;
    return HF_OK;
}

/* Means, noises. */
static hf_status list_outputs(hf_context *ctx, hf_model *model)
{
    hf_status status = HF_OK;
    const bool shared = model->settings.shared_noise;
    for (size_t t = 0; t < hf_mean_coefficients(model->posterior->mean) && status >= 0; t++)
        status = list_output(ctx, model, HFI_PARAMETER_MEAN, "mean", t);
    for (size_t t = 0; t < model->outputs && !shared && status >= 0; t++)
        status = list_output(ctx, model, HFI_PARAMETER_NOISE, "noise", t);
    if (status < 0 || !shared) return status;
    hfi_model_parameter *p = &model->parameter[model->parameters];
    *p = (hfi_model_parameter){.kind = HFI_PARAMETER_NOISE, .name = name_it(ctx, model, "noise")};
    if (p->name == NULL) return HF_ERR_MEMORY;
    model->parameters++;
    return HF_OK;
}

static hf_status fill(hf_context *ctx, hf_model *model, const coregion *list, size_t count)
{
    hf_status status = HF_OK;
    for (size_t i = 0; i < hf_kernel_parameters(model->posterior->kernel); i++)
        if (!is_coregion(list, count, i))
            model->parameter[model->parameters++] =
                (hfi_model_parameter){.kind = HFI_PARAMETER_KERNEL, .index = i};
    for (size_t i = 0; i < count && status >= 0; i++) status = list_coregion(ctx, model, list, count, i);
    return status < 0 ? status : list_outputs(ctx, model);
}

hf_status hfi_model_list_parameters(hf_context *ctx, hf_model *model)
{
    const hf_kernel *kernel = model->posterior->kernel;
    const size_t count = hf_kernel_coregions(kernel);
    size_t most = hf_kernel_parameters(kernel) + 2 * model->outputs;
    coregion *list = hfi_alloc(ctx, count, sizeof *list);
    if (list == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        list[i].outputs = hf_kernel_coregion_outputs(kernel, i);
        hfi_kernel_coregion(kernel, i, &list[i].first, &list[i].factors, &list[i].own, NULL);
        most += list[i].outputs * (list[i].outputs + 1) / 2;
    }
    model->parameter = hfi_alloc(ctx, most, sizeof *model->parameter);
    const hf_status status = model->parameter != NULL ? fill(ctx, model, list, count) : HF_ERR_MEMORY;
    hfi_free(ctx, list);
    return status;
}

/* ---- one of them --------------------------------------------------------------------------------------------
 */

static void tell_mean(const hf_model *model, size_t output, hf_parameter *out)
{
    const hf_posterior *p = model->posterior;
    out->value = hfi_scaling_mean(&p->scaling, output, hf_mean_values(p->mean)[output]);
    out->lower = -INFINITY;
    out->fixed = hf_mean_held(p->mean);
    out->unit = HF_UNIT_OUTPUT;
}

static void tell_noise(const hf_model *model, size_t output, hf_parameter *out)
{
    const hf_posterior *p = model->posterior;
    const bool shared = model->settings.shared_noise;
    out->value = shared ? hfi_posterior_noise(p, 0) : hf_posterior_output_noise(p, output);
    out->lower = 0.0;
    out->fixed = model->noises_held[output];
    out->unit = shared && model->settings.standardise ? HF_UNIT_NONE : HF_UNIT_OUTPUT2;
}

hf_status hfi_model_outputs_parameter(const hf_model *model, size_t i, hf_parameter *out)
{
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
