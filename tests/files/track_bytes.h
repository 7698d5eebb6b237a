/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track_bytes.h
 * @brief The track of a database in memory: takes any bytes whatever.
 */
#ifndef HF_TESTS_FILES_TRACK_BYTES_H
#define HF_TESTS_FILES_TRACK_BYTES_H

#include "files/track_store.h"

static inline hf_status track_from_bytes(hf_context *ctx, const unsigned char *bytes, size_t size,
                                         const char *name, hf_track **out)
{
    hfi_track_store *store = hfi_track_store_new(ctx, name);
    if (store == NULL) return HF_ERR_MEMORY;
    hf_status status = hfi_ledger_image(ctx, store->ledger, bytes, size);
    if (status >= 0) status = hfi_track_load(ctx, store, out);
    hfi_track_store_free(store);
    return status;
}

#endif
