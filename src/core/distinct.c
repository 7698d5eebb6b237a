/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows are equal. */
#include "core/core.h"

#include <string.h>

/* FNV-1a over the bits of the entries, mixed so that the low bits are good. */
static uint64_t hash_row(size_t d, const double *row)
{
    uint64_t hash = 0xCBF29CE484222325U;
    for (size_t k = 0; k < d; k++) {
        double value = row[k] == 0.0 ? 0.0 : row[k]; /* -0 is 0 */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x100000001B3U;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool equal_rows(size_t d, const double *a, const double *b)
{
    for (size_t k = 0; k < d; k++)
        if (a[k] != b[k]) return false;
    return true;
}

/* A power of two, so that half of the places stay empty. */
static size_t table_size(size_t entries)
{
    size_t size = 16;
    while (size / 2 < entries) size *= 2;
    return size;
}

hf_status hfi_rows_distinct(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx, size_t m,
                            size_t *first, size_t *number, size_t *distinct)
{
    const size_t size = table_size(m < n ? m : n);
    size_t count = 0;
    size_t *place = hfi_alloc(ctx, size, sizeof *place); /* 0: free, else 1 + index into first */
    if (place == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < n && count < m; i++) {
        const double *row = x + i * ldx;
        size_t at = (size_t)hash_row(d, row) & (size - 1);
        while (place[at] != 0 && !equal_rows(d, row, x + first[place[at] - 1] * ldx))
            at = (at + 1) & (size - 1);
        if (place[at] == 0) {
            first[count++] = i;
            place[at] = count;
        }
        if (number != NULL) number[i] = place[at] - 1;
    }
    hfi_free(ctx, place);
    *distinct = count;
    return HF_OK;
}
