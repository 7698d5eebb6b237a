/* SPDX-License-Identifier: Apache-2.0 */
/* Models: memory, access, remarks, checksums. */
#include "model/inputs.h"
#include "model/target.h"

#include <holdfast/version.h>

#include <math.h>
#include <string.h>

hf_status hfi_model_reserve(hf_context *ctx, hf_model *model, size_t n, size_t d, bool extra)
{
    size_t cells;
    const size_t width = hfi_model_width(model, d);
    if (!hfi_size_mul(n, width, &cells))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows of %zu inputs do not fit in memory", n, d);
    model->n = n;
    model->d = d;
    model->width = width;
    model->row = hfi_alloc(ctx, n, sizeof *model->row);
    model->x = hfi_alloc(ctx, cells, sizeof *model->x);
    model->y = hfi_alloc(ctx, n, sizeof *model->y);
    model->reading = hfi_alloc(ctx, n, sizeof *model->reading);
    if (extra) model->extra = hfi_alloc(ctx, n, sizeof *model->extra);
    bool complete = model->row != NULL && model->x != NULL && model->y != NULL && model->reading != NULL &&
                    (!extra || model->extra != NULL);
    return complete ? HF_OK : HF_ERR_MEMORY;
}

hf_status hfi_model_reserve_means(hf_context *ctx, hf_model *model)
{
    model->prior = hfi_alloc(ctx, model->n, sizeof *model->prior);
    return model->prior != NULL ? HF_OK : HF_ERR_MEMORY;
}

void hf_model_free(hf_model *model)
{
    if (model == NULL) return;
    hfi_memory memory = model->memory;
    if (model->classifier != NULL)
        hf_classifier_free(model->classifier);
    else
        hf_posterior_free(model->posterior);
    for (size_t i = 0; model->parameter != NULL && i < model->parameters; i++)
        hfi_memory_free(&memory, model->parameter[i].name);
    hfi_texts_free(&memory, model->class_name, model->classes);
    hfi_texts_free(&memory, model->feature, model->width);
    hfi_texts_free(&memory, model->output, model->outputs);
    hfi_texts_free(&memory, model->note, model->notes);
    hfi_inputs_free(&memory, model->input, model->inputs);
    HFI_MEMORY_FREE(&memory, (void *)model->dialect.missing, model->target, model->noise_column,
                    model->mean_column, model->output_column, model->class_input, model->kernel,
                    model->source, model->command, model->library, model->row, model->x, model->y,
                    model->extra, model->prior, model->reading, model->low, model->output_eps,
                    model->output_beta, model->noises_held, model->class_count, model->parameter, model);
}

hf_status hfi_model_note(hf_context *ctx, hf_model *model, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    hfi_print_list(text, sizeof text, format, args);
    va_end(args);

    char **longer = hfi_alloc(ctx, model->notes + 1, sizeof *longer);
    if (longer == NULL) return HF_ERR_MEMORY;
    char *copy = hfi_memory_strdup(&model->memory, text);
    if (copy == NULL) {
        hfi_free(ctx, longer);
        return hfi_out_of_memory(ctx);
    }
    if (model->notes > 0) memcpy(longer, model->note, model->notes * sizeof *longer);
    hfi_memory_free(&model->memory, model->note);
    model->note = longer;
    model->note[model->notes++] = copy;
    return HF_OK;
}

const hf_posterior *hf_model_posterior(const hf_model *model)
{
    return model != NULL ? model->posterior : NULL;
}

const char *hf_model_target(const hf_model *model)
{
    return model != NULL ? model->target : NULL;
}

const char *hf_model_noise_column(const hf_model *model)
{
    return model != NULL ? model->noise_column : NULL;
}

const char *hf_model_mean_column(const hf_model *model)
{
    return model != NULL && !hfi_model_has_likelihood(model) ? model->mean_column : NULL;
}

double hfi_model_prior(const hf_model *model, size_t i)
{
    if (model->prior == NULL) return 0.0;
    return hfi_model_has_likelihood(model) ? log(model->prior[i]) : model->prior[i];
}

size_t hf_model_outputs(const hf_model *model)
{
    return model != NULL ? model->outputs : 0;
}

const char *hf_model_output(const hf_model *model, size_t output)
{
    if (output >= hf_model_outputs(model)) return NULL;
    return model->output != NULL ? model->output[output] : model->target;
}

const char *hf_model_output_column(const hf_model *model)
{
    return model != NULL ? model->output_column : NULL;
}

size_t hf_model_features(const hf_model *model)
{
    return model != NULL ? model->d : 0;
}

const char *hf_model_feature(const hf_model *model, size_t j)
{
    return model != NULL && j < model->d ? model->feature[j] : NULL;
}

const hf_fit_report *hf_model_report_of(const hf_model *model)
{
    return model != NULL ? &model->report : NULL;
}

const hf_fit_settings *hf_model_settings_of(const hf_model *model)
{
    return model != NULL ? &model->settings : NULL;
}

const char *hf_model_source(const hf_model *model)
{
    return model != NULL ? model->source : NULL;
}

hf_status hf_model_set_command(hf_context *ctx, hf_model *model, const char *command)
{
    if (model == NULL) return hfi_refuse(ctx, "hf_model_set_command: the model must not be NULL");
    char *copy = command != NULL ? hfi_memory_strdup(&model->memory, command) : NULL;
    if (command != NULL && copy == NULL) return hfi_out_of_memory(ctx);
    hfi_memory_free(&model->memory, model->command);
    model->command = copy;
    return HF_OK;
}

const char *hf_model_command(const hf_model *model)
{
    return model != NULL ? model->command : NULL;
}

bool hf_model_seed(const hf_model *model, uint64_t *seed)
{
    if (model == NULL || seed == NULL || !model->seeded) return false;
    *seed = model->seed;
    return true;
}

const char *hf_model_library(const hf_model *model)
{
    if (model == NULL) return NULL;
    return model->library != NULL ? model->library : hf_version();
}

const char *hf_model_data_checksum(const hf_model *model)
{
    return model != NULL ? model->checksum : NULL;
}

const char *hf_model_content_checksum(const hf_model *model)
{
    return model != NULL && model->content[0] != '\0' ? model->content : NULL;
}

size_t hf_model_skipped(const hf_model *model)
{
    return model != NULL ? model->skipped : 0;
}

size_t hf_model_notes(const hf_model *model)
{
    return model != NULL ? model->notes : 0;
}

const char *hf_model_note(const hf_model *model, size_t i)
{
    return model != NULL && i < model->notes ? model->note[i] : NULL;
}

void hfi_model_hash_names(const hf_model *model, size_t rows, hfi_sha256 *hash)
{
    hfi_sha256_init(hash);
    hfi_sha256_add_u64(hash, rows);
    hfi_sha256_add_u64(hash, model->d);
    hfi_sha256_add_text(hash, model->target);
    for (size_t j = 0; j < model->d; j++) hfi_sha256_add_text(hash, model->feature[j]);
    if (model->kind->latent) hfi_sha256_add_u64(hash, model->classes);
    for (size_t c = 0; c < model->classes; c++) hfi_sha256_add_text(hash, model->class_name[c]);
    if (model->width == model->d) return;
    hfi_sha256_add_u64(hash, model->outputs);
    hfi_sha256_add_text(hash, model->output_column != NULL ? model->output_column : "");
    for (size_t t = 0; t < model->outputs; t++) hfi_sha256_add_text(hash, model->output[t]);
}

void hfi_model_hash_row(hfi_sha256 *hash, size_t d, const double *x, double y, const double *extra)
{
    for (size_t j = 0; j < d; j++) hfi_sha256_add_double(hash, x[j]);
    /* One NaN for all: a missing reading has no bits of its own. */
    hfi_sha256_add_u64(hash, y == y ? 1 : 0);
    hfi_sha256_add_double(hash, y == y ? y : 0.0);
    if (extra != NULL) hfi_sha256_add_double(hash, *extra);
}

void hfi_model_checksum(const hf_model *model, char hex[HFI_SHA256_HEX])
{
    hfi_sha256 hash;
    hfi_model_hash_names(model, model->n, &hash);
    for (size_t i = 0; i < model->n; i++) {
        hfi_model_hash_row(&hash, model->width, model->x + i * model->width, model->y[i],
                           model->extra != NULL ? &model->extra[i] : NULL);
        if (model->prior != NULL) hfi_sha256_add_double(&hash, model->prior[i]);
    }
    hfi_sha256_hex(&hash, hex);
}
