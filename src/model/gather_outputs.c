/* SPDX-License-Identifier: Apache-2.0 */
/* The readings of several outputs, one a row, from a wide table or a long one; and what is odd about them. */
#include "model/model.h"

#include "data/text.h"
#include "settings/settings.h"

#include <math.h>
#include <string.h>

/* The rows of a table that can be used, and the readings that they make. */
static hf_status make_room(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_roles *roles,
                           const hfi_sources *from)
{
    size_t rows = hf_table_rows(table), usable = 0, readings;
    for (size_t i = 0; i < rows; i++) usable += hfi_is_complete(from, model->d, i);
    model->skipped = rows - usable;
    if (rows == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: no rows, only a header", hf_table_source(table));
    if (usable == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: all %zu rows have a missing input%s",
                        hf_table_source(table), rows, from->output != NULL ? " or no output" : "");
    if (!hfi_size_mul(usable, roles->targets, &readings))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows of %zu outputs do not fit in memory", usable,
                        roles->targets);
    return hfi_model_reserve(ctx, model, readings, model->d, from->noise != NULL);
}

static void copy_readings(hf_model *model, size_t rows, const hfi_roles *roles, const hfi_sources *from)
{
    const size_t d = model->d;
    size_t to = 0;
    for (size_t i = 0; i < rows; i++) {
        if (!hfi_is_complete(from, d, i)) continue;
        bool empty = true;
        for (size_t t = 0; t < roles->targets; t++, to++) {
            double *x = model->x + to * model->width;
            for (size_t j = 0; j < d; j++) x[j] = from->x[j][i];
            x[d] = (double)(from->output != NULL ? from->output[i] : t);
            model->row[to] = i + 1;
            model->y[to] = from->y[t][i];
            empty = empty && isnan(model->y[to]);
            if (from->noise != NULL) model->extra[to] = from->noise[i];
        }
        model->empty += empty ? 1 : 0;
    }
}

/* ---- remarks ------------------------------------------------------------------------------------------------
 */

/* What is known of an output's readings. */
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
                            "%s: output \"%s\" has no reading in any usable row; leave it out", model->source,
                            hfi_text_shown(model->output[t], shown));
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
            status = hfi_model_note(ctx, model, "the output \"%s\" has the same value in every row",
                                    hfi_text_shown(model->output[t], shown));
    for (size_t t = 0; t < model->outputs && status >= 0; t++)
        if (hfi_output_is_sparse(list[t].readings))
            status = hfi_model_note(
                ctx, model,
                "the output \"%s\" has %zu reading%s: how widely it varies is for the most "
                "part taken from the others, and its uncertainty is large",
                hfi_text_shown(model->output[t], shown), list[t].readings, list[t].readings == 1 ? "" : "s");
    return status < 0 ? status : note_equal(ctx, model, list);
}

static hf_status note_rows(hf_context *ctx, hf_model *model, size_t rows, const hfi_sources *from)
{
    const size_t usable = rows - model->skipped;
    hf_status status = HF_OK;
    if (model->skipped > 0)
        status = hfi_model_note(ctx, model, "%zu of %zu rows left out: an input%s%s is missing there",
                                model->skipped, rows, from->output != NULL ? " or the output" : "",
                                from->noise != NULL ? " or the noise" : "");
    if (status >= 0 && model->empty > 0)
        status = hfi_model_note(ctx, model, "%zu of %zu rows have no target and teach nothing", model->empty,
                                usable);
    if (status >= 0 && usable - model->empty < model->outputs)
        status = hfi_model_note(
            ctx, model, "%zu outputs from %zu rows: how they hang together is hardly more than the prior",
            model->outputs, usable - model->empty);
    return status;
}

hf_status hfi_model_copy_outputs(hf_context *ctx, hf_model *model, const hf_table *table,
                                 const hfi_roles *roles, const hfi_sources *from)
{
    hf_status status = make_room(ctx, model, table, roles, from);
    if (status < 0) return status;
    copy_readings(model, hf_table_rows(table), roles, from);
    summary *list = hfi_alloc(ctx, model->outputs, sizeof *list);
    if (list == NULL) return HF_ERR_MEMORY;
    summarise(model, list);
    status = check_present(ctx, model, list);
    if (status >= 0) status = note_rows(ctx, model, hf_table_rows(table), from);
    if (status >= 0) status = note_outputs(ctx, model, list);
    hfi_free(ctx, list);
    return status;
}
