/* SPDX-License-Identifier: Apache-2.0 */
/* From readings one by one to a table with a column for each output. */
#include "objective/samples.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A reading and what it is sorted by: its sample or its inputs, then its column, then its place. */
typedef struct item {
    const double *x;
    size_t inputs, sample, output, place;
} item;

static int order(double a, double b)
{
    return (a > b) - (a < b);
}

static int order_size(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* By what tells samples apart. */
static int compare_samples(const item *a, const item *b)
{
    int c = order_size(a->sample, b->sample);
    for (size_t j = 0; c == 0 && j < a->inputs; j++) c = order(a->x[j], b->x[j]);
    return c;
}

static int compare_sample_items(const void *left, const void *right)
{
    const item *a = left, *b = right;
    int c = compare_samples(a, b);
    if (c == 0) c = order_size(a->output, b->output);
    return c != 0 ? c : order_size(a->place, b->place);
}

/* The row of every sorted item: the k-th reading of an output within its sample goes to the k-th row of the
 * sample. Returns the number of rows. */
static size_t assign_rows(size_t n, const item *items, size_t *row)
{
    size_t rows = 0;
    for (size_t begin = 0; begin < n;) {
        size_t end = begin, most = 0;
        for (size_t k = 0; end < n && compare_samples(items + begin, items + end) == 0; end++) {
            k = end > begin && items[end].output == items[end - 1].output ? k + 1 : 0;
            row[end] = rows + k;
            most = k > most ? k : most;
        }
        rows += most + 1;
        begin = end;
    }
    return rows;
}

static hf_status fill_samples(size_t n, const item *items, const size_t *row, const double *y,
                              hfi_samples *out)
{
    size_t cells;
    if (!hfi_size_mul(out->count, out->outputs, &cells)) return hfi_out_of_memory(out->ctx);
    if (HFI_ALLOC(out->ctx, HFI_ROOM(out->y, cells), HFI_ROOM(out->reading, cells)) < 0) return HF_ERR_MEMORY;
    for (size_t c = 0; c < cells; c++) {
        out->y[c] = NAN;
        out->reading[c] = SIZE_MAX;
    }
    for (size_t k = 0; k < n; k++) {
        const size_t cell = row[k] * out->outputs + items[k].output;
        out->y[cell] = y[items[k].place];
        out->reading[cell] = items[k].place;
    }
    return HF_OK;
}

hf_status hfi_samples_init(hf_context *ctx, size_t n, size_t d, size_t outputs, const double *x,
                           const double *y, const size_t *sample, const size_t *place_of, hfi_samples *out)
{
    *out = (hfi_samples){.ctx = ctx, .outputs = outputs};
    item *items = hfi_alloc(ctx, n, sizeof *items);
    size_t *row = hfi_alloc(ctx, n, sizeof *row);
    out->output = hfi_alloc(ctx, outputs, sizeof *out->output);
    hf_status s = items && row && out->output ? HF_OK : HF_ERR_MEMORY;
    if (s >= 0) {
        for (size_t t = 0; t < outputs; t++) out->output[place_of ? place_of[t] : t] = t;
        for (size_t i = 0; i < n; i++) {
            const size_t output = (size_t)hfi_output_of(x[i * d + d - 1], outputs);
            items[i] = (item){.x = x + i * d,
                              .inputs = sample ? 0 : d - 1,
                              .sample = sample ? sample[i] : 0,
                              .output = place_of ? place_of[output] : output,
                              .place = i};
        }
        qsort(items, n, sizeof *items, compare_sample_items);
        out->count = assign_rows(n, items, row);
        s = fill_samples(n, items, row, y, out);
    }
    HFI_FREE(ctx, items, row);
    if (s < 0) hfi_samples_free(out);
    return s;
}

void hfi_samples_free(hfi_samples *samples)
{
    HFI_FREE(samples->ctx, samples->output, samples->y, samples->reading);
    memset(samples, 0, sizeof *samples);
}
