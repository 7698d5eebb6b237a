/* SPDX-License-Identifier: Apache-2.0 */
/* A row of units below the header: "kg", "m", "s", where numbers follow. */
#include "data/table_impl.h"

#include "data/dates.h"
#include "data/manner.h"
#include "data/text.h"

#include <string.h>

static bool is_number(const char *text)
{
    hfi_dressed field;
    hfi_date date;
    double value;
    return hfi_field_parse(text, &value) == HFI_FIELD_NUMBER || hfi_dress_take(text, &field) ||
           hfi_truth_read(text, &value) || hfi_date_take(text, &date);
}

static bool is_missing(const char *text)
{
    double value;
    return hfi_field_parse(text, &value) == HFI_FIELD_MISSING;
}

/* [kg] or (kg). */
static bool is_in_brackets(const char *text)
{
    const size_t length = strlen(text);
    return length > 2 &&
           ((*text == '[' && text[length - 1] == ']') || (*text == '(' && text[length - 1] == ')'));
}

/* Whether all rows but the first have a number in a column, or nothing. */
static bool is_numeric_below(const hf_table *table, size_t field)
{
    size_t code, numbers = 0;
    for (size_t i = 1; i < table->rows; i++) {
        const char *text = hfi_table_text(table, i, field);
        if (is_missing(text) || hfi_manner_is_code(table->manner, text, &code)) continue;
        if (!is_number(text)) return false;
        numbers++;
    }
    return numbers > 0;
}

/* No field of the first row is a number, and two columns of numbers, or one with its unit in brackets, have a
 * text there. */
static bool has_units(const hf_table *table)
{
    size_t units = 0;
    bool brackets = false;
    if (table->rows < 2 || table->manner->unnamed) return false;
    for (size_t j = 0; j < table->stride; j++)
        if (is_number(hfi_table_text(table, 0, j))) return false;
    for (size_t j = 0; j < table->stride; j++) {
        const char *text = hfi_table_text(table, 0, j);
        if (is_missing(text) || !is_numeric_below(table, j)) continue;
        units++;
        brackets = brackets || is_in_brackets(text);
    }
    return units > 1 || brackets;
}

static void list_units(const hf_table *table, char *list, size_t bytes)
{
    char shown[HFI_SHOWN_BYTES];
    size_t used = 0;
    for (size_t j = 0; j < table->stride && used + HFI_SHOWN_BYTES + 8 < bytes; j++) {
        const char *text = hfi_table_text(table, 0, j);
        if (*text == '\0') continue;
        used += (size_t)hfi_print(list + used, bytes - used, "%s%s", used > 0 ? ", " : "",
                                  hfi_text_shown(text, shown));
    }
}

hf_status hfi_manner_units(hf_context *ctx, hf_table *table)
{
    char list[200] = "";
    if (!has_units(table)) return HF_OK;
    list_units(table, list, sizeof list);
    const hf_status status =
        hfi_manner_note(ctx, table->manner, "line %zu has units and is no row: %s", table->lines[0], list);
    /* The fields of the row stay in the text, between the header and the first record. */
    memmove(table->fields + table->stride, table->fields + 2 * table->stride,
            ((table->rows - 1) * table->stride + 1) * sizeof *table->fields);
    memmove(table->lines, table->lines + 1, (table->rows - 1) * sizeof *table->lines);
    table->rows--;
    return status;
}
