/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over a table in an order that does not depend on who adds up what. */
#include "core/core.h"
#include <string.h>

enum {
    MOST_PARTS = 8 /* unless there are more processes */
};

static size_t count_parts(const hf_context *ctx, size_t rows)
{
    const size_t size = hfi_group_size(ctx), most = size > MOST_PARTS ? size : MOST_PARTS;
    const size_t lots = rows / HFI_PART_ROWS + (rows % HFI_PART_ROWS != 0);
    if (lots == 0) return 1;
    return lots < most ? lots : most;
}

size_t hfi_parts_rows(const hf_context *ctx, size_t rows)
{
    const size_t parts = count_parts(ctx, rows);
    return rows / parts + (rows % parts != 0);
}

hf_status hfi_parts_init(hf_context *ctx, size_t rows, size_t count, double *total, hfi_parts *p)
{
    const size_t size = hfi_group_size(ctx), parts = count_parts(ctx, rows);
    const size_t kept = size == 1 ? 1 : parts / size + 2; /* one more to send parts of others from */
    *p = (hfi_parts){.ctx = ctx,
                     .rows = rows,
                     .parts = parts,
                     .next = hfi_group_rank(ctx),
                     .count = count,
                     .total = total};
    if (count == 0) return HF_OK;
    memset(total, 0, count * sizeof *total);
    size_t numbers = 0;
    if (!hfi_size_mul(kept, count, &numbers))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "sums of %zu numbers do not fit in memory", count);
    p->own = hfi_alloc(ctx, numbers, sizeof *p->own);
    return p->own ? HF_OK : HF_ERR_MEMORY;
}

static void add_part_sums(size_t count, const double *from, double *to)
{
    for (size_t i = 0; i < count; i++) to[i] += from[i];
}

bool hfi_parts_next(hfi_parts *p, size_t *begin, size_t *end, double **sums)
{
    const size_t size = hfi_group_size(p->ctx);
    const bool alone = size == 1;
    if (p->own && alone && p->begun) add_part_sums(p->count, p->own, p->total);
    p->begun = p->next < p->parts;
    if (!p->begun) return false;
    hfi_part(p->rows, p->parts, p->next, begin, end);
    if (p->own) {
        *sums = p->own + (alone ? 0 : p->next / size) * p->count;
        memset(*sums, 0, p->count * sizeof **sums);
    } else {
        *sums = NULL;
    }
    p->next += size;
    return true;
}

/* Each part is sent by its process; the others send zeros, which change nothing. */
static hf_status add_all(hfi_parts *p)
{
    const size_t size = hfi_group_size(p->ctx), rank = hfi_group_rank(p->ctx);
    double *room = p->own + (p->parts / size + 1) * p->count;
    hf_status status = HF_OK;
    if (size > MOST_PARTS) { /* one part each, or none: zeros as they were allocated */
        memcpy(p->total, p->own, p->count * sizeof *room);
        return hfi_group_sum(p->ctx, p->count, p->total);
    }
    for (size_t k = 0; k < p->parts && status >= 0; k++) {
        if (k % size == rank)
            memcpy(room, p->own + k / size * p->count, p->count * sizeof *room);
        else
            memset(room, 0, p->count * sizeof *room);
        status = hfi_group_sum(p->ctx, p->count, room);
        if (status >= 0) add_part_sums(p->count, room, p->total);
    }
    return status;
}

hf_status hfi_parts_finish(hfi_parts *p, hf_status status)
{
    status = hfi_group_agree(p->ctx, status);
    if (status >= 0 && p->own && hfi_group_size(p->ctx) > 1) status = add_all(p);
    hfi_free(p->ctx, p->own);
    p->own = NULL;
    return status;
}
