/* SPDX-License-Identifier: Apache-2.0 */
/* How a fit would read a table: a row for each column. */
#include "model/inputs.h"

#include "data/manner.h"
#include "data/text.h"

#include <math.h>
#include <string.h>

enum {
    CELL = 96
};

/* One column of the table: how it is read, used, and an example of its fields. */
typedef struct described_column {
    char read_as[CELL], used_as[CELL];
    const char *example;
    char number[32];
    double missing;
} described_column;

static bool is(const char *name, const char *other)
{
    return other != NULL && strcmp(name, other) == 0;
}

/* Inputs that come from a column, and the first of them. */
static size_t count_inputs(const hf_model *model, const char *name, size_t *first)
{
    size_t count = 0;
    for (size_t j = 0; j < model->d; j++) {
        const struct hfi_input *in = model->input != NULL ? &model->input[j] : NULL;
        if (!is(name, in != NULL && in->kind != HFI_INPUT_NUMBER ? in->column : model->feature[j])) continue;
        if (count++ == 0) *first = j;
    }
    return count;
}

static bool is_target(const hf_model *model, const char *name)
{
    for (size_t t = 0; model->output_column == NULL && model->output != NULL && t < model->outputs; t++)
        if (is(name, model->output[t])) return true;
    return is(name, model->target);
}

/* The parts that a column can play, in the order in which they are asked for. */
static void say_use(const hf_model *model, const hf_table *table, size_t column, described_column *out)
{
    const char *name = hf_table_name(table, column);
    size_t first = 0;
    const size_t inputs = count_inputs(model, name, &first);
    const struct {
        bool plays;
        const char *words;
    } parts[] = {{is_target(model, name), "target"},
                 {is(name, model->noise_column), "known noise"},
                 {is(name, model->mean_column), hfi_model_has_likelihood(model) ? "exposure" : "prior mean"},
                 {is(name, model->output_column), "which output"},
                 {inputs == 1, "input"}};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        if (parts[k].plays) {
            hfi_print(out->used_as, CELL, "%s", parts[k].words);
            return;
        }
    if (inputs > 1)
        hfi_print(out->used_as, CELL, "%zu inputs", inputs);
    else
        hfi_print(out->used_as, CELL, "not used");
}

/* Words of the table, or of what the model made of a text. */
static void say_kind(const hf_model *model, const hf_table *table, size_t column, described_column *out)
{
    char first_date[32];
    size_t first = 0;
    const size_t inputs = count_inputs(model, hf_table_name(table, column), &first);
    const struct hfi_input *in = inputs > 0 && model->input != NULL ? &model->input[first] : NULL;
    hfi_print(out->read_as, CELL, "%s", hf_table_read_as(table, column));
    if (in != NULL && in->kind == HFI_INPUT_CATEGORY)
        hfi_print(out->read_as, CELL, "category (%zu values)", inputs);
    if (in == NULL || in->kind != HFI_INPUT_DATE) return;
    if (in->style.form == HFI_DATE_TIME)
        hfi_print(out->read_as, CELL, "time (seconds since midnight)");
    else
        hfi_print(out->read_as, CELL, "date (%s since %s)", in->style.timed ? "seconds" : "days",
                  hfi_date_text(&in->style, in->origin, first_date));
}

static void describe_table_column(const hf_model *model, const hf_table *table, size_t column,
                                  described_column *out)
{
    const bool numeric = hf_table_is_numeric(table, column);
    const double *numbers = NULL;
    char buffer[32];
    if (numeric && hf_table_numbers(NULL, table, column, &numbers) < 0) numbers = NULL;
    out->example = NULL;
    say_use(model, table, column, out);
    say_kind(model, table, column, out);
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        const char *text = hf_table_field(table, i, column, buffer);
        const bool missing = numbers != NULL ? isnan(numbers[i]) : hfi_field_is_missing(table, text);
        out->missing += missing ? 1.0 : 0.0;
        if (missing || out->example != NULL) continue;
        if (text == buffer) memcpy(out->number, buffer, sizeof out->number);
        out->example = text == buffer ? out->number : text;
    }
}

/* A column of texts of the description. */
static hf_status put_texts(hf_context *ctx, hf_table *table, const char *name, const char **text,
                           size_t *choice)
{
    const size_t rows = hf_table_rows(table);
    for (size_t i = 0; i < rows; i++) choice[i] = i;
    for (size_t i = 0; i < rows; i++) {
        if (text[i] != NULL) continue;
        text[i] = "";
        choice[i] = SIZE_MAX;
    }
    return hf_table_set_text(ctx, table, name, rows, text, choice);
}

static hf_status tabulate(hf_context *ctx, const hf_table *table, const described_column *rows,
                          hf_table *made)
{
    const size_t count = hf_table_columns(table);
    const char **text = hfi_alloc(ctx, count, sizeof *text);
    size_t *choice = hfi_alloc(ctx, count, sizeof *choice);
    double *missing = hfi_alloc(ctx, count, sizeof *missing);
    hf_status status = text != NULL && choice != NULL && missing != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t j = 0; j < count && status >= 0; j++) text[j] = hf_table_name(table, j);
    if (status >= 0) status = put_texts(ctx, made, "column", text, choice);
    for (size_t j = 0; j < count && status >= 0; j++) text[j] = rows[j].read_as;
    if (status >= 0) status = put_texts(ctx, made, "read as", text, choice);
    for (size_t j = 0; j < count && status >= 0; j++) text[j] = rows[j].used_as;
    if (status >= 0) status = put_texts(ctx, made, "used as", text, choice);
    for (size_t j = 0; j < count && status >= 0; j++) missing[j] = rows[j].missing;
    if (status >= 0) status = hf_table_set_numbers(ctx, made, "missing", missing);
    for (size_t j = 0; j < count && status >= 0; j++) text[j] = rows[j].example;
    if (status >= 0) status = put_texts(ctx, made, "example", text, choice);
    HFI_FREE(ctx, text, choice, missing);
    return status;
}

hf_status hf_fit_columns(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                         const hf_fit_settings *settings, hf_table **out)
{
    if (out == NULL) return hfi_refuse(ctx, "hf_fit_columns: out is NULL");
    *out = NULL;
    hf_columns named;
    hf_fit_settings own;
    hf_status status =
        hfi_fit_check_arguments(ctx, "hf_fit_columns", table, columns, settings, out, &named, &own);
    if (status < 0) return status;
    hf_model *model = NULL;
    status = hfi_model_prepare(ctx, table, &named, &own, &model);
    if (status < 0) return status;
    hf_table *made = NULL;
    described_column *rows = hfi_alloc(ctx, hf_table_columns(table), sizeof *rows);
    status = rows != NULL ? hf_table_create(ctx, hf_table_columns(table), &made) : HF_ERR_MEMORY;
    for (size_t j = 0; j < hf_table_columns(table) && status >= 0; j++)
        describe_table_column(model, table, j, &rows[j]);
    if (status >= 0) status = tabulate(ctx, table, rows, made);
    hfi_free(ctx, rows);
    hf_model_free(model);
    if (status < 0)
        hf_table_free(made);
    else
        *out = made;
    return status;
}
