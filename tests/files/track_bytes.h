/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track_bytes.h
 * @brief The track that any bytes whatever are the file of; it has no file itself.
 */
#ifndef HF_TESTS_FILES_TRACK_BYTES_H
#define HF_TESTS_FILES_TRACK_BYTES_H

#include "files/bytes_file.h"
#include "files/track_store.h"

static inline hf_status track_from_bytes(hf_context *ctx, const unsigned char *bytes, size_t size,
                                         const char *name, hf_track **out)
{
    bytes_file file;
    if (!bytes_file_make(&file, bytes, size)) return HF_ERR_IO;
    hfi_track_store *store = hfi_track_store_new(ctx, name);
    hf_status status = store == NULL
                           ? HF_ERR_MEMORY
                           : hfi_ledger_open(ctx, store->ledger, file.path, HFI_LEDGER_LOOK);
    if (status >= 0) status = hfi_track_load(ctx, store, out);
    hfi_track_store_free(store);
    remove(file.path);
    return status;
}

#endif
