/* SPDX-License-Identifier: Apache-2.0 */
/* The small system of a projection: factor, divergence, error. */
#include "solver/projected.h"

#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

hf_status hfi_projected_core_init(hf_context *ctx, size_t capacity, hfi_projected_core *out)
{
    hfi_projected_core c = {.ctx = ctx, .count = capacity, .capacity = capacity};
    memset(out, 0, sizeof *out);
    if (HFI_ALLOC(ctx, HFI_ROOMS(c.t, capacity, capacity), HFI_ROOMS(c.factor, capacity, capacity),
                  HFI_ROOM(c.lambda, capacity), HFI_ROOM(c.rhs, capacity), HFI_ROOM(c.u, capacity),
                  HFI_ROOM(c.scale, capacity)) < 0) {
        hfi_projected_core_free(&c);
        return HF_ERR_MEMORY;
    }
    *out = c;
    return HF_OK;
}

void hfi_projected_core_free(hfi_projected_core *c)
{
    HFI_FREE(c->ctx, c->t, c->factor, c->lambda, c->rhs, c->u, c->scale);
    memset(c, 0, sizeof *c);
}

/* G with a unit diagonal; of T the mean with its mirror image. */
static hf_status fill_scaled(void *arg, double *g, size_t ldg)
{
    const hfi_projected_core *c = arg;
    const size_t ld = c->capacity;
    for (size_t j = 0; j < c->count; j++) {
        g[j + j * ldg] = 1.0;
        for (size_t i = j + 1; i < c->count; i++)
            g[i + j * ldg] = 0.5 * (c->t[i + j * ld] + c->t[j + i * ld]) / c->scale[i] / c->scale[j];
    }
    return HF_OK;
}

static hf_status find_scale(hfi_projected_core *c)
{
    for (size_t a = 0; a < c->count; a++) {
        const double g = c->t[a + a * c->capacity] + c->lambda[a];
        if (!isfinite(g))
            return hfi_fail(
                c->ctx, HF_ERR_NOT_FINITE,
                "the variance of action %zu is not finite; look for huge entries, inputs or hyperparameters",
                a);
        if (!(g > 0.0))
            return hfi_fail(c->ctx, HF_ERR_NOT_POSITIVE_DEFINITE,
                            "action %zu says nothing: its entries are all zero", a);
        c->scale[a] = sqrt(g);
    }
    return HF_OK;
}

hf_status hfi_projected_core_factor(hfi_projected_core *c)
{
    const size_t n = c->count, ld = c->capacity;
    hf_status status = find_scale(c);
    if (status >= 0) status = hfi_chol_jitter(c->ctx, n, c->factor, ld, 1.0, fill_scaled, c, &c->jitter);
    if (status < 0) return status;
    for (size_t a = 0; a < n; a++) c->lambda[a] += c->jitter * c->scale[a] * c->scale[a];
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) c->factor[i + j * ld] *= c->scale[i];
    c->log_det = hfi_chol_logdet(n, c->factor, ld);
    memcpy(c->u, c->rhs, n * sizeof *c->u);
    hfi_chol_solve(n, c->factor, ld, c->u);
    for (size_t a = 0; a < n; a++)
        if (!isfinite(c->u[a]))
            return hfi_fail(c->ctx, HF_ERR_NOT_FINITE,
                            "the weight of action %zu overflows; scale the targets or give more noise", a);
    return status;
}

void hfi_projected_core_inverse(const hfi_projected_core *c, double *inverse)
{
    const size_t n = c->count;
    for (size_t j = 0; j < n; j++) memcpy(inverse + j * n, c->factor + j * c->capacity, n * sizeof *inverse);
    hfi_chol_inverse(c->ctx, n, inverse, n);
    hfi_symmetrise(c->ctx, n, inverse, n);
}

double hfi_projected_core_divergence(const hfi_projected_core *c, const double *inverse)
{
    double sum = c->log_det;
    for (size_t a = 0; a < c->count; a++)
        sum += c->u[a] * (c->rhs[a] - c->lambda[a] * c->u[a]) - log(c->lambda[a]) - 1.0 +
               inverse[a + a * c->count] * c->lambda[a];
    return 0.5 * sum;
}

double hfi_projected_core_jitter(const hfi_projected_core *c)
{
    double most = 0.0;
    for (size_t a = 0; a < c->count; a++) most = fmax(most, c->scale[a] * c->scale[a]);
    return c->jitter * most;
}

/* The factor of the scaled G in `l`, and G itself, jitter included, in `g`; then what the two say. */
static void measure_core_condition(const hfi_projected_core *c, double *g, double *l, double *work,
                                   int *iwork, double *condition, double *backward)
{
    const size_t n = c->count;
    double *weight = work, *error = work + n, size = 0.0, off = 0.0, target = 0.0;
    (void)fill_scaled((void *)c, g, n);
    for (size_t j = 0; j < n; j++) {
        g[j + j * n] += c->jitter;
        weight[j] = c->u[j] * c->scale[j];
        for (size_t i = j; i < n; i++) l[i + j * n] = c->factor[i + j * c->capacity] / c->scale[i];
    }
    hfi_symv(n, g, n, weight, error);
    for (size_t a = 0; a < n; a++) {
        size = fmax(size, fabs(weight[a]));
        off = fmax(off, fabs(error[a] - c->rhs[a] / c->scale[a]));
        target = fmax(target, fabs(c->rhs[a] / c->scale[a]));
    }
    const double norm = hfi_symmetric_norm1(n, g, n, work);
    *backward = off > 0.0 ? off / (norm * size + target) : 0.0;
    *condition = hfi_chol_condition(n, l, n, norm, work, iwork);
}

hf_status hfi_projected_core_measure(const hfi_projected_core *c, double *condition, double *backward)
{
    const size_t n = c->count;
    double *square = hfi_alloc(c->ctx, n, 2 * n * sizeof *square);
    double *work = hfi_alloc(c->ctx, n, 3 * sizeof *work);
    int *iwork = hfi_alloc(c->ctx, n, sizeof *iwork);
    const bool ok = square && work && iwork;
    if (ok) measure_core_condition(c, square, square + n * n, work, iwork, condition, backward);
    HFI_FREE(c->ctx, square, work, iwork);
    return ok ? HF_OK : HF_ERR_MEMORY;
}
