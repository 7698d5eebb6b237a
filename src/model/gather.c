/* SPDX-License-Identifier: Apache-2.0 */
/* From a table's columns to the arrays a fit or a prediction works on. */
#include "model/inputs.h"
#include "model/target.h"

#include "data/text.h"

#include <math.h>

/* Room for the readings that the usable rows of a table make. */
static hf_status allocate_model_readings(hf_context *ctx, hf_model *model, const hf_table *table,
                                         const hfi_roles *roles, const hfi_sources *from)
{
    const size_t rows = hf_table_rows(table);
    size_t usable = 0, readings;
    for (size_t i = 0; i < rows; i++) usable += hfi_is_complete(from, model->d, i);
    model->skipped = rows - usable;
    if (rows == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: no rows, only a header", hf_table_source(table));
    if (usable == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: all %zu rows have a missing input%s",
                        hf_table_source(table), rows, from->output != NULL ? " or no output" : "");
    if (!hfi_size_mul(usable, roles->targets, &readings))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows of %zu outputs do not fit in memory", usable,
                        roles->targets);
    const hf_status status = hfi_model_reserve(ctx, model, readings, model->d, from->noise != NULL);
    return status >= 0 && from->mean != NULL ? hfi_model_reserve_means(ctx, model) : status;
}

static void copy_readings(hf_model *model, size_t rows, const hfi_roles *roles, const hfi_sources *from)
{
    const size_t d = model->d;
    size_t to = 0;
    for (size_t i = 0; i < rows; i++) {
        if (!hfi_is_complete(from, d, i)) continue;
        bool empty = true;
        for (size_t t = 0; t < roles->targets; t++, to++) {
            double *x = model->x + to * model->width;
            for (size_t j = 0; j < d; j++) x[j] = from->x[j][i];
            if (model->width > d) x[d] = (double)(from->output != NULL ? from->output[i] : t);
            model->row[to] = i + 1;
            model->y[to] = from->y[t][i];
            empty = empty && isnan(model->y[to]);
            if (from->noise != NULL) model->extra[to] = from->noise[i];
            if (from->mean != NULL) model->prior[to] = from->mean[i];
        }
        model->empty += empty ? 1 : 0;
    }
}

static hf_status note_rows(hf_context *ctx, hf_model *model, size_t rows, const hfi_sources *from)
{
    char blame[400];
    hf_status status = HF_OK;
    hfi_blame_words(model, from->x, rows, blame, sizeof blame);
    if (model->skipped > 0)
        status = hfi_model_note(ctx, model, "%zu of %zu rows left out: an input%s%s%s is missing there%s",
                                model->skipped, rows, from->output != NULL ? " or the output" : "",
                                from->noise != NULL ? " or the noise" : "",
                                from->mean == NULL                ? ""
                                : hfi_model_has_likelihood(model) ? " or the exposure"
                                                                  : " or the prior mean",
                                blame);
    if (status >= 0 && model->empty > 0)
        status = hfi_model_note(ctx, model, "%zu of %zu rows have no target and teach nothing", model->empty,
                                rows);
    return status;
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
    if (constant == 1)
        return hfi_model_note(ctx, model, "input \"%s\" has the same value in every row and tells nothing",
                              first);
    if (constant > 1)
        return hfi_model_note(ctx, model,
                              "%zu inputs have the same value in every row and tell nothing, \"%s\" first",
                              constant, first);
    return HF_OK;
}

static hf_status find_sources(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_roles *roles,
                              hfi_sources *from)
{
    hf_status status = hfi_model_inputs(ctx, model, table, from->x, &from->own);
    if (status >= 0 && roles->noise != SIZE_MAX) {
        status = hfi_finite_numbers(ctx, table, roles->noise, &from->noise);
        if (status >= 0) status = hfi_check_noise(ctx, table, roles->noise, from->noise);
    }
    if (status >= 0 && roles->mean != SIZE_MAX)
        status = hfi_finite_numbers(ctx, table, roles->mean, &from->mean);
    if (status >= 0 && roles->exposure)
        status = hfi_likelihood_check_exposure(ctx, table, roles->mean, from->mean);
    return status < 0 ? status : model->kind->find(ctx, model, table, roles, from);
}

hf_status hfi_model_gather(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_roles *roles)
{
    hfi_sources from = {.x = hfi_alloc(ctx, roles->count, sizeof *from.x),
                        .y = hfi_alloc(ctx, roles->targets, sizeof *from.y)};
    hf_status status = from.x != NULL && from.y != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = find_sources(ctx, model, table, roles, &from);
    if (status >= 0) status = allocate_model_readings(ctx, model, table, roles, &from);
    if (status >= 0) {
        copy_readings(model, hf_table_rows(table), roles, &from);
        status = note_rows(ctx, model, hf_table_rows(table), &from);
    }
    if (status >= 0 && model->kind->remark != NULL) status = model->kind->remark(ctx, model);
    if (status >= 0) status = note_constants(ctx, model);
    HFI_FREE(ctx, from.x, from.y, from.output, from.label, from.own);
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
