/* SPDX-License-Identifier: Apache-2.0 */
/* The pass that turns derivatives in what the readings say into the gradient. */
#include "linalg/linalg.h"
#include "objective/inducing_impl.h"
#include <string.h>

/* Derivatives of reading j through B and the right side, and what follows for its site. */
static void finish_reading(hfi_inducing_reverse *run, size_t j, double by_alpha, double by_gamma,
                           double by_dense)
{
    const hfi_inducing_chunk *c = &run->chunk;
    hfi_inducing_bars *b = &run->bars;
    const double p = c->precision[j], r = c->residual[j];
    const double square = by_dense + run->tau * c->variance_part[j] - c->mean_part[j] * by_alpha;
    const double log_p = b->log_p[j] + p * (square + r * by_gamma), r_bar = b->r[j] + p * by_gamma;
    const double by_variance = -p * log_p; /* in 1 / p, a sum of variances */
    b->d[j] += by_variance;
    b->white[j] += by_variance;
    if (c->inducing->method == HF_INDUCING_FITC && c->prior[j] > c->resolved[j]) {
        b->prior[j] += by_variance;
        b->q[j] -= by_variance;
    }
    b->z[j] += r_bar;
    b->offset[j] -= r_bar;
}

/* vbar of the readings of one job. */
static void vbar_job(size_t job, int thread, void *arg)
{
    hfi_inducing_reverse *run = arg;
    const hfi_inducing_chunk *c = &run->chunk;
    const hfi_inducing *u = c->inducing;
    const size_t m = u->m;
    size_t first;
    const size_t count = hfi_inducing_chunk_job(c, job, &first);
    double *room = run->has_dense ? run->room + (size_t)thread * m * HFI_INDUCING_COLUMNS : NULL;
    if (room) hfi_gemm_tn(m, count, m, 1.0, run->dense, m, c->y + first * m, m, 0.0, room, m);
    for (size_t j = first; j < first + count; j++) {
        const double *y = c->y + j * m, *product = room ? room + (j - first) * m : NULL;
        double *out = run->vbar + j * m;
        const double p = c->precision[j], by_alpha = hfi_dot(m, run->alpha, y);
        finish_reading(run, j, by_alpha, hfi_dot(m, run->gamma, y), product ? hfi_dot(m, product, y) : 0.0);
        const double of_c = run->bars.mu[j] - p * by_alpha, of_gamma = p * c->residual[j],
                     of_alpha = -p * c->mean_part[j], of_y = 2.0 * (run->bars.h[j] + p * run->tau);
        for (size_t i = 0; i < m; i++)
            out[i] =
                of_c * u->whitened[i] + of_gamma * run->gamma[i] + of_alpha * run->alpha[i] + of_y * y[i];
        if (product) hfi_axpy(m, 2.0 * p, product, out);
    }
    hfi_chol_backward_block(m, count, u->lb, m, run->vbar + first * m, m);
    for (size_t j = first; j < first + count; j++)
        hfi_axpy(m, 2.0 * run->bars.q[j], c->v + j * m, run->vbar + j * m);
}

/* kbar in place of vbar. */
static void kbar_job(size_t job, int thread, void *arg)
{
    (void)thread;
    hfi_inducing_reverse *run = arg;
    const hfi_inducing *u = run->e->inducing;
    size_t first;
    const size_t count = hfi_inducing_chunk_job(&run->chunk, job, &first);
    hfi_chol_backward_block(u->m, count, u->lu, u->m, run->vbar + first * u->m, u->m);
}

static hf_status add_chunk(hfi_inducing_reverse *run, double *sums)
{
    const hfi_evaluator *e = run->e;
    const hfi_inducing_chunk *c = &run->chunk;
    const hfi_inducing *u = e->inducing;
    const hfi_inducing_bars *b = &run->bars;
    const size_t m = u->m, kernel_count = hf_kernel_parameters(e->kernel),
                 mean_count = hf_mean_coefficients(e->mean), jobs = hfi_inducing_chunk_jobs(c);
    double *gradient = sums, *noise = gradient + kernel_count + mean_count;
    hfi_parallel_for(e->ctx, jobs, vbar_job, run);
    hfi_lower_product(e->ctx, m, c->count, run->vbar, m, c->v, m, sums + run->count, m);
    hfi_parallel_for(e->ctx, jobs, kbar_job, run);
    hfi_kernel_diagonal_adjoint(e->kernel, c->count, c->x, u->d, b->prior, b->white, gradient);
    hfi_mean_adjoint(e->mean, c->count, c->x, u->d, b->offset, gradient + kernel_count);
    hfi_noise_adjoint(&c->sites, b->z, b->d, b->s, noise);
    return hfi_kernel_cross_adjoint(e->ctx, e->kernel, c->count, c->x, u->d, m, u->z, u->d, run->vbar, m,
                                    gradient, u->train_inputs ? noise + hf_sites_channels(e->sites) : NULL);
}

static hf_status pass(hfi_inducing_reverse *run)
{
    hf_context *ctx = run->e->ctx;
    const size_t m = run->e->inducing->m;
    size_t begin, end;
    double *sums;
    hfi_parts parts;
    hf_status status = hfi_parts_init(ctx, run->e->rows, run->count + m * m, run->sums, &parts);
    /* A table of one chunk is still where the pass before has left it. */
    const bool loaded = run->objective != HF_OBJECTIVE_EVIDENCE && run->e->rows <= run->chunk.capacity;
    while (status >= 0 && hfi_parts_next(&parts, &begin, &end, &sums))
        for (size_t at = begin; at < end && status >= 0; at += run->chunk.capacity) {
            const size_t left = end - at, rows = left < run->chunk.capacity ? left : run->chunk.capacity;
            if (!loaded) {
                hfi_inducing_chunk_load(&run->chunk, at, at + rows, false);
                hfi_inducing_chunk_solve(&run->chunk);
                (void)hfi_inducing_terms(run->objective, &run->chunk, &run->bars);
            }
            status = add_chunk(run, sums);
        }
    return hfi_parts_finish(&parts, status);
}

hf_status hfi_inducing_backward(hfi_inducing_reverse *run, double *gradient)
{
    hfi_evaluator *e = run->e;
    const hfi_inducing *u = e->inducing;
    hf_status status = pass(run);
    if (status >= 0 && e->query) status = hfi_inducing_query_backward(run, run->sums, run->sums + run->count);
    if (status >= 0)
        status = hfi_inducing_prior_adjoint(e, run->sums + run->count, run->sums,
                                            u->train_inputs ? run->sums + hfi_evaluator_parameters(e) : NULL);
    if (status >= 0) memcpy(gradient, run->sums, run->count * sizeof *gradient);
    return status;
}
