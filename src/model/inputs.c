/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a model's inputs in a table, whatever the table has in their place. */
#include "model/inputs.h"

#include "data/manner.h"
#include "data/text.h"
#include "model/look.h"

#include <math.h>
#include <string.h>

void hfi_inputs_free(const hfi_memory *memory, hfi_input *list, size_t count)
{
    for (size_t j = 0; list != NULL && j < count; j++) HFI_MEMORY_FREE(memory, list[j].column, list[j].value);
    hfi_memory_free(memory, list);
}

bool hfi_input_is_time(const hf_model *model, size_t j)
{
    return (model->input != NULL && model->input[j].kind == HFI_INPUT_DATE) ||
           hfi_look_is_time(model->feature[j]);
}

bool hfi_input_is_category(const hf_model *model, size_t j)
{
    return model->input != NULL && model->input[j].kind == HFI_INPUT_CATEGORY;
}

/* A column of computed numbers is as the model has it, such as those of hf_model_training(). */
static bool is_computed(const hf_table *table, size_t column)
{
    return hf_table_is_numeric(table, column) && hf_table_line(table, 0) == 0;
}

/* ---- dates ------------------------------------------------------------------------------------------------- */

static hf_status no_date(hf_context *ctx, const hfi_input *in, const hf_table *table, size_t row,
                         const char *text)
{
    char place[512], column[HFI_SHOWN_BYTES], shown[HFI_SHOWN_BYTES], first[32];
    return hfi_fail(
        ctx, HF_ERR_PARSE,
        "%s, column \"%s\": \"%s\" is not written as the dates that the model learnt from (the first of "
        "them is %s)",
        hfi_row_place(table, row, place, sizeof place), hfi_text_shown(in->column, column),
        hfi_text_shown(text, shown), hfi_date_text(&in->style, in->origin, first));
}

static hf_status read_dates(hf_context *ctx, const hfi_input *in, size_t count, const hf_table *table,
                            size_t column, double *out)
{
    char buffer[32];
    const double unit = in->style.timed ? 1.0 : 86400.0;
    (void)count;
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        const char *text = hf_table_field(table, i, column, buffer);
        if (!hfi_date_read(table, &in->style, text, &out[i])) return no_date(ctx, in, table, i, text);
        out[i] = (out[i] - in->origin) / unit;
    }
    return HF_OK;
}

/* ---- categories -------------------------------------------------------------------------------------------- */

/* Number of the input that stands for a text; `count` for one that the model has not seen. */
static size_t category_of(const hfi_input *in, size_t count, const char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    size_t length = strlen(text), k = 0;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    while (k < count && !(strlen(in[k].value) == length && memcmp(in[k].value, text, length) == 0)) k++;
    return k;
}

/* `count` inputs side by side are the categories of one column. */
static hf_status read_categories(hf_context *ctx, const hfi_input *in, size_t count, const hf_table *table,
                                 size_t column, double *out)
{
    char buffer[32];
    const size_t rows = hf_table_rows(table);
    (void)ctx;
    for (size_t i = 0; i < rows; i++) {
        const char *text = hf_table_field(table, i, column, buffer);
        const size_t which = hfi_field_is_missing(table, text) ? count : category_of(in, count, text);
        for (size_t k = 0; k < count; k++) out[k * rows + i] = which == count ? NAN : which == k ? 1.0 : 0.0;
    }
    return HF_OK;
}

/* ---- all of them ------------------------------------------------------------------------------------------- */

/* The kinds of inputs, each with its reader; numbers need none. */
typedef hf_status (*input_reader)(hf_context *ctx, const hfi_input *in, size_t count, const hf_table *table,
                                  size_t column, double *out);
static const input_reader readers[HFI_INPUT_KINDS] = {NULL, read_dates, read_categories};

/* Inputs from j on that come from the same column. */
static size_t count_same(const hf_model *model, size_t j)
{
    size_t count = 1;
    const hfi_input *first = &model->input[j];
    while (first->kind == HFI_INPUT_CATEGORY && j + count < model->d &&
           model->input[j + count].kind == HFI_INPUT_CATEGORY &&
           strcmp(model->input[j + count].column, first->column) == 0)
        count++;
    return count;
}

/* Whether the table has the input itself, as a column of numbers with its name. */
static bool has_itself(const hf_table *table, const hf_model *model, size_t j)
{
    for (size_t c = 0; c < hf_table_columns(table); c++)
        if (strcmp(hf_table_name(table, c), model->feature[j]) == 0)
            return hf_table_is_numeric(table, c) &&
                   (model->input[j].kind == HFI_INPUT_CATEGORY || is_computed(table, c));
    return false;
}

static hf_status plain_numbers(hf_context *ctx, const hf_model *model, const hf_table *table, size_t j,
                               const double **numbers)
{
    size_t column;
    const hf_status status = hf_table_find(ctx, table, model->feature[j], &column);
    return status < 0 ? status : hfi_finite_numbers(ctx, table, column, numbers);
}

/* Inputs j to j + count - 1 into `columns`, their numbers into `room` if they have to be made. */
static hf_status find_inputs(hf_context *ctx, const hf_model *model, const hf_table *table, size_t j,
                             size_t count, const double **columns, double *room)
{
    const hfi_input *in = model->input != NULL ? &model->input[j] : NULL;
    hf_status status = HF_OK;
    if (in == NULL || readers[in->kind] == NULL || has_itself(table, model, j)) {
        for (size_t k = 0; k < count && status >= 0; k++)
            status = plain_numbers(ctx, model, table, j + k, &columns[j + k]);
        return status;
    }
    size_t column;
    status = hf_table_find(ctx, table, in->column, &column);
    if (status >= 0) status = readers[in->kind](ctx, in, count, table, column, room);
    for (size_t k = 0; k < count; k++) columns[j + k] = room + k * hf_table_rows(table);
    return status;
}

hf_status hfi_model_inputs(hf_context *ctx, const hf_model *model, const hf_table *table,
                           const double **columns, double **own)
{
    const size_t rows = hf_table_rows(table);
    hf_status status = HF_OK;
    *own = NULL;
    if (model->input != NULL) {
        *own = hfi_alloc_product(ctx, rows, model->d, sizeof **own);
        if (*own == NULL) return HF_ERR_MEMORY;
    }
    for (size_t j = 0, count; j < model->d && status >= 0; j += count) {
        count = model->input != NULL ? count_same(model, j) : 1;
        status = find_inputs(ctx, model, table, j, count, columns, *own != NULL ? *own + j * rows : NULL);
    }
    if (status >= 0) return HF_OK;
    hfi_free(ctx, *own);
    *own = NULL;
    return status;
}

const char *hf_model_category(const hf_model *model, size_t j, const char **value)
{
    if (model == NULL || j >= model->d || !hfi_input_is_category(model, j)) return NULL;
    if (value != NULL) *value = model->input[j].value;
    return model->input[j].column;
}

hf_status hf_model_inputs(hf_context *ctx, const hf_model *model, const hf_table *table, hf_table **out)
{
    if (out != NULL) *out = NULL;
    if (model == NULL || table == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_model_inputs: model, table and out must not be NULL");
    double *own = NULL;
    hf_table *made = NULL;
    const double **columns = hfi_alloc(ctx, model->d, sizeof *columns);
    hf_status status = columns != NULL ? hfi_model_inputs(ctx, model, table, columns, &own) : HF_ERR_MEMORY;
    if (status >= 0) status = hf_table_create(ctx, hf_table_rows(table), &made);
    for (size_t j = 0; j < model->d && status >= 0; j++)
        status = hf_table_set_numbers(ctx, made, model->feature[j], columns[j]);
    HFI_FREE(ctx, own, columns);
    if (status < 0)
        hf_table_free(made);
    else
        *out = made;
    return status;
}

static hf_status add_inputs(hf_context *ctx, const hf_model *model, const hf_table *from, hf_table *to)
{
    double *own = NULL;
    const double **columns = hfi_alloc(ctx, model->d, sizeof *columns);
    hf_status status = columns != NULL ? hfi_model_inputs(ctx, model, from, columns, &own) : HF_ERR_MEMORY;
    for (size_t j = 0; j < model->d && status >= 0; j++)
        if (model->input[j].kind != HFI_INPUT_NUMBER)
            status = hf_table_set_numbers(ctx, to, model->feature[j], columns[j]);
    HFI_FREE(ctx, own, columns);
    return status;
}

hf_status hfi_model_encoded(hf_context *ctx, const hf_model *model, const hf_table *table, hf_table **out)
{
    const size_t rows = hf_table_rows(table);
    *out = NULL;
    if (model->input == NULL) return HF_OK;
    size_t *all = hfi_alloc(ctx, rows, sizeof *all);
    if (all == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < rows; i++) all[i] = i;
    hf_status status = hf_table_select(ctx, table, all, rows, out);
    if (status >= 0) status = add_inputs(ctx, model, table, *out);
    hfi_free(ctx, all);
    if (status >= 0) return HF_OK;
    hf_table_free(*out);
    *out = NULL;
    return status;
}

/* ---- words ------------------------------------------------------------------------------------------------- */

/* Rows whose text in the column of input j is none that the model has seen; the first of these texts goes to
 * `first`. */
static size_t count_unseen(const hf_model *model, const hf_table *table, size_t j, size_t column,
                           char first[HFI_SHOWN_BYTES])
{
    char buffer[32];
    size_t unseen = 0;
    const size_t count = count_same(model, j);
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        const char *text = hf_table_field(table, i, column, buffer);
        if (hfi_field_is_missing(table, text) || category_of(&model->input[j], count, text) < count) continue;
        if (unseen++ == 0) hfi_text_shown(text, first);
    }
    return unseen;
}

/* "; 3 have an \"origin\" that the model has not seen (\"mars\" first)" for a message, or "". */
static hf_status unseen_words(hf_context *ctx, const hf_model *model, const hf_table *table, char *words,
                              size_t bytes)
{
    char first[HFI_SHOWN_BYTES], name[HFI_SHOWN_BYTES];
    size_t used = 0, column;
    *words = '\0';
    for (size_t j = 0; model->input != NULL && j < model->d; j += count_same(model, j)) {
        if (model->input[j].kind != HFI_INPUT_CATEGORY || has_itself(table, model, j)) continue;
        const hf_status status = hf_table_find(ctx, table, model->input[j].column, &column);
        if (status < 0) return status;
        const size_t unseen = count_unseen(model, table, j, column, first);
        if (unseen == 0 || used >= bytes) continue;
        used += (size_t)hfi_print(words + used, bytes - used,
                                  "; %zu of them for a \"%s\" that the model has not seen "
                                  "(\"%s\"%s)",
                                  unseen, hfi_text_shown(model->input[j].column, name), first,
                                  unseen > 1 ? " first" : "");
    }
    return HF_OK;
}

void hfi_blame_words(const hf_model *model, const double *const *x, size_t rows, char *words, size_t bytes)
{
    char name[HFI_SHOWN_BYTES];
    size_t used = 0, named = 0;
    *words = '\0';
    for (size_t j = 0; j < model->d; j += model->input != NULL ? count_same(model, j) : 1) {
        size_t missing = 0;
        for (size_t i = 0; i < rows; i++) missing += isnan(x[j][i]) ? 1 : 0;
        if (missing == 0) continue;
        if (used + HFI_SHOWN_BYTES + 40 >= bytes) {
            hfi_print(words + used, bytes - used, ", ...)");
            return;
        }
        const bool category = model->input != NULL && model->input[j].kind == HFI_INPUT_CATEGORY;
        used += (size_t)hfi_print(words + used, bytes - used, "%s\"%s\" in %zu", named++ > 0 ? ", " : " (",
                                  hfi_text_shown(category ? model->input[j].column : model->feature[j], name),
                                  missing);
    }
    if (named > 0) hfi_print(words + used, bytes - used, ")");
}

hf_status hfi_predict_message(hf_context *ctx, const hf_model *model, const hf_table *table, size_t missing)
{
    char unseen[400];
    if (missing == 0) return hfi_fail(ctx, HF_OK, "%s", "");
    const hf_status status = unseen_words(ctx, model, table, unseen, sizeof unseen);
    if (status < 0) return status;
    return hfi_fail(ctx, HF_WARN_ROWS_SKIPPED,
                    "%s: %zu of %zu rows have a missing input and get no prediction%s",
                    hf_table_source(table), missing, hf_table_rows(table), unseen);
}
