/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table that can be predicted, and columns on their way into a table. */
#include "model/pack.h"

#include "data/table_set.h"
#include "data/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- complete rows ---------------------------------------------------------------------------------------- */

static void copy_complete(const hf_model *model, const double *const *columns, const size_t *output,
                          const double *mean, hfi_complete *c)
{
    const size_t d = model->d;
    for (size_t i = 0; i < c->rows; i++) {
        bool complete = (output == NULL || output[i] != SIZE_MAX) && (mean == NULL || !isnan(mean[i]));
        for (size_t j = 0; j < d; j++) complete = complete && !isnan(columns[j][i]);
        if (!complete) continue;
        double *x = c->x + c->count * c->width;
        for (size_t j = 0; j < d; j++) x[j] = columns[j][i];
        if (output != NULL) x[d] = (double)output[i];
        c->row[c->count++] = i;
    }
}

hf_status hfi_complete_find(hf_context *ctx, const hf_model *model, const hf_table *table,
                            const size_t *output, const double *mean, hfi_complete *out)
{
    const size_t rows = hf_table_rows(table), width = model->d + (output != NULL ? 1 : 0);
    size_t cells;
    *out = (hfi_complete){.rows = rows, .width = width};
    if (!hfi_size_mul(rows, width, &cells))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows of %zu inputs do not fit in memory", rows, width);
    const double **columns;
    double *own = NULL;
    hf_status status =
        HFI_ALLOC(ctx, HFI_ROOM(columns, model->d), HFI_ROOM(out->x, cells), HFI_ROOM(out->row, rows));
    if (status >= 0) status = hfi_model_inputs(ctx, model, table, columns, &own);
    if (status >= 0) copy_complete(model, columns, output, mean, out);
    HFI_FREE(ctx, own, columns);
    return status;
}

void hfi_complete_spread(const hfi_complete *c, size_t each, double *values)
{
    size_t from = c->count;
    /* The last first, so that nothing is overwritten before it moved. */
    for (size_t i = c->rows; i-- > 0;) {
        const bool there = from > 0 && c->row[from - 1] == i;
        if (there) from--;
        for (size_t k = each; k-- > 0;) values[i * each + k] = there ? values[from * each + k] : NAN;
    }
}

void hfi_complete_free(hf_context *ctx, hfi_complete *c)
{
    HFI_FREE(ctx, c->x, c->row);
}

/* ---- columns ---------------------------------------------------------------------------------------------- */

hf_status hfi_pack_init(hf_context *ctx, hfi_pack *pack, size_t rows, size_t columns)
{
    size_t cells;
    *pack = (hfi_pack){.ctx = ctx, .rows = rows, .room = columns};
    if (!hfi_size_mul(rows, columns, &cells)) return hfi_out_of_memory(ctx);
    return HFI_ALLOC(ctx, HFI_ROOM(pack->name, columns), HFI_ROOM(pack->values, cells));
}

double *hfi_pack_column(hfi_pack *pack, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = hfi_print_list(NULL, 0, format, args);
    va_end(args);
    const size_t bytes = length > 0 ? (size_t)length + 1 : 1;
    char *name = pack->count < pack->room ? hfi_alloc(pack->ctx, bytes, 1) : NULL;
    if (name == NULL) return NULL;
    va_start(args, format);
    hfi_print_list(name, bytes, format, args);
    va_end(args);
    pack->name[pack->count] = name;
    return pack->values + pack->rows * pack->count++;
}

double *hfi_pack_predicted(hfi_pack *pack, const hf_model *model, bool single, size_t i)
{
    const hfi_column_name c = model->kind->column(model, single, i);
    return hfi_pack_column(pack, "%s%s%s%s", c.part[0], c.part[1], c.part[2], c.part[3]);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Two covariances of the outputs "a_b", "c" and "a", "b_c" would have one name. */
static hf_status check_different(const hfi_pack *pack)
{
    char shown[HFI_SHOWN_BYTES];
    char **sorted = hfi_alloc(pack->ctx, pack->count, sizeof *sorted);
    if (sorted == NULL) return HF_ERR_MEMORY;
    if (pack->count > 0) memcpy(sorted, pack->name, pack->count * sizeof *sorted);
    qsort(sorted, pack->count, sizeof *sorted, by_text);
    hf_status status = HF_OK;
    for (size_t k = 1; k < pack->count && status >= 0; k++)
        if (strcmp(sorted[k - 1], sorted[k]) == 0)
            status = hfi_refuse(pack->ctx,
                                "two columns would have the name \"%s\"; rename the target or an output",
                                hfi_text_shown(sorted[k], shown));
    hfi_free(pack->ctx, sorted);
    return status;
}

hf_status hfi_pack_into(const hfi_pack *pack, hf_table *table)
{
    const hf_status status = check_different(pack);
    if (status < 0) return status;
    return hfi_table_set_columns(pack->ctx, table, pack->count, (const char *const *)pack->name,
                                 pack->values);
}

void hfi_pack_free(hfi_pack *pack)
{
    for (size_t k = 0; k < pack->count; k++) hfi_free(pack->ctx, pack->name[k]);
    HFI_FREE(pack->ctx, pack->name, pack->values);
}
