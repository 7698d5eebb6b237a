/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of readings of one output or several. */
#include "core/settings.h"
#include "model/cycle.h"
#include "model/target.h"

#include "fit/fit.h"
#include "settings/settings.h"

#include <math.h>
#include <string.h>

/* ---- what does not go together ---------------------------------------------------------------------------- */

size_t hfi_columns_outputs(const hf_columns *columns)
{
    /* How many a long table has is known once it is read. */
    return columns->target_count > 1 ? columns->target_count : columns->output_column != NULL ? 2 : 1;
}

/* A mean column does not go with everything. */
static hf_status check_mean(hf_context *ctx, const hf_columns *columns, const hf_fit_settings *settings)
{
    if (columns->mean == NULL) return HF_OK;
    if (hfi_columns_outputs(columns) > 1)
        return hfi_refuse(ctx,
                          "the mean column \"%s\" is of one target; take the prior means off the readings of "
                          "several outputs in the table",
                          columns->mean);
    if (settings->transform != HF_TRANSFORM_NONE)
        return hfi_refuse(
            ctx,
            "the transform %s does not go with the mean column \"%s\", which is of the target as "
            "it is",
            hf_enum_name(HF_ENUM_TRANSFORM, settings->transform), columns->mean);
    return HF_OK;
}

hf_status hfi_outputs_check_fit(hf_context *ctx, const char *function, const hf_table *table,
                                const hf_columns *columns, const hf_fit_settings *settings)
{
    hf_status status =
        hfi_settings_agree(ctx, hf_fit_settings_table(), settings, hfi_columns_outputs(columns), NULL);
    if (status < 0) return status;
    if (settings->action_matrix != NULL && settings->action_rows != hf_table_rows(table))
        return hfi_fail(ctx, HF_ERR_DIMENSION,
                        "%s: the matrix of actions has %zu rows, and %s has %zu; give one for each", function,
                        settings->action_rows, hf_table_source(table), hf_table_rows(table));
    status = hfi_likelihood_check_columns(ctx, columns, settings);
    if (status >= 0) status = check_mean(ctx, columns, settings);
    if (status >= 0) status = hfi_transform_check(ctx, columns, settings);
    return status < 0 ? status : hfi_kernel_choice_check(ctx, settings);
}

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

/* One share of outliers for each output, whether or not these settings look at them. */
static hf_status check_eps(hf_context *ctx, const hf_model *model, const hf_fit_settings *settings)
{
    const size_t count = settings->output_eps_count;
    if (settings->output_eps == NULL) return HF_OK;
    if (count != model->outputs)
        return hfi_refuse(ctx, "%zu shares of outliers (eps) are given for %zu outputs", count,
                          model->outputs);
    for (size_t t = 0; t < count; t++)
        if (!(settings->output_eps[t] >= 0.0 && settings->output_eps[t] < 1.0))
            return hfi_refuse(ctx,
                              "eps of output \"%s\" is %g; it is a share of outliers, from 0 to less than 1",
                              hf_model_output(model, t), settings->output_eps[t]);
    return HF_OK;
}

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

/* The transform with the kernel that a fit takes by itself, then the kernel with that transform. */
static hf_status fit_both(hf_context *ctx, hf_model *model, hf_fit_settings *own)
{
    hf_status status = hfi_transform_choose(ctx, model, own, &own->transform);
    if (status < 0) return status;
    const double seconds = model->report.seconds;
    hf_posterior_free(model->posterior);
    model->posterior = NULL;
    status = hfi_kernel_choose(ctx, model, own, &own->kernel);
    model->report.seconds += seconds;
    return status;
}

/* `own` receives what was chosen. */
static hf_status fit_or_choose(hf_context *ctx, hf_model *model, hf_fit_settings *own)
{
    const bool kernels = hfi_kernel_is_auto(own->kernel), transforms = own->transform == HF_TRANSFORM_AUTO;
    if (kernels) own->kernel = NULL;
    if (kernels && transforms) return fit_both(ctx, model, own);
    if (kernels) return hfi_kernel_choose(ctx, model, own, &own->kernel);
    if (transforms) return hfi_transform_choose(ctx, model, own, &own->transform);
    return hfi_model_fit_rows(ctx, model, own);
}

hf_status hfi_outputs_learn(hf_context *ctx, hf_model *model, const hf_fit_settings *settings)
{
    hf_fit_settings own = *settings;
    hf_status status = check_eps(ctx, model, settings);
    if (status < 0) return status;
    const hf_status fitted = fit_or_choose(ctx, model, &own);
    if (fitted < 0) return fitted;
    if (fitted > 0) status = hfi_model_note(ctx, model, "%s", hf_context_message(ctx));
    if (status >= 0) status = hfi_model_keep_settings(ctx, model, &own);
    if (status >= 0) status = hfi_model_finish(ctx, model);
    if (status >= 0 && settings->transform == HF_TRANSFORM_NONE) status = hfi_transform_advise(ctx, model);
    if (status >= 0) status = hfi_look_for_cycle(ctx, model);
    return status < 0 ? status : fitted;
}

/* ---- cost -------------------------------------------------------------------------------------------------- */

/* How many fits it takes. */
static size_t choices(const hf_model *model, const hf_fit_settings *settings)
{
    const size_t kernels = hfi_kernel_choice_fits(model, settings);
    if (kernels > 0 && settings->transform != HF_TRANSFORM_AUTO) return kernels;
    return kernels + hfi_transform_fits(model, settings->transform);
}

void hfi_outputs_cost(const hf_model *model, const hf_fit_settings *settings, hf_cost *out)
{
    hfi_estimate chosen, exact;
    hf_fit_settings other = *settings;
    other.solver = HF_SOLVER_EXACT;
    for (size_t i = 0; i < model->n; i++) out->readings += isnan(model->y[i]) ? 0 : 1;
    hfi_fit_estimate(settings, out->readings, model->width, &chosen);
    hfi_fit_estimate(&other, out->readings, model->width, &exact);
    const double fits = (double)choices(model, settings);
    out->bytes = chosen.bytes;
    out->evaluation_flops = chosen.evaluation_flops;
    out->flops = fits * chosen.flops;
    out->solver = chosen.solver;
    out->inducing = chosen.inducing;
    out->actions = chosen.actions;
    out->training_rows = chosen.training_rows;
    out->exact_bytes = exact.bytes;
    out->exact_flops = fits * exact.flops;
}
