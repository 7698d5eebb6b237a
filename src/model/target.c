/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds of target. */
#include "model/target.h"

#include "settings/settings.h"

static const hfi_target outputs = {
    .name = "a model of readings",
    .uses = "hf_score() and hf_model_suspects()",
    .check = hfi_outputs_check_fit,
    .find = hfi_outputs_find,
    .remark = hfi_outputs_remark,
    .learn = hfi_outputs_learn,
    .cost = hfi_outputs_cost,
    .functions = hf_model_outputs,
    .predict = hfi_outputs_predict,
    .columns = hfi_outputs_columns,
    .column = hfi_outputs_column,
    .covariances = hfi_outputs_covariances,
    .score = hfi_outputs_score,
    .left_out = hfi_outputs_left_out,
    .rows = hfi_outputs_rows,
    .suspects = true,
    .training = hfi_outputs_training,
    .influence = hfi_outputs_influence,
    .damage = hfi_outputs_damage,
    .parameters = hfi_outputs_parameters,
    .write = hfi_outputs_write,
    .read_scaling = hfi_outputs_read_scaling,
};

static const hfi_target classes = {
    .name = "a classifier",
    .uses = "hf_score_classes() and hf_model_rows()",
    .check = hfi_class_check,
    .find = hfi_class_find,
    .learn = hfi_class_learn,
    .cost = hfi_class_cost,
    .functions = hfi_class_latents,
    .predict = hfi_class_predict_into_table,
    .columns = hfi_class_columns,
    .column = hfi_class_column,
    .score_classes = hfi_class_score,
    .labels = hfi_class_labels,
    .rows = hfi_class_rows,
    .training = hfi_class_training,
    .format = HFI_FORMAT_CLASSES,
    .latent = true,
    .write = hfi_class_write,
    .read = hfi_class_read,
    .read_scaling = hfi_class_read_scaling,
    .read_last = hfi_class_read_last,
};

const hfi_target *hfi_target_of(hf_likelihood sites)
{
    return hfi_likelihood_is_class(sites) ? &classes : &outputs;
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

/* ---- columns ---------------------------------------------------------------------------------------------- */

static bool is_single(const hf_model *model, const hf_table *table)
{
    return table != NULL && hfi_column_named(table, model->output_column) != SIZE_MAX;
}

size_t hf_predicted_columns(const hf_model *model, const hf_table *table)
{
    return model != NULL ? model->kind->columns(model, is_single(model, table)) : 0;
}

hf_status hf_predicted_column_at(const hf_model *model, const hf_table *table, size_t i, char *name,
                                 size_t bytes, size_t *needed, hf_predicted_column *out)
{
    if (i >= hf_predicted_columns(model, table) || (name == NULL && bytes > 0)) return HF_ERR_ARGUMENT;
    const hfi_column_name c = model->kind->column(model, is_single(model, table), i);
    const int length = hfi_print(name, bytes, "%s%s%s%s", c.part[0], c.part[1], c.part[2], c.part[3]);
    if (needed != NULL) *needed = length > 0 ? (size_t)length : 0;
    if (out != NULL) *out = c.is;
    return HF_OK;
}
