/* SPDX-License-Identifier: Apache-2.0 */
/* What a classifier was fitted to, its classes, and its hyperparameters. */
#include "model/class_model.h"

#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

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
    if (model == NULL) return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_model_set_class_rule: model is NULL");
    if (model->classifier == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "a rule for classes is not for a model of readings of \"%s\"",
                        model->target);
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

/* `column`: scratch of a number for each row. */
static hf_status add_rows(hf_context *ctx, const hf_model *model, hf_table *table, double *column)
{
    for (size_t i = 0; i < model->n; i++) column[i] = (double)model->row[i];
    return hf_table_set_numbers(ctx, table, "row", column);
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
    hf_status status = hfi_class_training(ctx, model, &table);
    if (status >= 0) status = hfi_class_predict(ctx, model, table, out);
    hf_table_free(table);
    return status;
}

hf_status hfi_class_rows(hf_context *ctx, const hf_model *model, hf_table **out)
{
    hfi_class_predictions predictions = {0};
    hf_table *table = NULL;
    double *column = hfi_alloc(ctx, model->n, sizeof *column);
    size_t *label = hfi_alloc(ctx, model->n, sizeof *label);
    hf_status status = column != NULL && label != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = predict_rows(ctx, model, &predictions);
    if (status >= 0) status = hf_table_create(ctx, model->n, &table);
    if (status >= 0) {
        labels_of(model, label);
        status = add_rows(ctx, model, table, column);
    }
    if (status >= 0) status = add_text(ctx, model, table, "label", label);
    if (status >= 0) status = add_text(ctx, model, table, "predicted", predictions.winner);
    if (status >= 0) status = add_probability(ctx, model, &predictions, label, table, column);
    hfi_class_predictions_free(ctx, &predictions);
    hfi_free(ctx, label);
    hfi_free(ctx, column);
    if (status < 0)
        hf_table_free(table);
    else
        *out = table;
    return status < 0 ? status : HF_OK;
}

static hf_status add_training(hf_context *ctx, const hf_model *model, hf_table *table, double *column,
                              size_t *label)
{
    /* First, so that a feature of the name "row" replaces it rather than the other way round. */
    hf_status status = add_rows(ctx, model, table, column);
    for (size_t j = 0; j < model->d && status >= 0; j++) {
        for (size_t i = 0; i < model->n; i++) column[i] = model->x[i * model->d + j];
        status = hf_table_set_numbers(ctx, table, model->feature[j], column);
    }
    labels_of(model, label);
    return status < 0 ? status : add_text(ctx, model, table, model->target, label);
}

hf_status hfi_class_training(hf_context *ctx, const hf_model *model, hf_table **out)
{
    hf_table *table = NULL;
    double *column = hfi_alloc(ctx, model->n, sizeof *column);
    size_t *label = hfi_alloc(ctx, model->n, sizeof *label);
    hf_status status = column != NULL && label != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = hf_table_create(ctx, model->n, &table);
    if (status >= 0) status = add_training(ctx, model, table, column, label);
    hfi_free(ctx, label);
    hfi_free(ctx, column);
    if (status < 0)
        hf_table_free(table);
    else
        *out = table;
    return status;
}

/* ---- hyperparameters ---------------------------------------------------------------------------------------------- */

/* That a function is of a class is said by entries of coregions that are held. */
static bool is_coregion(const hf_kernel *kernel, size_t i)
{
    hf_parameter p = {0};
    if (hf_kernel_parameter(kernel, i, &p) < 0 || !p.fixed) return false;
    for (size_t k = 0; k < hf_kernel_coregions(kernel); k++) {
        size_t first, factors, own;
        if (hfi_kernel_coregion(kernel, k, &first, &factors, &own, NULL) && i >= first &&
            i < first + factors + own)
            return true;
    }
    return false;
}

static size_t kernel_count(const hf_model *model)
{
    const hf_kernel *kernel = model->posterior->kernel;
    size_t count = 0;
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) count += is_coregion(kernel, i) ? 0 : 1;
    return count;
}

size_t hfi_class_parameters(const hf_model *model)
{
    return kernel_count(model) + hf_mean_coefficients(model->posterior->mean);
}

hf_status hfi_class_parameter(const hf_model *model, size_t i, hf_parameter *out)
{
    const hf_kernel *kernel = model->posterior->kernel;
    const hf_mean *mean = model->posterior->mean;
    const size_t before = kernel_count(model), coefficients = hf_mean_coefficients(mean);
    if (i >= before) {
        if (i >= before + coefficients) return HF_ERR_ARGUMENT;
        hfi_model_mean_parameter(model, i - before, out);
        if (coefficients > 1) out->name = model->mean_name[i - before];
        return HF_OK;
    }
    size_t index = 0, seen = 0;
    for (; index < hf_kernel_parameters(kernel); index++)
        if (!is_coregion(kernel, index) && seen++ == i) break;
    return hfi_model_kernel_parameter(model, index, out);
}
