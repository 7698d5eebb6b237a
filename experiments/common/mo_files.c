/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mo_files.h"

#include <math.h>
#include <stdio.h>

static hf_status numbers(hf_context *ctx, const hf_table *table, const char *name, const double **out)
{
    size_t place;
    const hf_status status = hf_table_find(ctx, table, name, &place);
    return status < 0 ? status : hf_table_numbers(ctx, table, place, out);
}

bool mo_read_wide(hf_context *ctx, const char *path, const char *input, double unit, size_t outputs,
                  const char *const *names, size_t wrong_row, size_t wrong_output, size_t grid, problem *out)
{
    hf_table *table = NULL;
    const double *column;
    double least = INFINITY, most = -INFINITY;
    *out = (problem){0};
    hf_status status = hf_table_read_csv(ctx, path, &table);
    const size_t rows = status < 0 ? 0 : hf_table_rows(table);
    if (status >= 0) status = numbers(ctx, table, input, &column);
    if (status >= 0 && rows <= wrong_row) status = HF_ERR_NO_DATA;
    if (status >= 0) *out = mo_problem_create(rows, grid, 1, outputs);
    for (size_t i = 0; status >= 0 && i < rows; ++i) {
        const double x = column[i] / unit;
        mo_set_input(out, false, i, 0, x);
        least = fmin(least, x);
        most = fmax(most, x);
    }
    for (size_t t = 0; status >= 0 && t < outputs; ++t) {
        status = numbers(ctx, table, names[t], &column);
        for (size_t i = 0; status >= 0 && i < rows; ++i) out->y[i * outputs + t] = column[i];
    }
    if (status >= 0) {
        mo_test_grid(out, least, most);
        out->wrong[wrong_row * outputs + wrong_output] = true;
    } else {
        fprintf(stderr, "%s: %s: %s\n", path, hf_status_name(status), hf_context_message(ctx));
        problem_free(out);
    }
    hf_table_free(table);
    return status >= 0;
}
