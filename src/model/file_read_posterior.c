/* SPDX-License-Identifier: Apache-2.0 */
/* The posterior in a model file: inputs, kernel, mean, and what puts them together. */
#include "model/target.h"

#include <math.h>

static hf_status read_names(const hfi_reader *r, hfi_scaling *scaling)
{
    hf_model *model = r->model;
    model->feature = hfi_alloc(r->ctx, model->width, sizeof *model->feature);
    if (model->feature == NULL) return HF_ERR_MEMORY;
    hf_status status = hfi_read_features(r, model->d, model->feature, scaling->x_shift, scaling->x_scale);
    if (status >= 0 && model->width > model->d)
        status = hfi_meta_text(r, "output_input", false, &model->feature[model->d]);
    return status;
}

static hf_status read_kernel(const hfi_reader *r, hf_kernel **out)
{
    const hf_model *model = r->model;
    const size_t width = hfi_model_function_width(model), functions = hfi_model_functions(model);
    hf_kernel *kernel = NULL;
    const char **names = hfi_alloc(r->ctx, width, sizeof *names);
    if (names == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < width; j++) names[j] = j < model->width ? model->feature[j] : model->class_input;
    hf_status status = hfi_read_kernel(r, model->kernel, names, width, &kernel);
    hfi_free(r->ctx, names);
    if (status < 0) return status;
    for (size_t k = 0; functions > 1 && k < hf_kernel_coregions(kernel); k++)
        if (hf_kernel_coregion_outputs(kernel, k) != functions) {
            hf_kernel_free(kernel);
            return hfi_reader_damaged(r, "its kernel is for another number of outputs");
        }
    *out = kernel;
    return HF_OK;
}

static hf_status read_mean(const hfi_reader *r, hf_mean **out)
{
    char *name = NULL;
    hf_mean_kind kind;
    bool held = false;
    hf_mean *mean = NULL;
    double *values = NULL;
    hf_status status = hfi_meta_text(r, "mean", false, &name);
    if (status >= 0 && hf_enum_parse(r->ctx, HF_ENUM_MEAN_KIND, name, &kind) < 0)
        status = hfi_meta_bad(r, "mean");
    hfi_memory_free(&r->model->memory, name);
    if (status >= 0) status = hfi_meta_flag(r, "mean_held", &held);
    const size_t functions = hfi_model_functions(r->model), width = hfi_model_function_width(r->model);
    if (status >= 0 && functions > 1 && kind != HF_MEAN_ZERO && kind != HF_MEAN_OUTPUTS)
        status = hfi_meta_bad(r, "mean");
    if (status >= 0)
        status = kind == HF_MEAN_OUTPUTS ? hf_mean_create_outputs(r->ctx, width, functions, &mean)
                                         : hf_mean_create(r->ctx, kind, width, &mean);
    size_t count = status >= 0 ? hf_mean_coefficients(mean) : 0;
    if (status >= 0) status = hfi_array_new(r, "mean", count, 1, false, &values);
    if (status >= 0) status = hf_mean_set(r->ctx, mean, values, held);
    hfi_free(r->ctx, values);
    if (status < 0)
        hf_mean_free(mean);
    else
        *out = mean;
    return status;
}

hf_status hfi_read_posterior(const hfi_reader *r)
{
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hfi_scaling scaling = {0};
    hfi_solution solution = {0};
    double noise = 0.0, calibration = 1.0, *noises = NULL;
    const size_t functions = hfi_model_functions(r->model);
    hf_status status = hfi_scaling_identity(r->ctx, hfi_model_function_width(r->model), &scaling);
    if (status >= 0) status = read_names(r, &scaling);
    if (status >= 0) status = hfi_meta_double(r, "target_shift", -INFINITY, &scaling.y_shift);
    if (status >= 0) status = hfi_meta_double(r, "target_scale", 0.0, &scaling.y_scale);
    if (status >= 0 && !(scaling.y_scale > 0.0)) status = hfi_meta_bad(r, "target_scale");
    if (status >= 0) status = hfi_meta_double(r, "noise", 0.0, &noise);
    if (status >= 0) status = hfi_meta_double(r, "calibration", 1.0, &calibration);
    if (status >= 0 && functions > 1) {
        noises = hfi_alloc(r->ctx, functions, sizeof *noises);
        if (noises == NULL)
            status = HF_ERR_MEMORY;
        else
            status = r->model->kind->read_scaling(r, noise, &scaling, noises);
    }
    if (status >= 0) status = read_kernel(r, &kernel);
    if (status >= 0) status = read_mean(r, &mean);
    if (status >= 0) status = hfi_read_solution(r, kernel, &solution);
    if (status >= 0)
        status = hfi_posterior_create(r->ctx, kernel, mean, &solution, &scaling, noise, calibration,
                                      &r->model->posterior);
    if (status >= 0 && functions > 1) status = hfi_posterior_set_noises(r->ctx, r->model->posterior, noises);
    hfi_free(r->ctx, noises);
    hfi_solution_free(&solution); /* empty once the posterior has it */
    hfi_scaling_free(&scaling);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    return status;
}
