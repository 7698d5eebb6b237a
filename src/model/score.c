/* SPDX-License-Identifier: Apache-2.0 */
/* How well the rows of a table are predicted. */
#include "model/target.h"

#include <math.h>

/* Readings beside their predictions, one a row, and which output each is of. */
typedef struct scored_pairs {
    hfi_predictions predictions;
    size_t count;
    double *y, *mean, *sd; /* room for count each, in one block that begins at y */
    size_t *output;        /* count */
    size_t unused;         /* rows of the table without any */
} scored_pairs;

static void pairs_free(hf_context *ctx, scored_pairs *p)
{
    hfi_predictions_free(ctx, &p->predictions);
    HFI_FREE(ctx, p->y, p->output);
}

/* The readings of all targets, one pointer each. */
static hf_status find_readings(hf_context *ctx, const hf_model *model, const hf_table *table, size_t columns,
                               const double **y)
{
    size_t column;
    hf_status status = HF_OK;
    if (model->output_column != NULL) status = hf_table_find(ctx, table, model->output_column, &column);
    for (size_t t = 0; t < columns && status >= 0; t++) {
        const char *name = model->output_column != NULL ? model->target : hf_model_output(model, t);
        status = hf_table_find(ctx, table, name, &column);
        if (status >= 0) status = hfi_finite_numbers(ctx, table, column, &y[t]);
    }
    return status;
}

/* The latent value of counts and amounts is scored with its own deviation. */
static void pair_up(const hf_model *model, size_t rows, const double *const *y, scored_pairs *p)
{
    const hfi_predictions *from = &p->predictions;
    const double *var = hfi_model_has_likelihood(model) ? from->var_latent : from->var_observed;
    for (size_t i = 0; i < rows; i++) {
        const size_t before = p->count;
        for (size_t t = 0; t < from->columns; t++) {
            const size_t k = i * from->columns + t;
            if (isnan(y[t][i]) || isnan(from->mean[k])) continue;
            p->y[p->count] = y[t][i];
            p->mean[p->count] = from->mean[k];
            p->sd[p->count] = sqrt(var[k]);
            p->output[p->count++] = from->output != NULL ? from->output[i] : t;
        }
        p->unused += p->count == before ? 1 : 0;
    }
}

static hf_status make_pairs(hf_context *ctx, const hf_model *model, const hf_table *table, scored_pairs *p)
{
    const size_t rows = hf_table_rows(table), columns = model->output_column != NULL ? 1 : model->outputs;
    const double **y = hfi_alloc(ctx, columns, sizeof *y);
    *p = (scored_pairs){0};
    hf_status status = y != NULL ? find_readings(ctx, model, table, columns, y) : HF_ERR_MEMORY;
    if (status >= 0) status = hfi_model_predict(ctx, model, table, false, false, &p->predictions);
    size_t cells;
    if (status >= 0 && !hfi_size_mul(rows, columns, &cells)) status = hfi_out_of_memory(ctx);
    if (status >= 0) status = HFI_ALLOC(ctx, HFI_ROOMS(p->y, cells, 3), HFI_ROOM(p->output, cells));
    if (status >= 0) {
        p->mean = p->y + cells;
        p->sd = p->mean + cells;
        pair_up(model, rows, y, p);
    }
    if (status >= 0 && p->count == 0)
        status = hfi_fail(ctx, HF_ERR_NO_DATA, "%s: no row has both a target and all inputs",
                          hf_table_source(table));
    hfi_free(ctx, y);
    if (status < 0) pairs_free(ctx, p);
    return status;
}

/* Moves the pairs of an output, or with SIZE_MAX of all of them in their units, to the front; `own` has 3 x count
 * numbers. How many there are. */
static size_t select_pairs(const hf_model *model, const scored_pairs *p, size_t output, double *own)
{
    size_t n = 0;
    for (size_t k = 0; k < p->count; k++) {
        if (output != SIZE_MAX && p->output[k] != output) continue;
        const double unit = output != SIZE_MAX ? 1.0 : hfi_model_unit(model, p->output[k]);
        own[n] = p->y[k] / unit;
        own[p->count + n] = p->mean[k] / unit;
        own[2 * p->count + n] = p->sd[k] / unit;
        n++;
    }
    return n;
}

hf_status hfi_outputs_score(hf_context *ctx, const hf_model *model, const hf_table *table, bool each,
                            hf_metrics *out)
{
    const size_t scores = each ? model->outputs : 1;
    scored_pairs p;
    hf_status status = make_pairs(ctx, model, table, &p);
    if (status < 0) return status;
    double *own = hfi_alloc(ctx, p.count, 3 * sizeof *own);
    hf_metrics *metrics = hfi_alloc(ctx, scores, sizeof *metrics);
    status = own != NULL && metrics != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t t = 0; t < scores && status >= 0; t++) {
        const size_t n = select_pairs(model, &p, each ? t : SIZE_MAX, own);
        metrics[t] = (hf_metrics){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
        if (n > 0)
            status = hfi_model_metrics(ctx, model, n, own, own + p.count, own + 2 * p.count, &metrics[t]);
    }
    for (size_t t = 0; t < scores && status >= 0; t++) out[t] = metrics[t];
    HFI_FREE(ctx, own, metrics);
    pairs_free(ctx, &p);
    return status < 0 ? status : hfi_score_message(ctx, table, p.unused);
}

hf_status hfi_score_message(hf_context *ctx, const hf_table *table, size_t unused)
{
    if (unused == 0) return hfi_fail(ctx, HF_OK, "%s", "");
    return hfi_fail(ctx, HF_WARN_ROWS_SKIPPED,
                    "%s: %zu of %zu rows not scored: target or an input is missing", hf_table_source(table),
                    unused, hf_table_rows(table));
}

/* ---- of any target ---------------------------------------------------------------------------------------- */

static hf_status score_model_table(hf_context *ctx, const char *function, const hf_model *model,
                                   const hf_table *table, bool each, hf_metrics *out)
{
    if (model == NULL || table == NULL || out == NULL)
        return hfi_refuse(ctx, "%s: model, table and out must not be NULL", function);
    if (model->kind->score == NULL) return hfi_target_lacks(ctx, model, function);
    return model->kind->score(ctx, model, table, each, out);
}

hf_status hf_score(hf_context *ctx, const hf_model *model, const hf_table *table, hf_metrics *out)
{
    return score_model_table(ctx, "hf_score", model, table, false, out);
}

hf_status hf_score_outputs(hf_context *ctx, const hf_model *model, const hf_table *table, hf_metrics *out)
{
    return score_model_table(ctx, "hf_score_outputs", model, table, true, out);
}

hf_status hf_score_classes(hf_context *ctx, const hf_model *model, const hf_table *table, size_t bins,
                           hf_calibration_bin *bin, hf_class_metrics *out)
{
    if (model == NULL || table == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_score_classes: model, table and out must not be NULL");
    if (model->kind->score_classes == NULL) return hfi_target_lacks(ctx, model, "hf_score_classes");
    return model->kind->score_classes(ctx, model, table, bins, bin, out);
}

hf_status hf_model_labels(hf_context *ctx, const hf_model *model, const hf_table *table, size_t *label)
{
    if (model == NULL || table == NULL || label == NULL)
        return hfi_refuse(ctx, "hf_model_labels: model, table and label must not be NULL");
    if (model->kind->labels == NULL) return hfi_target_lacks(ctx, model, "hf_model_labels");
    return model->kind->labels(ctx, model, table, label);
}
