/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: life cycle, access, columns by name, computed columns. */
#include "data/table_impl.h"
#include "data/table_set.h"

#include "data/manner.h"
#include "data/number.h"
#include "data/text.h"

#include <math.h>
#include <string.h>

hf_table *hfi_table_new(hf_context *ctx, const char *source)
{
    hf_table *table = hfi_alloc(ctx, 1, sizeof *table);
    if (table == NULL) return NULL;
    table->memory = hfi_context_memory(ctx);
    table->source = hfi_memory_strdup(&table->memory, source);
    if (table->source == NULL) {
        hfi_out_of_memory(ctx);
        hfi_free(ctx, table);
        return NULL;
    }
    return table;
}

hf_status hf_table_create(hf_context *ctx, size_t rows, hf_table **out)
{
    if (out == NULL) return hfi_refuse(ctx, "hf_table_create: out is NULL");
    *out = NULL;
    return hfi_table_create_named(ctx, rows, "table", out);
}

hf_status hfi_table_create_named(hf_context *ctx, size_t rows, const char *source, hf_table **out)
{
    hf_table *table = hfi_table_new(ctx, source);
    if (table == NULL) return HF_ERR_MEMORY;
    table->rows = rows;
    *out = table;
    return HF_OK;
}

/* Frees what a column holds, not its name. */
static void clear_column(const hfi_memory *memory, hfi_column *column)
{
    HFI_MEMORY_FREE(memory, column->numbers, column->words, column->word);
    column->numbers = NULL;
    column->words = NULL;
    column->word = NULL;
}

void hf_table_free(hf_table *table)
{
    if (table == NULL) return;
    hfi_memory memory = table->memory;
    for (size_t j = 0; j < table->columns; j++) {
        hfi_memory_free(&memory, table->column[j].owned_name);
        clear_column(&memory, &table->column[j]);
    }
    hfi_manner_free(table->manner);
    hfi_memory_free(&memory, table->column);
    hfi_names_free(&table->names, &memory);
    HFI_MEMORY_FREE(&memory, table->lines, table->fields, table->text, table->source, table);
}

size_t hf_table_rows(const hf_table *table)
{
    return table == NULL ? 0 : table->rows;
}

size_t hf_table_columns(const hf_table *table)
{
    return table == NULL ? 0 : table->columns;
}

const char *hf_table_name(const hf_table *table, size_t column)
{
    return table == NULL || column >= table->columns ? NULL : table->column[column].name;
}

const char *hf_table_source(const hf_table *table)
{
    return table == NULL ? "" : table->source;
}

size_t hf_table_line(const hf_table *table, size_t row)
{
    return table == NULL || table->lines == NULL || row >= table->rows ? 0 : table->lines[row];
}

bool hf_table_is_numeric(const hf_table *table, size_t column)
{
    return table != NULL && column < table->columns && table->column[column].numbers != NULL;
}

hfi_column_kind hfi_table_kind(const hf_table *table, size_t column)
{
    const hfi_column *of = &table->column[column];
    if (table->manner != NULL && of->field != SIZE_MAX) return table->manner->worn[of->field].kind;
    return of->numbers != NULL ? HFI_COLUMN_NUMBER : HFI_COLUMN_TEXT;
}

const char *hfi_table_text(const hf_table *table, size_t row, size_t field)
{
    return table->text + table->fields[(row + 1) * table->stride + field];
}

size_t hfi_table_field_line(const hf_table *table, size_t row, size_t field)
{
    size_t line = table->lines[row];
    const char *begin = hfi_table_text(table, row, 0), *end = hfi_table_text(table, row, field);
    for (; begin < end; begin++)
        if (*begin == '\n') line++;
    return line;
}

const char *hf_table_field(const hf_table *table, size_t row, size_t column, char buffer[32])
{
    if (table == NULL || row >= table->rows || column >= table->columns) return NULL;
    const hfi_column *from = &table->column[column];
    if (from->field != SIZE_MAX) return hfi_table_text(table, row, from->field);
    if (from->words != NULL) return from->words + from->word[row];
    if (isnan(from->numbers[row])) return "";
    return hf_format_double(from->numbers[row], buffer);
}

/* ---- columns by name ------------------------------------------------------------------------- */

/* The column whose name is nearest, if it is near enough to be what was meant; else SIZE_MAX. */
static size_t nearest_column(const hf_table *table, const char *name)
{
    size_t length = strlen(name), best = SIZE_MAX, best_distance = SIZE_MAX;
    for (size_t j = 0; j < table->columns && best_distance > 0; j++) {
        const char *other = table->column[j].name;
        const size_t letters = strlen(other), longer = letters > length ? letters : length;
        const size_t distance = hfi_edit_distance(name, length, other, letters);
        if (longer > 64 || distance > (longer + 2) / 3 || distance == longer) continue;
        if (distance < best_distance) {
            best_distance = distance;
            best = j;
        }
    }
    return best;
}

/* "a, b, c" as far as there is room, then how many more. */
static void list_columns(const hf_table *table, char *list, size_t bytes)
{
    char shown[HFI_SHOWN_BYTES];
    size_t used = 0, j = 0;
    for (; j < table->columns; j++) {
        hfi_text_shown(table->column[j].name, shown);
        size_t needed = strlen(shown) + 2;
        if (used + needed + 32 > bytes) break;
        used += (size_t)hfi_print(list + used, bytes - used, "%s%s", j == 0 ? "" : ", ", shown);
    }
    if (j < table->columns) hfi_print(list + used, bytes - used, " and %zu more", table->columns - j);
}

static bool names_are_numbers(const hf_table *table)
{
    double value = 0;
    for (size_t j = 0; j < table->columns; j++)
        if (hfi_field_parse(table->column[j].name, &value) == HFI_FIELD_TEXT) return false;
    return table->columns > 0;
}

hf_status hf_table_find(hf_context *ctx, const hf_table *table, const char *name, size_t *column)
{
    if (table == NULL || name == NULL || column == NULL)
        return hfi_refuse(ctx, "hf_table_find: table, name or column is NULL");
    size_t found = hfi_names_find(&table->names, name);
    if (found != SIZE_MAX) {
        *column = found;
        return HF_OK;
    }
    char wanted[HFI_SHOWN_BYTES], near[HFI_SHOWN_BYTES], list[480] = "",
                                                         suggestion[HFI_SHOWN_BYTES + 24] = "";
    size_t nearest = nearest_column(table, name);
    if (nearest != SIZE_MAX)
        hfi_print(suggestion, sizeof suggestion, "; did you mean \"%s\"?",
                  hfi_text_shown(table->column[nearest].name, near));
    list_columns(table, list, sizeof list);
    const char *hint =
        names_are_numbers(table) ? " (all of them numbers: is the header line with the names missing?)" : "";
    return hfi_fail(ctx, HF_ERR_NO_COLUMN, "%s: no column \"%s\"%s%s The %zu columns: %s%s", table->source,
                    hfi_text_shown(name, wanted), suggestion, *suggestion == '\0' ? "." : "", table->columns,
                    list, hint);
}

/* ---- numbers --------------------------------------------------------------------------------- */

hf_status hf_table_numbers(hf_context *ctx, const hf_table *table, size_t column, const double **numbers)
{
    if (table == NULL || numbers == NULL)
        return hfi_refuse(ctx, "hf_table_numbers: table or numbers is NULL");
    *numbers = NULL;
    if (column >= table->columns)
        return hfi_refuse(ctx, "%s: column %zu asked for, but there are %zu (counted from 0)", table->source,
                          column, table->columns);
    const hfi_column *from = &table->column[column];
    *numbers = from->numbers;
    if (from->numbers != NULL) return HF_OK;

    char name[HFI_SHOWN_BYTES], text[HFI_SHOWN_BYTES];
    if (from->words != NULL)
        return hfi_fail(ctx, HF_ERR_PARSE, "%s: column \"%s\" is text", table->source,
                        hfi_text_shown(from->name, name));
    const char *field = hfi_table_text(table, from->first_text, from->field);
    if (hfi_table_kind(table, column) == HFI_COLUMN_UNSURE)
        return hfi_fail(ctx, HF_ERR_PARSE,
                        "%s: line %zu, column %zu (\"%s\"): \"%s\" has a thousands separator or a decimal "
                        "mark; say which the decimal mark is (--decimal point or comma)",
                        table->source, hfi_table_field_line(table, from->first_text, from->field),
                        from->field + 1, hfi_text_shown(from->name, name), hfi_text_shown(field, text));
    return hfi_fail(ctx, HF_ERR_PARSE, "%s: line %zu, column %zu (\"%s\"): \"%s\" is not a number%s",
                    table->source, hfi_table_field_line(table, from->first_text, from->field),
                    from->field + 1, hfi_text_shown(from->name, name), hfi_text_shown(field, text),
                    hfi_field_has_comma_number(field)
                        ? "; write the decimal mark as a point and leave out thousands separators"
                        : "");
}

/* Room for `count` more columns, in the array and in the index of names. */
static bool reserve_columns(hf_table *table, size_t count)
{
    const size_t needed = table->columns + count;
    if (!hfi_names_reserve(&table->names, &table->memory, needed)) return false;
    hfi_column *column = hfi_memory_grow(&table->memory, table->column, table->columns, needed,
                                         &table->capacity, sizeof *column);
    if (column != NULL) table->column = column;
    return column != NULL;
}

hfi_column *hfi_table_place(hf_table *table, const char *name)
{
    const size_t at = hfi_names_find(&table->names, name);
    if (at != SIZE_MAX) {
        hfi_column *column = &table->column[at];
        clear_column(&table->memory, column);
        column->field = SIZE_MAX;
        return column;
    }
    char *own = hfi_memory_strdup(&table->memory, name);
    if (own == NULL || !reserve_columns(table, 1)) {
        hfi_memory_free(&table->memory, own);
        return NULL;
    }
    hfi_column *column = &table->column[table->columns];
    *column = (hfi_column){.name = own, .owned_name = own, .field = SIZE_MAX};
    hfi_names_add(&table->names, own, table->columns);
    table->columns++;
    return column;
}

hf_status hf_table_set_numbers(hf_context *ctx, hf_table *table, const char *name, const double *numbers)
{
    size_t rows = table == NULL ? 0 : table->rows;
    if (table == NULL || name == NULL || (numbers == NULL && rows > 0))
        return hfi_refuse(ctx, "hf_table_set_numbers: table, name or numbers is NULL");
    if (*name == '\0') return hfi_refuse(ctx, "%s: a column needs a name", table->source);

    double *copy = hfi_memory_alloc(&table->memory, rows, sizeof *copy);
    if (copy != NULL && rows > 0) memcpy(copy, numbers, rows * sizeof *copy);
    hfi_column *column = copy != NULL ? hfi_table_place(table, name) : NULL;
    if (column != NULL) {
        column->numbers = copy;
        return HF_OK;
    }
    hfi_memory_free(&table->memory, copy);
    return hfi_fail(ctx, HF_ERR_MEMORY, "out of memory: a column of %zu rows could not be added", rows);
}

/* ---- several columns at once: everything that can fail happens before the table changes ---------- */

/* Copies of numbers and, where the column is new, of its name. */
static bool make_columns(hf_table *table, size_t count, const char *const *names, const double *numbers,
                         hfi_column *made)
{
    for (size_t k = 0; k < count; k++) {
        made[k].field = SIZE_MAX;
        made[k].numbers = hfi_memory_alloc(&table->memory, table->rows, sizeof *numbers);
        if (made[k].numbers == NULL) return false;
        if (table->rows > 0)
            memcpy(made[k].numbers, numbers + k * table->rows, table->rows * sizeof *numbers);
        if (hfi_names_find(&table->names, names[k]) != SIZE_MAX) continue;
        made[k].owned_name = hfi_memory_strdup(&table->memory, names[k]);
        made[k].name = made[k].owned_name;
        if (made[k].owned_name == NULL) return false;
    }
    return reserve_columns(table, count);
}

static void put_column(hf_table *table, const char *name, const hfi_column *made)
{
    size_t at = hfi_names_find(&table->names, name);
    if (at == SIZE_MAX) {
        table->column[table->columns] = *made;
        hfi_names_add(&table->names, made->name, table->columns);
        table->columns++;
    } else {
        clear_column(&table->memory, &table->column[at]);
        table->column[at].numbers = made->numbers;
        table->column[at].field = SIZE_MAX;
    }
}

hf_status hfi_table_set_columns(hf_context *ctx, hf_table *table, size_t count, const char *const *names,
                                const double *numbers)
{
    hfi_column *made = hfi_alloc(ctx, count, sizeof *made);
    if (made == NULL) return HF_ERR_MEMORY;
    bool complete = make_columns(table, count, names, numbers, made);
    for (size_t k = 0; k < count; k++) {
        if (complete) {
            put_column(table, names[k], &made[k]);
        } else {
            HFI_MEMORY_FREE(&table->memory, made[k].owned_name, made[k].numbers);
        }
    }
    hfi_free(ctx, made);
    if (complete) return HF_OK;
    return hfi_fail(ctx, HF_ERR_MEMORY, "out of memory: %zu columns of %zu rows could not be added", count,
                    table->rows);
}
