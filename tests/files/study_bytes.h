/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study_bytes.h
 * @brief The study of a database in memory: takes any bytes whatever.
 */
#ifndef HF_TESTS_FILES_STUDY_BYTES_H
#define HF_TESTS_FILES_STUDY_BYTES_H

#include "files/study_store.h"

static inline hf_status study_from_bytes(hf_context *ctx, const void *bytes, size_t size,
                                         const char *name, hf_study **out)
{
    hfi_study_store *store = hfi_study_store_new(ctx, name);
    if (store == NULL) return HF_ERR_MEMORY;
    hf_status status = hfi_ledger_image(ctx, store->ledger, bytes, size);
    if (status >= 0) status = hfi_study_load(ctx, store, out);
    hfi_study_store_free(store);
    return status;
}

#endif
