/* SPDX-License-Identifier: Apache-2.0 */
/* Remarks on how a table was read: one line for each thing that was understood. */
#include "data/table_impl.h"

#include "data/manner.h"
#include "data/text.h"

#include <math.h>
#include <string.h>

enum {
    LIST_BYTES = 300
};

/* "a", "b" and 3 more. */
static void add_name(char list[LIST_BYTES], size_t count, const char *name)
{
    char shown[HFI_SHOWN_BYTES];
    const size_t used = strlen(list);
    if (used + HFI_SHOWN_BYTES + 24 < LIST_BYTES)
        hfi_print(list + used, LIST_BYTES - used, "%s\"%s\"", count > 0 ? ", " : "",
                  hfi_text_shown(name, shown));
    else if (strcmp(list + used - 3, "...") != 0)
        hfi_print(list + used, LIST_BYTES - used, ", ...");
}

/* The columns that wear garment k; how many there are. */
static size_t list_wearers(const hf_table *table, size_t k, char list[LIST_BYTES])
{
    size_t count = 0;
    *list = '\0';
    for (size_t j = 0; j < table->columns; j++) {
        const hfi_worn *worn = &table->manner->worn[table->column[j].field];
        if (table->column[j].numbers == NULL || (worn->wears & (1U << k)) == 0) continue;
        add_name(list, count++, table->column[j].name);
    }
    return count;
}

/* Limits of detection of all columns, and the first of them. */
static size_t count_limits(const hf_table *table, const char **first)
{
    hfi_dressed field;
    double value;
    size_t count = 0;
    for (size_t j = 0; j < table->columns; j++) {
        const hfi_column *column = &table->column[j];
        if (column->numbers == NULL || (table->manner->worn[column->field].wears & HFI_WEARS_LIMITS) == 0)
            continue;
        for (size_t i = 0; i < table->rows; i++) {
            const char *text = hfi_table_text(table, i, column->field);
            if (hfi_field_parse(text, &value) != HFI_FIELD_TEXT || !hfi_dress_take(text, &field)) continue;
            if (field.limit == 0) continue;
            if (count++ == 0) *first = text;
        }
    }
    return count;
}

static hf_status note_limits(hf_context *ctx, const hf_table *table, hfi_manner *manner, const char *list)
{
    char shown[HFI_SHOWN_BYTES];
    const char *first = "";
    const size_t count = count_limits(table, &first);
    const bool half = manner->dialect.limits == HF_LIMITS_HALF;
    return hfi_manner_note(ctx, manner, "%zu field%s beyond a limit of detection (%s) count%s as %s: %s",
                           count, count == 1 ? "" : "s", hfi_text_shown(first, shown), count == 1 ? "s" : "",
                           half ? "half of it, above one as missing" : "missing", list);
}

/* The fields of each code among the numbers. */
static void count_codes(const hf_table *table, hfi_manner *manner)
{
    size_t code;
    for (size_t j = 0; j < table->columns; j++)
        for (size_t i = 0; table->column[j].numbers != NULL && i < table->rows; i++)
            if (isnan(table->column[j].numbers[i]) &&
                hfi_manner_is_code(manner, hfi_table_text(table, i, table->column[j].field), &code))
                manner->coded[code]++;
}

hf_status hfi_manner_remarks(hf_context *ctx, const hf_table *table, hfi_manner *manner)
{
    char list[LIST_BYTES], shown[HFI_SHOWN_BYTES];
    hf_status status = HF_OK;
    for (size_t k = 0; k < HFI_GARMENTS && status >= 0; k++) {
        const size_t wearers = list_wearers(table, k, list);
        if (wearers == 0) continue;
        status = (1U << k) == HFI_WEARS_LIMITS
                     ? note_limits(ctx, table, manner, list)
                     : hfi_manner_note(ctx, manner, "%s: %s", hfi_garments[k].remark, list);
    }
    if (manner->dialect.missing_count > 0) count_codes(table, manner);
    for (size_t k = 0; k < manner->dialect.missing_count && status >= 0; k++) {
        if (manner->coded[k] == 0 && manner->dialect.remembered) continue;
        status = hfi_manner_note(ctx, manner, "\"%s\" is a missing value: %zu field%s",
                                 hfi_text_shown(manner->dialect.missing[k], shown), manner->coded[k],
                                 manner->coded[k] == 1 ? "" : "s");
    }
    return status;
}
