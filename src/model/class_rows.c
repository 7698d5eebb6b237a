/* SPDX-License-Identifier: Apache-2.0 */
/* Readings that a classifier was fitted to, and its classes. */
#include "model/class_model.h"

#include <math.h>

size_t hf_model_classes(const hf_model *model)
{
    return model != NULL ? model->classes : 0;
}

const char *hf_model_class(const hf_model *model, size_t i)
{
    return i < hf_model_classes(model) ? model->class_name[i] : NULL;
}

size_t hf_model_class_rows(const hf_model *model, size_t i)
{
    return i < hf_model_classes(model) ? model->class_count[i] : 0;
}

const hf_classifier *hf_model_classifier(const hf_model *model)
{
    return model != NULL ? model->classifier : NULL;
}

hf_status hf_model_set_class_rule(hf_context *ctx, hf_model *model, const hf_class_rule *rule)
{
    if (model == NULL) return hfi_refuse(ctx, "hf_model_set_class_rule: model is NULL");
    if (model->classifier == NULL) return hfi_target_lacks(ctx, model, "hf_model_set_class_rule");
    return hf_classifier_set_rule(ctx, model->classifier, rule);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void labels_of(const hf_model *model, size_t *label)
{
    for (size_t i = 0; i < model->n; i++) label[i] = isnan(model->y[i]) ? SIZE_MAX : (size_t)model->y[i];
}

static hf_status add_text(hf_context *ctx, const hf_model *model, hf_table *table, const char *name,
                          const size_t *choice)
{
    return hf_table_set_text(ctx, table, name, model->classes, (const char *const *)model->class_name,
                             choice);
}

static hf_status add_probability(hf_context *ctx, const hf_model *model, const hfi_class_predictions *from,
                                 const size_t *label, hf_table *table, double *column)
{
    for (size_t i = 0; i < model->n; i++)
        column[i] = label[i] == SIZE_MAX ? NAN : from->probability[i * model->classes + label[i]];
    return hf_table_set_numbers(ctx, table, "p_label", column);
}

/* The model's rows are what it is asked about, in the user's units. */
static hf_status predict_rows(hf_context *ctx, const hf_model *model, hfi_class_predictions *out)
{
    hf_table *table = NULL;
    hf_status status = hf_model_training(ctx, model, &table);
    if (status >= 0) status = hfi_class_predict(ctx, model, table, out);
    hf_table_free(table);
    return status;
}

hf_status hfi_class_rows(hf_context *ctx, const hf_model *model, bool only_suspected, hf_table **out)
{
    (void)only_suspected;
    hfi_class_predictions predictions = {0};
    hf_table *table = NULL;
    double *column = hfi_alloc(ctx, model->n, sizeof *column);
    size_t *label = hfi_alloc(ctx, model->n, sizeof *label);
    hf_status status = column != NULL && label != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = predict_rows(ctx, model, &predictions);
    if (status >= 0) status = hf_table_create(ctx, model->n, &table);
    if (status >= 0) {
        labels_of(model, label);
        for (size_t i = 0; i < model->n; i++) column[i] = (double)model->row[i];
        status = hf_table_set_numbers(ctx, table, "row", column);
    }
    if (status >= 0) status = add_text(ctx, model, table, "label", label);
    if (status >= 0) status = add_text(ctx, model, table, "predicted", predictions.winner);
    if (status >= 0) status = add_probability(ctx, model, &predictions, label, table, column);
    hfi_class_predictions_free(ctx, &predictions);
    HFI_FREE(ctx, label, column);
    if (status < 0)
        hf_table_free(table);
    else
        *out = table;
    return status < 0 ? status : HF_OK;
}

hf_status hfi_class_training(hf_context *ctx, const hf_model *model, hf_table *table, double *column)
{
    (void)column;
    size_t *label = hfi_alloc(ctx, model->n, sizeof *label);
    if (label == NULL) return HF_ERR_MEMORY;
    labels_of(model, label);
    const hf_status status = add_text(ctx, model, table, model->target, label);
    hfi_free(ctx, label);
    return status;
}
