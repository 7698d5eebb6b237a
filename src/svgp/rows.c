/* SPDX-License-Identifier: Apache-2.0 */
/* Rows from memory, minibatches in a shuffled order, and samples. */
#include "svgp/impl.h"
#include <string.h>

enum {
    BLOCK = 256,            /* neighbouring rows that are read together */
    BUFFER_BYTES = 1 << 26, /* of rows that wait to be used */
    HANDFUL = 16            /* neighbouring rows of a sample */
};

/* ---- memory ------------------------------------------------------------------------------------------------ */

static hf_status read_arrays(void *arg, size_t begin, size_t count, double *x, double *y, double *extra)
{
    const hfi_row_arrays *from = arg;
    for (size_t i = 0; i < count; i++)
        memcpy(x + i * from->d, from->x + (begin + i) * from->ldx, from->d * sizeof *x);
    memcpy(y, from->y + begin, count * sizeof *y);
    for (size_t i = 0; i < count; i++) extra[i] = from->extra ? from->extra[begin + i] : 0.0;
    return HF_OK;
}

hfi_row_source hfi_row_source_in_memory(hfi_row_arrays *arrays)
{
    return (hfi_row_source){.n = arrays->n, .d = arrays->d, .read = read_arrays, .arg = arrays};
}

/* ---- minibatches ------------------------------------------------------------------------------------------- */

hf_status hfi_batches_init(hf_context *ctx, const hfi_row_source *rows, size_t size, hfi_batches *out)
{
    const size_t n = rows->n, d = rows->d;
    if (size == 0 || size > n) size = n;
    *out = (hfi_batches){.ctx = ctx, .rows = rows, .count = (n + size - 1) / size};
    const size_t held = BUFFER_BYTES / ((d + 2) * sizeof(double));
    out->per_group = hfi_smaller(out->count, held / size > 0 ? held / size : 1);
    out->resident = out->per_group == out->count;
    out->blocks = (n + BLOCK - 1) / BLOCK;
    const size_t largest = n / out->count + 1, room = out->resident ? n : out->per_group * largest;
    if (HFI_ALLOC(ctx, HFI_ROOM(out->order, out->blocks), HFI_ROOM(out->within, room),
                  HFI_ROOMS(out->buffer_x, room, d), HFI_ROOMS(out->buffer_y, room, 2),
                  HFI_ROOMS(out->x, largest, d), HFI_ROOMS(out->y, largest, 2)) < 0) {
        hfi_batches_free(out);
        return HF_ERR_MEMORY;
    }
    out->buffer_extra = out->buffer_y + room;
    out->extra = out->y + largest;
    return HF_OK;
}

void hfi_batches_free(hfi_batches *b)
{
    HFI_FREE(b->ctx, b->order, b->within, b->buffer_x, b->buffer_y, b->x, b->y);
    *b = (hfi_batches){0};
}

/* Where batch k of an epoch begins in the epoch's order of rows. */
static size_t begin_of(const hfi_batches *b, size_t k)
{
    const size_t n = b->rows->n, each = n / b->count, longer = n % b->count;
    return k * each + hfi_smaller(k, longer);
}

static void start_epoch(hfi_batches *b)
{
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(b->ctx), HFI_PURPOSE_MINIBATCH, 2 * b->epoch);
    for (size_t k = 0; k < b->blocks; k++) b->order[k] = k;
    if (!b->resident) hfi_stream_shuffle(&stream, b->order, b->blocks);
    b->block = b->offset = b->batch = 0;
}

/* The next `count` rows of the epoch's order into the buffer. */
static hf_status fill_batch_rows(hfi_batches *b, size_t count)
{
    const size_t n = b->rows->n, d = b->rows->d;
    hf_status s = HF_OK;
    for (size_t have = 0; s >= 0 && have < count;) {
        const size_t first = b->order[b->block] * BLOCK, size = hfi_smaller(BLOCK, n - first);
        const size_t run = hfi_smaller(size - b->offset, count - have);
        s = b->rows->read(b->rows->arg, first + b->offset, run, b->buffer_x + have * d, b->buffer_y + have,
                          b->buffer_extra + have);
        have += run;
        b->offset += run;
        if (b->offset == size) {
            b->offset = 0;
            b->block++;
        }
    }
    return s;
}

static hf_status next_group(hfi_batches *b)
{
    const size_t last = hfi_smaller(b->batch + b->per_group, b->count);
    const size_t count = begin_of(b, last) - begin_of(b, b->batch);
    if (!(b->resident && b->held > 0)) {
        const hf_status s = fill_batch_rows(b, count);
        if (s < 0) return s;
    }
    b->held = count;
    b->taken = 0;
    for (size_t i = 0; i < count; i++) b->within[i] = i;
    hfi_stream stream;
    const uint64_t index = ((uint64_t)b->epoch << 32) + (uint64_t)(b->batch / b->per_group);
    hfi_stream_init(&stream, hf_context_seed(b->ctx), HFI_PURPOSE_MINIBATCH, 2 * index + 1);
    hfi_stream_shuffle(&stream, b->within, count);
    return HF_OK;
}

hf_status hfi_batches_next(hfi_batches *b, size_t *count)
{
    const size_t d = b->rows->d;
    if (b->batch == 0) start_epoch(b);
    if (b->batch % b->per_group == 0) {
        const hf_status s = next_group(b);
        if (s < 0) return s;
    }
    *count = begin_of(b, b->batch + 1) - begin_of(b, b->batch);
    for (size_t i = 0; i < *count; i++) {
        const size_t from = b->within[b->taken + i];
        memcpy(b->x + i * d, b->buffer_x + from * d, d * sizeof *b->x);
        b->y[i] = b->buffer_y[from];
        b->extra[i] = b->buffer_extra[from];
    }
    b->taken += *count;
    if (++b->batch == b->count) {
        b->batch = 0;
        b->epoch++;
    }
    return HF_OK;
}

hf_status hfi_batches_seek(hfi_batches *b, size_t epoch, size_t batch)
{
    b->epoch = epoch;
    b->batch = 0;
    if (batch == 0) return HF_OK;
    start_epoch(b);
    const size_t first = batch - batch % b->per_group;
    /* Rows that groups before this one have read; the table's last block may be short. */
    for (size_t left = begin_of(b, first); left > 0;) {
        const size_t size = hfi_smaller(BLOCK, b->rows->n - b->order[b->block] * BLOCK),
                     run = hfi_smaller(size, left);
        b->offset = run < size ? run : 0;
        b->block += run < size ? 0 : 1;
        left -= run;
    }
    b->batch = first;
    if (batch == first) return HF_OK;
    const hf_status s = next_group(b);
    b->taken = begin_of(b, batch) - begin_of(b, first);
    b->batch = batch;
    return s;
}

/* ---- samples ----------------------------------------------------------------------------------------------- */

hf_status hfi_row_source_sample(hf_context *ctx, const hfi_row_source *rows, size_t wanted, uint64_t index,
                                double *x, double *y, double *extra, size_t *count)
{
    const size_t n = rows->n, handfuls = (n + HANDFUL - 1) / HANDFUL;
    const size_t kept = wanted >= n ? handfuls : hfi_smaller(handfuls, wanted / HANDFUL);
    size_t *order = hfi_alloc(ctx, handfuls, sizeof *order);
    if (!order) return HF_ERR_MEMORY;
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_SPLIT, 16 + index);
    for (size_t k = 0; k < handfuls; k++) order[k] = k;
    if (kept < handfuls) {
        hfi_stream_shuffle(&stream, order, handfuls);
        hfi_sort_indices(order, kept);
    }
    hf_status s = HF_OK;
    *count = 0;
    for (size_t k = 0; s >= 0 && k < kept; k++) {
        const size_t begin = order[k] * HANDFUL, run = hfi_smaller(HANDFUL, n - begin);
        s = rows->read(rows->arg, begin, run, x + *count * rows->d, y + *count, extra + *count);
        *count += run;
    }
    hfi_free(ctx, order);
    return s;
}
