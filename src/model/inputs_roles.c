/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of dates and of few texts as inputs of a model that is being fitted. */
#include "model/inputs.h"

#include "data/manner.h"
#include "data/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

hf_status hfi_roles_add(hf_context *ctx, hf_model *model, hfi_roles *roles, size_t column, hfi_input *in)
{
    const hfi_input plain = {.kind = HFI_INPUT_NUMBER}, *from = in != NULL ? in : &plain;
    if (roles->count == roles->room) {
        const size_t room = 2 * roles->room + 16;
        size_t *feature = hfi_alloc(ctx, room, sizeof *feature);
        hfi_input *list = hfi_alloc(ctx, room, sizeof *list);
        if (feature == NULL || list == NULL) {
            HFI_FREE(ctx, feature, list);
            return HF_ERR_MEMORY;
        }
        if (roles->count > 0) memcpy(feature, roles->feature, roles->count * sizeof *feature);
        if (model->inputs > 0) memcpy(list, model->input, model->inputs * sizeof *list);
        HFI_FREE(ctx, roles->feature, model->input);
        roles->feature = feature;
        model->input = list;
        roles->room = room;
    }
    roles->feature[roles->count++] = column;
    model->input[model->inputs++] = *from;
    return HF_OK;
}

/* ---- dates ------------------------------------------------------------------------------------------------- */

static double first_date(const hf_table *table, size_t column, const hfi_date_style *style)
{
    char buffer[32];
    double first = NAN, now;
    for (size_t i = 0; i < hf_table_rows(table); i++)
        if (hfi_date_read(table, style, hf_table_field(table, i, column, buffer), &now) && !(now >= first))
            first = isnan(now) ? first : now;
    return first;
}

static hf_status take_dates(hf_context *ctx, hf_model *model, const hf_table *table, size_t column,
                            const hfi_date_style *style, hfi_roles *roles)
{
    char name[HFI_SHOWN_BYTES], first[32];
    hfi_input in = {.kind = HFI_INPUT_DATE, .style = *style, .origin = first_date(table, column, style)};
    if (style->form == HFI_DATE_TIME) in.origin = 0.0;
    in.column = hfi_memory_strdup(&model->memory, hf_table_name(table, column));
    if (in.column == NULL) return hfi_out_of_memory(ctx);
    hf_status status = hfi_roles_add(ctx, model, roles, column, &in);
    if (status < 0) {
        hfi_memory_free(&model->memory, in.column);
        return status;
    }
    hfi_text_shown(in.column, name);
    if (style->form == HFI_DATE_TIME)
        return hfi_model_note(ctx, model, "the input \"%s\" is the time in seconds since midnight", name);
    return hfi_model_note(ctx, model, "the input \"%s\" is the time in %s since %s, the first", name,
                          style->timed ? "seconds" : "days", hfi_date_text(style, in.origin, first));
}

static hf_status open_order(hf_context *ctx, hf_model *model, const hf_table *table, size_t column,
                            bool asked)
{
    char name[HFI_SHOWN_BYTES];
    static const char words[] = "%s: column \"%s\" is left out: its dates may begin with the day or the "
                                "month; say which (--dates day or month)";
    hfi_text_shown(hf_table_name(table, column), name);
    if (!asked) return hfi_model_note(ctx, model, words, hf_table_source(table), name);
    return hfi_fail(ctx, HF_ERR_PARSE,
                    "%s: the dates of column \"%s\" may begin with the day or the month; say which (--dates "
                    "day or month)",
                    hf_table_source(table), name);
}

/* ---- categories -------------------------------------------------------------------------------------------- */

/* A field without the blanks around it. */
typedef struct word {
    const char *text;
    size_t length;
} word;

static word word_of(const char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    return (word){text, length};
}

static int by_bytes(const void *a, const void *b)
{
    const word *left = a, *right = b;
    const size_t common = left->length < right->length ? left->length : right->length;
    const int order = memcmp(left->text, right->text, common);
    return order != 0 ? order : (left->length > right->length) - (left->length < right->length);
}

/* The different texts of a column, sorted by their bytes, as long as there are no more than
 * HFI_MOST_CATEGORIES; how many there are then, and one more otherwise. *rows: fields that are not
 * missing. */
static size_t list_words(const hf_table *table, size_t column, word list[HFI_MOST_CATEGORIES + 1],
                         size_t *rows)
{
    char buffer[32];
    size_t count = 0;
    *rows = 0;
    for (size_t i = 0; i < hf_table_rows(table) && count <= HFI_MOST_CATEGORIES; i++) {
        const char *text = hf_table_field(table, i, column, buffer);
        if (hfi_field_is_missing(table, text)) continue;
        const word now = word_of(text);
        size_t k = 0;
        ++*rows;
        while (k < count && by_bytes(&list[k], &now) != 0) k++;
        if (k == count) list[count++] = now;
    }
    qsort(list, count, sizeof *list, by_bytes);
    return count;
}

static char *copy_word(const hf_model *model, word from)
{
    char *copy = hfi_memory_alloc(&model->memory, from.length + 1, 1);
    if (copy != NULL) memcpy(copy, from.text, from.length);
    return copy;
}

static hf_status take_words(hf_context *ctx, hf_model *model, const hf_table *table, size_t column,
                            const word *list, size_t count, hfi_roles *roles)
{
    char name[HFI_SHOWN_BYTES];
    for (size_t k = 0; k < count; k++) {
        hfi_input in = {.kind = HFI_INPUT_CATEGORY,
                        .column = hfi_memory_strdup(&model->memory, hf_table_name(table, column)),
                        .value = copy_word(model, list[k])};
        hf_status status = in.column != NULL && in.value != NULL ? HF_OK : hfi_out_of_memory(ctx);
        if (status >= 0) status = hfi_roles_add(ctx, model, roles, column, &in);
        if (status >= 0) continue;
        HFI_MEMORY_FREE(&model->memory, in.column, in.value);
        return status;
    }
    return hfi_model_note(ctx, model,
                          "the text column \"%s\" has %zu values, each an input of its own (1 or 0)",
                          hfi_text_shown(hf_table_name(table, column), name), count);
}

static hf_status too_many_words(hf_context *ctx, const hf_table *table, size_t column, size_t count)
{
    char name[HFI_SHOWN_BYTES];
    hfi_text_shown(hf_table_name(table, column), name);
    if (count < 2)
        return hfi_refuse(ctx, "%s: column \"%s\" is text and has %s; it cannot be an input",
                          hf_table_source(table), name,
                          count == 0 ? "no value" : "the same value in every row");
    return hfi_refuse(ctx,
                      "%s: column \"%s\" is text of more than %d different values; it cannot be an input",
                      hf_table_source(table), name, HFI_MOST_CATEGORIES);
}

/* ---- either ------------------------------------------------------------------------------------------------ */

hf_status hfi_roles_take_text(hf_context *ctx, hf_model *model, const hf_table *table, size_t column,
                              hf_date_order order, bool asked, hfi_roles *roles, bool *taken)
{
    hfi_date_style style;
    word list[HFI_MOST_CATEGORIES + 1];
    size_t rows;
    *taken = true;
    const hfi_dates_found found = hfi_dates_find(table, column, order, &style);
    if (found == HFI_DATES_FOUND) return take_dates(ctx, model, table, column, &style, roles);
    if (found == HFI_DATES_UNSURE) return open_order(ctx, model, table, column, asked);
    const size_t count = list_words(table, column, list, &rows);
    const bool few =
        count >= 2 && count <= HFI_MOST_CATEGORIES && (asked || rows >= HFI_CATEGORY_ROWS * count);
    if (few) return take_words(ctx, model, table, column, list, count, roles);
    *taken = false;
    return asked ? too_many_words(ctx, table, column, count) : HF_OK;
}
