/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with the same outputs missing, found by sorting. */
#include "sites/outputs.h"

#include <math.h>
#include <stdlib.h>

typedef struct pattern_row {
    const double *y;
    size_t outputs, row;
} pattern_row;

static int compare_patterns(const pattern_row *a, const pattern_row *b)
{
    for (size_t t = 0; t < a->outputs; t++) {
        const int left = isnan(a->y[t]) ? 1 : 0, right = isnan(b->y[t]) ? 1 : 0;
        if (left != right) return left - right;
    }
    return 0;
}

static int compare_pattern_rows(const void *left, const void *right)
{
    const pattern_row *a = left, *b = right;
    const int order = compare_patterns(a, b);
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

hf_status hfi_patterns_create(hf_context *ctx, size_t n, const double *y, size_t ldy,
                              const hf_outputs_model *model, hfi_patterns *out)
{
    const size_t outputs = model->outputs;
    pattern_row *entries;
    hfi_patterns p = {.n = n};
    if (HFI_ALLOC(ctx, HFI_ROOM(entries, n), HFI_ROOM(p.row, n), HFI_ROOM(p.begin, n + 1)) < 0) {
        hfi_free(ctx, entries);
        hfi_patterns_free(ctx, &p);
        return HF_ERR_MEMORY;
    }
    for (size_t i = 0; i < n; i++) entries[i] = (pattern_row){.y = y + i * ldy, .outputs = outputs, .row = i};
    qsort(entries, n, sizeof *entries, compare_pattern_rows);
    for (size_t i = 0; i < n; i++) {
        p.row[i] = entries[i].row;
        if (i == 0 || model->covariances != NULL || compare_patterns(&entries[i - 1], &entries[i]) != 0)
            p.begin[p.groups++] = i;
    }
    p.begin[p.groups] = n;
    hfi_free(ctx, entries);
    *out = p;
    return HF_OK;
}

void hfi_patterns_free(hf_context *ctx, hfi_patterns *patterns)
{
    HFI_FREE(ctx, patterns->row, patterns->begin);
    *patterns = (hfi_patterns){0};
}
