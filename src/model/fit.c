/* SPDX-License-Identifier: Apache-2.0 */
/* From a table to a model, and what that will cost. */
#include "core/settings_rows.h"
#include "model/look.h"
#include "model/target.h"

#include <holdfast/settings.h>

#include <math.h>

#define SETTINGS hf_columns
static const hfi_setting rows[] = {
    {TEXT(target)},         {LIST(features)},      {LENGTH(feature_count)},
    {LIST(drop)},           {LENGTH(drop_count)},  {TEXT(noise)},
    {TEXT(mean)},           {TEXT(exposure)},      {LIST(targets)},
    {LENGTH(target_count)}, {TEXT(output_column)}, {FLAG(text_inputs)},
};
SETTINGS_TABLE(hf_columns, "columns", rows)
#undef SETTINGS

hf_status hfi_fit_check_arguments(hf_context *ctx, const char *function, const hf_table *table,
                                  const hf_columns *columns, const hf_fit_settings *settings, const void *out,
                                  hf_columns *named, hf_fit_settings *own)
{
    if (table == NULL || columns == NULL || settings == NULL || out == NULL)
        return hfi_refuse(ctx, "%s: table, columns, settings and the output must not be NULL", function);
    hf_status status = hfi_settings_take(ctx, hf_columns_table(), columns, named);
    if (status < 0) return status;
    if (named->target == NULL && named->target_count == 0)
        return hfi_refuse(ctx, "%s: columns->target is NULL; name the column to predict", function);
    status = hfi_settings_take(ctx, hf_fit_settings_table(), settings, own);
    return status < 0 ? status : hfi_target_of(own->sites)->check(ctx, function, table, named, own);
}

hf_status hfi_model_prepare(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                            const hf_fit_settings *settings, hf_model **out)
{
    hf_model *model = hfi_model_new(ctx);
    if (model == NULL) return HF_ERR_MEMORY;
    hfi_roles roles;
    hf_status status = hfi_model_roles(ctx, model, table, columns, &roles);
    if (status >= 0) {
        model->settings.sites = settings->sites;
        model->kind = hfi_target_of(settings->sites);
        status = hfi_model_gather(ctx, model, table, &roles);
        if (status >= 0) status = hfi_likelihood_check_rows(ctx, model, table);
        if (status >= 0) status = hfi_transform_check_rows(ctx, model, table, settings->transform);
        hfi_roles_free(ctx, &roles);
    }
    if (status < 0) {
        hf_model_free(model);
        return status;
    }
    *out = model;
    return HF_OK;
}

hf_status hfi_model_leave_message(hf_context *ctx, const hf_model *model, hf_status status)
{
    char text[1000] = "";
    size_t used = 0;
    for (size_t i = 0; i < model->notes && used < sizeof text; i++)
        used += (size_t)hfi_print(text + used, sizeof text - used, "%s%s", i > 0 ? "; " : "", model->note[i]);
    return hfi_fail(ctx, status, "%s", text);
}

hf_status hf_fit(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                 const hf_fit_settings *settings, hf_model **model, hf_fit_report *report)
{
    hf_columns named;
    hf_fit_settings own;
    hf_status status = hfi_fit_check_arguments(ctx, "hf_fit", table, columns, settings, model, &named, &own);
    if (status < 0) return status;
    hf_model *made = NULL;
    status = hfi_model_prepare(ctx, table, &named, &own, &made);
    if (status < 0) return status;
    status = hfi_look_at_inputs(ctx, made, table);
    if (status >= 0) status = made->kind->learn(ctx, made, &own);
    if (status < 0) {
        hf_model_free(made);
        return status;
    }
    hfi_model_checksum(made, made->checksum);
    if (made->skipped > 0 || made->empty > 0) status = hfi_worse(status, HF_WARN_ROWS_SKIPPED);
    hfi_model_leave_message(ctx, made, status);
    *model = made;
    if (report != NULL) *report = made->report;
    return status;
}

hf_status hf_fit_cost(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                      const hf_fit_settings *settings, hf_cost *out)
{
    hf_columns named;
    hf_fit_settings own;
    hf_status status =
        hfi_fit_check_arguments(ctx, "hf_fit_cost", table, columns, settings, out, &named, &own);
    if (status < 0) return status;
    hf_model *model = NULL;
    status = hfi_model_prepare(ctx, table, &named, &own, &model);
    if (status < 0) return status;

    const size_t available = hfi_available_memory();
    const double available_bytes = available == SIZE_MAX ? INFINITY : (double)available;
    *out = (hf_cost){.inputs = model->d, .available_bytes = available_bytes};
    model->kind->cost(model, &own, out);
    hf_model_free(model);
    return HF_OK;
}
