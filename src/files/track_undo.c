/* SPDX-License-Identifier: Apache-2.0 */
/* The newest entries of a track's file taken back. */
#include "files/track_store.h"

hf_status hf_track_file_undo(hf_context *ctx, const char *path, uint64_t entries, uint64_t *removed)
{
    if (ctx == NULL || path == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_track_file_undo: context and path must not be NULL");
    hfi_track_store *store = hfi_track_store_new(ctx, path);
    if (store == NULL) return HF_ERR_MEMORY;
    uint64_t count = 0;
    hf_status status = hfi_ledger_open(ctx, store->ledger, path, HFI_LEDGER_OWN);
    if (status >= 0) status = hfi_track_cut(ctx, store, entries, &count);
    hfi_track_store_free(store);
    if (status >= 0 && removed != NULL) *removed = count;
    return status;
}
