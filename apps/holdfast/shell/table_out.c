/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of tables that a verb writes. */
#include "shell/tool.h"

#include <stdlib.h>
#include <string.h>

hf_status table_set(hf_context *ctx, hf_table *table, const char *name, const double *from, size_t stride)
{
    const size_t rows = hf_table_rows(table);
    double *column = calloc(rows + 1, sizeof *column);
    if (column == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < rows; i++) column[i] = from[i * stride];
    const hf_status status = hf_table_set_numbers(ctx, table, name, column);
    free(column);
    return status;
}

hf_status table_set_named(hf_context *ctx, hf_table *table, const char *name, const char *ending,
                          const double *numbers)
{
    char *whole = with_ending(name, strlen(name), ending);
    const hf_status status = whole != NULL ? hf_table_set_numbers(ctx, table, whole, numbers) : HF_ERR_MEMORY;
    free(whole);
    return status;
}

hf_status table_set_all(hf_context *ctx, hf_table *table, const char *const *names, const double *block)
{
    hf_status status = HF_OK;
    for (size_t k = 0; names[k] != NULL && status >= 0; k++)
        status = hf_table_set_numbers(ctx, table, names[k], block + k * hf_table_rows(table));
    return status;
}

hf_status write_columns(hf_context *ctx, const char *path, size_t rows, const char *const *names,
                        const double *block)
{
    hf_table *table = NULL;
    hf_status status = hf_table_create(ctx, rows, &table);
    if (status >= 0) status = table_set_all(ctx, table, names, block);
    if (status >= 0) status = hf_table_write_csv(ctx, table, path);
    hf_table_free(table);
    return status;
}
