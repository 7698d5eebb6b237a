/* SPDX-License-Identifier: Apache-2.0 */
/* Several computed columns at once: everything that can fail happens before the table changes. */
#include "data/table_set.h"

#include "data/table_impl.h"

#include <string.h>

/* Room for `count` more columns, in the array and in the index of names. */
static bool reserve_columns(hf_table *table, size_t count)
{
    size_t needed = table->columns + count;
    if (!hfi_names_reserve(&table->names, &table->memory, needed)) return false;
    if (needed <= table->capacity) return true;
    hfi_column *larger = hfi_memory_alloc(&table->memory, 2 * needed, sizeof *larger);
    if (larger == NULL) return false;
    if (table->columns > 0) memcpy(larger, table->column, table->columns * sizeof *larger);
    hfi_memory_free(&table->memory, table->column);
    table->column = larger;
    table->capacity = 2 * needed;
    return true;
}

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
        hfi_column_clear(&table->memory, &table->column[at]);
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
