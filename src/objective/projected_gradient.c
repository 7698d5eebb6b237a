/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From adjoints of the projected system to the gradient. Row l of the adjoint of B, reading l of block a,
 *
 *     own_l G^-1 b_l + cross_l G^-1 e_a + weight_l u + s_l Gbar e_a
 *
 * takes the place of G^-1 b_l in B, so that one n x i matrix is all the memory; then one more pass over K.
 */
#include "objective/projected_impl.h"

#include "linalg/linalg.h"
#include <string.h>

enum {
    ROWS = 512 /* of B in one task */
};

typedef struct projected_rows_job {
    hfi_projected_evaluator *p;
    const double *inverse, *g, *product; /* G^-1, Gbar, G Gbar */
    const double *rhs, *lambda;          /* all of the adjoints of A'r and Lambda */
} projected_rows_job;

static double *vector(const projected_rows_job *job, int which)
{
    return hfi_projected_vector(job->p, which);
}

/* Adds up what an entry gets beside its part through B. */
static void entry_rows(const projected_rows_job *job, size_t block, size_t begin, size_t end)
{
    const hfi_block_system *s = &job->p->system;
    const double *column = job->product + block * s->count;
    double *bar = vector(job, HFI_PV_ENTRY_BAR);
    for (size_t l = begin; l < end; l++)
        bar[l] = 2.0 * s->actions->entry[l] * s->noise[l] * job->lambda[block] + s->r[l] * job->rhs[block];
    for (size_t b = 0; b < s->count; b++)
        for (size_t l = begin; l < end; l++) bar[l] += s->b[l + b * s->n] * column[b];
}

/* Some rows of one block. */
static void adjoint_rows(const projected_rows_job *job, size_t block, size_t begin, size_t end)
{
    const hfi_block_system *s = &job->p->system;
    const double *own = vector(job, HFI_PV_OWN), *cross = vector(job, HFI_PV_CROSS);
    const double *weight = vector(job, HFI_PV_WEIGHT), *entry = s->actions->entry;
    double *noise = vector(job, HFI_PV_NOISE_BAR), *r = vector(job, HFI_PV_R_BAR);
    if (job->p->train_actions) entry_rows(job, block, begin, end);
    for (size_t b = 0; b < s->count; b++) {
        const double p = job->inverse[b + block * s->count], g = job->g[b + block * s->count],
                     u = s->core.u[b];
        double *row = s->b + b * s->n;
        for (size_t l = begin; l < end; l++)
            row[l] = own[l] * row[l] + cross[l] * p + weight[l] * u + entry[l] * g;
    }
    for (size_t l = begin; l < end; l++) {
        noise[l] += entry[l] * entry[l] * job->lambda[block];
        r[l] += entry[l] * job->rhs[block];
    }
}

static void adjoint_task(size_t task, int thread, void *arg)
{
    (void)thread;
    const projected_rows_job *job = arg;
    const hfi_block_system *s = &job->p->system;
    const size_t *first = s->actions->first;
    const size_t begin = task * ROWS, end = begin + ROWS < s->n ? begin + ROWS : s->n;
    size_t block = 0;
    while (first[block + 1] <= begin) block++;
    for (size_t l = begin; l < end; block++) {
        const size_t stop = first[block + 1] < end ? first[block + 1] : end;
        adjoint_rows(job, block, l, stop);
        l = stop;
    }
}

/* All of Gbar (both triangles), G Gbar if entries are trained, and the adjoints of A'r and Lambda. */
static hf_status complete(hfi_projected_evaluator *p, hfi_projected_bar *bar, double *product)
{
    hfi_block_system *s = &p->system;
    const size_t n = s->count;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            bar->g[i + j * n] -= 0.5 * (bar->u[i] * s->core.u[j] + s->core.u[i] * bar->u[j]);
    hfi_symmetrise(s->ctx, n, bar->g, n);
    for (size_t a = 0; a < n; a++) {
        bar->rhs[a] += bar->u[a];
        bar->lambda[a] += bar->g[a + a * n];
    }
    if (!p->train_actions) return HF_OK;
    for (size_t a = 0; a < n; a++) s->core.t[a + a * n] += s->core.lambda[a];
    return hfi_tall_inner(s->ctx, n, n, s->core.t, n, n, bar->g, n, product, n);
}

/* The kernel's parameters, the mean and the noise from what the rows have collected. */
static void read_out(hfi_evaluator *e, double *gradient)
{
    hfi_projected_evaluator *p = e->projected;
    const hfi_block_system *s = &p->system;
    const size_t kernel_count = hf_kernel_parameters(e->kernel), mean_count = hf_mean_coefficients(e->mean);
    const double *r = hfi_projected_vector(p, HFI_PV_R_BAR),
                 *noise = hfi_projected_vector(p, HFI_PV_NOISE_BAR);
    double *white = hfi_projected_vector(p, HFI_PV_WHITE_BAR), *mean = hfi_projected_vector(p, HFI_PV_WEIGHT);
    double *z_bar = hfi_projected_vector(p, HFI_PV_Z_BAR), *d_bar = hfi_projected_vector(p, HFI_PV_D_BAR);
    for (size_t l = 0; l < s->n; l++) {
        const size_t row = s->row[l];
        white[l] += noise[l];
        d_bar[row] += noise[l];
        z_bar[row] += r[l];
        mean[l] = hfi_projected_vector(p, HFI_PV_MU_BAR)[row] - r[l];
    }
    hfi_kernel_diagonal_adjoint(e->kernel, s->n, s->x, s->d, hfi_projected_vector(p, HFI_PV_PRIOR_BAR), white,
                                gradient);
    hfi_mean_adjoint(e->mean, s->n, s->x, s->d, mean, gradient + kernel_count);
    hfi_noise_adjoint(e->sites, z_bar, d_bar, hfi_projected_vector(p, HFI_PV_S_BAR),
                      gradient + kernel_count + mean_count);
    if (p->train_actions)
        memcpy(gradient + hfi_evaluator_parameters(e), hfi_projected_vector(p, HFI_PV_ENTRY_BAR),
               s->n * sizeof *gradient);
}

hf_status hfi_projected_collect(hfi_evaluator *e, hfi_projected_bar *bar, double *gradient)
{
    hfi_projected_evaluator *p = e->projected;
    hfi_block_system *s = &p->system;
    double *product = bar->g + s->count * s->count;
    hf_status status = complete(p, bar, product);
    if (status < 0) return status;
    projected_rows_job job = {.p = p,
                              .inverse = bar->inverse,
                              .g = bar->g,
                              .product = product,
                              .rhs = bar->rhs,
                              .lambda = bar->lambda};
    hfi_parallel_for(s->ctx, (s->n + ROWS - 1) / ROWS, adjoint_task, &job);
    memset(gradient, 0, hfi_evaluator_parameters(e) * sizeof *gradient);
    status = hfi_kernel_block_adjoint(
        s->ctx, e->kernel, s->n, s->x, s->d, s->count, s->actions->first, s->actions->entry, p->precision,
        s->b, s->n, p->train_actions ? hfi_projected_vector(p, HFI_PV_ENTRY_BAR) : NULL, gradient);
    if (status >= 0) read_out(e, gradient);
    return status;
}
