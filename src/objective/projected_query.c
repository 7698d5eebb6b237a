/* SPDX-License-Identifier: Apache-2.0 */
/* Points beside the readings with block actions; formulas in objective/query.h. */
#include "objective/projected_impl.h"
#include "objective/query.h"

#include "linalg/linalg.h"
#include <string.h>

/* Parts of the query's room: covariances with the readings by place, b_a, G^-1 b_a. */
typedef struct query_columns {
    double *cross, *b, *solved;
} query_columns;

static query_columns columns_of(const hfi_evaluator *e)
{
    const hfi_query *q = e->query;
    double *cross = q->room, *b = cross + q->count * e->projected->system.n;
    return (query_columns){cross, b, b + q->count * e->projected->system.count};
}

static hf_status project(const hfi_evaluator *e, query_columns c)
{
    const hfi_block_system *s = &e->projected->system;
    const hfi_query *q = e->query;
    const size_t n = s->n, count = s->count;
    size_t each;
    double *scratch = hfi_kernel_scratch_alloc(e->ctx, e->kernel, &each);
    if (!scratch) return HF_ERR_MEMORY;
    hfi_kernel_cross_block(e->kernel, q->count, q->x, q->d, n, s->x, s->d, c.cross, n, scratch);
    hfi_free(e->ctx, scratch);
    for (size_t a = 0; a < q->count; a++)
        for (size_t block = 0; block < count; block++) {
            const size_t first = s->actions->first[block], end = s->actions->first[block + 1];
            c.b[block + a * count] = hfi_dot(end - first, s->actions->entry + first, c.cross + first + a * n);
        }
    memcpy(c.solved, c.b, q->count * count * sizeof *c.solved);
    hfi_chol_forward_block(count, q->count, s->core.factor, s->core.capacity, c.solved, count);
    hfi_chol_backward_block(count, q->count, s->core.factor, s->core.capacity, c.solved, count);
    return HF_OK;
}

hf_status hfi_projected_query_forward(hfi_evaluator *e)
{
    const hfi_block_system *s = &e->projected->system;
    hfi_query *q = e->query;
    const query_columns c = columns_of(e);
    hf_status status = hfi_query_prior(q, e->kernel, e->mean);
    if (status >= 0) status = project(e, c);
    if (status < 0) return status;
    for (size_t a = 0; a < q->count; a++) q->mean[a] += hfi_dot(s->count, c.b + a * s->count, s->core.u);
    hfi_gemm_tn(q->count, q->count, s->count, -1.0, c.b, s->count, c.solved, s->count, 1.0, q->covariance,
                q->count);
    return hfi_query_tell(q);
}

void hfi_projected_query_bars(const hfi_evaluator *e, hfi_projected_bar *bar)
{
    const hfi_query *q = e->query;
    const size_t n = e->projected->system.count;
    const query_columns c = columns_of(e);
    hfi_gemv(n, q->count, 1.0, c.solved, n, q->mean_bar, 1.0, bar->u);
    for (size_t a = 0; a < q->count; a++)
        for (size_t b = 0; b < q->count; b++)
            for (size_t j = 0; j < n; j++)
                hfi_axpy(n - j, q->covariance_bar[a + b * q->count] * c.solved[j + b * n],
                         c.solved + j + a * n, bar->g + j * (n + 1));
}

hf_status hfi_projected_query_backward(hfi_evaluator *e, double *gradient)
{
    const hfi_block_system *s = &e->projected->system;
    hfi_query *q = e->query;
    const size_t n = s->count;
    const query_columns c = columns_of(e);
    double *entry = gradient + hfi_evaluator_parameters(e);
    for (size_t a = 0; a < q->count; a++) {
        double *bar = c.b + a * n, *cross = c.cross + a * s->n;
        for (size_t i = 0; i < n; i++) bar[i] = q->mean_bar[a] * s->core.u[i];
        hfi_gemv(n, q->count, -2.0, c.solved, n, q->covariance_bar + a * q->count, 1.0, bar);
        for (size_t block = 0; block < n; block++)
            for (size_t l = s->actions->first[block]; l < s->actions->first[block + 1]; l++) {
                if (e->projected->train_actions) entry[l] += bar[block] * cross[l];
                cross[l] = bar[block] * s->actions->entry[l];
            }
    }
    const hf_status status = hfi_query_prior_adjoint(q, e->kernel, e->mean, gradient);
    return status < 0 ? status : hfi_query_cross_adjoint(q, e->kernel, s->n, s->x, c.cross, gradient, NULL);
}
