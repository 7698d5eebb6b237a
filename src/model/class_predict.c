/* SPDX-License-Identifier: Apache-2.0 */
/* Class probabilities for the rows of a table, and how good they are. */
#include "model/class_model.h"

#include "data/table_set.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

hf_status hfi_class_refuse(hf_context *ctx, const hf_model *model, const char *what, const char *instead)
{
    if (model->classes == 0) return HF_OK;
    return hfi_fail(ctx, HF_ERR_ARGUMENT, "%s: the model of \"%s\" is a classifier; %s", what, model->target,
                    instead);
}

void hfi_class_predictions_free(hf_context *ctx, hfi_class_predictions *predictions)
{
    hfi_free(ctx, predictions->probability);
    hfi_free(ctx, predictions->winner);
    *predictions = (hfi_class_predictions){0};
}

/* ---- rows that can be predicted ---------------------------------------------------------------------------------- */

static hf_status allocate(hf_context *ctx, const hf_model *model, size_t rows, hfi_class_predictions *out)
{
    const size_t latents = hfi_class_latents(model), width = model->classes + 2 * latents;
    size_t cells;
    if (!hfi_size_mul(rows, width, &cells)) {
        hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows of %zu classes do not fit in memory", rows, model->classes);
        return HF_ERR_TOO_LARGE;
    }
    out->probability = hfi_alloc(ctx, cells, sizeof *out->probability);
    out->winner = hfi_alloc(ctx, rows, sizeof *out->winner);
    if (out->probability == NULL || out->winner == NULL) return HF_ERR_MEMORY;
    out->mean = out->probability + rows * model->classes;
    out->var = out->mean + rows * latents;
    return HF_OK;
}

/* Complete rows side by side at the front of x, and which row each was. */
static size_t pack(const hf_model *model, size_t rows, const double *const *columns, double *x, size_t *row)
{
    const size_t d = model->d;
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        bool complete = true;
        for (size_t j = 0; j < d; j++) complete = complete && !isnan(columns[j][i]);
        if (!complete) continue;
        for (size_t j = 0; j < d; j++) x[count * d + j] = columns[j][i];
        row[count++] = i;
    }
    return count;
}

/* From the first entries, `width` numbers each, to their rows, the last first, so that nothing is overwritten before it moved. */
static void spread(size_t rows, size_t count, size_t width, const size_t *row, double *values)
{
    size_t from = count;
    for (size_t i = rows; i-- > 0;) {
        const bool there = from > 0 && row[from - 1] == i;
        if (there) from--;
        for (size_t k = 0; k < width; k++) values[i * width + k] = there ? values[from * width + k] : NAN;
    }
}

static void spread_winners(size_t rows, size_t count, const size_t *row, size_t *winner)
{
    size_t from = count;
    for (size_t i = rows; i-- > 0;) {
        const bool there = from > 0 && row[from - 1] == i;
        if (there) from--;
        winner[i] = there ? winner[from] : SIZE_MAX;
    }
}

static hf_status predict_packed(hf_context *ctx, const hf_model *model, size_t rows,
                                const double *const *columns, hfi_class_predictions *out)
{
    size_t cells;
    if (!hfi_size_mul(rows, model->d, &cells)) return hfi_out_of_memory(ctx);
    double *x = hfi_alloc(ctx, cells, sizeof *x);
    size_t *row = hfi_alloc(ctx, rows, sizeof *row);
    hf_status status = x != NULL && row != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        const size_t count = pack(model, rows, columns, x, row), latents = hfi_class_latents(model);
        out->missing = rows - count;
        if (count > 0)
            status = hf_classify_predict(ctx, model->classifier, count, x, model->d, out->probability,
                                         out->winner, out->mean, out->var, NULL);
        if (status >= 0) {
            spread(rows, count, model->classes, row, out->probability);
            spread(rows, count, latents, row, out->mean);
            spread(rows, count, latents, row, out->var);
            spread_winners(rows, count, row, out->winner);
        }
    }
    hfi_free(ctx, x);
    hfi_free(ctx, row);
    return status;
}

hf_status hfi_class_predict(hf_context *ctx, const hf_model *model, const hf_table *table,
                            hfi_class_predictions *out)
{
    const size_t rows = hf_table_rows(table);
    *out = (hfi_class_predictions){0};
    const double **columns = hfi_alloc(ctx, model->d, sizeof *columns);
    hf_status status = columns != NULL ? allocate(ctx, model, rows, out) : HF_ERR_MEMORY;
    if (status >= 0) status = hfi_model_inputs(ctx, model, table, columns);
    if (status >= 0) status = predict_packed(ctx, model, rows, columns, out);
    hfi_free(ctx, columns);
    if (status < 0) hfi_class_predictions_free(ctx, out);
    return status;
}

/* ---- into a table ---------------------------------------------------------------------------------------------- */

/* Names and numbers of the columns to come. */
typedef struct columns {
    size_t count, bytes; /* of a name */
    char *text;
    const char **name;
    double *values; /* count x rows, column after column */
} columns;

static void columns_free(hf_context *ctx, columns *c)
{
    hfi_free(ctx, c->text);
    hfi_free(ctx, c->name);
    hfi_free(ctx, c->values);
}

static hf_status columns_init(hf_context *ctx, const hf_model *model, size_t rows, columns *c)
{
    size_t longest = 0, cells;
    for (size_t k = 0; k < model->classes; k++) {
        const size_t length = strlen(model->class_name[k]);
        longest = length > longest ? length : longest;
    }
    *c = (columns){.count = model->classes + 2 * hfi_class_latents(model),
                   .bytes = strlen(model->target) + longest + 16};
    if (!hfi_size_mul(rows, c->count, &cells)) {
        hfi_out_of_memory(ctx);
        return HF_ERR_MEMORY;
    }
    c->text = hfi_alloc(ctx, c->count, c->bytes);
    c->name = hfi_alloc(ctx, c->count, sizeof *c->name);
    c->values = hfi_alloc(ctx, cells, sizeof *c->values);
    const bool complete = c->text != NULL && c->name != NULL && c->values != NULL;
    for (size_t k = 0; complete && k < c->count; k++) c->name[k] = c->text + k * c->bytes;
    return complete ? HF_OK : HF_ERR_MEMORY;
}

/* p_<class>, then <target>_mean and <target>_sd, of several functions <target>_<class>_mean and so on. */
static void name_columns(const hf_model *model, columns *c)
{
    const size_t latents = hfi_class_latents(model);
    for (size_t k = 0; k < model->classes; k++)
        snprintf(c->text + k * c->bytes, c->bytes, "p_%s", model->class_name[k]);
    for (size_t k = 0; k < 2 * latents; k++) {
        static const char *const what[] = {"mean", "sd"};
        char *name = c->text + (model->classes + k) * c->bytes;
        if (latents == 1)
            snprintf(name, c->bytes, "%s_%s", model->target, what[k % 2]);
        else
            snprintf(name, c->bytes, "%s_%s_%s", model->target, model->class_name[k / 2], what[k % 2]);
    }
}

static void fill_columns(const hf_model *model, size_t rows, const hfi_class_predictions *from, columns *c)
{
    const size_t latents = hfi_class_latents(model), classes = model->classes;
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < classes; k++) c->values[k * rows + i] = from->probability[i * classes + k];
        for (size_t k = 0; k < latents; k++) {
            c->values[(classes + 2 * k) * rows + i] = from->mean[i * latents + k];
            c->values[(classes + 2 * k + 1) * rows + i] = sqrt(from->var[i * latents + k]);
        }
    }
}

static hf_status add_classes(hf_context *ctx, const hf_model *model, hf_table *table, const size_t *winner)
{
    const size_t bytes = strlen(model->target) + 16;
    char *name = hfi_alloc(ctx, bytes, 1);
    if (name == NULL) return HF_ERR_MEMORY;
    snprintf(name, bytes, "%s_class", model->target);
    const hf_status status =
        hf_table_set_text(ctx, table, name, model->classes, (const char *const *)model->class_name, winner);
    hfi_free(ctx, name);
    return status;
}

hf_status hfi_class_predict_into_table(hf_context *ctx, const hf_model *model, hf_table *table)
{
    const size_t rows = hf_table_rows(table);
    hfi_class_predictions predictions;
    hf_status status = hfi_class_predict(ctx, model, table, &predictions);
    if (status < 0) return status;
    columns c;
    status = columns_init(ctx, model, rows, &c);
    if (status >= 0) {
        name_columns(model, &c);
        fill_columns(model, rows, &predictions, &c);
        status = add_classes(ctx, model, table, predictions.winner);
    }
    if (status >= 0) status = hfi_table_set_columns(ctx, table, c.count, c.name, c.values);
    columns_free(ctx, &c);
    const size_t missing = predictions.missing;
    hfi_class_predictions_free(ctx, &predictions);
    return status < 0 ? status : hfi_predict_message(ctx, table, missing);
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

hf_status hf_model_labels(hf_context *ctx, const hf_model *model, const hf_table *table, size_t *label)
{
    size_t column;
    if (model == NULL || table == NULL || label == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_model_labels: model, table and label must not be NULL");
    if (model->classes == 0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_model_labels: the model of \"%s\" is no classifier",
                        model->target);
    const hf_status status = hf_table_find(ctx, table, model->target, &column);
    return status >= 0 ? hfi_class_numbers(ctx, model, table, column, label) : status;
}

hf_status hf_score_classes(hf_context *ctx, const hf_model *model, const hf_table *table, size_t bins,
                           hf_calibration_bin *bin, hf_class_metrics *out)
{
    if (model == NULL || table == NULL || out == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_score_classes: model, table and out must not be NULL");
    if (model->classes == 0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "hf_score_classes: the model of \"%s\" is no classifier; hf_score() scores it",
                        model->target);
    const size_t rows = hf_table_rows(table);
    size_t *label = hfi_alloc(ctx, rows, sizeof *label);
    if (label == NULL) return HF_ERR_MEMORY;
    hfi_class_predictions predictions = {0};
    hf_class_metrics metrics;
    hf_status status = hf_model_labels(ctx, model, table, label);
    if (status >= 0) status = hfi_class_predict(ctx, model, table, &predictions);
    if (status >= 0)
        status =
            hf_metrics_class(ctx, rows, model->classes, label, predictions.probability, bins, bin, &metrics);
    hfi_class_predictions_free(ctx, &predictions);
    hfi_free(ctx, label);
    if (status < 0) return status;
    *out = metrics;
    if (metrics.n == rows) return hfi_fail(ctx, HF_OK, "%s", "");
    return hfi_fail(ctx, HF_WARN_ROWS_SKIPPED,
                    "%s: %zu of %zu rows not scored: target or an input is missing", hf_table_source(table),
                    rows - metrics.n, rows);
}
