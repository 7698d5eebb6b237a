/* SPDX-License-Identifier: Apache-2.0 */
/* The evidence of readings in time, with exact gradients. */
#include "track/evidence.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

hf_status hfi_evidence_create(hf_context *ctx, const hf_kernel *kernel, size_t n, hfi_evidence *out)
{
    *out = (hfi_evidence){.ctx = ctx, .n = n, .d = hf_kernel_dimension(kernel)};
    hf_status status = hf_kernel_copy(ctx, kernel, &out->kernel);
    if (status >= 0)
        status = HFI_ALLOC(ctx, HFI_ROOMS(out->x, n, out->d + 6), HFI_ROOMS(out->prior, n, n),
                           HFI_ROOMS(out->factor, n, n), HFI_ROOMS(out->weights, n, n));
    if (status < 0) {
        hfi_evidence_free(out);
        return status;
    }
    out->time = out->x + n * out->d;
    out->y = out->time + n;
    out->known = out->y + n;
    out->share = out->known + n;
    out->ones = out->share + n;
    out->alpha = out->ones + n;
    return HF_OK;
}

void hfi_evidence_free(hfi_evidence *evidence)
{
    hf_context *ctx = evidence->ctx;
    hf_kernel_free(evidence->kernel);
    HFI_FREE(ctx, evidence->x, evidence->prior, evidence->factor, evidence->weights);
    memset(evidence, 0, sizeof *evidence);
}

/* K o E, lower triangle, into prior; with the noise, factored, into factor. */
static hf_status factor_faded_kernel(hfi_evidence *e, double noise, double period)
{
    const size_t n = e->n;
    hf_status status = hfi_kernel_gram_lower(e->ctx, e->kernel, n, e->x, e->d, e->prior, n);
    if (status < 0) return status;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j + 1; i < n; i++) e->prior[i + j * n] *= hfi_in_time(e->time[i], e->time[j], period);
        memcpy(e->factor + j * (n + 1), e->prior + j * (n + 1), (n - j) * sizeof *e->factor);
        e->factor[j * (n + 1)] += e->known[j] + noise * e->share[j];
    }
    return hfi_chol(e->ctx, n, e->factor, n);
}

/* alpha = A^-1 (y - m) with the constant m of generalised least squares; m's own derivative is zero there. */
static double solve_evidence_alpha(hfi_evidence *e)
{
    const size_t n = e->n;
    for (size_t i = 0; i < n; i++) e->ones[i] = 1.0;
    memcpy(e->alpha, e->y, n * sizeof *e->alpha);
    hfi_chol_solve(n, e->factor, n, e->ones);
    hfi_chol_solve(n, e->factor, n, e->alpha);
    double above = 0.0, below = 0.0, fit = 0.0;
    for (size_t i = 0; i < n; i++) {
        above += e->alpha[i];
        below += e->ones[i];
    }
    const double mean = above / below;
    for (size_t i = 0; i < n; i++) {
        e->alpha[i] -= mean * e->ones[i];
        fit += e->alpha[i] * (e->y[i] - mean);
    }
    return fit;
}

/* d value / d A_ij = (alpha_i alpha_j - A^-1_ij) / 2, and the chain rule. */
static hf_status differentiate(hfi_evidence *e, double noise, double period, double *gradient)
{
    const size_t n = e->n, p = hf_kernel_parameters(e->kernel);
    hfi_chol_inverse(e->ctx, n, e->factor, n);
    double by_noise = 0.0, by_period = 0.0;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            const double w = 0.5 * (e->alpha[i] * e->alpha[j] - e->factor[i + j * n]);
            const double gap = (e->time[i] - e->time[j]) / period;
            if (i == j) by_noise += w * noise * e->share[i];
            by_period += (i == j ? 1.0 : 2.0) * w * e->prior[i + j * n] * gap * gap;
            e->weights[i + j * n] = w * hfi_in_time(e->time[i], e->time[j], period);
        }
    }
    memset(gradient, 0, (p + 2) * sizeof *gradient);
    const hf_status status =
        hfi_kernel_gram_adjoint(e->ctx, e->kernel, n, e->x, e->d, e->weights, n, gradient);
    gradient[p] = by_noise;
    gradient[p + 1] = by_period;
    return status;
}

hf_status hfi_evidence_evaluate(hfi_evidence *e, const double *point, double *value, double *gradient)
{
    const size_t p = hf_kernel_parameters(e->kernel);
    const double noise = exp(point[p]), period = exp(point[p + 1]);
    hfi_kernel_set_theta(e->kernel, point);
    hf_status status = factor_faded_kernel(e, noise, period);
    if (status < 0) return status;
    const double fit = solve_evidence_alpha(e);
    *value = -0.5 * fit - 0.5 * hfi_chol_logdet(e->n, e->factor, e->n) - (double)e->n * HFI_HALF_LOG_2PI;
    return gradient != NULL ? differentiate(e, noise, period, gradient) : HF_OK;
}
