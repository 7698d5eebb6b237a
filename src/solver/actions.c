/* SPDX-License-Identifier: Apache-2.0 */
/* Which readings share a block. */
#include "solver/projected.h"

#include <string.h>

void hfi_block_actions_free(hf_context *ctx, hfi_block_actions *actions)
{
    HFI_FREE(ctx, actions->order, actions->first, actions->entry);
    memset(actions, 0, sizeof *actions);
}

/* Places and blocks that are still to be cut. */
typedef struct span {
    size_t begin, end;   /* places */
    size_t block, count; /* blocks */
} span;

static size_t widest_input(const hfi_block_actions *a, const span *s, size_t d, const double *x, size_t ldx)
{
    size_t widest = 0;
    double width = -1.0;
    for (size_t c = 0; c < d; c++) {
        double low = x[a->order[s->begin] * ldx + c], high = low;
        for (size_t l = s->begin + 1; l < s->end; l++) {
            const double value = x[a->order[l] * ldx + c];
            if (value < low) low = value;
            if (value > high) high = value;
        }
        if (high - low > width) {
            width = high - low;
            widest = c;
        }
    }
    return widest;
}

/* Recursive halving along the widest input: as many readings to each side as its blocks will hold, so that the sizes
 * fixed beforehand come out. Ties go by the reading's number. `keys`: n. */
static void cluster(hfi_block_actions *a, size_t d, const double *x, size_t ldx, hfi_ranked *keys)
{
    /* Each cut leaves the larger half on the stack, whose number of blocks is at most half of its parent's
     * (rounded up). */
    span stack[2 * 8 * sizeof(size_t)] = {{0, a->n, 0, a->count}};
    size_t depth = 1;
    while (depth > 0) {
        const span s = stack[--depth];
        if (s.count <= 1) continue;
        const size_t input = widest_input(a, &s, d, x, ldx), left = s.count / 2;
        const size_t cut = a->first[s.block + left];
        for (size_t l = s.begin; l < s.end; l++)
            keys[l - s.begin] = (hfi_ranked){x[a->order[l] * ldx + input], a->order[l]};
        hfi_sort_ranked(keys, s.end - s.begin);
        for (size_t l = s.begin; l < s.end; l++) a->order[l] = keys[l - s.begin].index;
        stack[depth++] = (span){s.begin, cut, s.block, left};
        stack[depth++] = (span){cut, s.end, s.block + left, s.count - left};
    }
}

hf_status hfi_block_actions_init(hf_context *ctx, hf_blocks rule, size_t n, size_t d, const double *x,
                                 size_t ldx, size_t count, hfi_block_actions *out)
{
    hfi_block_actions a = {.n = n, .count = count};
    memset(out, 0, sizeof *out);
    if (n == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "there is no reading to act on");
    if (count == 0 || count > n)
        return hfi_refuse(ctx, "%zu actions over %zu readings; give 1 to %zu", count, n, n);
    if (rule != HF_BLOCKS_CONTIGUOUS && rule != HF_BLOCKS_CLUSTERED)
        return hfi_refuse(ctx, "there is no rule %d for blocks", (int)rule);
    a.order = hfi_alloc(ctx, n, sizeof *a.order);
    a.first = hfi_alloc(ctx, count + 1, sizeof *a.first);
    a.entry = hfi_alloc(ctx, n, sizeof *a.entry);
    hfi_ranked *keys = rule == HF_BLOCKS_CLUSTERED ? hfi_alloc(ctx, n, sizeof *keys) : NULL;
    if (!a.order || !a.first || !a.entry || (rule == HF_BLOCKS_CLUSTERED && !keys)) {
        hfi_free(ctx, keys);
        hfi_block_actions_free(ctx, &a);
        return HF_ERR_MEMORY;
    }
    for (size_t l = 0; l < n; l++) {
        a.order[l] = l;
        a.entry[l] = 0.0;
    }
    /* The first n mod count blocks are one longer. */
    for (size_t b = 0; b <= count; b++) a.first[b] = b * (n / count) + (b < n % count ? b : n % count);
    if (keys) cluster(&a, d, x, ldx, keys);
    hfi_free(ctx, keys);
    *out = a;
    return HF_OK;
}
