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

#endif
