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
