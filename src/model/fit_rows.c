/* SPDX-License-Identifier: Apache-2.0 */
/* One fit of the readings that a model has, and the settings that it keeps of it. */
#include "model/model.h"

#include "fit/fit.h"
#include "settings/settings.h"

#include <string.h>

/* ---- settings ---------------------------------------------------------------------------------------------- */

/* "noise" holds that of all outputs, "noise[2]" that of one. */
static bool holds_noise(const char *name, size_t output)
{
    char one[48];
    hfi_print(one, sizeof one, "noise[%zu]", output);
    return strcmp(name, "noise") == 0 || strcmp(name, one) == 0;
}

/* Amplitudes in units of the target, of several outputs where they are not one number. */
static hf_status keep_beta(hf_context *ctx, hf_model *model, const hf_fit_settings *settings)
{
    const hfi_scaling *scaling = &model->posterior->scaling;
    hf_fit_settings *own = &model->settings;
    const bool scaled = settings->scaled_beta, listed = settings->output_beta != NULL;
    own->output_beta = NULL;
    own->output_beta_count = 0;
    own->scaled_beta = false;
    if (model->outputs == 1 && listed) own->beta = settings->output_beta[0];
    if (model->outputs == 1 && scaled) own->beta *= scaling->y_scale;
    if (model->outputs == 1 || !(listed || (scaled && own->beta > 0.0))) return HF_OK;
    double *beta = hfi_alloc(ctx, model->outputs, sizeof *beta);
    if (beta == NULL) return HF_ERR_MEMORY;
    for (size_t t = 0; t < model->outputs; t++)
        beta[t] = (listed ? settings->output_beta[t] : settings->beta) *
                  (scaled ? hfi_scaling_scale(scaling, t) : 1.0);
    own->beta = 0.0;
    own->output_beta = model->output_beta = beta;
    own->output_beta_count = model->outputs;
    return HF_OK;
}

/* Settings that only several outputs have. */
static hf_status keep_outputs(hf_context *ctx, hf_model *model, const hf_fit_settings *settings)
{
    const size_t outputs = model->outputs, count = settings->output_eps_count;
    model->settings.output_eps = NULL;
    model->settings.output_eps_count = 0;
    if (outputs == 1) return HF_OK;
    model->noises_held = hfi_alloc(ctx, outputs, sizeof *model->noises_held);
    if (model->noises_held == NULL) return HF_ERR_MEMORY;
    for (size_t t = 0; t < outputs; t++) {
        model->noises_held[t] = !settings->train;
        for (size_t i = 0; i < settings->set_count; i++)
            if (holds_noise(settings->set[i].name, t)) model->noises_held[t] = true;
    }
    if (settings->output_eps == NULL) return HF_OK;
    model->output_eps = hfi_alloc(ctx, count, sizeof *model->output_eps);
    if (model->output_eps == NULL) return HF_ERR_MEMORY;
    memcpy(model->output_eps, settings->output_eps, count * sizeof *model->output_eps);
    model->settings.output_eps = model->output_eps;
    model->settings.output_eps_count = count;
    return HF_OK;
}

hf_status hfi_model_keep_settings(hf_context *ctx, hf_model *model, const hf_fit_settings *settings)
{
    model->seed = hf_context_seed(ctx);
    model->seeded = true;
    model->settings = *settings;
    model->settings.set = NULL;
    model->settings.set_count = 0;
    model->settings.inference = hfi_inference_of(settings);
    model->settings.inducing_inputs = NULL;
    model->settings.action_matrix = NULL;
    model->settings.action_rows = 0;
    model->settings.start = NULL;
    model->settings.start_count = 0;
    model->settings.warm = false;
    model->settings.common_start = 0.0;
    model->settings.checkpoint = NULL; /* the caller's string, and of no use to a model */
    model->settings.resume = false;
    model->noise_held = !settings->train;
    const char *noise = hfi_model_noise_name(model);
    for (size_t i = 0; i < settings->set_count && noise != NULL; i++)
        if (strcmp(settings->set[i].name, noise) == 0) model->noise_held = true;
    model->kernel = hfi_memory_strdup(&model->memory, hf_kernel_expression(model->posterior->kernel));
    if (model->kernel == NULL) return hfi_out_of_memory(ctx);
    model->settings.kernel = model->kernel;
    const hf_status kept = keep_beta(ctx, model, settings);
    return kept < 0 ? kept : keep_outputs(ctx, model, settings);
}

/* ---- fit --------------------------------------------------------------------------------------------------- */

/* The matrix of actions without the rows of the table that the model left out; *own is to be freed. */
static hf_status gather_actions(hf_context *ctx, const hf_model *model, hf_fit_settings *settings,
                                double **own)
{
    const size_t count = settings->actions;
    *own = NULL;
    if (settings->action_matrix == NULL || model->outputs > 1 || model->skipped == 0) return HF_OK;
    *own = hfi_alloc(ctx, model->n, count * sizeof **own);
    if (*own == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < model->n; i++)
        memcpy(*own + i * count, settings->action_matrix + (model->row[i] - 1) * count, count * sizeof **own);
    settings->action_matrix = *own;
    settings->action_rows = model->n;
    return HF_OK;
}

hf_status hfi_model_fit_rows(hf_context *ctx, hf_model *model, const hf_fit_settings *settings)
{
    hf_fit_settings own = *settings;
    own.transform = HF_TRANSFORM_NONE;
    double *z = NULL, *actions = NULL;
    const hf_status transformed = hfi_transform_rows(ctx, model, settings->transform, &z);
    if (transformed < 0) return transformed;
    const hf_status gathered = gather_actions(ctx, model, &own, &actions);
    if (gathered < 0) {
        hfi_free(ctx, z);
        return gathered;
    }
    const hf_data data = {.n = model->n,
                          .d = model->width,
                          .x = model->x,
                          .ldx = model->width,
                          .y = z != NULL ? z : model->y,
                          .noise = model->extra,
                          .mean = hfi_model_has_likelihood(model) ? NULL : model->prior,
                          .exposure = hfi_model_has_likelihood(model) ? model->prior : NULL,
                          .names = (const char *const *)model->feature,
                          .outputs = model->outputs,
                          .output_names = (const char *const *)model->output,
                          .sample = hfi_model_stride(model) > 1 ? model->row : NULL};
    const hf_status fitted = hf_fit_data(ctx, &data, &own, &model->posterior, &model->report, model->reading);
    HFI_FREE(ctx, z, actions);
    return fitted;
}
