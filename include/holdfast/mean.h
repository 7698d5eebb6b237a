/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mean.h
 * @brief Prior means: zero, constant, median, linear, one constant per output.
 *
 * m(x) = sum_k b_k h_k(x) with h = () for zero, (1) for constant and median, (1, x_1, ..., x_d) for
 * linear, and for outputs h_k = 1 where the last input names output k. Coefficients of constant,
 * linear and outputs are trained (unless held); the median is taken from the targets once.
 *
 * A function that names no cost of its own is O(1), freeing aside. Any number of threads may ask
 * one mean while nobody changes it.
 */
#ifndef HOLDFAST_MEAN_H
#define HOLDFAST_MEAN_H

#include <holdfast/context.h>

HF_BEGIN_DECLS

typedef struct hf_mean hf_mean;

/** Kind of a prior mean. */
typedef enum hf_mean_kind {
    HF_MEAN_ZERO = 0,
    /** trained, or held at a given value */
    HF_MEAN_CONSTANT,
    /** the median of the targets that are present */
    HF_MEAN_MEDIAN,
    /** intercept and one slope per input, trained or integrated out (hf_fit_settings.mean) */
    HF_MEAN_LINEAR,
    /** one constant per output, trained: hf_mean_create_outputs() */
    HF_MEAN_OUTPUTS
} hf_mean_kind;

/** A mean over d >= 1 inputs with all coefficients 0. Not HF_MEAN_OUTPUTS, which must know how many
 * there are.
 * Errors: HF_ERR_ARGUMENT for NULL, no inputs and another kind; HF_ERR_MEMORY. O(d).
 */
HF_API hf_status hf_mean_create(hf_context *ctx, hf_mean_kind kind, size_t d, hf_mean **out);
/** One constant for each of `outputs` >= 1 outputs. The last of the d inputs is the number of the
 * output, 0, 1, ..., rounded to the nearest there is, as for the kernel `coregion`.
 * Errors: HF_ERR_ARGUMENT for NULL, no inputs and no outputs; HF_ERR_MEMORY. O(outputs).
 */
HF_API hf_status hf_mean_create_outputs(hf_context *ctx, size_t d, size_t outputs, hf_mean **out);
HF_API hf_status hf_mean_copy(hf_context *ctx, const hf_mean *mean, hf_mean **out);
HF_API void hf_mean_free(hf_mean *mean);

/** The kind it was created with. */
HF_API hf_mean_kind hf_mean_get_kind(const hf_mean *mean);
/** Number of coefficients: 0, 1, 1, d + 1 or the number of outputs. */
HF_API size_t hf_mean_coefficients(const hf_mean *mean);
/** The coefficients, owned by the mean. */
HF_API const double *hf_mean_values(const hf_mean *mean);
/** Sets all coefficients (hf_mean_coefficients() finite numbers). `held` keeps them: neither the
 * start values from the readings nor training change them. On error nothing changes.
 * Errors: HF_ERR_ARGUMENT for NULL, HF_ERR_NOT_FINITE. O(coefficients).
 */
HF_API hf_status hf_mean_set(hf_context *ctx, hf_mean *mean, const double *values, bool held);
HF_API bool hf_mean_held(const hf_mean *mean);

/** m(x) for n rows (n x d row-major, stride ldx >= d) into out (n entries). Writes nothing where
 * mean or out is NULL, or x is and the mean depends on it. O(n d). Thread-safe. */
HF_API void hf_mean_evaluate(const hf_mean *mean, size_t n, const double *x, size_t ldx,
                             double *out);

HF_END_DECLS

#endif
