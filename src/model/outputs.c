/* SPDX-License-Identifier: Apache-2.0 */
/* Several outputs by name: those of a wide table are its columns, those of a long one the values of a column. */
#include "data/manner.h"
#include "data/number.h"
#include "data/text.h"
#include "model/class_model.h"
#include "model/target.h"
#include "settings/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_OUTPUTS = 1000 /* what a kernel takes */
};

hf_status hfi_outputs_find(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_roles *roles,
                           hfi_sources *from)
{
    hf_status status = HF_OK;
    for (size_t t = 0; t < roles->targets && status >= 0; t++) {
        const size_t column = roles->wide != NULL ? roles->wide[t] : roles->target;
        status = hfi_finite_numbers(ctx, table, column, &from->y[t]);
        /* Numbers in doubt are no labels. */
        if (hfi_table_kind(table, column) != HFI_COLUMN_UNSURE)
            status = hfi_class_hint(ctx, table, column, status);
    }
    if (status < 0 || roles->output == SIZE_MAX) return status;
    from->output = hfi_alloc(ctx, hf_table_rows(table), sizeof *from->output);
    if (from->output == NULL) return HF_ERR_MEMORY;
    return hfi_model_output_numbers(ctx, model, table, roles->output, from->output);
}

hf_status hfi_model_name_outputs(hf_context *ctx, hf_model *model, size_t outputs, const char *const *names)
{
    if (outputs > MOST_OUTPUTS)
        return hfi_refuse(ctx, "%s: %zu outputs are more than the %d that can be fitted together",
                          model->source, outputs, MOST_OUTPUTS);
    model->output = hfi_texts_copy(&model->memory, names, outputs);
    if (model->output == NULL) return hfi_out_of_memory(ctx);
    model->outputs = outputs;
    return HF_OK;
}

/* ---- the outputs of a long table ------------------------------------------------------------- */

/* A value of the output column. Those of a column of numbers have no text before they are given it. */
typedef struct value {
    double number;
    const char *text;
} value;

static int by_number(const void *a, const void *b)
{
    const double left = ((const value *)a)->number, right = ((const value *)b)->number;
    return (left > right) - (left < right);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const value *)a)->text, ((const value *)b)->text);
}

/* Plain numbers: TRUE and 12 % are names as they stand. */
static bool is_plain(const hf_table *table, size_t column)
{
    return hf_table_is_numeric(table, column) && hfi_table_kind(table, column) != HFI_COLUMN_DRESSED;
}

/* The values that are there, as often as they are. */
static hf_status list_values(hf_context *ctx, const hf_table *table, size_t column, value *list,
                             size_t *count)
{
    const double *numbers = NULL;
    if (is_plain(table, column)) {
        const hf_status status = hfi_finite_numbers(ctx, table, column, &numbers);
        if (status < 0) return status;
    }
    *count = 0;
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        value v = {.number = numbers != NULL ? numbers[i] + 0.0 : 0.0}; /* no -0 */
        char buffer[32];
        if (numbers == NULL) {
            /* A text column has its fields from the source, where they stay. */
            v.text = hf_table_field(table, i, column, buffer);
            if (hfi_field_parse(v.text, &v.number) == HFI_FIELD_MISSING) continue;
        } else if (isnan(numbers[i])) {
            continue;
        }
        list[(*count)++] = v;
    }
    qsort(list, *count, sizeof *list, numbers != NULL ? by_number : by_text);
    return HF_OK;
}

/* Leaves one of each at the front; how many there are. */
static size_t keep_different(value *list, size_t count, bool numeric)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && (numeric ? by_number : by_text)(&list[kept - 1], &list[i]) == 0) continue;
        list[kept++] = list[i];
    }
    return kept;
}

static hf_status check_count(hf_context *ctx, const hf_model *model, size_t kept)
{
    char shown[HFI_SHOWN_BYTES];
    hfi_text_shown(model->output_column, shown);
    if (kept == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: the output column \"%s\" has no value in any row",
                        model->source, shown);
    if (kept == 1)
        return hfi_refuse(ctx,
                          "%s: the output column \"%s\" has the same value in every row; leave it out, the "
                          "table has one output",
                          model->source, shown);
    if (kept > MOST_OUTPUTS)
        return hfi_refuse(ctx,
                          "%s: the output column \"%s\" has %zu different values; at most %d outputs can be "
                          "fitted together",
                          model->source, shown, kept, MOST_OUTPUTS);
    return HF_OK;
}

hf_status hfi_model_find_outputs(hf_context *ctx, hf_model *model, const hf_table *table, size_t column)
{
    const bool numeric = is_plain(table, column);
    size_t count = 0;
    value *list = hfi_alloc(ctx, hf_table_rows(table), sizeof *list);
    if (list == NULL) return HF_ERR_MEMORY;
    hf_status status = list_values(ctx, table, column, list, &count);
    const size_t kept = status >= 0 ? keep_different(list, count, numeric) : 0;
    if (status >= 0) status = check_count(ctx, model, kept);
    const char **names = status >= 0 ? hfi_alloc(ctx, kept, sizeof *names) : NULL;
    char(*buffers)[32] = status >= 0 ? hfi_alloc(ctx, kept, sizeof *buffers) : NULL;
    if (status >= 0 && (names == NULL || buffers == NULL)) status = HF_ERR_MEMORY;
    for (size_t t = 0; t < kept && status >= 0; t++)
        names[t] = numeric ? hf_format_double(list[t].number, buffers[t]) : list[t].text;
    if (status >= 0) status = hfi_model_name_outputs(ctx, model, kept, names);
    HFI_FREE(ctx, names, buffers, list);
    return status;
}

/* ---- the output of a row --------------------------------------------------------------------- */

/* A name and which output has it, for searching. */
typedef struct named_output {
    const char *name;
    size_t output;
} named_output;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named_output *)a)->name, ((const named_output *)b)->name);
}

static size_t search_output_name(const named_output *index, size_t count, const char *name)
{
    const named_output wanted = {.name = name};
    const named_output *found = bsearch(&wanted, index, count, sizeof *index, by_name);
    return found != NULL ? found->output : SIZE_MAX;
}

hf_status hfi_model_output_numbers(hf_context *ctx, const hf_model *model, const hf_table *table,
                                   size_t column, size_t *number)
{
    named_output *index = hfi_alloc(ctx, model->outputs, sizeof *index);
    if (index == NULL) return HF_ERR_MEMORY;
    for (size_t t = 0; t < model->outputs; t++) index[t] = (named_output){model->output[t], t};
    qsort(index, model->outputs, sizeof *index, by_name);
    hf_status status = HF_OK;
    for (size_t i = 0; i < hf_table_rows(table) && status >= 0; i++) {
        char buffer[32], plain[32];
        double parsed = 0.0;
        const char *field = hf_table_field(table, i, column, buffer);
        const hfi_field_kind kind = hfi_field_parse(field, &parsed);
        number[i] = SIZE_MAX;
        if (kind == HFI_FIELD_MISSING) continue;
        number[i] = search_output_name(index, model->outputs, field);
        /* 2, 2.0 and 2e0 are one number, however it was written where the model was fitted. */
        if (number[i] == SIZE_MAX && kind == HFI_FIELD_NUMBER)
            number[i] = search_output_name(index, model->outputs, hf_format_double(parsed + 0.0, plain));
        if (number[i] == SIZE_MAX)
            status = hfi_unknown_name(ctx, table, i, column, "output", field, model->outputs, model->output);
    }
    hfi_free(ctx, index);
    return status;
}

/* ---- remarks on the gathered readings -------------------------------------------------------------------------- */

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
