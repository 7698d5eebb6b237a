/* SPDX-License-Identifier: Apache-2.0 */
/* Block actions against readings: one pass over K, and the small system it leaves. */
#include "solver/projected_system.h"

#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

void hfi_block_system_free(hfi_block_system *s)
{
    double *const owned[] = {s->x, s->r, s->noise, s->prior, s->white, s->b};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) hfi_free(s->ctx, owned[k]);
    hfi_projected_core_free(&s->core);
    hfi_free(s->ctx, s->row);
    memset(s, 0, sizeof *s);
}

/* Rows and inputs by place. */
static hf_status gather_system_rows(hfi_block_system *s, const hf_sites *sites, const double *x, size_t ldx)
{
    size_t *present = hfi_alloc(s->ctx, s->n, sizeof *present), at = 0;
    if (!present) return HF_ERR_MEMORY;
    for (size_t i = 0; at < s->n; i++)
        if (!sites || hf_sites_is_present(sites, i)) present[at++] = i;
    for (size_t l = 0; l < s->n; l++) {
        s->row[l] = present[s->actions->order[l]];
        memcpy(s->x + l * s->d, x + s->row[l] * ldx, s->d * sizeof *s->x);
    }
    hfi_free(s->ctx, present);
    return HF_OK;
}

void hfi_block_system_release(hfi_block_system *s)
{
    hfi_free(s->ctx, s->b);
    s->b = NULL;
}

hf_status hfi_block_system_init(hf_context *ctx, const hfi_block_actions *actions, const hf_sites *sites,
                                size_t d, const double *x, size_t ldx, hfi_block_system *out)
{
    hfi_block_system s = {.ctx = ctx, .actions = actions, .n = actions->n, .count = actions->count, .d = d};
    memset(out, 0, sizeof *out);
    if (sites && hf_sites_present(sites) != s.n)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the actions are over %zu readings, but %zu are present", s.n,
                        hf_sites_present(sites));
    s.row = hfi_alloc(ctx, s.n, sizeof *s.row);
    s.x = hfi_alloc(ctx, s.n, d * sizeof *s.x);
    double **const by_place[] = {&s.r, &s.noise, &s.prior, &s.white};
    bool ok = s.row && s.x;
    for (size_t k = 0; k < sizeof by_place / sizeof *by_place && ok; k++) {
        *by_place[k] = hfi_alloc(ctx, s.n, sizeof(double));
        ok = *by_place[k] != NULL;
    }
    ok = ok && hfi_projected_core_init(ctx, s.count, &s.core) >= 0;
    hf_status status = ok ? gather_system_rows(&s, sites, x, ldx) : HF_ERR_MEMORY;
    if (status < 0) {
        hfi_block_system_free(&s);
        return status;
    }
    *out = s;
    return HF_OK;
}

/* r and d by place. */
static hf_status read_sites(hfi_block_system *s, const hf_mean *mean, const hf_sites *sites)
{
    const double *target = hf_sites_targets(sites), *variance = hf_sites_variances(sites);
    hf_mean_evaluate(mean, s->n, s->x, s->d, s->r);
    for (size_t l = 0; l < s->n; l++) {
        const size_t row = s->row[l];
        const double offset = s->r[l];
        s->r[l] = target[row] - offset;
        s->noise[l] = variance[row];
        if (!isfinite(s->r[l]) || !isfinite(s->noise[l]))
            return hfi_fail(s->ctx, HF_ERR_NOT_FINITE,
                            "the target %g less the prior mean %g of row %zu (counted from 0), or its "
                            "variance %g, is not finite",
                            target[row], offset, row, s->noise[l]);
    }
    return HF_OK;
}

/* T, Lambda and A'r: sums over the places of each block, in their order. */
static void project_column(size_t column, int thread, void *arg)
{
    (void)thread;
    hfi_block_system *s = arg;
    const hfi_block_actions *a = s->actions;
    const double *b = s->b + column * s->n;
    for (size_t k = 0; k < s->count; k++) {
        double sum = 0.0;
        for (size_t l = a->first[k]; l < a->first[k + 1]; l++) sum += a->entry[l] * b[l];
        s->core.t[k + column * s->count] = sum;
    }
    double lambda = 0.0, rhs = 0.0;
    for (size_t l = a->first[column]; l < a->first[column + 1]; l++) {
        lambda += a->entry[l] * a->entry[l] * s->noise[l];
        rhs += a->entry[l] * s->r[l];
    }
    s->core.lambda[column] = lambda;
    s->core.rhs[column] = rhs;
}

hf_status hfi_block_system_project(hfi_block_system *s, const hf_kernel *kernel, hfi_precision precision)
{
    hfi_kernel_diagonal(kernel, s->n, s->x, s->d, false, s->prior);
    hfi_kernel_diagonal(kernel, s->n, s->x, s->d, true, s->white);
    for (size_t l = 0; l < s->n; l++) {
        s->white[l] = fmax(s->white[l] - s->prior[l], 0.0);
        s->noise[l] += s->white[l];
    }
    if (!s->b) s->b = hfi_alloc(s->ctx, s->n, s->count * sizeof *s->b);
    hf_status status = hfi_group_agree(s->ctx, s->b ? HF_OK : HF_ERR_MEMORY);
    if (status < 0) return status;
    status = hfi_kernel_block_product(s->ctx, kernel, s->n, s->x, s->d, s->count, s->actions->first,
                                      s->actions->entry, precision, s->b, s->n);
    if (status < 0) return status;
    hfi_parallel_for(s->ctx, s->count, project_column, s);
    return hfi_projected_core_factor(&s->core);
}

hf_status hfi_block_system_factor(hfi_block_system *s, const hf_kernel *kernel, const hf_mean *mean,
                                  const hf_sites *sites, hfi_precision precision)
{
    const hf_status status = read_sites(s, mean, sites);
    return status >= 0 ? hfi_block_system_project(s, kernel, precision) : status;
}

enum {
    ROWS = 512 /* of B in one task */
};

typedef struct square_job {
    const hfi_block_system *system;
    double *square;
} square_job;

static void square_rows(size_t task, int thread, void *arg)
{
    (void)thread;
    const square_job *job = arg;
    const hfi_block_system *s = job->system;
    const size_t begin = task * ROWS, end = begin + ROWS < s->n ? begin + ROWS : s->n;
    for (size_t l = begin; l < end; l++) job->square[l] = 0.0;
    for (size_t a = 0; a < s->count; a++) {
        const double *column = s->b + a * s->n;
        for (size_t l = begin; l < end; l++) job->square[l] += column[l] * column[l];
    }
}

void hfi_block_system_rows(hfi_block_system *s, double *weighted, double *square)
{
    memset(weighted, 0, s->n * sizeof *weighted);
    hfi_tall_add(s->ctx, s->n, s->count, 1, 1.0, s->b, s->n, s->core.u, s->count, weighted, s->n);
    hfi_tall_divide(s->ctx, s->n, s->count, s->core.factor, s->count, true, s->b, s->n);
    square_job job = {s, square};
    hfi_parallel_for(s->ctx, (s->n + ROWS - 1) / ROWS, square_rows, &job);
}

void hfi_block_system_inverse_rows(hfi_block_system *s)
{
    hfi_tall_divide(s->ctx, s->n, s->count, s->core.factor, s->count, false, s->b, s->n);
}
