/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file features.h
 * @brief Functions drawn from the prior: weighted sums of random waves that a kernel is the
 * covariance of.
 *
 *     f(x) = sum_i amplitude_i cos(frequency_i' x + phase_i) prod_j factor_ij(x)
 *
 * Frequencies come from the kernel's spectral density; amplitude and phase are those of two
 * independent normal weights. Over the draws f thus has mean 0 and exactly the covariance k;
 * given its frequencies a function is normal with a covariance that is off by
 * O(1/sqrt(waves)). The factors are linear functions, tables over outputs, and signs of categories.
 * Source: Rahimi, Recht, Random features for large-scale kernel machines, 2007.
 */
#ifndef HFI_KERNEL_FEATURES_H
#define HFI_KERNEL_FEATURES_H

#include "kernel/kernel.h"

typedef struct hfi_feature_factor hfi_feature_factor;

typedef struct hfi_features {
    hfi_memory memory;
    size_t d, count;
    double *frequency;           /**< d x count: those of input j side by side */
    double *phase, *amplitude;   /**< count */
    size_t *first;               /**< count + 1: factors of feature i are first[i] .. first[i+1] - 1
                                      */
    hfi_feature_factor *factors; /**< of all features */
    double *numbers;             /**< what they are made of */
} hfi_features;

/** `features_of_each` features for every term of the kernel; 1, which is exact, for a term that
 * is a constant, linear or a coregion alone. HF_ERR_ARGUMENT for a kernel of which no function
 * can be drawn, by its name; HF_ERR_MEMORY. O(features_of_each terms d). */
hf_status hfi_features_create(hf_context *ctx, const hf_kernel *kernel, size_t features_of_each,
                              hfi_stream *stream, hfi_features *out);
void hfi_features_free(hfi_features *features);
/** f(x); adds its gradient to `gradient` (d entries) unless that is NULL. Thread-safe, allocates
 * nothing. O(count d). */
double hfi_features_evaluate(const hfi_features *features, const double *x, double *gradient);

#endif
