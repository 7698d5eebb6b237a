/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a model: outputs and the widths that follow, its likelihood, its kind, readings that count. */
#include "model/target.h"

#include "fit/fit.h"
#include "settings/settings.h"

#include <math.h>

size_t hfi_model_output_of(const hf_model *model, size_t i)
{
    return model->width > model->d ? (size_t)model->x[i * model->width + model->d] : 0;
}

size_t hfi_model_width(const hf_model *model, size_t d)
{
    return d + (model->outputs > 1 ? 1 : 0);
}

size_t hfi_model_stride(const hf_model *model)
{
    return model->output_column == NULL ? model->outputs : 1;
}

double hfi_model_unit(const hf_model *model, size_t output)
{
    /* A transform and latent values have theirs. */
    return model->outputs == 1 ? 1.0 : hfi_scaling_scale(&model->posterior->scaling, output);
}

bool hfi_model_is_plain(const hf_model *model)
{
    return !model->kind->latent && model->outputs == 1 && !hfi_model_has_likelihood(model);
}

bool hfi_model_has_likelihood(const hf_model *model)
{
    return hfi_likelihood_of_rates(model->settings.sites) != NULL;
}

const char *hfi_model_noise_name(const hf_model *model)
{
    const hfi_likelihood *l = hfi_likelihood_of_rates(model->settings.sites);
    return l != NULL ? l->parameter : "noise";
}

hf_status hfi_target_lacks(hf_context *ctx, const hf_model *model, const char *what)
{
    return hfi_refuse(ctx, "%s is not for %s; that of \"%s\" is one, which has %s", what, model->kind->name,
                      model->target, model->kind->uses);
}

size_t hfi_model_functions(const hf_model *model)
{
    return model->kind->functions(model);
}

size_t hfi_model_function_width(const hf_model *model)
{
    return model->d + (hfi_model_functions(model) > 1 ? 1 : 0);
}

bool hf_model_can(const hf_model *model, hf_ability what)
{
    if (model == NULL) return false;
    const bool has[] = {[HF_ABILITY_SCORES] = model->kind->score != NULL,
                        [HF_ABILITY_CLASS_SCORES] = model->kind->score_classes != NULL,
                        [HF_ABILITY_SUSPECTS] = model->kind->suspects,
                        [HF_ABILITY_COVARIANCES] = model->kind->covariances != NULL && model->outputs > 1,
                        [HF_ABILITY_PLAIN] =
                            hfi_model_is_plain(model) && model->settings.transform == HF_TRANSFORM_NONE};
    return (size_t)what < sizeof has / sizeof *has && has[what];
}

/* The model of a file that was read in parts. */
hf_status hfi_model_check_rows(hf_context *ctx, const hf_model *model)
{
    if (model->n > 0) return HF_OK;
    return hfi_fail(ctx, HF_ERR_NO_DATA,
                    "%s was read in parts, and its rows were not kept; predict the file to see them",
                    model->source);
}

bool hfi_model_is_kept(const hf_model *model, size_t i)
{
    return !isnan(model->y[i]) && model->reading[i].weight >= hfi_suspect_weight;
}
