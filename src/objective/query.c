/* SPDX-License-Identifier: Apache-2.0 */
/* Points beside the readings: their prior, what they add, and the way back through their covariances. */
#include "objective/query.h"

#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

hf_status hfi_query_init(hf_context *ctx, size_t q, size_t d, size_t m, hfi_query_add f, void *arg,
                         hfi_query *out)
{
    *out = (hfi_query){.ctx = ctx, .count = q, .d = d, .m = m, .add = f, .arg = arg};
    const hf_status status =
        HFI_ALLOC(ctx, HFI_ROOMS(out->x, q, d), HFI_ROOMS(out->x_bar, q, d), HFI_ROOM(out->mean, q),
                  HFI_ROOM(out->mean_bar, q), HFI_ROOMS(out->covariance, q, q),
                  HFI_ROOMS(out->covariance_bar, q, q), HFI_ROOMS(out->room, 3 * q, m));
    if (status < 0) hfi_query_free(out);
    return status;
}

void hfi_query_free(hfi_query *query)
{
    HFI_FREE(query->ctx, query->x, query->x_bar, query->mean, query->mean_bar, query->covariance,
             query->covariance_bar, query->room);
    memset(query, 0, sizeof *query);
}

hf_status hfi_query_prior(hfi_query *q, const hf_kernel *kernel, const hf_mean *mean)
{
    hf_mean_evaluate(mean, q->count, q->x, q->d, q->mean);
    return hf_kernel_gram(q->ctx, kernel, q->count, q->x, q->d, q->covariance, q->count);
}

static bool all_finite(size_t count, const double *values)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

hf_status hfi_query_tell(hfi_query *q)
{
    const size_t n = q->count;
    for (size_t a = 0; a < n; a++) q->covariance[a + a * n] = fmax(q->covariance[a + a * n], 0.0);
    const hf_status status =
        q->add(q->arg, n, q->mean, q->covariance, &q->value, q->mean_bar, q->covariance_bar);
    if (status < 0) return status;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < a; b++) {
            const double half = 0.5 * (q->covariance_bar[a + b * n] + q->covariance_bar[b + a * n]);
            q->covariance_bar[a + b * n] = q->covariance_bar[b + a * n] = half;
        }
    if (!isfinite(q->value) || !all_finite(n, q->mean_bar) || !all_finite(n * n, q->covariance_bar))
        return hfi_fail(q->ctx, HF_ERR_NOT_FINITE,
                        "what %zu points add to an objective is not finite, or its derivatives are not", n);
    return status;
}

hf_status hfi_query_prior_adjoint(hfi_query *q, const hf_kernel *kernel, const hf_mean *mean,
                                  double *gradient)
{
    const size_t n = q->count, d = q->d;
    double *square = hfi_alloc(q->ctx, n + 1, n * sizeof *square);
    if (square == NULL) return HF_ERR_MEMORY;
    double *diagonal = square + n * n;
    memcpy(square, q->covariance_bar, n * n * sizeof *square);
    memset(q->x_bar, 0, n * d * sizeof *q->x_bar);
    hf_status status = hfi_kernel_gram_input_adjoint(q->ctx, kernel, n, q->x, d, square, n, q->x_bar);
    /* The diagonal goes its own way: white is part of it. */
    for (size_t a = 0; a < n; a++) {
        diagonal[a] = square[a + a * n];
        square[a + a * n] = 0.0;
    }
    if (status >= 0) status = hfi_kernel_gram_adjoint(q->ctx, kernel, n, q->x, d, square, n, gradient);
    if (status >= 0) {
        hfi_kernel_diagonal_adjoint(kernel, n, q->x, d, diagonal, diagonal, gradient);
        hfi_mean_adjoint(mean, n, q->x, d, q->mean_bar, gradient + hf_kernel_parameters(kernel));
    }
    hfi_free(q->ctx, square);
    if (status < 0) return status;
    double *slope = hfi_alloc(q->ctx, d, sizeof *slope);
    if (slope == NULL) return HF_ERR_MEMORY;
    hfi_mean_input_gradient(mean, slope);
    for (size_t a = 0; a < n; a++) hfi_axpy(d, q->mean_bar[a], slope, q->x_bar + a * d);
    hfi_free(q->ctx, slope);
    return HF_OK;
}

hf_status hfi_query_cross_adjoint(hfi_query *q, const hf_kernel *kernel, size_t n, const double *z,
                                  const double *w, double *gradient, double *z_grad)
{
    const size_t count = q->count;
    hf_status status = z_grad == NULL ? HF_OK
                                      : hfi_kernel_cross_adjoint(q->ctx, kernel, count, q->x, q->d, n, z,
                                                                 q->d, w, n, NULL, z_grad);
    double *turned = status < 0 ? NULL : hfi_alloc_product(q->ctx, n, count, sizeof *turned);
    if (turned == NULL) return status < 0 ? status : HF_ERR_MEMORY;
    for (size_t a = 0; a < count; a++)
        for (size_t j = 0; j < n; j++) turned[a + j * count] = w[j + a * n];
    status = hfi_kernel_cross_adjoint(q->ctx, kernel, n, z, q->d, count, q->x, q->d, turned, count, gradient,
                                      q->x_bar);
    hfi_free(q->ctx, turned);
    return status;
}
