/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of chosen rows. */
#include "data/table_impl.h"

#include "data/manner.h"

#include <string.h>

/* Record k of `from` (0 is the header) becomes record `to` of the copy, whose text so far ends at `end`.
 * Records are without gaps, so that one memcpy moves all fields. Returns the new end. */
static size_t copy_record(const hf_table *from, size_t k, hf_table *copy, size_t to, size_t end)
{
    const size_t *fields = from->fields + k * from->stride;
    size_t begin = fields[0], bytes = fields[from->stride] - begin;
    memcpy(copy->text + end, from->text + begin, bytes);
    for (size_t j = 0; j < from->stride; j++) copy->fields[to * from->stride + j] = fields[j] - begin + end;
    return end + bytes;
}

/* Total bytes of the header and the chosen records; false on overflow. */
static bool text_bytes(const hf_table *from, const size_t *rows, size_t count, size_t *bytes)
{
    *bytes = from->fields[from->stride] - from->fields[0];
    for (size_t i = 0; i < count; i++) {
        const size_t *fields = from->fields + (rows[i] + 1) * from->stride;
        size_t record = fields[from->stride] - fields[0];
        if (record > SIZE_MAX - *bytes) return false;
        *bytes += record;
    }
    return true;
}

static hf_status copy_source(hf_context *ctx, const hf_table *from, const size_t *rows, size_t count,
                             hf_table *copy)
{
    size_t bytes = 0, entries = 0;
    if (!text_bytes(from, rows, count, &bytes) || count >= SIZE_MAX - 1 ||
        !hfi_size_mul(count + 1, from->stride, &entries) || entries == SIZE_MAX)
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%s: %zu rows of %zu columns are too many", from->source,
                        count, from->columns);
    copy->stride = from->stride;
    copy->header_line = from->header_line;
    if (HFI_ALLOC(ctx, HFI_ROOM(copy->text, bytes), HFI_ROOM(copy->fields, entries + 1),
                  HFI_ROOM(copy->lines, count)) < 0)
        return HF_ERR_MEMORY;
    size_t end = copy_record(from, 0, copy, 0, 0);
    for (size_t i = 0; i < count; i++) {
        end = copy_record(from, rows[i] + 1, copy, i + 1, end);
        copy->lines[i] = from->lines[rows[i]];
    }
    copy->fields[entries] = end;
    return HF_OK;
}

/* The computed columns, in their places among the others. */
static hf_status copy_computed(hf_context *ctx, const hf_table *from, const size_t *rows, size_t count,
                               hf_table *copy)
{
    double *chosen = hfi_alloc(ctx, count, sizeof *chosen);
    if (chosen == NULL) return HF_ERR_MEMORY;
    hf_status status = HF_OK;
    for (size_t j = 0; j < from->columns && status == HF_OK; j++) {
        const hfi_column *column = &from->column[j];
        if (column->field != SIZE_MAX) continue;
        if (column->words != NULL) {
            status = hfi_table_copy_text(ctx, column, rows, count, copy);
            continue;
        }
        for (size_t i = 0; i < count; i++) chosen[i] = column->numbers[rows[i]];
        status = hf_table_set_numbers(ctx, copy, column->name, chosen);
    }
    hfi_free(ctx, chosen);
    return status;
}

hf_status hf_table_select(hf_context *ctx, const hf_table *table, const size_t *rows, size_t count,
                          hf_table **out)
{
    if (out != NULL) *out = NULL;
    if (table == NULL || out == NULL || (rows == NULL && count > 0))
        return hfi_refuse(ctx, "hf_table_select: table, rows or out is NULL");
    for (size_t i = 0; i < count; i++)
        if (rows[i] >= table->rows)
            return hfi_refuse(ctx, "%s: row %zu asked for, but there are %zu (counted from 0)", table->source,
                              rows[i], table->rows);
    hf_table *copy = hfi_table_new(ctx, table->source);
    if (copy == NULL) return HF_ERR_MEMORY;
    copy->rows = count;
    hf_status status = hfi_manner_copy(ctx, table->manner, &copy->manner);
    if (status == HF_OK && table->fields != NULL) status = copy_source(ctx, table, rows, count, copy);
    if (status == HF_OK && copy->fields != NULL) status = hfi_table_make_columns(ctx, copy);
    if (status == HF_OK) status = copy_computed(ctx, table, rows, count, copy);
    if (status != HF_OK) {
        hf_table_free(copy);
        return status;
    }
    *out = copy;
    return HF_OK;
}
