/* SPDX-License-Identifier: Apache-2.0 */
/* A projection on dense actions that grows, in coordinates of unit noise. */
#include "solver/projected_dense.h"

#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

void hfi_dense_system_free(hfi_dense_system *s)
{
    hfi_solution_free(&s->solution);
    hfi_projected_core_free(&s->core);
    HFI_FREE(s->ctx, s->w, s->root, s->prior, s->target, s->rest);
    memset(s, 0, sizeof *s);
}

hf_status hfi_dense_system_init(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                const hf_sites *sites, size_t d, const double *x, size_t ldx, size_t capacity,
                                hfi_precision precision, hfi_dense_system *out)
{
    memset(out, 0, sizeof *out);
    hfi_dense_system s = {.ctx = ctx, .kernel = kernel, .precision = precision, .n = hf_sites_present(sites)};
    hf_status status = hfi_solution_alloc_low_rank(ctx, HFI_FORM_DENSE, s.n, d, capacity, true, &s.solution);
    if (status >= 0) status = hfi_solution_gather(ctx, mean, sites, x, ldx, &s.solution);
    if (status >= 0) status = hfi_projected_core_init(ctx, capacity, &s.core);
    if (status >= 0)
        status = HFI_ALLOC(ctx, HFI_ROOMS(s.w, s.n, capacity), HFI_ROOM(s.root, s.n), HFI_ROOM(s.prior, s.n),
                           HFI_ROOM(s.target, s.n), HFI_ROOM(s.rest, s.n));
    status = hfi_group_agree(ctx, status);
    if (status < 0) {
        hfi_dense_system_free(&s);
        return status;
    }
    s.core.count = 0;
    hfi_kernel_diagonal(kernel, s.n, s.solution.z, d, false, s.prior);
    hfi_kernel_diagonal(kernel, s.n, s.solution.z, d, true, s.root);
    for (size_t i = 0; i < s.n; i++) {
        s.root[i] = sqrt(s.solution.variance[i] + fmax(s.root[i] - s.prior[i], 0.0));
        s.target[i] = s.rest[i] = s.solution.residual[i] / s.root[i];
        s.residual = s.rest[i] != 0.0 ? 1.0 : s.residual;
    }
    *out = s;
    return HF_OK;
}

double *hfi_dense_system_next(hfi_dense_system *s)
{
    return s->solution.r + s->core.count * s->n;
}

/* H Q for the `count` columns of Q from `first` on. */
static hf_status multiply_dense_actions(hfi_dense_system *s, size_t first, size_t count)
{
    double *q = s->solution.r + first * s->n, *w = s->w + first * s->n;
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < s->n; i++) q[i + j * s->n] /= s->root[i];
    const hf_status status = hfi_kernel_dense_product(s->ctx, s->kernel, s->n, s->solution.z, s->solution.d,
                                                      count, q, s->n, s->precision, w, s->n);
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < s->n; i++) {
            q[i + j * s->n] *= s->root[i];
            w[i + j * s->n] /= s->root[i];
        }
    s->passes++;
    return status;
}

/* T and A'r grown by the columns from `first` on. */
static hf_status extend(hfi_dense_system *s, size_t first, size_t count)
{
    hfi_projected_core *c = &s->core;
    const size_t ld = c->capacity, total = first + count;
    const double *q = s->solution.r;
    hf_status status =
        hfi_tall_inner(s->ctx, s->n, total, q, s->n, count, s->w + first * s->n, s->n, c->t + first * ld, ld);
    if (status >= 0)
        status = hfi_tall_inner(s->ctx, s->n, count, q + first * s->n, s->n, 1, s->target, s->n,
                                c->rhs + first, count);
    if (status < 0) return status;
    for (size_t j = first; j < total; j++)
        for (size_t i = 0; i < first; i++) c->t[j + i * ld] = c->t[i + j * ld];
    c->count = total;
    return HF_OK;
}

/* u, and what is left of the readings. */
static hf_status solve_dense_actions(hfi_dense_system *s)
{
    hfi_projected_core *c = &s->core;
    for (size_t a = 0; a < c->count; a++) c->lambda[a] = 1.0; /* without the jitter of the factor before */
    const hf_status status = hfi_projected_core_factor(c);
    if (status < 0) return status;
    memcpy(s->rest, s->target, s->n * sizeof *s->rest);
    hfi_tall_add(s->ctx, s->n, c->count, 1, -1.0, s->w, s->n, c->u, c->count, s->rest, s->n);
    hfi_tall_add(s->ctx, s->n, c->count, 1, -1.0, s->solution.r, s->n, c->u, c->count, s->rest, s->n);
    const double target = hfi_dot(s->n, s->target, s->target);
    s->residual = target > 0.0 ? sqrt(hfi_dot(s->n, s->rest, s->rest) / target) : 0.0;
    return status;
}

hf_status hfi_dense_system_grow(hfi_dense_system *s, size_t count, double dependent)
{
    const size_t first = s->core.count;
    size_t total = first;
    hf_status status = hfi_orthonormalise(s->ctx, s->n, first, count, s->solution.r, s->n, dependent, &total);
    if (status < 0 || total == first) return status;
    status = multiply_dense_actions(s, first, total - first);
    if (status >= 0) status = extend(s, first, total - first);
    return status >= 0 ? solve_dense_actions(s) : status;
}

/* Variance of every reading less the prior one, in units of its noise: |row of H Q L^-T|^2. H Q is spoilt. */
static double explained(hfi_dense_system *s)
{
    double sum = 0.0;
    hfi_tall_divide(s->ctx, s->n, s->core.count, s->core.factor, s->core.capacity, true, s->w, s->n);
    for (size_t a = 0; a < s->core.count; a++) sum += hfi_dot(s->n, s->w + a * s->n, s->w + a * s->n);
    return sum;
}

/* sum_j of the expected log densities of the sites; `fit`: scratch of n. */
static double expected(hfi_dense_system *s, double *fit)
{
    const hfi_projected_core *c = &s->core;
    memcpy(fit, s->target, s->n * sizeof *fit);
    hfi_tall_add(s->ctx, s->n, c->count, 1, -1.0, s->w, s->n, c->u, c->count, fit, s->n);
    double sum = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        const double ratio = s->prior[i] / s->root[i] / s->root[i];
        sum -= HFI_HALF_LOG_2PI + log(s->root[i]) + 0.5 * (fit[i] * fit[i] + ratio);
    }
    return sum + 0.5 * explained(s);
}

/* The bound on the evidence that goes with the projection, as a log determinant (projected.h). */
static hf_status bound_dense_evidence(hfi_dense_system *s)
{
    const hfi_projected_core *c = &s->core;
    double *inverse = hfi_alloc(s->ctx, c->count, c->count * sizeof *inverse);
    if (!inverse) return HF_ERR_MEMORY;
    hfi_projected_core_inverse(c, inverse);
    const double elbo = expected(s, s->rest) - hfi_projected_core_divergence(c, inverse);
    hfi_free(s->ctx, inverse);
    s->solution.log_det =
        -2.0 * (elbo + (double)s->n * HFI_HALF_LOG_2PI) - hfi_dot(s->n, s->solution.residual, s->solution.t);
    return HF_OK;
}

hf_status hfi_dense_system_finish(hfi_dense_system *s, hfi_solution *out, hf_projection_report *report)
{
    hfi_projected_core *c = &s->core;
    hfi_solution *solution = &s->solution;
    solution->solver = HF_SOLVER_PROJECTED;
    solution->rank = c->count;
    solution->jitter = hfi_projected_core_jitter(c);
    hf_status status = hfi_projected_core_measure(c, &solution->condition, &solution->backward);
    if (status < 0) return status;
    memset(solution->t, 0, s->n * sizeof *solution->t);
    hfi_tall_add(s->ctx, s->n, c->count, 1, 1.0, solution->r, s->n, c->u, c->count, solution->t, s->n);
    for (size_t i = 0; i < s->n; i++) solution->t[i] /= s->root[i];
    status = bound_dense_evidence(s);
    if (status < 0) return status;
    for (size_t a = 0; a < c->count; a++)
        for (size_t i = 0; i < s->n; i++) solution->r[i + a * s->n] /= s->root[i];
    hfi_tall_divide(s->ctx, s->n, c->count, c->factor, c->capacity, true, solution->r, s->n);
    for (size_t i = 0; i < s->n; i++)
        if (!isfinite(solution->t[i]))
            return hfi_fail(s->ctx, HF_ERR_NOT_FINITE, "the weight of anchor %zu overflows", i);
    *report = (hf_projection_report){
        .actions = c->count, .passes = s->passes, .residual = s->residual, .jitter = solution->jitter};
    *out = *solution;
    memset(solution, 0, sizeof *solution);
    return HF_OK;
}
