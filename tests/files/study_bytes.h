/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study_bytes.h
 * @brief The study that any bytes whatever are the file of; it has no file itself.
 */
#ifndef HF_TESTS_FILES_STUDY_BYTES_H
#define HF_TESTS_FILES_STUDY_BYTES_H

#include "files/bytes_file.h"
#include "files/study_store.h"

static inline hf_status study_from_bytes(hf_context *ctx, const void *bytes, size_t size,
                                         const char *name, hf_study **out)
{
    bytes_file file;
    if (!bytes_file_make(&file, bytes, size)) return HF_ERR_IO;
    hfi_study_store *store = hfi_study_store_new(ctx, name);
    hf_status status = store == NULL
                           ? HF_ERR_MEMORY
                           : hfi_ledger_open(ctx, store->ledger, file.path, HFI_LEDGER_LOOK);
    if (status >= 0) status = hfi_study_load(ctx, store, out);
    hfi_study_store_free(store);
    remove(file.path);
    return status;
}

#endif
