/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file gram_reference.h
 * @brief The lower triangle of a Gram matrix by the plain double loop: slow.
 */
#ifndef HF_TESTS_KERNEL_GRAM_REFERENCE_H
#define HF_TESTS_KERNEL_GRAM_REFERENCE_H

#include "kernel/kernel.h"

static inline void gram_reference(const hf_kernel *kernel, size_t n, const double *x, size_t ldx,
                                  double *k, size_t ldk)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            k[i + j * ldk] = hfi_kernel_value(kernel, x + i * ldx, x + j * ldx, i == j);
}

#endif
