/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bytes.h
 * @brief Numbers and texts as bytes and back, the same on every machine: numbers are 8 bytes
 * little-endian, a text is its length as a number and its bytes.
 */
#ifndef HFI_BYTES_H
#define HFI_BYTES_H

#include "core/core.h"

/** A row of bytes that grows. All zero but `memory`: empty. The first lack of memory sticks. */
typedef struct hfi_bytes {
    hfi_memory memory;
    unsigned char *data;
    size_t count, room;
    bool failed;
} hfi_bytes;

void hfi_bytes_add_u64(hfi_bytes *bytes, uint64_t value);
/** To the bit: NaN, infinities and signed zeros too. */
void hfi_bytes_add_double(hfi_bytes *bytes, double value);
void hfi_bytes_add_doubles(hfi_bytes *bytes, size_t count, const double *values);
/** The same into 8 bytes for each that are there already. */
void hfi_doubles_to_bytes(size_t count, const double *values, unsigned char *out);
void hfi_bytes_add_text(hfi_bytes *bytes, const char *text);
/** Releases the bytes; it is empty then. */
void hfi_bytes_free(hfi_bytes *bytes);

/** Bytes that are still to be read, of anybody's making. Where they end too early, `bad` is true
 * from then on, and what is taken is zero. */
typedef struct hfi_bytes_left {
    const unsigned char *at;
    size_t left;
    bool bad;
} hfi_bytes_left;

uint64_t hfi_bytes_take_u64(hfi_bytes_left *from);
double hfi_bytes_take_double(hfi_bytes_left *from);
void hfi_bytes_take_doubles(hfi_bytes_left *from, size_t count, double *values);
/** A zero-terminated copy in `memory`, which the caller frees; NULL when `bad` (a zero byte within
 * is bad too) or out of memory. */
char *hfi_bytes_take_text(hfi_bytes_left *from, const hfi_memory *memory);
/** Whether `count` things of `size` bytes each can still come: to be asked before room is made for
 * them. */
bool hfi_bytes_have(const hfi_bytes_left *from, uint64_t count, size_t size);

#endif
