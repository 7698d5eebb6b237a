/* SPDX-License-Identifier: Apache-2.0 */
/* The envelope as an object: memory, and what others ask about it. */
#include "envelope/envelope.h"

#include <math.h>
#include <string.h>

void hf_envelope_free(hf_envelope *envelope)
{
    if (!envelope) return;
    const hfi_memory memory = envelope->memory;
    hfi_envelope_strip(envelope);
    hf_kernel_free(envelope->kernel);
    HFI_MEMORY_FREE(&memory, envelope->x, envelope->k, envelope->sd, envelope->smooth_index,
                    envelope->smooth_sign, envelope);
}

/* Columns a power of two apart would fall into the same few places of the cache. */
static size_t column_stride(size_t capacity)
{
    const size_t stride = (capacity + 7) / 8 * 8;
    return stride % 512 == 0 ? stride + 8 : stride;
}

/* Bytes, and whether there are as many. */
static hf_status measure_kernel_matrix(hf_context *ctx, hf_envelope *envelope, size_t *entries)
{
    size_t bytes;
    envelope->ldk = column_stride(envelope->capacity);
    const bool fits = hfi_size_mul(envelope->ldk, envelope->capacity, entries) &&
                      hfi_size_mul(*entries, sizeof(double), &bytes);
    if (!fits || bytes > hfi_available_memory())
        return hfi_fail(
            ctx, HF_ERR_TOO_LARGE, "the kernel matrix of %zu readings has %.3g GiB, which are not there",
            envelope->capacity,
            8.0 * (double)envelope->ldk * (double)envelope->capacity / (1024.0 * 1024.0 * 1024.0));
    return HF_OK;
}

static bool allocate_arrays(hf_envelope *e, size_t entries)
{
    enum {
        VECTORS = 8,
        INDICES = 3
    };
    const size_t c = e->capacity;
    if (!HFI_MEMORY_ALLOC(&e->memory, HFI_ROOMS(e->x, c, e->d), HFI_ROOM(e->k, entries),
                          HFI_ROOMS(e->sd, c, VECTORS), HFI_ROOMS(e->smooth_index, c, INDICES),
                          HFI_ROOM(e->smooth_sign, c)))
        return false;
    double **const vectors[VECTORS - 1] = {&e->lower[0],  &e->lower[1],  &e->upper[0],    &e->upper[1],
                                           &e->smooth_nu, &e->centre_nu, &e->centre_value};
    for (size_t k = 0; k < VECTORS - 1; k++) *vectors[k] = e->sd + (k + 1) * c;
    e->centre_index = e->smooth_index + c;
    e->conflict = e->centre_index + c;
    e->bytes = (double)entries * sizeof(double) +
               (double)c * ((double)(e->d + VECTORS) * sizeof(double) + INDICES * sizeof(size_t) + 1.0);
    return true;
}

hf_status hfi_envelope_allocate(hf_context *ctx, hfi_memory memory, size_t d, size_t capacity,
                                hf_envelope **out)
{
    hf_envelope *envelope = hfi_memory_alloc(&memory, 1, sizeof *envelope);
    if (!envelope) return hfi_out_of_memory(ctx);
    size_t entries = 0;
    envelope->memory = memory;
    envelope->d = d;
    envelope->capacity = capacity;
    envelope->conflict_norm = NAN;
    hf_status status = measure_kernel_matrix(ctx, envelope, &entries);
    if (status >= 0 && !allocate_arrays(envelope, entries)) status = hfi_out_of_memory(ctx);
    if (status >= 0)
        *out = envelope;
    else
        hf_envelope_free(envelope);
    return status;
}

bool hfi_envelope_equip(hf_envelope *envelope)
{
    hfi_smoothest_work *work_area = &envelope->work_area;
    const hfi_memory *memory = &envelope->memory;
    const size_t scratch = hfi_kernel_scratch(envelope->kernel);
    if (work_area->limits) return true;
    if (!hfi_chain_init(memory, envelope->capacity, &work_area->chain)) return false;
    if (!HFI_MEMORY_ALLOC(memory, HFI_ROOM(work_area->scratch, scratch),
                          HFI_ROOMS(work_area->limits, envelope->capacity, 2))) {
        hfi_envelope_strip(envelope);
        return false;
    }
    work_area->bytes = work_area->chain.bytes +
                       (2.0 * (double)envelope->capacity + (double)scratch) * sizeof *work_area->limits;
    envelope->bytes += work_area->bytes;
    return true;
}

void hfi_envelope_strip(hf_envelope *envelope)
{
    hfi_smoothest_work *work_area = &envelope->work_area;
    envelope->bytes -= work_area->bytes;
    hfi_chain_free(&envelope->memory, &work_area->chain);
    HFI_MEMORY_FREE(&envelope->memory, work_area->limits, work_area->scratch);
    *work_area = (hfi_smoothest_work){0};
}

void hfi_envelope_set_limits(hf_envelope *envelope, size_t i, double lower, double upper)
{
    envelope->lower[HF_UPPER][i] = lower;
    envelope->upper[HF_UPPER][i] = upper;
    envelope->lower[HF_LOWER][i] = -upper;
    envelope->upper[HF_LOWER][i] = -lower;
}

size_t hfi_envelope_reading_at(const hf_envelope *envelope, const double *x)
{
    const size_t d = envelope->d;
    for (size_t i = 0; i < envelope->n; i++) {
        const double *own = envelope->x + i * d;
        size_t j = 0;
        while (j < d && own[j] == x[j]) j++;
        if (j == d) return i;
    }
    return envelope->n;
}

hfi_active_problem hfi_envelope_problem(const hf_envelope *envelope, hf_side side)
{
    return (hfi_active_problem){.n = envelope->n,
                                .k = envelope->k,
                                .ldk = envelope->ldk,
                                .lower = envelope->lower[side],
                                .upper = envelope->upper[side],
                                .sd = envelope->sd,
                                .jitter = envelope->settings.jitter,
                                .norm = envelope->norm};
}

void hf_envelope_conflict(const hf_envelope *envelope, size_t *count, size_t *reading, double *smallest_norm)
{
    if (count) *count = envelope ? envelope->conflict_count : 0;
    if (smallest_norm) *smallest_norm = envelope ? envelope->conflict_norm : NAN;
    if (envelope && reading && envelope->conflict_count > 0)
        memcpy(reading, envelope->conflict, envelope->conflict_count * sizeof *reading);
}

size_t hf_envelope_readings(const hf_envelope *envelope)
{
    return envelope ? envelope->n : 0;
}

size_t hf_envelope_dimension(const hf_envelope *envelope)
{
    return envelope ? envelope->d : 0;
}

double hf_envelope_norm(const hf_envelope *envelope)
{
    return envelope ? envelope->norm : NAN;
}

double hf_envelope_minimum_norm(const hf_envelope *envelope)
{
    return envelope ? envelope->minimum_norm : NAN;
}

double hf_envelope_offset(const hf_envelope *envelope)
{
    return envelope ? envelope->offset : NAN;
}

double hf_envelope_bytes(const hf_envelope *envelope)
{
    return envelope ? envelope->bytes : 0.0;
}

const hf_kernel *hf_envelope_kernel(const hf_envelope *envelope)
{
    return envelope ? envelope->kernel : NULL;
}

hf_status hf_envelope_reading(const hf_envelope *envelope, size_t i, const double **x, double *lower,
                              double *upper)
{
    if (!envelope || i >= envelope->n) return HF_ERR_ARGUMENT;
    if (x) *x = envelope->x + i * envelope->d;
    if (lower) *lower = hfi_add_down(envelope->lower[HF_UPPER][i], envelope->offset);
    if (upper) *upper = hfi_add_up(envelope->upper[HF_UPPER][i], envelope->offset);
    return HF_OK;
}
