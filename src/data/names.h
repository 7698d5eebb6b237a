/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file names.h
 * @brief Column numbers by name: a hash table, since files with 100 000 columns exist.
 */
#ifndef HFI_DATA_NAMES_H
#define HFI_DATA_NAMES_H

#include "core/core.h"

/** Open addressing over names owned by somebody else. All zero is an empty index. */
typedef struct hfi_names {
    struct hfi_names_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} hfi_names;

/** Makes room for `count` names in all, so that as many hfi_names_add succeed. False when out of
 * memory; the index is then as before. */
bool hfi_names_reserve(hfi_names *names, const hfi_memory *memory, size_t count);

/** Adds a name, which must stay where it is, unless it is there. Returns the column it stands for:
 * `column`, or that of the equal name. */
size_t hfi_names_add(hfi_names *names, const char *name, size_t column);

/** The column of a name; SIZE_MAX when there is none. O(length) on average. */
size_t hfi_names_find(const hfi_names *names, const char *name);

void hfi_names_free(hfi_names *names, const hfi_memory *memory);

#endif
