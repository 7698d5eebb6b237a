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

hf_model *hfi_model_new(hf_context *ctx)
{
    hf_model *model = hfi_alloc(ctx, 1, sizeof *model);
    if (model == NULL) return NULL;
    model->memory = hfi_context_memory(ctx);
    model->outputs = 1;
    model->dialect = hf_dialect_default();
    model->kind = hfi_target_of(HF_LIKELIHOOD_GAUSSIAN);
    return model;
}
