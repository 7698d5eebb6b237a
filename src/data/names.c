/* SPDX-License-Identifier: Apache-2.0 */
#include "data/table_impl.h"

#include <string.h>

typedef struct hfi_names_slot {
    const char *name; /* NULL: free */
    uint64_t hash;
    size_t column;
} hfi_names_slot;

/* FNV-1a, then mixed so that its low bits, which choose the slot, depend on all others. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *name != '\0'; name++) hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    hash = (hash ^ (hash >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ (hash >> 33);
}

/* The slot that holds the name, or the free one where it belongs. */
static hfi_names_slot *slot_of(const hfi_names *names, const char *name, uint64_t hash)
{
    size_t at = (size_t)hash & (names->capacity - 1);
    while (names->slots[at].name != NULL) {
        if (names->slots[at].hash == hash && strcmp(names->slots[at].name, name) == 0) break;
        at = (at + 1) & (names->capacity - 1);
    }
    return &names->slots[at];
}

bool hfi_names_reserve(hfi_names *names, const hfi_memory *memory, size_t count)
{
    if (count <= names->capacity / 2) return true;
    if (count > SIZE_MAX / 8) return false;
    size_t capacity = 16;
    while (capacity / 2 < count) capacity *= 2;
    hfi_names_slot *slots = hfi_memory_alloc(memory, capacity, sizeof *slots);
    if (slots == NULL) return false;
    hfi_names larger = {slots, capacity, names->count};
    for (size_t i = 0; i < names->capacity; i++)
        if (names->slots[i].name != NULL)
            *slot_of(&larger, names->slots[i].name, names->slots[i].hash) = names->slots[i];
    hfi_memory_free(memory, names->slots);
    *names = larger;
    return true;
}

size_t hfi_names_add(hfi_names *names, const char *name, size_t column)
{
    uint64_t hash = hash_of(name);
    hfi_names_slot *slot = slot_of(names, name, hash);
    if (slot->name != NULL) return slot->column;
    *slot = (hfi_names_slot){name, hash, column};
    names->count++;
    return column;
}

size_t hfi_names_find(const hfi_names *names, const char *name)
{
    if (names->capacity == 0) return SIZE_MAX;
    const hfi_names_slot *slot = slot_of(names, name, hash_of(name));
    return slot->name == NULL ? SIZE_MAX : slot->column;
}

void hfi_names_free(hfi_names *names, const hfi_memory *memory)
{
    hfi_memory_free(memory, names->slots);
    *names = (hfi_names){0};
}
