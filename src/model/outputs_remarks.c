/* SPDX-License-Identifier: Apache-2.0 */
/* Remarks on the gathered readings of the outputs. */
#include "model/target.h"

#include "data/text.h"
#include "settings/settings.h"

#include <math.h>
#include <string.h>

/* Facts about the readings of an output. */
typedef struct summary {
    size_t readings;
    double first;
    bool varies;
    hfi_sha256 hash; /* of inputs and readings, in the order of the rows */
    char hex[HFI_SHA256_HEX];
} summary;

static void summarise(const hf_model *model, summary *list)
{
    for (size_t t = 0; t < model->outputs; t++) hfi_sha256_init(&list[t].hash);
    for (size_t i = 0; i < model->n; i++) {
        if (isnan(model->y[i])) continue;
        summary *s = &list[hfi_model_output_of(model, i)];
        if (s->readings++ == 0) s->first = model->y[i];
        s->varies = s->varies || model->y[i] != s->first;
        hfi_model_hash_row(&s->hash, model->d, model->x + i * model->width, model->y[i], NULL);
    }
    for (size_t t = 0; t < model->outputs; t++) hfi_sha256_hex(&list[t].hash, list[t].hex);
}

static hf_status check_present(hf_context *ctx, const hf_model *model, const summary *list)
{
    char shown[HFI_SHOWN_BYTES];
    for (size_t t = 0; t < model->outputs; t++)
        if (list[t].readings == 0)
            return hfi_fail(ctx, HF_ERR_NO_DATA,
                            model->outputs > 1
                                ? "%s: output \"%s\" has no reading in any usable row; leave it out"
                                : "%s: column \"%s\", the target, has no value in any usable row",
                            model->source, hfi_text_shown(hf_model_output(model, t), shown));
    return HF_OK;
}

static hf_status note_equal(hf_context *ctx, hf_model *model, const summary *list)
{
    hf_status status = HF_OK;
    for (size_t t = 1; t < model->outputs && status >= 0; t++) {
        char first[HFI_SHOWN_BYTES], second[HFI_SHOWN_BYTES];
        size_t s = 0;
        while (s < t && strcmp(list[s].hex, list[t].hex) != 0) s++;
        if (s == t || list[t].readings < 2) continue;
        status = hfi_model_note(
            ctx, model, "outputs \"%s\" and \"%s\" have the same readings; one of them is enough",
            hfi_text_shown(model->output[s], first), hfi_text_shown(model->output[t], second));
    }
    return status;
}

static hf_status note_outputs(hf_context *ctx, hf_model *model, const summary *list)
{
    char shown[HFI_SHOWN_BYTES];
    hf_status status = HF_OK;
    for (size_t t = 0; t < model->outputs && status >= 0; t++)
        if (!list[t].varies && list[t].readings > 1)
            status = hfi_model_note(ctx, model, "the %s \"%s\" has the same value in every row",
                                    model->outputs > 1 ? "output" : "target",
                                    hfi_text_shown(hf_model_output(model, t), shown));
    if (status < 0 || model->outputs == 1) return status;
    for (size_t t = 0; t < model->outputs && status >= 0; t++)
        if (hfi_output_is_sparse(list[t].readings))
            status = hfi_model_note(ctx, model,
                                    "the output \"%s\" has %zu reading%s: how widely it varies is for the "
                                    "most part taken from the others, and its uncertainty is large",
                                    hfi_text_shown(model->output[t], shown), list[t].readings,
                                    list[t].readings == 1 ? "" : "s");
    return status < 0 ? status : note_equal(ctx, model, list);
}

static hf_status note_few(hf_context *ctx, hf_model *model)
{
    size_t rows = 0;
    for (size_t i = 0; i < model->n; i++) rows += i == 0 || model->row[i] != model->row[i - 1];
    rows -= model->empty;
    if (rows >= model->outputs) return HF_OK;
    return hfi_model_note(ctx, model,
                          "%zu outputs from %zu rows: how they hang together is hardly more than the prior",
                          model->outputs, rows);
}

hf_status hfi_outputs_remark(hf_context *ctx, hf_model *model)
{
    summary *list = hfi_alloc(ctx, model->outputs, sizeof *list);
    if (list == NULL) return HF_ERR_MEMORY;
    summarise(model, list);
    hf_status status = check_present(ctx, model, list);
    if (status >= 0) status = note_few(ctx, model);
    if (status >= 0) status = note_outputs(ctx, model, list);
    hfi_free(ctx, list);
    return status;
}
