/* SPDX-License-Identifier: Apache-2.0 */
/* From a table's columns to the arrays a fit or a prediction works on. */
#include "model/class_model.h"

#include "data/text.h"

#include <math.h>
#include <stdio.h>

const char *hfi_row_place(const hf_table *table, size_t row, char *buffer, size_t bytes)
{
    size_t line = hf_table_line(table, row);
    if (line > 0)
        snprintf(buffer, bytes, "%s, line %zu", hf_table_source(table), line);
    else
        snprintf(buffer, bytes, "%s, row %zu", hf_table_source(table), row + 1);
    return buffer;
}

hf_status hfi_check_finite(hf_context *ctx, const hf_table *table, const char *name, const double *numbers)
{
    char place[512], shown[HFI_SHOWN_BYTES];
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        if (isinf(numbers[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "%s, column \"%s\": the value is infinite; correct it, or leave the field empty "
                            "if it is not known",
                            hfi_row_place(table, i, place, sizeof place), hfi_text_shown(name, shown));
    }
    return HF_OK;
}

hf_status hfi_finite_numbers(hf_context *ctx, const hf_table *table, size_t column, const double **numbers)
{
    hf_status status = hf_table_numbers(ctx, table, column, numbers);
    return status < 0 ? status : hfi_check_finite(ctx, table, hf_table_name(table, column), *numbers);
}

hf_status hfi_check_noise(hf_context *ctx, const hf_table *table, size_t column, const double *noise)
{
    char place[512], shown[HFI_SHOWN_BYTES];
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        if (noise[i] < 0)
            return hfi_fail(ctx, HF_ERR_ARGUMENT,
                            "%s, column \"%s\": a noise variance cannot be negative (%g)",
                            hfi_row_place(table, i, place, sizeof place),
                            hfi_text_shown(hf_table_name(table, column), shown), noise[i]);
    }
    return HF_OK;
}

bool hfi_is_complete(const hfi_sources *from, size_t d, size_t row)
{
    for (size_t j = 0; j < d; j++)
        if (isnan(from->x[j][row])) return false;
    if (from->output != NULL && from->output[row] == SIZE_MAX) return false;
    if (from->mean != NULL && isnan(from->mean[row])) return false;
    return from->noise == NULL || !isnan(from->noise[row]);
}

static hf_status copy_rows(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_sources *from)
{
    size_t rows = hf_table_rows(table), n = 0, d = model->d, missing = 0;
    for (size_t i = 0; i < rows; i++) n += hfi_is_complete(from, d, i);
    model->skipped = rows - n;
    if (rows == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: no rows, only a header", hf_table_source(table));
    if (n == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: all %zu rows have a missing input", hf_table_source(table),
                        rows);
    hf_status status = hfi_model_reserve(ctx, model, n, d, from->noise != NULL);
    if (status >= 0 && from->mean != NULL) status = hfi_model_reserve_means(ctx, model);
    if (status < 0) return status;
    size_t to = 0;
    for (size_t i = 0; i < rows; i++) {
        if (!hfi_is_complete(from, d, i)) continue;
        model->row[to] = i + 1;
        model->y[to] = from->y[0][i];
        for (size_t j = 0; j < d; j++) model->x[to * d + j] = from->x[j][i];
        if (from->noise != NULL) model->extra[to] = from->noise[i];
        if (from->mean != NULL) model->prior[to] = from->mean[i];
        missing += isnan(from->y[0][i]) ? 1 : 0;
        to++;
    }
    if (missing == n)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: column \"%s\", the target, has no value in any usable row",
                        hf_table_source(table), model->target);
    if (model->skipped > 0)
        status = hfi_model_note(ctx, model, "%zu of %zu rows left out: an input%s%s is missing there",
                                model->skipped, rows, from->noise != NULL ? " or the noise" : "",
                                from->mean == NULL                ? ""
                                : hfi_model_has_likelihood(model) ? " or the exposure"
                                                                  : " or the prior mean");
    if (status >= 0 && missing > 0)
        status =
            hfi_model_note(ctx, model, "%zu of %zu rows have no target and teach nothing", missing, rows);
    return status;
}

bool hfi_is_constant(const double *values, size_t count, size_t stride)
{
    double first = NAN;
    for (size_t i = 0; i < count; i++) {
        double value = values[i * stride];
        if (isnan(value)) continue;
        if (isnan(first)) first = value;
        if (value != first) return false;
    }
    return true;
}

static hf_status note_constants(hf_context *ctx, hf_model *model)
{
    if (model->n < 2) return HF_OK;
    char first[HFI_SHOWN_BYTES] = "";
    size_t constant = 0;
    for (size_t j = 0; j < model->d; j++) {
        if (!hfi_is_constant(model->x + j, model->n, model->width)) continue;
        if (constant++ == 0) hfi_text_shown(model->feature[j], first);
    }
    hf_status status = HF_OK;
    if (constant == 1)
        status = hfi_model_note(ctx, model, "input \"%s\" has the same value in every row and tells nothing",
                                first);
    else if (constant > 1)
        status = hfi_model_note(ctx, model,
                                "%zu inputs have the same value in every row and tell nothing, \"%s\" first",
                                constant, first);
    if (status >= 0 && model->outputs == 1 && model->classes == 0 && hfi_is_constant(model->y, model->n, 1))
        status = hfi_model_note(ctx, model, "the target \"%s\" has the same value in every row",
                                hfi_text_shown(model->target, first));
    return status;
}

/* Numbers of a target; or, once the inputs are known, of the classes of the rows that these leave. */
static hf_status find_target(hf_context *ctx, const hf_table *table, size_t column, const double **y)
{
    return hfi_class_hint(ctx, table, column, hfi_finite_numbers(ctx, table, column, y));
}

static hf_status find_labels(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_roles *roles,
                             hfi_sources *from)
{
    const size_t rows = hf_table_rows(table);
    from->label = hfi_alloc(ctx, rows, sizeof *from->label);
    bool *used = hfi_alloc(ctx, rows, sizeof *used);
    hf_status status = from->label != NULL && used != NULL ? HF_OK : HF_ERR_MEMORY;
    from->y[0] = from->label;
    if (status >= 0) {
        size_t complete = 0;
        for (size_t i = 0; i < rows; i++) {
            used[i] = hfi_is_complete(from, roles->count, i);
            complete += used[i] ? 1 : 0;
        }
        /* A table without usable rows is told of where rows are copied. */
        if (complete > 0) status = hfi_class_find(ctx, model, table, roles->target, used, from->label);
    }
    hfi_free(ctx, used);
    return status;
}

static hf_status find_sources(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_roles *roles,
                              hfi_sources *from)
{
    hf_status status = HF_OK;
    for (size_t t = 0; t < roles->targets && !roles->labels && status >= 0; t++)
        status = find_target(ctx, table, roles->wide != NULL ? roles->wide[t] : roles->target, &from->y[t]);
    for (size_t j = 0; j < roles->count && status >= 0; j++)
        status = hfi_finite_numbers(ctx, table, roles->feature[j], &from->x[j]);
    if (status >= 0 && roles->noise != SIZE_MAX) {
        status = hfi_finite_numbers(ctx, table, roles->noise, &from->noise);
        if (status >= 0) status = hfi_check_noise(ctx, table, roles->noise, from->noise);
    }
    if (status >= 0 && roles->mean != SIZE_MAX)
        status = hfi_finite_numbers(ctx, table, roles->mean, &from->mean);
    if (status >= 0 && roles->exposure)
        status = hfi_likelihood_check_exposure(ctx, table, roles->mean, from->mean);
    if (status >= 0 && roles->labels) return find_labels(ctx, model, table, roles, from);
    if (status < 0 || roles->output == SIZE_MAX) return status;
    from->output = hfi_alloc(ctx, hf_table_rows(table), sizeof *from->output);
    if (from->output == NULL) return HF_ERR_MEMORY;
    return hfi_model_output_numbers(ctx, model, table, roles->output, from->output);
}

hf_status hfi_model_gather(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_roles *roles)
{
    hfi_sources from = {.x = hfi_alloc(ctx, roles->count, sizeof *from.x),
                        .y = hfi_alloc(ctx, roles->targets, sizeof *from.y)};
    hf_status status = from.x != NULL && from.y != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = find_sources(ctx, model, table, roles, &from);
    if (status >= 0)
        status = model->outputs > 1 ? hfi_model_copy_outputs(ctx, model, table, roles, &from)
                                    : copy_rows(ctx, model, table, &from);
    if (status >= 0) status = note_constants(ctx, model);
    hfi_free(ctx, from.x);
    hfi_free(ctx, from.y);
    hfi_free(ctx, from.output);
    hfi_free(ctx, from.label);
    return status;
}

hf_status hfi_model_find_mean(hf_context *ctx, const hf_model *model, const hf_table *table,
                              const double **mean)
{
    *mean = NULL;
    if (model->mean_column == NULL) return HF_OK;
    size_t column;
    const bool exposure = hfi_model_has_likelihood(model);
    hf_status status = hf_table_find(ctx, table, model->mean_column, &column);
    if (status < 0 && exposure) return HF_OK; /* each row is of an exposure of 1 */
    if (status >= 0) {
        status = hfi_finite_numbers(ctx, table, column, mean);
        return status >= 0 && exposure ? hfi_likelihood_check_exposure(ctx, table, column, *mean) : status;
    }
    return hfi_fail(ctx, status, "%s (the prior mean of each row, which the model adds to its predictions)",
                    hf_context_message(ctx));
}

hf_status hfi_model_inputs(hf_context *ctx, const hf_model *model, const hf_table *table,
                           const double **columns)
{
    hf_status status = HF_OK;
    for (size_t j = 0; j < model->d && status >= 0; j++) {
        size_t column;
        status = hf_table_find(ctx, table, model->feature[j], &column);
        if (status >= 0) status = hfi_finite_numbers(ctx, table, column, &columns[j]);
    }
    return status;
}
