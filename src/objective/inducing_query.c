/* SPDX-License-Identifier: Apache-2.0 */
/* Points beside the readings with the inducing solver; formulas in objective/query.h. */
#include "linalg/linalg.h"
#include "objective/inducing_impl.h"
#include "objective/query.h"
#include <string.h>

/* Columns v_a and y_a, in the query's room. */
static hf_status whiten_query_columns(const hfi_evaluator *e)
{
    const hfi_inducing *u = e->inducing;
    const hfi_query *q = e->query;
    const size_t m = u->m;
    size_t each;
    double *v = q->room, *y = v + q->count * m;
    double *scratch = hfi_kernel_scratch_alloc(e->ctx, e->kernel, &each);
    if (!scratch) return HF_ERR_MEMORY;
    hfi_kernel_cross_block(e->kernel, q->count, q->x, q->d, m, u->z, u->d, v, m, scratch);
    hfi_free(e->ctx, scratch);
    hfi_chol_forward_block(m, q->count, u->lu, m, v, m);
    memcpy(y, v, q->count * m * sizeof *y);
    hfi_chol_forward_block(m, q->count, u->lb, m, y, m);
    return HF_OK;
}

/* columns * covariance_bar, times factor, is added to `out`. */
static void spread(const hfi_query *q, size_t m, double factor, const double *columns, double *out)
{
    for (size_t a = 0; a < q->count; a++)
        hfi_gemv(m, q->count, factor, columns, m, q->covariance_bar + a * q->count, 1.0, out + a * m);
}

hf_status hfi_inducing_query_forward(hfi_inducing_reverse *run, bool gradient)
{
    const hfi_evaluator *e = run->e;
    const hfi_inducing *u = e->inducing;
    hfi_query *q = e->query;
    const size_t m = u->m, n = q->count;
    hf_status status = hfi_query_prior(q, e->kernel, e->mean);
    if (status >= 0) status = whiten_query_columns(e);
    if (status < 0) return status;
    const double *v = q->room, *y = v + n * m;
    for (size_t a = 0; a < n; a++) q->mean[a] += hfi_dot(m, y + a * m, u->whitened);
    hfi_gemm_tn(n, n, m, -1.0, v, m, v, m, 1.0, q->covariance, n);
    hfi_gemm_tn(n, n, m, 1.0, y, m, y, m, 1.0, q->covariance, n);
    status = hfi_query_tell(q);
    if (status < 0 || !gradient) return status;
    double *product = q->room + 2 * n * m;
    hfi_gemv(m, n, 1.0, y, m, q->mean_bar, 1.0, run->alpha);
    hfi_gemv(m, n, 1.0, y, m, q->mean_bar, 1.0, run->gamma);
    memset(product, 0, n * m * sizeof *product);
    spread(q, m, -1.0, y, product);
    for (size_t a = 0; a < n; a++)
        for (size_t j = 0; j < m; j++) hfi_axpy(m, y[j + a * m], product + a * m, run->dense + j * m);
    return status;
}

hf_status hfi_inducing_query_backward(hfi_inducing_reverse *run, double *gradient, double *square)
{
    const hfi_evaluator *e = run->e;
    const hfi_inducing *u = e->inducing;
    hfi_query *q = e->query;
    const size_t m = u->m, n = q->count;
    const double *v = q->room, *y = v + n * m;
    double *bar = q->room + 2 * n * m;
    for (size_t a = 0; a < n; a++)
        for (size_t i = 0; i < m; i++) bar[i + a * m] = q->mean_bar[a] * u->whitened[i];
    spread(q, m, 2.0, y, bar);
    hfi_chol_backward_block(m, n, u->lb, m, bar, m);
    spread(q, m, -2.0, v, bar);
    hfi_lower_product(e->ctx, m, n, bar, m, v, m, square, m);
    hfi_chol_backward_block(m, n, u->lu, m, bar, m);
    const hf_status status = hfi_query_prior_adjoint(q, e->kernel, e->mean, gradient);
    if (status < 0) return status;
    return hfi_query_cross_adjoint(q, e->kernel, m, u->z, bar, gradient,
                                   u->train_inputs ? gradient + hfi_evaluator_parameters(e) : NULL);
}
