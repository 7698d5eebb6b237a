/* SPDX-License-Identifier: Apache-2.0 */
/* Checked, zeroed, 64-byte aligned memory out of any allocator. */
#include "core/context_impl.h"

#include <stdlib.h>
#include <string.h>

/* A cache line, and the width of the widest vector registers. */
enum {
    ALIGNMENT = 64
};

/* calloc rather than malloc: for large blocks the kernel's pages are zero already, so that zeroing is free
 * (hfi_memory_alloc knows and does not do it again). */
static void *default_allocate(size_t bytes, void *user)
{
    (void)user;
    return calloc(bytes, 1);
}

static void default_release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

hfi_memory hfi_memory_default(void)
{
    return (hfi_memory){.allocate = default_allocate, .release = default_release, .user = NULL};
}

bool hfi_size_mul(size_t a, size_t b, size_t *product)
{
    if (a != 0 && b > SIZE_MAX / a) return false;
    *product = a * b;
    return true;
}

/* Layout: [slack][pointer to the allocator's block][ALIGNMENT-aligned memory handed out]. */
static void *allocate_aligned(const hfi_memory *memory, size_t count, size_t size, bool zeroed)
{
    const bool standard = memory->allocate == default_allocate;
    const size_t overhead = sizeof(void *) + ALIGNMENT - 1;
    size_t bytes;
    if (!hfi_size_mul(count, size, &bytes) || bytes > SIZE_MAX / 2 - overhead) return NULL;
    if (bytes == 0) bytes = 1;
    char *raw =
        standard && !zeroed ? malloc(bytes + overhead) : memory->allocate(bytes + overhead, memory->user);
    if (raw == NULL) return NULL;
    size_t slack = ALIGNMENT - (size_t)((uintptr_t)(raw + sizeof(void *)) % ALIGNMENT);
    char *block = raw + sizeof(void *) + slack % ALIGNMENT;
    memcpy(block - sizeof(void *), &raw, sizeof raw);
    if (zeroed && !standard) memset(block, 0, bytes);
    return block;
}

void *hfi_memory_alloc(const hfi_memory *memory, size_t count, size_t size)
{
    return allocate_aligned(memory, count, size, true);
}

void hfi_memory_free(const hfi_memory *memory, void *block)
{
    if (block == NULL) return;
    void *raw;
    memcpy(&raw, (char *)block - sizeof(void *), sizeof raw);
    memory->release(raw, memory->user);
}

void hfi_memory_free_list(const hfi_memory *memory, size_t count, void *const *block)
{
    for (size_t k = 0; k < count; k++) hfi_memory_free(memory, block[k]);
}

void *hfi_memory_grow(const hfi_memory *memory, void *block, size_t used, size_t need, size_t *room,
                      size_t size)
{
    enum {
        SMALLEST = 16
    };
    if (block != NULL && need <= *room) return block;
    size_t more = *room > 0 ? *room : SMALLEST;
    while (more < need && more <= SIZE_MAX / 2) more *= 2;
    void *larger = more >= need ? hfi_memory_alloc(memory, more, size) : NULL;
    if (larger == NULL) return NULL;
    if (block != NULL) memcpy(larger, block, used * size);
    hfi_memory_free(memory, block);
    *room = more;
    return larger;
}

char *hfi_memory_strdup(const hfi_memory *memory, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = hfi_memory_alloc(memory, bytes, 1);
    if (copy != NULL) memcpy(copy, text, bytes);
    return copy;
}

hfi_memory hfi_context_memory(const hf_context *ctx)
{
    return ctx != NULL ? ctx->memory : hfi_memory_default();
}

static hf_status report_no_memory(hf_context *ctx, size_t count, double size)
{
    return hfi_fail(ctx, HF_ERR_MEMORY, "out of memory: %zu x %.0f bytes (%.3g GiB) could not be had", count,
                    size, (double)count * size / (1024.0 * 1024.0 * 1024.0));
}

static void *allocate_or_tell(hf_context *ctx, size_t count, size_t size, bool zeroed)
{
    hfi_memory memory = hfi_context_memory(ctx);
    void *block = allocate_aligned(&memory, count, size, zeroed);
    if (block == NULL) (void)report_no_memory(ctx, count, (double)size);
    return block;
}

void *hfi_alloc(hf_context *ctx, size_t count, size_t size)
{
    return allocate_or_tell(ctx, count, size, true);
}

void *hfi_alloc_product(hf_context *ctx, size_t a, size_t b, size_t size)
{
    size_t count = 0;
    if (hfi_size_mul(a, b, &count)) return hfi_alloc(ctx, count, size);
    (void)hfi_out_of_memory(ctx);
    return NULL;
}

static const void *const nothing = NULL;

/* The array of a room into its place. */
static bool fill_room(const hfi_memory *memory, const hfi_room *room)
{
    size_t bytes;
    void *block = hfi_size_mul(room->times, room->size, &bytes)
                      ? allocate_aligned(memory, room->count, bytes, true)
                      : NULL;
    memcpy(room->place, &block, sizeof block);
    return block != NULL;
}

/* How many of the rooms were filled, in their order; the others are left NULL. */
static size_t fill_all(const hfi_memory *memory, size_t count, const hfi_room *room)
{
    size_t had = 0;
    while (had < count && fill_room(memory, &room[had])) had++;
    for (size_t k = had; k < count; k++) memcpy(room[k].place, &nothing, sizeof nothing);
    return had;
}

bool hfi_memory_alloc_list(const hfi_memory *memory, size_t count, const hfi_room *room)
{
    return fill_all(memory, count, room) == count;
}

hf_status hfi_alloc_list(hf_context *ctx, size_t count, const hfi_room *room)
{
    const hfi_memory memory = hfi_context_memory(ctx);
    const size_t had = fill_all(&memory, count, room);
    return had == count
               ? HF_OK
               : report_no_memory(ctx, room[had].count, (double)room[had].times * (double)room[had].size);
}

size_t hfi_lay_out_list(double *block_or_null, size_t count, const hfi_room *room)
{
    size_t numbers = 0;
    for (size_t k = 0; k < count; k++) {
        double *part = block_or_null != NULL ? block_or_null + numbers : NULL;
        memcpy(room[k].place, &part, sizeof part);
        numbers += room[k].count * room[k].times;
    }
    return numbers;
}

void *hfi_alloc_unset(hf_context *ctx, size_t count, size_t size)
{
    return allocate_or_tell(ctx, count, size, false);
}

void hfi_free(hf_context *ctx, void *block)
{
    hfi_memory memory = hfi_context_memory(ctx);
    hfi_memory_free(&memory, block);
}

void hfi_free_list(hf_context *ctx, size_t count, void *const *block)
{
    const hfi_memory memory = hfi_context_memory(ctx);
    hfi_memory_free_list(&memory, count, block);
}
