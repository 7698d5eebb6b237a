/* SPDX-License-Identifier: Apache-2.0 */
/* From a header and fields to named columns, numeric or text. */
#include "data/table_impl.h"

#include "data/manner.h"
#include "data/number.h"
#include "data/text.h"

#include <math.h>

/* How many fields are read between two looks at the progress callback. */
#define FIELDS_PER_PROGRESS ((size_t)1 << 18)

/* Header names may hold newlines too. */
static size_t name_line(const hf_table *table, size_t field)
{
    size_t line = table->header_line;
    for (const char *p = table->text; p < table->text + table->fields[field]; p++)
        if (*p == '\n') line++;
    return line;
}

static hf_status name_columns(hf_context *ctx, hf_table *table)
{
    char shown[HFI_SHOWN_BYTES];
    for (size_t j = 0; j < table->stride; j++) {
        const char *name = table->text + table->fields[j];
        if (table->manner != NULL && table->manner->worn[j].kind == HFI_COLUMN_EMPTY) continue;
        if (*name == '\0')
            return hfi_fail(ctx, HF_ERR_PARSE, "%s: line %zu, column %zu: the header has no name here; %s",
                            table->source, name_line(table, j), j + 1,
                            j == 0 ? "row numbers are best left out when the file is written (pandas: "
                                     "index=False, R: row.names=FALSE)"
                                   : "name the column or remove it");
        const size_t column = table->columns, first = hfi_names_add(&table->names, name, column);
        if (first != column)
            return hfi_fail(ctx, HF_ERR_PARSE,
                            "%s: line %zu, column %zu (\"%s\"): the same name as column %zu; rename one",
                            table->source, name_line(table, j), j + 1, hfi_text_shown(name, shown),
                            table->column[first].field + 1);
        table->column[column].name = name;
        table->column[column].field = j;
        table->columns++;
    }
    return HF_OK;
}

/* The numbers of a column if all its fields are numbers or missing; else it stays a text column. */
static hf_status read_numbers(hf_context *ctx, hf_table *table, size_t j)
{
    hfi_column *column = &table->column[j];
    double *numbers = hfi_alloc(ctx, table->rows, sizeof *numbers);
    if (numbers == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < table->rows; i++) {
        if (hfi_field_parse(hfi_table_text(table, i, j), &numbers[i]) == HFI_FIELD_TEXT) {
            hfi_free(ctx, numbers);
            column->first_text = i;
            return HF_OK;
        }
    }
    column->numbers = numbers;
    return HF_OK;
}

hf_status hfi_table_make_columns(hf_context *ctx, hf_table *table)
{
    table->column = hfi_alloc(ctx, table->stride, sizeof *table->column);
    if (table->column == NULL) return HF_ERR_MEMORY;
    table->capacity = table->stride;
    if (!hfi_names_reserve(&table->names, &table->memory, table->stride)) return hfi_out_of_memory(ctx);
    hf_status status = table->manner != NULL ? hfi_manner_read(ctx, table) : HF_OK;
    if (status == HF_OK) status = name_columns(ctx, table);
    if (status == HF_OK && table->manner != NULL) return hfi_manner_numbers(ctx, table);
    size_t since = 0;
    for (size_t j = 0; j < table->stride && status == HF_OK; j++) {
        since += table->rows;
        if (since >= FIELDS_PER_PROGRESS) {
            since = 0;
            if (!hfi_progress(ctx, "read", (double)j / (double)table->stride, NAN)) return hfi_cancelled(ctx);
        }
        status = read_numbers(ctx, table, j);
    }
    return status;
}
