/* SPDX-License-Identifier: Apache-2.0 */
/* The posterior in a model file: inputs, kernel, mean, and what puts them together. */
#include "model/class_file.h"

#include <math.h>

hf_status hfi_read_features(const hfi_reader *r, size_t d, char **names, double *shift, double *scale)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, "SELECT position, name, shift, scale FROM feature ORDER BY position", -1,
                           &s, NULL) != SQLITE_OK)
        return hfi_reader_damaged(r, "its inputs cannot be read");
    hf_status status = HF_OK;
    size_t j = 0;
    for (; status >= 0 && sqlite3_step(s) == SQLITE_ROW; j++) {
        const char *name = (const char *)sqlite3_column_text(s, 1);
        const double by = sqlite3_column_double(s, 2), unit = sqlite3_column_double(s, 3);
        if (j >= d || sqlite3_column_int64(s, 0) != (sqlite3_int64)j || name == NULL || !isfinite(by) ||
            !(unit > 0.0) || !isfinite(unit)) {
            status = hfi_reader_damaged(r, "an input is not as it should be");
            break;
        }
        shift[j] = by;
        scale[j] = unit;
        names[j] = hfi_memory_strdup(&r->memory, name);
        if (names[j] == NULL) status = hfi_out_of_memory(r->ctx);
    }
    sqlite3_finalize(s);
    return status >= 0 && j != d ? hfi_reader_damaged(r, "inputs are missing") : status;
}

static hf_status read_names(const hfi_reader *r, hfi_scaling *scaling)
{
    hf_model *model = r->model;
    model->feature = hfi_alloc(r->ctx, model->width, sizeof *model->feature);
    if (model->feature == NULL) return HF_ERR_MEMORY;
    hf_status status = hfi_read_features(r, model->d, model->feature, scaling->x_shift, scaling->x_scale);
    if (status >= 0 && model->outputs > 1)
        status = hfi_meta_text(r, "output_input", false, &model->feature[model->d]);
    return status;
}

/* Value, box and held flag of a parameter. Earlier files may hold a value a rounding beyond its
 * bound: the bound moves. */
static bool read_parameter(sqlite3_stmt *s, hf_kernel *kernel, size_t i)
{
    const double value = sqlite3_column_double(s, 1);
    double lower = sqlite3_column_double(s, 2), upper = sqlite3_column_double(s, 3);
    if (!hfi_kernel_parameter_real(kernel, i) && value > 0.0) {
        if (value < lower && hfi_kernel_on_bound(value, lower)) lower = value;
        if (value > upper && hfi_kernel_on_bound(value, upper)) upper = value;
    }
    return isfinite(value) &&
           hfi_kernel_set_parameter(kernel, i, value, lower, upper, sqlite3_column_int(s, 4) != 0) >= 0;
}

static hf_status read_parameters(const hfi_reader *r, hf_kernel *kernel)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db,
                           "SELECT position, value, lower, upper, held FROM parameter ORDER BY position", -1,
                           &s, NULL) != SQLITE_OK)
        return hfi_reader_damaged(r, "its parameters cannot be read");
    hf_status status = HF_OK;
    size_t i = 0, count = hf_kernel_parameters(kernel);
    for (; status >= 0 && sqlite3_step(s) == SQLITE_ROW; i++) {
        const bool fits = i < count && sqlite3_column_int64(s, 0) == (sqlite3_int64)i;
        if (!fits || !read_parameter(s, kernel, i))
            status = hfi_reader_damaged(r, "a parameter is not as it should be");
    }
    sqlite3_finalize(s);
    return status >= 0 && i != count ? hfi_reader_damaged(r, "parameters are missing") : status;
}

hf_status hfi_read_kernel(const hfi_reader *r, const char *expression, const char *const *features, size_t d,
                          hf_kernel **out)
{
    hf_kernel *kernel = NULL;
    hf_status status = hf_kernel_parse(r->ctx, expression, features, d, &kernel);
    if (status < 0)
        return status == HF_ERR_MEMORY ? status : hfi_reader_damaged(r, "its kernel cannot be read");
    status = read_parameters(r, kernel);
    if (status < 0)
        hf_kernel_free(kernel);
    else
        *out = kernel;
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
    if (status >= 0 && hf_mean_kind_parse(r->ctx, name, &kind) < 0) status = hfi_meta_bad(r, "mean");
    hfi_memory_free(&r->model->memory, name);
    if (status >= 0) status = hfi_meta_flag(r, "mean_held", &held);
    const size_t functions = hfi_model_functions(r->model), width = hfi_model_function_width(r->model);
    if (status >= 0 && functions > 1 && kind != HF_MEAN_ZERO && kind != HF_MEAN_OUTPUTS)
        status = hfi_meta_bad(r, "mean");
    if (status >= 0)
        status = kind == HF_MEAN_OUTPUTS ? hf_mean_create_outputs(r->ctx, width, functions, &mean)
                                         : hf_mean_create(r->ctx, kind, width, &mean);
    size_t count = status >= 0 ? hf_mean_coefficients(mean) : 0;
    if (status >= 0 && (values = hfi_alloc(r->ctx, count, sizeof *values)) == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = hfi_array_read(r, "mean", count, 1, false, values);
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
    const size_t outputs = hfi_model_functions(r->model);
    hf_status status = hfi_scaling_identity(r->ctx, hfi_model_function_width(r->model), &scaling);
    if (status >= 0) status = read_names(r, &scaling);
    if (status >= 0) status = hfi_meta_double(r, "target_shift", -INFINITY, &scaling.y_shift);
    if (status >= 0) status = hfi_meta_double(r, "target_scale", 0.0, &scaling.y_scale);
    if (status >= 0 && !(scaling.y_scale > 0.0)) status = hfi_meta_bad(r, "target_scale");
    if (status >= 0) status = hfi_meta_double(r, "noise", 0.0, &noise);
    if (status >= 0) status = hfi_meta_double(r, "calibration", 1.0, &calibration);
    if (status >= 0 && outputs > 1) {
        noises = hfi_alloc(r->ctx, outputs, sizeof *noises);
        if (noises == NULL)
            status = HF_ERR_MEMORY;
        else
            status = r->model->classes > 0 ? hfi_class_scaling(r, noise, &scaling, noises)
                                           : hfi_read_output_scaling(r, &scaling, noises);
    }
    if (status >= 0) status = read_kernel(r, &kernel);
    if (status >= 0) status = read_mean(r, &mean);
    if (status >= 0) status = hfi_read_solution(r, kernel, &solution);
    if (status >= 0)
        status = hfi_posterior_create(r->ctx, kernel, mean, &solution, &scaling, noise, calibration,
                                      &r->model->posterior);
    if (status >= 0 && outputs > 1) status = hfi_posterior_set_noises(r->ctx, r->model->posterior, noises);
    hfi_free(r->ctx, noises);
    hfi_solution_free(&solution); /* empty once the posterior has it */
    hfi_scaling_free(&scaling);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    return status;
}
