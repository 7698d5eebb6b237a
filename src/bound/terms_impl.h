/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file terms_impl.h
 * @brief What the files that take the kernel apart share.
 */
#ifndef HFI_BOUND_TERMS_IMPL_H
#define HFI_BOUND_TERMS_IMPL_H

#include "bound/terms.h"

/** Whether a factor of a term looks at a free input. */
bool hfi_factor_is_free(const hfi_terms *terms, size_t factor);
/** The norms of all terms. O(n^2) kernel values, threads. */
hf_status hfi_terms_norms(hf_context *ctx, hfi_terms *terms);

#endif
