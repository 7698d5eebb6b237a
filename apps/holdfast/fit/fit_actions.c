/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix of given actions, from a table of their own. */
#include "fit/fit_settings.h"

#include <math.h>
#include <stdlib.h>

/* Column j of the table into column j of the matrix; a gap is told by its place. */
static hf_status copy_column(hf_context *ctx, const hf_table *table, size_t j, double *matrix)
{
    const size_t rows = hf_table_rows(table), columns = hf_table_columns(table);
    const double *numbers;
    const hf_status status = hf_table_numbers(ctx, table, j, &numbers);
    if (status < 0) return status;
    for (size_t i = 0; i < rows; i++) {
        matrix[i * columns + j] = numbers[i];
        if (isfinite(numbers[i])) continue;
        complain("%s, line %zu, column \"%s\": an action needs a finite number in every row",
                 hf_table_source(table), hf_table_line(table, i), hf_table_name(table, j));
        return HF_ERR_NOT_FINITE;
    }
    return HF_OK;
}

static int read_matrix(hf_context *ctx, const hf_table *table, fit_settings *out)
{
    const size_t rows = hf_table_rows(table), columns = hf_table_columns(table);
    if (rows == 0) return complain("%s: no rows, only a header", hf_table_source(table));
    out->actions = calloc(rows * columns, sizeof *out->actions);
    if (out->actions == NULL) return complain("out of memory");
    for (size_t j = 0; j < columns; j++) {
        const hf_status status = copy_column(ctx, table, j, out->actions);
        if (status == HF_ERR_NOT_FINITE) return TOOL_FAILED;
        if (status < 0) return complain("%s", hf_context_message(ctx));
    }
    out->settings.action_matrix = out->actions;
    out->settings.action_rows = rows;
    out->settings.actions = columns;
    return TOOL_OK;
}

int read_actions(const tool_arguments *arguments, hf_context *ctx, fit_settings *out)
{
    const char *path = argument(arguments, "actions-file");
    hf_table *table = NULL;
    if (path == NULL) return TOOL_OK;
    if (hf_table_read_csv(ctx, path, &table) < 0) return complain("%s", hf_context_message(ctx));
    const int status = read_matrix(ctx, table, out);
    hf_table_free(table);
    return status;
}
