/* SPDX-License-Identifier: Apache-2.0 */
/* Fits and scores of rows of arrays, and what a fit thinks of its readings. */
#include "arrays/arrays.h"
#include "core/settings.h"

#include "settings/settings.h"

#include <math.h>

/* ---- fit ---------------------------------------------------------------------------------------------- */

static hf_status check_rows(hf_context *ctx, const hf_arrays *rows, const hf_fit_settings *settings)
{
    static const char function[] = "hf_model_fit_arrays";
    const bool labels = rows->label != NULL;
    if (rows->x.at == NULL || rows->inputs == 0)
        return hfi_refuse(ctx, "%s: there is no input; x and inputs are required", function);
    if (labels == (rows->y.at != NULL))
        return hfi_refuse(ctx, "%s: %s", function,
                          labels ? "y and label exclude each other" : "there is neither y nor label");
    if (rows->mean.at != NULL && rows->exposure.at != NULL)
        return hfi_refuse(ctx, "%s: mean and exposure exclude each other", function);
    if (labels && rows->classes == 0) return hfi_refuse(ctx, "%s: there are labels, but 0 classes", function);
    if (labels == hfi_likelihood_is_class(settings->sites)) return HF_OK;
    return hfi_refuse(ctx, "%s: %s sites take %s", function,
                      hf_enum_name(HF_ENUM_LIKELIHOOD, settings->sites),
                      labels ? "readings (y); labels want probit, logit or softmax" : "labels, not y");
}

static bool is_complete(const hf_arrays *rows, size_t i)
{
    for (size_t j = 0; j < rows->inputs; j++)
        if (isnan(hfi_view_at(&rows->x, i, j))) return false;
    return true;
}

/* Each class must be there, or the numbers of the model's classes would not be those of the caller's. */
static hf_status check_classes(hf_context *ctx, const hf_arrays *rows)
{
    if (rows->label == NULL) return HF_OK;
    bool *seen = hfi_alloc(ctx, rows->classes, sizeof *seen);
    if (seen == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < rows->rows; i++)
        if (rows->label[i] < rows->classes && !seen[rows->label[i]])
            seen[rows->label[i]] = is_complete(rows, i);
    size_t absent = 0;
    while (absent < rows->classes && seen[absent]) absent++;
    hfi_free(ctx, seen);
    if (absent == rows->classes) return HF_OK;
    return hfi_fail(ctx, HF_ERR_NO_DATA, "no row with all inputs is of class %zu of %zu, counted from 0",
                    absent, rows->classes);
}

static hf_columns columns_of(const hf_arrays *rows, const hfi_array_names *names)
{
    hf_columns columns = {.size = sizeof columns,
                          .features = names->input,
                          .feature_count = rows->inputs,
                          .noise = names->noise};
    columns.mean = rows->mean.at != NULL ? names->prior : NULL;
    columns.exposure = rows->mean.at != NULL ? NULL : names->prior;
    if (rows->label == NULL && rows->outputs > 1) {
        columns.targets = names->output;
        columns.target_count = rows->outputs;
    } else {
        columns.target = names->output[0];
    }
    return columns;
}

static hf_status fit_table(hf_context *ctx, const hf_arrays *rows, const hfi_array_names *names,
                           const hf_fit_settings *settings, hf_model **model, hf_fit_report *report)
{
    hf_table *table = NULL;
    hf_status status = hfi_arrays_to_table(ctx, rows, names, &table);
    if (status < 0) return status;
    const hf_columns columns = columns_of(rows, names);
    hf_model *made = NULL;
    status = hf_fit(ctx, table, &columns, settings, &made, NULL);
    hf_table_free(table);
    if (status >= 0 && rows->label != NULL && made->classes != rows->classes) {
        const size_t found = made->classes;
        hf_model_free(made);
        return hfi_refuse(ctx,
                          "%zu names of classes stand for %zu: each must differ, as text and as a number, "
                          "and none may mean \"missing\" (NA, none, ?, ...)",
                          rows->classes, found);
    }
    if (status < 0) return status;
    *model = made;
    if (report != NULL) *report = made->report;
    return status;
}

hf_status hf_model_fit_arrays(hf_context *ctx, const hf_arrays *rows, const hf_fit_settings *settings,
                              hf_model **model, hf_fit_report *report)
{
    hf_arrays own = {0};
    hf_status status = hfi_struct_open(ctx, "hf_arrays", rows, sizeof own, &own, sizeof own);
    if (status < 0) return status;
    if (settings == NULL || model == NULL)
        return hfi_refuse(ctx, "hf_model_fit_arrays: settings and model must not be NULL");
    hf_fit_settings how;
    status = hfi_settings_take(ctx, hf_fit_settings_table(), settings, &how);
    if (status < 0) return status;
    own.outputs = own.outputs == 0 || own.label != NULL ? 1 : own.outputs;
    own.classes = own.label != NULL ? own.classes : 0;
    status = check_rows(ctx, &own, &how);
    if (status >= 0) status = check_classes(ctx, &own);
    hfi_array_names names;
    if (status >= 0) status = hfi_array_names_make(ctx, &own, &names);
    if (status < 0) return status;
    status = fit_table(ctx, &own, &names, &how, model, report);
    hfi_array_names_free(ctx, &names);
    return status;
}

/* ---- scores ------------------------------------------------------------------------------------------- */

/* The rows as a table with the names of the model. */
static hf_status table_of(hf_context *ctx, const hf_model *model, const hf_arrays *rows, const char *function,
                          hf_table **table)
{
    hf_arrays own = {0};
    hf_status status = hfi_struct_open(ctx, "hf_arrays", rows, sizeof own, &own, sizeof own);
    if (status >= 0) status = hfi_arrays_check(ctx, model, &own, function);
    if (status < 0) return status;
    const bool labels = model->kind->labels != NULL;
    if (labels ? own.label == NULL : own.y.at == NULL)
        return hfi_refuse(ctx, "%s: there is no %s to score", function, labels ? "label" : "y");
    if (model->output_column != NULL)
        return hfi_refuse(ctx, "%s: the model is of a long table; hf_score() scores it", function);
    own.outputs = own.outputs == 0 ? 1 : own.outputs;
    if (!labels && own.outputs != model->outputs)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "%s: y has %zu columns, and the model has %zu outputs",
                        function, own.outputs, model->outputs);
    own.classes = model->classes;
    if (!labels) own.label = NULL;
    hfi_array_names names;
    status = hfi_array_names_of(ctx, model, &own, &names);
    if (status < 0) return status;
    status = hfi_arrays_to_table(ctx, &own, &names, table);
    hfi_array_names_free(ctx, &names);
    return status;
}

hf_status hf_model_score_arrays(hf_context *ctx, const hf_model *model, const hf_arrays *rows,
                                hf_metrics *out)
{
    static const char function[] = "hf_model_score_arrays";
    if (model == NULL || out == NULL) return hfi_refuse(ctx, "%s: model and out must not be NULL", function);
    if (model->kind->score == NULL) return hfi_target_lacks(ctx, model, function);
    hf_table *table = NULL;
    hf_status status = table_of(ctx, model, rows, function, &table);
    if (status >= 0) status = hf_score(ctx, model, table, out);
    hf_table_free(table);
    return status;
}

hf_status hf_model_score_class_arrays(hf_context *ctx, const hf_model *model, const hf_arrays *rows,
                                      hf_class_metrics *out)
{
    static const char function[] = "hf_model_score_class_arrays";
    if (model == NULL || out == NULL) return hfi_refuse(ctx, "%s: model and out must not be NULL", function);
    if (model->kind->score_classes == NULL) return hfi_target_lacks(ctx, model, function);
    hf_table *table = NULL;
    hf_status status = table_of(ctx, model, rows, function, &table);
    if (status >= 0) status = hf_score_classes(ctx, model, table, 10, NULL, out);
    hf_table_free(table);
    return status;
}

/* ---- readings ----------------------------------------------------------------------------------------- */

size_t hf_model_reading_count(const hf_model *model)
{
    return model != NULL && model->row != NULL ? model->n : 0;
}

size_t hf_model_latents(const hf_model *model)
{
    return model != NULL ? hfi_model_functions(model) : 0;
}

hf_status hf_model_readings(hf_context *ctx, const hf_model *model, const hf_reading_arrays *out)
{
    hf_reading_arrays own = {0};
    if (model == NULL) return hfi_refuse(ctx, "hf_model_readings: model must not be NULL");
    hf_status status = hfi_struct_open(ctx, "hf_reading_arrays", out, sizeof own, &own, sizeof own);
    if (status >= 0) status = hfi_model_check_rows(ctx, model);
    if (status < 0) return status;
    const bool labels = model->kind->labels != NULL;
    for (size_t i = 0; i < model->n; i++) {
        const hf_reading *reading = &model->reading[i];
        if (own.row != NULL) own.row[i] = model->row[i] - 1;
        if (own.output != NULL) own.output[i] = hfi_model_output_of(model, i);
        if (own.value != NULL) own.value[i] = model->y[i];
        if (own.weight != NULL) own.weight[i] = !labels ? reading->weight : isnan(model->y[i]) ? 0.0 : 1.0;
        if (own.suspected != NULL) own.suspected[i] = !labels && reading->suspected;
        if (own.group != NULL) own.group[i] = labels ? 0 : reading->group;
    }
    return HF_OK;
}
