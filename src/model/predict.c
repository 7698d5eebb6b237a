/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions for the rows of a table. */
#include "model/class_model.h"
#include "model/look.h"

#include "data/table_set.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Phi^-1(0.975) */
static const double normal_95 = 1.959963984540054;

hf_status hfi_model_find_noise(hf_context *ctx, const hf_model *model, const hf_table *table,
                               const double **noise)
{
    *noise = NULL;
    if (model->noise_column == NULL) return HF_OK;
    for (size_t j = 0; j < hf_table_columns(table); j++) {
        if (strcmp(hf_table_name(table, j), model->noise_column) != 0) continue;
        hf_status status = hf_table_numbers(ctx, table, j, noise);
        if (status >= 0) status = hfi_check_finite(ctx, table, model->noise_column, *noise);
        for (size_t i = 0; i < hf_table_rows(table) && status >= 0; i++) {
            char place[512];
            if ((*noise)[i] < 0)
                status = hfi_fail(
                    ctx, HF_ERR_ARGUMENT, "%s, column \"%s\": a noise variance cannot be negative (%g)",
                    hfi_row_place(table, i, place, sizeof place), model->noise_column, (*noise)[i]);
        }
        return status;
    }
    return HF_OK;
}

/* Complete rows side by side at the front of x, and which row each was. `mean`: prior means, or NULL. */
static size_t pack_rows(size_t rows, size_t d, const double *const *columns, const double *mean, double *x,
                        size_t *row)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        bool complete = mean == NULL || !isnan(mean[i]);
        for (size_t j = 0; j < d; j++) {
            x[count * d + j] = columns[j][i];
            complete = complete && !isnan(columns[j][i]);
        }
        row[count] = i;
        count += complete;
    }
    return count;
}

/* From the first `count` entries to their rows, the last first, so that nothing is overwritten before it
 * moved. */
static void spread(size_t rows, size_t count, const size_t *row, double *values)
{
    size_t from = count;
    for (size_t i = rows; i-- > 0;) {
        if (from > 0 && row[from - 1] == i)
            values[i] = values[--from];
        else
            values[i] = NAN;
    }
}

static hf_status predict_packed(hf_context *ctx, const hf_model *model, const hf_table *table,
                                const double *const *columns, const double *noise, const double *mean,
                                hfi_predictions *out)
{
    size_t rows = hf_table_rows(table), d = model->d, cells;
    if (!hfi_size_mul(rows + 1, d, &cells))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows of %zu inputs do not fit in memory", rows, d);
    /* One row more than needed: pack_rows writes an incomplete last row before it knows. */
    double *x = hfi_alloc(ctx, cells, sizeof *x);
    size_t *row = hfi_alloc(ctx, rows + 1, sizeof *row);
    hf_status status = x == NULL || row == NULL ? HF_ERR_MEMORY : HF_OK;
    if (status >= 0) {
        size_t count = pack_rows(rows, d, columns, mean, x, row);
        out->missing = rows - count;
        if (count > 0)
            status =
                hf_predict(ctx, model->posterior, count, x, d, out->mean, out->var_latent, out->var_observed);
        const bool exposure = hfi_model_has_likelihood(model);
        for (size_t k = 0; k < count && mean != NULL && status >= 0; k++)
            out->mean[k] += exposure ? log(mean[row[k]]) : mean[row[k]];
        double kappa = hf_posterior_calibration(model->posterior);
        for (size_t k = 0; k < count && noise != NULL && status >= 0; k++)
            if (!isnan(noise[row[k]])) out->var_observed[k] += kappa * noise[row[k]];
        double *const arrays[] = {out->mean, out->var_latent, out->var_observed};
        for (size_t k = 0; k < 3 && status >= 0; k++) spread(rows, count, row, arrays[k]);
    }
    hfi_free(ctx, x);
    hfi_free(ctx, row);
    return status;
}

hf_status hfi_model_predict(hf_context *ctx, const hf_model *model, const hf_table *table,
                            hfi_predictions *out)
{
    size_t rows = hf_table_rows(table);
    const double *noise, *mean;
    *out = (hfi_predictions){.mean = hfi_alloc(ctx, rows, 3 * sizeof *out->mean)};
    const double **columns = hfi_alloc(ctx, model->d, sizeof *columns);
    hf_status status = out->mean == NULL || columns == NULL ? HF_ERR_MEMORY : HF_OK;
    if (status >= 0) {
        out->var_latent = out->mean + rows;
        out->var_observed = out->mean + 2 * rows;
        status = hfi_model_inputs(ctx, model, table, columns);
    }
    if (status >= 0) status = hfi_model_find_noise(ctx, model, table, &noise);
    if (status >= 0) status = hfi_model_find_mean(ctx, model, table, &mean);
    if (status >= 0) status = predict_packed(ctx, model, table, columns, noise, mean, out);
    hfi_free(ctx, columns);
    if (status < 0) {
        hfi_free(ctx, out->mean);
        *out = (hfi_predictions){0};
    }
    return status;
}

hf_status hfi_predict_message(hf_context *ctx, const hf_table *table, size_t missing)
{
    if (missing == 0) return hfi_fail(ctx, HF_OK, "%s", "");
    return hfi_fail(ctx, HF_WARN_ROWS_SKIPPED,
                    "%s: %zu of %zu rows have a missing input and get no prediction", hf_table_source(table),
                    missing, hf_table_rows(table));
}

void hfi_predict_columns(size_t rows, size_t stride, const double *mean, const double *var_latent,
                         const double *var_observed, double *out)
{
    for (size_t i = 0; i < rows; i++) {
        const size_t k = i * stride;
        double sd = sqrt(var_observed[k]);
        out[i] = mean[k];
        out[rows + i] = sqrt(var_latent[k]);
        out[2 * rows + i] = sd;
        out[3 * rows + i] = mean[k] - normal_95 * sd;
        out[4 * rows + i] = mean[k] + normal_95 * sd;
    }
}

enum {
    COLUMNS = 5,                          /* of hfi_predict_columns() */
    TRANSFORMED = 6,                      /* and the median */
    MOST_COLUMNS = HFI_LIKELIHOOD_COLUMNS /* and the rate */
};

/* The same of a transformed target: moments of what is predicted, and quantiles, one by one. */
static void transformed_columns(hf_transform transform, size_t rows, const hfi_predictions *p, double *out)
{
    for (size_t i = 0; i < rows; i++) {
        const double mean = p->mean[i], half = normal_95 * sqrt(p->var_observed[i]);
        double latent, observed;
        hf_transform_moments(transform, mean, p->var_latent[i], NULL, &latent);
        hf_transform_moments(transform, mean, p->var_observed[i], &out[i], &observed);
        out[rows + i] = sqrt(latent);
        out[2 * rows + i] = sqrt(observed);
        out[3 * rows + i] = hf_transform_inverse(transform, mean - half);
        out[4 * rows + i] = hf_transform_inverse(transform, mean + half);
        out[5 * rows + i] = hf_transform_inverse(transform, mean);
    }
}

static hf_status add_columns(hf_context *ctx, const hf_model *model, hf_table *table, const double *values,
                             size_t count)
{
    static const char *const suffix[MOST_COLUMNS] = {"_mean", "_sd_latent", "_sd_observed",
                                                     "_lo95", "_hi95",      "_median",
                                                     "_rate", "_rate_lo95", "_rate_hi95"};
    size_t bytes = strlen(model->target) + 16;
    char *text = hfi_alloc(ctx, count, bytes);
    if (text == NULL) return HF_ERR_MEMORY;
    const char *names[MOST_COLUMNS];
    for (size_t k = 0; k < count; k++) {
        names[k] = text + k * bytes;
        snprintf(text + k * bytes, bytes, "%s%s", model->target, suffix[k]);
    }
    hf_status status = hfi_table_set_columns(ctx, table, count, names, values);
    hfi_free(ctx, text);
    return status;
}

static hf_status predict_readings_into_table(hf_context *ctx, const hf_model *model, hf_table *table)
{
    size_t rows = hf_table_rows(table);
    hfi_predictions predictions;
    hf_status status = hfi_model_predict(ctx, model, table, &predictions);
    if (status < 0) return status;
    const hf_transform transform = model->settings.transform;
    const bool rates = hfi_model_has_likelihood(model);
    const size_t count = rates ? MOST_COLUMNS : transform == HF_TRANSFORM_NONE ? COLUMNS : TRANSFORMED;
    double *values = hfi_alloc(ctx, rows, count * sizeof *values);
    status = values == NULL ? HF_ERR_MEMORY : HF_OK;
    if (status >= 0) {
        if (rates)
            status = hfi_likelihood_columns(ctx, model, table, &predictions, values);
        else if (transform == HF_TRANSFORM_NONE)
            hfi_predict_columns(rows, 1, predictions.mean, predictions.var_latent, predictions.var_observed,
                                values);
        else
            transformed_columns(transform, rows, &predictions, values);
        if (status >= 0) status = add_columns(ctx, model, table, values, count);
    }
    hfi_free(ctx, values);
    hfi_free(ctx, predictions.mean);
    return status < 0 ? status : hfi_predict_message(ctx, table, predictions.missing);
}

hf_status hf_predict_into_table(hf_context *ctx, const hf_model *model, hf_table *table)
{
    if (model == NULL || table == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_predict_into_table: model and table must not be NULL");
    hfi_outside_rows outside;
    hf_status status = hfi_look_outside(ctx, model, table, &outside);
    if (status < 0) return status;
    status = model->outputs > 1   ? hfi_predict_outputs_into_table(ctx, model, table)
             : model->classes > 0 ? hfi_class_predict_into_table(ctx, model, table)
                                  : predict_readings_into_table(ctx, model, table);
    return hfi_outside_message(ctx, model, table, &outside, status);
}
