/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a prior mean and their derivatives. */
#include "kernel/kernel.h"
#include "mean/mean_impl.h"

/* The coefficient of the output that a row names. */
static size_t output_of(const hf_mean *mean, const double *row)
{
    return (size_t)hfi_output_of(row[mean->d - 1], mean->count);
}

static void evaluate_mean_rows(const hf_mean *mean, size_t n, const double *x, size_t ldx, double *out)
{
    const double *b = mean->values;
    if (mean->kind == HF_MEAN_OUTPUTS) {
        for (size_t i = 0; i < n; i++) out[i] = b[output_of(mean, x + i * ldx)];
        return;
    }
    double intercept = mean->count > 0 ? b[0] : 0.0;
    for (size_t i = 0; i < n; i++) out[i] = intercept;
    if (mean->kind != HF_MEAN_LINEAR) return;
    for (size_t i = 0; i < n; i++) {
        const double *row = x + i * ldx;
        double value = intercept;
        for (size_t k = 0; k < mean->d; k++) value += b[k + 1] * row[k];
        out[i] = value;
    }
}

void hf_mean_evaluate(const hf_mean *mean, size_t n, const double *x, size_t ldx, double *out)
{
    if (!mean || !out) return;
    if (!x && (mean->lift || mean->kind == HF_MEAN_OUTPUTS || mean->kind == HF_MEAN_LINEAR)) return;
    evaluate_mean_rows(mean, n, x, ldx, out);
    for (size_t i = 0; mean->lift != NULL && i < n; i++) out[i] += hfi_lift_value(mean->lift, x + i * ldx);
}

void hfi_mean_adjoint(const hf_mean *mean, size_t n, const double *x, size_t ldx, const double *weights,
                      double *grad)
{
    if (mean->count == 0) return;
    if (mean->kind == HF_MEAN_OUTPUTS) {
        for (size_t i = 0; i < n; i++) grad[output_of(mean, x + i * ldx)] += weights[i];
        return;
    }
    for (size_t i = 0; i < n; i++) grad[0] += weights[i];
    if (mean->kind != HF_MEAN_LINEAR) return;
    for (size_t i = 0; i < n; i++) {
        const double *row = x + i * ldx;
        for (size_t k = 0; k < mean->d; k++) grad[k + 1] += weights[i] * row[k];
    }
}

void hfi_mean_input_gradient(const hf_mean *mean, double *grad)
{
    if (mean->kind != HF_MEAN_LINEAR) return;
    for (size_t k = 0; k < mean->d; k++) grad[k] += mean->values[k + 1];
}
