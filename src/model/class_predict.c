/* SPDX-License-Identifier: Apache-2.0 */
/* Class probabilities for the rows of a table, and how good they are. */
#include "model/class_model.h"
#include "model/pack.h"

#include <math.h>
#include <string.h>

void hfi_class_predictions_free(hf_context *ctx, hfi_class_predictions *predictions)
{
    HFI_FREE(ctx, predictions->probability, predictions->winner);
    *predictions = (hfi_class_predictions){0};
}

/* ---- rows that can be predicted ---------------------------------------------------------------------------------- */

static hf_status allocate_class_predictions(hf_context *ctx, const hf_model *model, size_t rows,
                                            hfi_class_predictions *out)
{
    const size_t latents = hfi_class_latents(model), width = model->classes + 2 * latents;
    size_t cells;
    if (!hfi_size_mul(rows, width, &cells)) {
        hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows of %zu classes do not fit in memory", rows, model->classes);
        return HF_ERR_TOO_LARGE;
    }
    if (HFI_ALLOC(ctx, HFI_ROOM(out->probability, cells), HFI_ROOM(out->winner, rows)) < 0)
        return HF_ERR_MEMORY;
    out->mean = out->probability + rows * model->classes;
    out->var = out->mean + rows * latents;
    return HF_OK;
}

static void spread_winners(const hfi_complete *c, size_t *winner)
{
    size_t from = c->count;
    for (size_t i = c->rows; i-- > 0;) {
        const bool there = from > 0 && c->row[from - 1] == i;
        if (there) from--;
        winner[i] = there ? winner[from] : SIZE_MAX;
    }
}

hf_status hfi_class_predict(hf_context *ctx, const hf_model *model, const hf_table *table,
                            hfi_class_predictions *out)
{
    const size_t latents = hfi_class_latents(model);
    hfi_complete c = {0};
    *out = (hfi_class_predictions){0};
    hf_status status = allocate_class_predictions(ctx, model, hf_table_rows(table), out);
    if (status >= 0) status = hfi_complete_find(ctx, model, table, NULL, NULL, &c);
    if (status >= 0 && c.count > 0)
        status = hf_classify_predict(ctx, model->classifier, c.count, c.x, c.width, out->probability,
                                     out->winner, out->mean, out->var, NULL);
    if (status >= 0) {
        out->missing = c.rows - c.count;
        hfi_complete_spread(&c, model->classes, out->probability);
        hfi_complete_spread(&c, latents, out->mean);
        hfi_complete_spread(&c, latents, out->var);
        spread_winners(&c, out->winner);
    }
    hfi_complete_free(ctx, &c);
    if (status < 0) hfi_class_predictions_free(ctx, out);
    return status;
}

/* ---- into a table ---------------------------------------------------------------------------------------------- */

/* <target>_class, then p_<class>, then <target>_mean and <target>_sd, of several functions <target>_<class>_mean ... */
size_t hfi_class_columns(const hf_model *model, bool single)
{
    (void)single;
    return 1 + model->classes + 2 * hfi_class_latents(model);
}

hfi_column_name hfi_class_column(const hf_model *model, bool single, size_t i)
{
    (void)single;
    hfi_column_name c = {.part = {model->target, "_class", "", ""},
                         .is = {.meaning = "most probable class", .of = SIZE_MAX, .label = true}};
    if (i == 0) return c;
    const bool several = hfi_class_latents(model) > 1, sd = (i - 1 - model->classes) % 2 == 1;
    if (i <= model->classes) {
        c.part[0] = "p_";
        c.part[1] = model->class_name[i - 1];
        c.is = (hf_predicted_column){.meaning = "probability of the class", .of = i - 1};
        return c;
    }
    c.is.label = false;
    c.is.of = several ? (i - 1 - model->classes) / 2 : SIZE_MAX;
    c.is.meaning = sd ? "standard deviation of the latent function" : "mean of the latent function";
    c.part[1] = several ? "_" : "";
    c.part[2] = several ? model->class_name[c.is.of] : "";
    c.part[3] = sd ? "_sd" : "_mean";
    return c;
}

static hf_status pack_columns(hf_context *ctx, const hf_model *model, const hfi_class_predictions *from,
                              hfi_pack *pack)
{
    const size_t latents = hfi_class_latents(model), classes = model->classes, rows = pack->rows,
                 count = hfi_class_columns(model, false);
    hf_status status = hfi_pack_init(ctx, pack, rows, count - 1);
    for (size_t k = 1; k < count && status >= 0; k++) {
        double *column = hfi_pack_predicted(pack, model, false, k);
        if (column == NULL) return HF_ERR_MEMORY;
        const size_t q = k - 1 - classes;
        for (size_t i = 0; i < rows; i++)
            column[i] = k <= classes ? from->probability[i * classes + k - 1]
                        : q % 2 == 0 ? from->mean[i * latents + q / 2]
                                     : sqrt(from->var[i * latents + q / 2]);
    }
    return status;
}

static hf_status add_classes(hf_context *ctx, const hf_model *model, hf_table *table, const size_t *winner)
{
    const size_t bytes = strlen(model->target) + 16;
    char *name = hfi_alloc(ctx, bytes, 1);
    if (name == NULL) return HF_ERR_MEMORY;
    hf_status status = hf_predicted_column_at(model, table, 0, name, bytes, NULL, NULL);
    if (status >= 0)
        status = hf_table_set_text(ctx, table, name, model->classes, (const char *const *)model->class_name,
                                   winner);
    hfi_free(ctx, name);
    return status;
}

hf_status hfi_class_predict_into_table(hf_context *ctx, const hf_model *model, hf_table *table)
{
    hfi_pack pack = {.ctx = ctx, .rows = hf_table_rows(table)};
    hfi_class_predictions predictions;
    hf_status status = hfi_class_predict(ctx, model, table, &predictions);
    if (status < 0) return status;
    status = pack_columns(ctx, model, &predictions, &pack);
    if (status >= 0) status = add_classes(ctx, model, table, predictions.winner);
    if (status >= 0) status = hfi_pack_into(&pack, table);
    hfi_pack_free(&pack);
    const size_t missing = predictions.missing;
    hfi_class_predictions_free(ctx, &predictions);
    return status < 0 ? status : hfi_predict_message(ctx, model, table, missing);
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

hf_status hfi_class_labels(hf_context *ctx, const hf_model *model, const hf_table *table, size_t *label)
{
    size_t column;
    const hf_status status = hf_table_find(ctx, table, model->target, &column);
    return status >= 0 ? hfi_class_numbers(ctx, model, table, column, label) : status;
}

hf_status hfi_class_score(hf_context *ctx, const hf_model *model, const hf_table *table, size_t bins,
                          hf_calibration_bin *bin, hf_class_metrics *out)
{
    const size_t rows = hf_table_rows(table);
    size_t *label = hfi_alloc(ctx, rows, sizeof *label);
    if (label == NULL) return HF_ERR_MEMORY;
    hfi_class_predictions predictions = {0};
    hf_class_metrics metrics;
    hf_status status = hfi_class_labels(ctx, model, table, label);
    if (status >= 0) status = hfi_class_predict(ctx, model, table, &predictions);
    if (status >= 0)
        status =
            hf_metrics_class(ctx, rows, model->classes, label, predictions.probability, bins, bin, &metrics);
    hfi_class_predictions_free(ctx, &predictions);
    hfi_free(ctx, label);
    if (status < 0) return status;
    *out = metrics;
    return hfi_score_message(ctx, table, rows - metrics.n);
}
