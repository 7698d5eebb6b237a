/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bytes.h"

#include <string.h>

/* ---- writing -------------------------------------------------------------------------------------------------- */

/* Room for `more` bytes at the end; NULL once it has failed. */
static unsigned char *extend(hfi_bytes *bytes, size_t more)
{
    if (bytes->failed || more > SIZE_MAX / 2 - bytes->count) bytes->failed = true;
    if (bytes->failed) return NULL;
    unsigned char *data =
        hfi_memory_grow(&bytes->memory, bytes->data, bytes->count, bytes->count + more, &bytes->room, 1);
    bytes->failed = data == NULL;
    if (data == NULL) return NULL;
    bytes->data = data;
    unsigned char *end = bytes->data + bytes->count;
    bytes->count += more;
    return end;
}

static void put_little_endian(unsigned char *out, uint64_t value)
{
    for (unsigned b = 0; b < 8; b++) out[b] = (unsigned char)(value >> (8U * b));
}

void hfi_bytes_add_u64(hfi_bytes *bytes, uint64_t value)
{
    unsigned char *out = extend(bytes, 8);
    if (out != NULL) put_little_endian(out, value);
}

void hfi_bytes_add_double(hfi_bytes *bytes, double value)
{
    hfi_bytes_add_doubles(bytes, 1, &value);
}

void hfi_bytes_add_doubles(hfi_bytes *bytes, size_t count, const double *values)
{
    if (count > SIZE_MAX / 16) bytes->failed = true;
    unsigned char *out = bytes->failed ? NULL : extend(bytes, 8 * count);
    if (out != NULL) hfi_doubles_to_bytes(count, values, out);
}

void hfi_doubles_to_bytes(size_t count, const double *values, unsigned char *out)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        put_little_endian(out + 8 * i, bits);
    }
}

void hfi_bytes_add_text(hfi_bytes *bytes, const char *text)
{
    const size_t length = strlen(text);
    hfi_bytes_add_u64(bytes, length);
    unsigned char *out = extend(bytes, length);
    for (size_t i = 0; out != NULL && i < length; i++) out[i] = (unsigned char)text[i];
}

void hfi_bytes_free(hfi_bytes *bytes)
{
    hfi_memory_free(&bytes->memory, bytes->data);
    *bytes = (hfi_bytes){.memory = bytes->memory};
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

bool hfi_bytes_have(const hfi_bytes_left *from, uint64_t count, size_t size)
{
    return !from->bad && count <= from->left / size;
}

/* The next bytes; NULL when they are not there. */
static const unsigned char *take(hfi_bytes_left *from, uint64_t bytes)
{
    if (!hfi_bytes_have(from, bytes, 1)) from->bad = true;
    if (from->bad) return NULL;
    const unsigned char *at = from->at;
    from->at += bytes;
    from->left -= (size_t)bytes;
    return at;
}

static uint64_t get(const unsigned char *in)
{
    uint64_t value = 0;
    for (unsigned b = 0; b < 8; b++) value |= (uint64_t)in[b] << (8U * b);
    return value;
}

uint64_t hfi_bytes_take_u64(hfi_bytes_left *from)
{
    const unsigned char *in = take(from, 8);
    return in != NULL ? get(in) : 0;
}

double hfi_bytes_take_double(hfi_bytes_left *from)
{
    double value;
    hfi_bytes_take_doubles(from, 1, &value);
    return value;
}

void hfi_bytes_take_doubles(hfi_bytes_left *from, size_t count, double *values)
{
    if (!hfi_bytes_have(from, count, 8)) from->bad = true;
    const unsigned char *in = from->bad ? NULL : take(from, 8 * (uint64_t)count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = in != NULL ? get(in + 8 * i) : 0;
        memcpy(&values[i], &bits, sizeof bits);
    }
}

char *hfi_bytes_take_text(hfi_bytes_left *from, const hfi_memory *memory)
{
    const uint64_t length = hfi_bytes_take_u64(from);
    const unsigned char *in = take(from, length);
    if (in == NULL) return NULL;
    if (length > 0 && memchr(in, 0, (size_t)length) != NULL) from->bad = true;
    char *text = from->bad ? NULL : hfi_memory_alloc(memory, (size_t)length + 1, 1);
    if (text != NULL && length > 0) memcpy(text, in, (size_t)length);
    return text;
}
