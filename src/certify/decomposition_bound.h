/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file decomposition_bound.h
 * @brief Bound A (decomposition.h) as a kind of bound: it encloses means, of every kernel, and says nothing of variances. Its width grows with the sum of |t|.
 *
 * Cost n (d + the kernel's parts), some tenths of a microsecond an anchor.
 */
#ifndef HFI_CERTIFY_DECOMPOSITION_BOUND_H
#define HFI_CERTIFY_DECOMPOSITION_BOUND_H

#include "certify/bound.h"

extern const hfi_bound_kind hfi_bound_decomposition;

#endif
