/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of model files: any bytes are either refused with a message or become a model that can be used. */
#include "fuzz/stored.h"

static void use(hf_context *ctx, const hf_model *model)
{
    hf_table *rows = NULL, *training = NULL;
    must(hf_model_target(model) != NULL && hf_model_features(model) > 0, "a model without columns");
    for (size_t i = 0; i < hf_model_parameters(model); i++) {
        hf_parameter parameter;
        must(hf_model_parameter(model, i, &parameter) == HF_OK && parameter.name != NULL,
             "a parameter is missing");
    }
    hf_status status = hf_model_training(ctx, model, &training);
    if (status >= 0) status = hf_predict_into_table(ctx, model, training);
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
    status = hf_model_rows(ctx, model, &rows);
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
    hf_table_free(rows);
    hf_table_free(training);
}

static void load(hf_context *ctx, const unsigned char *bytes, size_t size)
{
    hf_model *model = NULL;
    hf_status status = hfi_model_from_bytes(ctx, bytes, size, "m.hf", &model);
    must((status >= 0) == (model != NULL), "status and model disagree");
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
    if (model != NULL) use(ctx, model);
    hf_model_free(model);
}

static unsigned schema(const unsigned char *bytes)
{
    return bytes[63]; /* that of the format */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const stored files = {.kind = &hfi_kind_model, .schema = schema, .load = load};
    return stored_try(&files, data, size);
}
