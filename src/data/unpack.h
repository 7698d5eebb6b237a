/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file unpack.h
 * @brief Files that gzip or zstd packed.
 */
#ifndef HFI_DATA_UNPACK_H
#define HFI_DATA_UNPACK_H

#include "data/manner.h"

/** Whether bytes begin as those of a packed file do. */
bool hfi_is_packed(const char *bytes, size_t size);

/**
 * Unpacks a text in place of the packed one, which is freed, with a byte to spare behind it; leaves
 * alone what is not packed. HF_ERR_IO with a message: damaged, cut off, or a build without the
 * library; HF_ERR_TOO_LARGE for a bomb; HF_ERR_MEMORY, HF_ERR_CANCELLED. On error *text stays the
 * caller's.
 */
hf_status hfi_unpack(hf_context *ctx, const char *source, hfi_manner *manner, char **text,
                     size_t *bytes);

/* ---- piece by piece -------------------------------------------------------------------------- */

typedef struct hfi_unpacker hfi_unpacker;

/** Packed bytes at hand and room for unpacked ones; how many were used of each. */
typedef struct hfi_unpack_piece {
    const char *in;
    size_t bytes, taken;
    bool last; /* of the file */
    char *out;
    size_t room, made;
} hfi_unpack_piece;

/** For a packed file of `total` bytes that begins with these `bytes`. Errors as of hfi_unpack(). */
hf_status hfi_unpacker_make(hf_context *ctx, const char *source, const char *front, size_t bytes,
                            size_t total, hfi_unpacker **out);
/** Uses some of the bytes and some of the room, at least one of both. *done: the file is over. What
 * was not used is to come again. Errors as of hfi_unpack(). */
hf_status hfi_unpacker_go(hfi_unpacker *unpacker, hfi_unpack_piece *piece, bool *done);
void hfi_unpacker_free(hfi_unpacker *unpacker);

#endif
