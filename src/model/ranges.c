/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of the inputs that a model learnt from, and rows of a table outside of them. */
#include "data/table_set.h"
#include "data/text.h"
#include "model/inputs.h"

#include <math.h>
#include <string.h>

/* A tenth of the range beyond it: nearer, a smooth function has hardly changed. */
static const double notable = 0.1;

static bool is_used(const hf_model *model, size_t i)
{
    return model->reading[i].weight > 0.0;
}

hf_status hfi_model_find_ranges(hf_context *ctx, hf_model *model)
{
    size_t used = 0;
    for (size_t i = 0; i < model->n; i++) used += is_used(model, i) ? 1 : 0;
    if (used == 0) return HF_OK;
    model->low = hfi_alloc(ctx, model->d, 2 * sizeof *model->low);
    if (model->low == NULL) return HF_ERR_MEMORY;
    model->high = model->low + model->d;
    for (size_t j = 0; j < model->d; j++) {
        model->low[j] = INFINITY;
        model->high[j] = -INFINITY;
        for (size_t i = 0; i < model->n; i++) {
            const double value = model->x[i * model->width + j];
            if (!is_used(model, i)) continue;
            model->low[j] = fmin(model->low[j], value);
            model->high[j] = fmax(model->high[j], value);
        }
    }
    return HF_OK;
}

/* Halves, so that no range overflows. Beside a range of 0 everything else is infinitely far. */
static double distance(double value, double low, double high)
{
    const double beyond = value < low    ? 0.5 * low - 0.5 * value
                          : value > high ? 0.5 * value - 0.5 * high
                                         : 0.0;
    return beyond > 0.0 ? beyond / (0.5 * high - 0.5 * low) : 0.0;
}

/* Distances of all rows, the largest over the inputs, NaN where one is missing; in `worst`, of which input,
 * in `value`, its number. */
static hf_status measure_row_ranges(hf_context *ctx, const hf_model *model, const hf_table *table,
                                    double *distances, double *value, size_t *worst)
{
    const size_t rows = hf_table_rows(table);
    const double **columns = hfi_alloc(ctx, model->d, sizeof *columns);
    double *own = NULL;
    hf_status status = columns != NULL ? hfi_model_inputs(ctx, model, table, columns, &own) : HF_ERR_MEMORY;
    for (size_t i = 0; i < rows && status >= 0; i++) {
        distances[i] = 0.0;
        worst[i] = 0;
        for (size_t j = 0; j < model->d; j++) {
            const double far =
                isnan(columns[j][i]) ? NAN : distance(columns[j][i], model->low[j], model->high[j]);
            if (!isnan(far) && !(far > distances[i])) continue;
            distances[i] = far;
            worst[i] = j;
            if (isnan(far)) break;
        }
        value[i] = isnan(distances[i]) ? NAN : columns[worst[i]][i];
    }
    HFI_FREE(ctx, own, columns);
    return status;
}

static void summarise(const hf_table *table, const double *distances, const double *value,
                      const size_t *worst, hfi_outside *out)
{
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        if (!(distances[i] > notable)) continue;
        if (out->count == 0 || distances[i] > distances[out->row]) out->row = i;
        out->count++;
    }
    if (out->count == 0) return;
    out->input = worst[out->row];
    out->value = value[out->row];
}

/* None for a model that keeps no rows. Errors as hf_predict_into_table(). */
hf_status hfi_outside_find(hf_context *ctx, const hf_model *model, const hf_table *table, hfi_outside *out)
{
    const size_t rows = hf_table_rows(table);
    *out = (hfi_outside){0};
    if (model->low == NULL) return HF_OK;
    double *distances = hfi_alloc(ctx, rows, 2 * sizeof *distances);
    size_t *worst = hfi_alloc(ctx, rows, sizeof *worst);
    hf_status status = distances != NULL && worst != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = measure_row_ranges(ctx, model, table, distances, distances + rows, worst);
    if (status >= 0) summarise(table, distances, distances + rows, worst, out);
    HFI_FREE(ctx, distances, worst);
    return status;
}

hf_status hfi_outside_message(hf_context *ctx, const hf_model *model, const hf_table *table,
                              const hfi_outside *outside, hf_status status)
{
    char before[1024], place[512], name[HFI_SHOWN_BYTES], value[32];
    if (outside->count == 0 || status < 0) return status;
    hfi_print(before, sizeof before, "%s", hf_context_message(ctx));
    return hfi_fail(
        ctx, status,
        "%s%s%s: %zu of %zu rows %s inputs outside those of the training rows (furthest: %s, \"%s\" = %s, "
        "training %.6g to %.6g); predictions there are extrapolated",
        before, *before != '\0' ? "; " : "", hf_table_source(table), outside->count, hf_table_rows(table),
        outside->count == 1 ? "has" : "have", hfi_row_place(table, outside->row, place, sizeof place),
        hfi_text_shown(model->feature[outside->input], name), hf_format_double(outside->value, value),
        model->low[outside->input], model->high[outside->input]);
}

hf_status hf_predict_outside_into_table(hf_context *ctx, const hf_model *model, hf_table *table)
{
    if (model == NULL || table == NULL)
        return hfi_refuse(ctx, "hf_predict_outside_into_table: model and table must not be NULL");
    if (model->low == NULL)
        return hfi_fail(
            ctx, HF_ERR_NO_DATA,
            "%s was read in parts, and its rows were not kept: where the training inputs lie is not known",
            model->source);
    const size_t rows = hf_table_rows(table), bytes = strlen(model->target) + 16;
    double *distances = hfi_alloc(ctx, rows, 2 * sizeof *distances);
    size_t *worst = hfi_alloc(ctx, rows, sizeof *worst), missing = 0;
    char *name = hfi_alloc(ctx, bytes, 1);
    hf_status status = distances != NULL && worst != NULL && name != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = measure_row_ranges(ctx, model, table, distances, distances + rows, worst);
    if (status >= 0) {
        hfi_print(name, bytes, "%s_outside", model->target);
        for (size_t i = 0; i < rows; i++) missing += isnan(distances[i]) ? 1 : 0;
        status = hf_table_set_numbers(ctx, table, name, distances);
    }
    HFI_FREE(ctx, distances, worst, name);
    return status < 0 ? status : hfi_predict_message(ctx, model, table, missing);
}
