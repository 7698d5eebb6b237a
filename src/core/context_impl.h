/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file context_impl.h
 * @brief The parts of a context; for the core room only, everybody else uses the functions.
 */
#ifndef HFI_CONTEXT_IMPL_H
#define HFI_CONTEXT_IMPL_H

#include "core/core.h"

enum {
    HFI_MESSAGE_BYTES = 1024
};

struct hf_context {
    hfi_memory memory;
    int threads; /* always >= 1 */
    uint64_t seed;
    hf_progress progress; /* NULL: nobody listens */
    void *progress_user;
    hf_group group;                  /* size 0: none */
    size_t shared_factor;            /* of hfi_group_shared_factor(); 0: the one that pays */
    char message[HFI_MESSAGE_BYTES]; /* always terminated */
};

/** malloc and free as an hfi_memory. */
hfi_memory hfi_memory_default(void);

#endif
