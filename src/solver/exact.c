/* SPDX-License-Identifier: Apache-2.0 */
/* The exact solver: gather what is present, factor, solve, and measure how well that went. */
#include "solver/solver.h"

#include "linalg/linalg.h"
#include "solver/exact_grid.h"
#include <math.h>
#include <string.h>

typedef struct regularised {
    hf_context *ctx;
    const hf_kernel *kernel;
    const hfi_solution *solution;
} regularised;

static hf_status fill_regularised(void *arg, double *a, size_t lda)
{
    const regularised *job = arg;
    const hfi_solution *s = job->solution;
    hf_status status = hfi_kernel_gram_lower(job->ctx, job->kernel, s->n, s->z, s->d, a, lda);
    for (size_t i = 0; i < s->n && status >= 0; i++) a[i + i * lda] += s->variance[i];
    return status;
}

double hfi_jitter_scale(const hf_kernel *kernel, size_t n, const double *x, size_t ldx)
{
    double scale = hfi_kernel_typical_variance(kernel);
    if (!(scale > 0.0 && isfinite(scale))) { /* a linear kernel is zero at the origin */
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) {
            double value;
            hfi_kernel_diagonal(kernel, 1, x + i * ldx, ldx, true, &value);
            sum += value / (double)n;
        }
        scale = sum;
    }
    return scale > 0.0 && isfinite(scale) ? scale : 1.0;
}

/* The factor by all processes of a group, and then whole in each. */
static hf_status factor_together(hf_context *ctx, const hf_kernel *kernel, double scale, hfi_solution *s)
{
    hfi_exact_grid grid;
    hf_status status = hfi_exact_grid_init(ctx, s->n, s->d, &grid);
    if (status < 0) return status;
    status = hfi_exact_grid_select(&grid, s->n, s->z);
    if (status >= 0) status = hfi_exact_grid_factor(&grid, kernel, s->z, s->variance, scale, &s->jitter);
    if (status >= 0) status = hfi_worse(hfi_grid_gather(&grid.grid, grid.a, s->factor, s->capacity), status);
    hfi_exact_grid_free(&grid);
    return status;
}

/* Where processes factor together: nobody begins, or ends, without the others. */
static hf_status agree_on_exact_status(hf_context *ctx, size_t n, hf_status status)
{
    return hfi_grid_wanted(ctx, n) ? hfi_group_agree(ctx, status) : status;
}

/* Everything that follows from kernel, z, residual and variance, into arrays that are there already. */
static hf_status factorise(hf_context *ctx, const hf_kernel *kernel, hfi_solution *s)
{
    regularised job = {.ctx = ctx, .kernel = kernel, .solution = s};
    double scale = hfi_jitter_scale(kernel, s->n, s->z, s->d);
    const hf_status status =
        hfi_grid_wanted(ctx, s->n)
            ? factor_together(ctx, kernel, scale, s)
            : hfi_chol_jitter(ctx, s->n, s->factor, s->capacity, scale, fill_regularised, &job, &s->jitter);
    if (status < 0) return status;
    s->log_det = hfi_chol_logdet(s->n, s->factor, s->capacity);
    memcpy(s->t, s->residual, s->n * sizeof *s->t);
    hfi_chol_solve(s->n, s->factor, s->capacity, s->t);
    for (size_t i = 0; i < s->n; i++)
        if (!isfinite(s->t[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "the weight of anchor %zu overflows: its target is %g above the prior mean and "
                            "its site variance %g; scale the targets or give more noise",
                            i, s->residual[i], s->variance[i]);
    hf_status measured = hfi_solution_measure(ctx, kernel, s);
    return measured < 0 ? measured : status;
}

/* Inputs, residuals and variances of the present rows, refusing what is not finite by the row it is in. */
hf_status hfi_solution_gather(hf_context *ctx, const hf_mean *mean, const hf_sites *sites, const double *x,
                              size_t ldx, hfi_solution *s)
{
    const double *target = hf_sites_targets(sites), *variance = hf_sites_variances(sites);
    size_t at = 0;
    for (size_t i = 0; i < hf_sites_count(sites); i++) {
        if (!hf_sites_is_present(sites, i)) continue;
        const double *row = x + i * ldx;
        for (size_t j = 0; j < s->d; j++)
            if (!isfinite(row[j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu (counted from 0) is %g", j, i,
                                row[j]);
        double prior;
        hf_mean_evaluate(mean, 1, row, ldx, &prior);
        s->residual[at] = target[i] - prior;
        s->variance[at] = variance[i];
        if (!isfinite(s->residual[at]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "the target %g less the prior mean %g of row %zu (counted from 0) is not finite",
                            target[i], prior, i);
        memcpy(s->z + at * s->d, row, s->d * sizeof *row);
        at++;
    }
    return HF_OK;
}

hf_status hfi_exact_solve(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                          const hf_sites *sites, size_t d, const double *x, size_t ldx, hfi_solution *out)
{
    memset(out, 0, sizeof *out);
    size_t n = hf_sites_present(sites);
    if (n == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA,
                        "none of the %zu readings is present: there is nothing to learn from",
                        hf_sites_count(sites));
    double bytes, flops;
    hfi_exact_cost(n, d, &bytes, &flops);
    if (hfi_grid_wanted(ctx, n)) bytes += hfi_exact_grid_part_bytes(ctx, n);
    hf_status status = hfi_require_memory(ctx, "an exact solve", n, bytes);
    hfi_solution s = {0};
    if (status >= 0) status = hfi_solution_alloc(ctx, n, d, &s);
    if (status >= 0) status = hfi_solution_gather(ctx, mean, sites, x, ldx, &s);
    status = agree_on_exact_status(ctx, n, status);
    if (status >= 0) status = agree_on_exact_status(ctx, n, factorise(ctx, kernel, &s));
    if (status < 0) {
        hfi_solution_free(&s);
        return status;
    }
    *out = s;
    return status;
}

/* Into new arrays, so that a failure leaves the old factor in place. */
hf_status hfi_solution_refresh(hf_context *ctx, const hf_kernel *kernel, hfi_solution *solution)
{
    double side = (double)solution->capacity;
    hf_status status =
        hfi_require_memory(ctx, "a fresh factor", solution->n, (double)sizeof(double) * side * (side + 10.0));
    if (status < 0) return status;
    hfi_solution fresh = *solution;
    fresh.t = hfi_memory_alloc(&fresh.memory, fresh.capacity, sizeof *fresh.t);
    fresh.factor = hfi_memory_alloc(&fresh.memory, fresh.capacity, fresh.capacity * sizeof *fresh.factor);
    status = fresh.t && fresh.factor ? HF_OK : hfi_out_of_memory(ctx);
    status = agree_on_exact_status(ctx, fresh.n, status);
    if (status >= 0) status = agree_on_exact_status(ctx, fresh.n, factorise(ctx, kernel, &fresh));
    hfi_solution *loser = status < 0 ? &fresh : solution;
    HFI_MEMORY_FREE(&loser->memory, loser->t, loser->factor);
    if (status >= 0) *solution = fresh;
    return status;
}
