/* SPDX-License-Identifier: Apache-2.0 */
/* The first rows no two of which are equal, and random samples of rows. */
#include "solver/choose.h"

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

hf_status hfi_choose_distinct(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx, size_t m,
                              size_t *rows, size_t *chosen)
{
    size_t size = table_size(m < n ? m : n), count = 0;
    size_t *place = hfi_alloc(ctx, size, sizeof *place); /* 0: free, else 1 + index into rows */
    if (place == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < n && count < m; i++) {
        const double *row = x + i * ldx;
        size_t at = (size_t)hash_row(d, row) & (size - 1);
        while (place[at] != 0 && !equal_rows(d, row, x + rows[place[at] - 1] * ldx))
            at = (at + 1) & (size - 1);
        if (place[at] != 0) continue;
        rows[count++] = i;
        place[at] = count;
    }
    hfi_free(ctx, place);
    *chosen = count;
    return HF_OK;
}

void hfi_choose_sample(const hf_context *ctx, size_t n, size_t count, size_t *rows)
{
    /* Selection sampling (Knuth, The Art of Computer Programming, 3.4.2, algorithm S): ascending at once. */
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_INDUCING, 0);
    size_t taken = 0;
    for (size_t i = 0; i < n && taken < count; i++)
        if (hfi_stream_below(&stream, n - i) < count - taken) rows[taken++] = i;
}
