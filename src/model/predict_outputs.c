/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions of several outputs for the rows of a table: all outputs for each row, or the one that a row is about. */
#include "model/model.h"

#include "data/table_set.h"
#include "data/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hfi_outputs_predictions_free(hf_context *ctx, hfi_outputs_predictions *predictions)
{
    hfi_free(ctx, predictions->output);
    hfi_free(ctx, predictions->mean);
    hfi_free(ctx, predictions->covariance);
    *predictions = (hfi_outputs_predictions){0};
}

/* The column of a table with a name, SIZE_MAX if there is none. */
static size_t column_named(const hf_table *table, const char *name)
{
    for (size_t j = 0; j < hf_table_columns(table); j++)
        if (strcmp(hf_table_name(table, j), name) == 0) return j;
    return SIZE_MAX;
}

static hf_status reserve(hf_context *ctx, size_t rows, size_t outputs, bool covariance,
                         hfi_outputs_predictions *out)
{
    size_t cells, square = 0;
    if (!hfi_size_mul(rows, out->columns, &cells) || cells > SIZE_MAX / 3 ||
        (covariance && (!hfi_size_mul(outputs, outputs, &square) || !hfi_size_mul(rows, square, &square))))
        return hfi_out_of_memory(ctx);
    out->mean = hfi_alloc(ctx, cells, 3 * sizeof *out->mean);
    if (covariance) out->covariance = hfi_alloc(ctx, square, sizeof *out->covariance);
    if (out->mean == NULL || (covariance && out->covariance == NULL)) return HF_ERR_MEMORY;
    out->var_latent = out->mean + cells;
    out->var_observed = out->var_latent + cells;
    return HF_OK;
}

/* Complete rows side by side at the front of x, with the number of the output after the inputs where rows have one of their own; which
 * row each was. */
static size_t pack(const hf_model *model, size_t rows, const double *const *columns,
                   const hfi_outputs_predictions *out, double *x, size_t *row)
{
    const size_t width = model->d + (out->single ? 1 : 0);
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        bool complete = !out->single || out->output[i] != SIZE_MAX;
        for (size_t j = 0; j < model->d; j++) complete = complete && !isnan(columns[j][i]);
        if (!complete) continue;
        for (size_t j = 0; j < model->d; j++) x[count * width + j] = columns[j][i];
        if (out->single) x[count * width + model->d] = (double)out->output[i];
        row[count++] = i;
    }
    return count;
}

/* From the first `count` groups of `each` numbers to their rows, the last first. */
static void spread(size_t rows, size_t count, const size_t *row, size_t each, double *values)
{
    size_t from = count;
    for (size_t i = rows; i-- > 0;) {
        const bool there = from > 0 && row[from - 1] == i;
        if (there) from--;
        for (size_t k = each; k-- > 0;) values[i * each + k] = there ? values[from * each + k] : NAN;
    }
}

static hf_status predict_packed(hf_context *ctx, const hf_model *model, size_t count, const double *x,
                                hfi_outputs_predictions *out)
{
    if (count == 0) return HF_OK;
    if (out->single)
        return hf_predict(ctx, model->posterior, count, x, model->width, out->mean, out->var_latent,
                          out->var_observed);
    return hf_predict_outputs(ctx, model->posterior, count, x, model->d, out->mean, out->var_latent,
                              out->var_observed, out->covariance);
}

static hf_status predict_rows(hf_context *ctx, const hf_model *model, const hf_table *table,
                              const double *const *columns, hfi_outputs_predictions *out)
{
    const size_t rows = hf_table_rows(table);
    const double *noise = NULL;
    double *x = hfi_alloc(ctx, rows, model->width * sizeof *x);
    size_t *row = hfi_alloc(ctx, rows, sizeof *row);
    hf_status status = x != NULL && row != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = hfi_model_find_noise(ctx, model, table, &noise);
    if (status >= 0) {
        const size_t count = pack(model, rows, columns, out, x, row);
        out->missing = rows - count;
        status = predict_packed(ctx, model, count, x, out);
        const double kappa = hf_posterior_calibration(model->posterior);
        for (size_t k = 0; k < count && noise != NULL && out->single && status >= 0; k++)
            if (!isnan(noise[row[k]])) out->var_observed[k] += kappa * noise[row[k]];
        double *const arrays[] = {out->mean, out->var_latent, out->var_observed};
        for (size_t k = 0; k < 3 && status >= 0; k++) spread(rows, count, row, out->columns, arrays[k]);
        if (status >= 0 && out->covariance != NULL)
            spread(rows, count, row, model->outputs * model->outputs, out->covariance);
    }
    hfi_free(ctx, x);
    hfi_free(ctx, row);
    return status;
}

hf_status hfi_model_predict_outputs(hf_context *ctx, const hf_model *model, const hf_table *table, bool whole,
                                    bool covariance, hfi_outputs_predictions *out)
{
    const size_t rows = hf_table_rows(table);
    const size_t column =
        model->output_column != NULL && !whole ? column_named(table, model->output_column) : SIZE_MAX;
    *out = (hfi_outputs_predictions){.single = column != SIZE_MAX,
                                     .columns = column != SIZE_MAX ? 1 : model->outputs};
    const double **columns = hfi_alloc(ctx, model->d, sizeof *columns);
    hf_status status = columns != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = hfi_model_inputs(ctx, model, table, columns);
    if (status >= 0 && out->single) {
        out->output = hfi_alloc(ctx, rows, sizeof *out->output);
        status = out->output != NULL ? hfi_model_output_numbers(ctx, model, table, column, out->output)
                                     : HF_ERR_MEMORY;
    }
    if (status >= 0) status = reserve(ctx, rows, model->outputs, covariance, out);
    if (status >= 0) status = predict_rows(ctx, model, table, columns, out);
    hfi_free(ctx, columns);
    if (status < 0) hfi_outputs_predictions_free(ctx, out);
    return status;
}

/* ---- columns --------------------------------------------------------------------------------------------------
 */

/* What the names of an output's columns begin with: those of a long table are known by their target. */
static int stem(const hf_model *model, size_t output, char *text, size_t bytes)
{
    if (model->output_column == NULL) return snprintf(text, bytes, "%s", model->output[output]);
    return snprintf(text, bytes, "%s_%s", model->target, model->output[output]);
}

static size_t longest_stem(const hf_model *model)
{
    size_t longest = strlen(model->target);
    for (size_t t = 0; t < model->outputs; t++) {
        const int length = stem(model, t, NULL, 0);
        if (length > 0 && (size_t)length > longest) longest = (size_t)length;
    }
    return longest;
}

/* Names for `count` columns in one block, `bytes` each. */
typedef struct names {
    size_t bytes;
    char *text;
    const char **list;
} names;

static hf_status names_make(hf_context *ctx, size_t count, size_t bytes, names *out)
{
    *out = (names){.bytes = bytes,
                   .text = hfi_alloc(ctx, count, bytes),
                   .list = hfi_alloc(ctx, count, sizeof *out->list)};
    for (size_t k = 0; out->text != NULL && out->list != NULL && k < count; k++)
        out->list[k] = out->text + k * bytes;
    return out->text != NULL && out->list != NULL ? HF_OK : HF_ERR_MEMORY;
}

static void names_free(hf_context *ctx, names *n)
{
    hfi_free(ctx, n->text);
    hfi_free(ctx, n->list);
}

static hf_status add_predictions(hf_context *ctx, const hf_model *model, hf_table *table,
                                 const hfi_outputs_predictions *from)
{
    static const char *const suffix[] = {"_mean", "_sd_latent", "_sd_observed", "_lo95", "_hi95"};
    enum {
        EACH = 5
    };
    const size_t rows = hf_table_rows(table), longest = longest_stem(model) + 1;
    names list;
    hf_status status = names_make(ctx, EACH * from->columns, longest + 16, &list);
    char *begin = hfi_alloc(ctx, longest, 1);
    double *values = hfi_alloc(ctx, rows, EACH * from->columns * sizeof *values);
    if (begin == NULL || values == NULL) status = HF_ERR_MEMORY;
    for (size_t t = 0; t < from->columns && status >= 0; t++) {
        if (from->single)
            snprintf(begin, longest, "%s", model->target);
        else
            stem(model, t, begin, longest);
        for (size_t k = 0; k < EACH; k++)
            snprintf(list.text + (t * EACH + k) * list.bytes, list.bytes, "%s%s", begin, suffix[k]);
        hfi_predict_columns(rows, from->columns, from->mean + t, from->var_latent + t, from->var_observed + t,
                            values + t * EACH * rows);
    }
    if (status >= 0) status = hfi_table_set_columns(ctx, table, EACH * from->columns, list.list, values);
    hfi_free(ctx, values);
    hfi_free(ctx, begin);
    names_free(ctx, &list);
    return status;
}

hf_status hfi_predict_outputs_into_table(hf_context *ctx, const hf_model *model, hf_table *table)
{
    hfi_outputs_predictions predictions;
    hf_status status = hfi_model_predict_outputs(ctx, model, table, false, false, &predictions);
    if (status < 0) return status;
    const size_t missing = predictions.missing;
    status = add_predictions(ctx, model, table, &predictions);
    hfi_outputs_predictions_free(ctx, &predictions);
    return status < 0 ? status : hfi_predict_message(ctx, table, missing);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of outputs "a_b", "c" and "a", "b_c" two columns would have one name. */
static hf_status check_different(hf_context *ctx, const names *list, size_t count)
{
    char shown[HFI_SHOWN_BYTES];
    const char **sorted = hfi_alloc(ctx, count, sizeof *sorted);
    if (sorted == NULL) return HF_ERR_MEMORY;
    memcpy(sorted, list->list, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_text);
    hf_status status = HF_OK;
    for (size_t k = 1; k < count && status >= 0; k++)
        if (strcmp(sorted[k - 1], sorted[k]) == 0)
            status = hfi_fail(ctx, HF_ERR_ARGUMENT,
                              "two covariances would both be the column \"%s\"; rename an output",
                              hfi_text_shown(sorted[k], shown));
    hfi_free(ctx, sorted);
    return status;
}

static hf_status add_covariances(hf_context *ctx, const hf_model *model, hf_table *table,
                                 const double *covariance)
{
    const size_t rows = hf_table_rows(table), outputs = model->outputs, count = outputs * (outputs - 1) / 2;
    const size_t longest = longest_stem(model) + 1;
    names list;
    hf_status status = names_make(ctx, count, 2 * longest + 8, &list);
    char *pair = hfi_alloc(ctx, 2, longest);
    double *values = hfi_alloc(ctx, rows, count * sizeof *values);
    if (pair == NULL || values == NULL) status = HF_ERR_MEMORY;
    for (size_t s = 1, k = 0; s < outputs && status >= 0; s++)
        for (size_t t = 0; t < s; t++, k++) {
            stem(model, s, pair, longest);
            stem(model, t, pair + longest, longest);
            snprintf(list.text + k * list.bytes, list.bytes, "%s_%s_cov", pair, pair + longest);
            for (size_t i = 0; i < rows; i++)
                values[k * rows + i] = covariance[(i * outputs + s) * outputs + t];
        }
    if (status >= 0) status = check_different(ctx, &list, count);
    if (status >= 0) status = hfi_table_set_columns(ctx, table, count, list.list, values);
    hfi_free(ctx, values);
    hfi_free(ctx, pair);
    names_free(ctx, &list);
    return status;
}

hf_status hf_predict_covariances_into_table(hf_context *ctx, const hf_model *model, hf_table *table)
{
    if (model == NULL || table == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "hf_predict_covariances_into_table: model and table must not be NULL");
    if (model->outputs == 1)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "the model has one output, \"%s\"; covariances are between several", model->target);
    hfi_outputs_predictions predictions;
    hf_status status = hfi_model_predict_outputs(ctx, model, table, true, true, &predictions);
    if (status < 0) return status;
    const size_t missing = predictions.missing;
    status = add_covariances(ctx, model, table, predictions.covariance);
    hfi_outputs_predictions_free(ctx, &predictions);
    return status < 0 ? status : hfi_predict_message(ctx, table, missing);
}
