/* SPDX-License-Identifier: Apache-2.0 */
/* How well the rows of a table are predicted. */
#include "model/class_model.h"

#include <math.h>

/* ---- several outputs --------------------------------------------------------------------------------------
 */

/* Readings beside their predictions, one a row, and which output each is of. */
typedef struct pairs {
    hfi_outputs_predictions predictions;
    size_t count;
    double *y, *mean, *sd; /* room for count each, in one block that begins at y */
    size_t *output;        /* count */
    size_t unused;         /* rows of the table without any */
} pairs;

static void pairs_free(hf_context *ctx, pairs *p)
{
    hfi_outputs_predictions_free(ctx, &p->predictions);
    hfi_free(ctx, p->y);
    hfi_free(ctx, p->output);
}

static hf_status readings_of(hf_context *ctx, const hf_table *table, const char *name, const double **y)
{
    size_t column;
    hf_status status = hf_table_find(ctx, table, name, &column);
    return status < 0 ? status : hfi_finite_numbers(ctx, table, column, y);
}

/* The readings of all targets, one pointer each. */
static hf_status find_readings(hf_context *ctx, const hf_model *model, const hf_table *table, size_t columns,
                               const double **y)
{
    if (model->output_column != NULL) {
        size_t column;
        hf_status status = hf_table_find(ctx, table, model->output_column, &column);
        return status < 0 ? status : readings_of(ctx, table, model->target, &y[0]);
    }
    hf_status status = HF_OK;
    for (size_t t = 0; t < columns && status >= 0; t++)
        status = readings_of(ctx, table, model->output[t], &y[t]);
    return status;
}

static void pair_up(size_t rows, const double *const *y, pairs *p)
{
    const hfi_outputs_predictions *from = &p->predictions;
    for (size_t i = 0; i < rows; i++) {
        const size_t before = p->count;
        for (size_t t = 0; t < from->columns; t++) {
            const size_t k = i * from->columns + t;
            if (isnan(y[t][i]) || isnan(from->mean[k])) continue;
            p->y[p->count] = y[t][i];
            p->mean[p->count] = from->mean[k];
            p->sd[p->count] = sqrt(from->var_observed[k]);
            p->output[p->count++] = from->single ? from->output[i] : t;
        }
        p->unused += p->count == before ? 1 : 0;
    }
}

static hf_status make_pairs(hf_context *ctx, const hf_model *model, const hf_table *table, pairs *p)
{
    const size_t rows = hf_table_rows(table), columns = model->output_column != NULL ? 1 : model->outputs;
    const double **y = hfi_alloc(ctx, columns, sizeof *y);
    *p = (pairs){0};
    hf_status status = y != NULL ? find_readings(ctx, model, table, columns, y) : HF_ERR_MEMORY;
    if (status >= 0) status = hfi_model_predict_outputs(ctx, model, table, false, false, &p->predictions);
    size_t cells;
    if (status >= 0 && !hfi_size_mul(rows, columns, &cells)) status = hfi_out_of_memory(ctx);
    if (status >= 0) {
        p->y = hfi_alloc(ctx, cells, 3 * sizeof *p->y);
        p->output = hfi_alloc(ctx, cells, sizeof *p->output);
        status = p->y != NULL && p->output != NULL ? HF_OK : HF_ERR_MEMORY;
    }
    if (status >= 0) {
        p->mean = p->y + cells;
        p->sd = p->mean + cells;
        pair_up(rows, y, p);
    }
    hfi_free(ctx, y);
    if (status < 0) pairs_free(ctx, p);
    return status;
}

static hf_status unused_message(hf_context *ctx, const hf_table *table, size_t unused)
{
    if (unused == 0) return hfi_fail(ctx, HF_OK, "%s", "");
    return hfi_fail(ctx, HF_WARN_ROWS_SKIPPED,
                    "%s: %zu of %zu rows not scored: target or an input is missing", hf_table_source(table),
                    unused, hf_table_rows(table));
}

static hf_status score_together(hf_context *ctx, const hf_model *model, const hf_table *table,
                                hf_metrics *out)
{
    pairs p;
    hf_status status = make_pairs(ctx, model, table, &p);
    if (status < 0) return status;
    for (size_t k = 0; k < p.count; k++) {
        const double scale = hfi_scaling_scale(&model->posterior->scaling, p.output[k]);
        p.y[k] /= scale;
        p.mean[k] /= scale;
        p.sd[k] /= scale;
    }
    hf_metrics metrics;
    status = hf_metrics_gaussian(ctx, p.count, p.y, p.mean, p.sd, &metrics);
    pairs_free(ctx, &p);
    if (status < 0) return status;
    *out = metrics;
    return unused_message(ctx, table, p.unused);
}

/* Moves the pairs of an output to the front of `own`, 3 x count numbers; how many there are. */
static size_t select_output(const pairs *p, size_t output, double *own)
{
    size_t n = 0;
    for (size_t k = 0; k < p->count; k++) {
        if (p->output[k] != output) continue;
        own[n] = p->y[k];
        own[p->count + n] = p->mean[k];
        own[2 * p->count + n] = p->sd[k];
        n++;
    }
    return n;
}

hf_status hf_score_outputs(hf_context *ctx, const hf_model *model, const hf_table *table, hf_metrics *out)
{
    if (model == NULL || table == NULL || out == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_score_outputs: model, table and out must not be NULL");
    if (model->outputs == 1) return hf_score(ctx, model, table, out);
    pairs p;
    hf_status status = make_pairs(ctx, model, table, &p);
    if (status < 0) return status;
    double *own = hfi_alloc(ctx, p.count, 3 * sizeof *own);
    hf_metrics *metrics = hfi_alloc(ctx, model->outputs, sizeof *metrics);
    status = own != NULL && metrics != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0 && p.count == 0)
        status = hfi_fail(ctx, HF_ERR_NO_DATA, "%s: no row has both a target and all inputs",
                          hf_table_source(table));
    for (size_t t = 0; t < model->outputs && status >= 0; t++) {
        const size_t n = select_output(&p, t, own);
        metrics[t] = (hf_metrics){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
        if (n > 0) status = hf_metrics_gaussian(ctx, n, own, own + p.count, own + 2 * p.count, &metrics[t]);
    }
    for (size_t t = 0; t < model->outputs && status >= 0; t++) out[t] = metrics[t];
    hfi_free(ctx, own);
    hfi_free(ctx, metrics);
    pairs_free(ctx, &p);
    return status < 0 ? status : unused_message(ctx, table, p.unused);
}

/* ---- one output -------------------------------------------------------------------------------------------
 */

hf_status hf_score(hf_context *ctx, const hf_model *model, const hf_table *table, hf_metrics *out)
{
    if (model == NULL || table == NULL || out == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_score: model, table and out must not be NULL");
    const hf_status refused = hfi_class_refuse(ctx, model, "hf_score", "hf_score_classes() scores it");
    if (refused < 0) return refused;
    if (model->outputs > 1) return score_together(ctx, model, table, out);
    size_t column, rows = hf_table_rows(table);
    const double *y;
    hf_status status = hf_table_find(ctx, table, model->target, &column);
    if (status >= 0) status = hf_table_numbers(ctx, table, column, &y);
    if (status >= 0) status = hfi_check_finite(ctx, table, model->target, y);
    if (status < 0) return status;
    hfi_predictions predictions;
    status = hfi_model_predict(ctx, model, table, &predictions);
    if (status < 0) return status;
    const double *var = hfi_model_has_likelihood(model) ? predictions.var_latent : predictions.var_observed;
    for (size_t i = 0; i < rows; i++) predictions.var_observed[i] = sqrt(var[i]);
    hf_metrics metrics;
    status = hfi_model_metrics(ctx, model, rows, y, predictions.mean, predictions.var_observed, &metrics);
    hfi_free(ctx, predictions.mean);
    if (status < 0) return status;
    *out = metrics;
    size_t unused = rows - metrics.n;
    if (unused == 0) return hfi_fail(ctx, HF_OK, "%s", "");
    return hfi_fail(ctx, HF_WARN_ROWS_SKIPPED,
                    "%s: %zu of %zu rows not scored: target or an input is missing", hf_table_source(table),
                    unused, rows);
}
