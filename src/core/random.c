/* SPDX-License-Identifier: Apache-2.0 */
/* Counter-based random streams. The key is (seed, purpose) and the counter (block, index, 0, 0). So no two
 * streams of one seed ever share a block, and there is nothing to split or to hand around. */
#include "core/core.h"

#include <Random123/philox.h>
#include <math.h>
#include <string.h>

enum {
    BLOCK_WORDS = 4
};

void hfi_stream_init(hfi_stream *stream, uint64_t seed, hfi_purpose purpose, uint64_t index)
{
    memset(stream, 0, sizeof *stream);
    stream->key[0] = seed;
    stream->key[1] = (uint64_t)purpose;
    stream->counter[1] = index;
    stream->used = BLOCK_WORDS;
}

static void next_block(hfi_stream *stream)
{
    philox4x64_ctr_t counter;
    philox4x64_key_t key;
    memcpy(counter.v, stream->counter, sizeof stream->counter);
    memcpy(key.v, stream->key, sizeof stream->key);
    philox4x64_ctr_t block = philox4x64_R(10, counter, key);
    memcpy(stream->block, block.v, sizeof stream->block);
    stream->counter[0]++;
    stream->used = 0;
}

uint64_t hfi_stream_bits(hfi_stream *stream)
{
    if (stream->used >= BLOCK_WORDS) next_block(stream);
    return stream->block[stream->used++];
}

double hfi_stream_uniform(hfi_stream *stream)
{
    /* Zero is drawn again instead of shifting the grid by half a step: the shifted top value would round
     * to 1. */
    uint64_t bits;
    do bits = hfi_stream_bits(stream) >> 11;
    while (bits == 0);
    return (double)bits * 0x1p-53;
}

double hfi_stream_normal(hfi_stream *stream)
{
    if (stream->have_normal) {
        stream->have_normal = false;
        return stream->normal;
    }
    double radius = sqrt(-2.0 * log(hfi_stream_uniform(stream)));
    double angle = 2.0 * HFI_PI * hfi_stream_uniform(stream);
    stream->normal = radius * sin(angle);
    stream->have_normal = true;
    return radius * cos(angle);
}

size_t hfi_stream_below(hfi_stream *stream, size_t bound)
{
    /* The lowest 2^64 mod bound values are refused; what is left divides evenly among the residues. */
    uint64_t range = bound, refuse = (UINT64_MAX - range + 1) % range, bits;
    do bits = hfi_stream_bits(stream);
    while (bits < refuse);
    return (size_t)(bits % range);
}

void hfi_stream_shuffle(hfi_stream *stream, size_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = hfi_stream_below(stream, i), last = items[i - 1];
        items[i - 1] = items[other];
        items[other] = last;
    }
}
