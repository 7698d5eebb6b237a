/* SPDX-License-Identifier: Apache-2.0 */
/* The pass that adds up an objective over the readings, and what its derivative in B and c needs. */
#include "linalg/linalg.h"
#include "objective/inducing_impl.h"
#include <math.h>
#include <string.h>

/* hbar_j y_j into vbar, and this job's share of sum_j mubar_j y_j. */
static void weigh_job(size_t job, int thread, void *arg)
{
    (void)thread;
    hfi_inducing_reverse *run = arg;
    const hfi_inducing_chunk *c = &run->chunk;
    const size_t m = c->inducing->m;
    double *partial = run->partial + job * m;
    size_t first;
    const size_t count = hfi_inducing_chunk_job(c, job, &first);
    memset(partial, 0, m * sizeof *partial);
    for (size_t j = first; j < first + count; j++) {
        const double *y = c->y + j * m, h = run->bars.h[j], mu = run->bars.mu[j];
        double *out = run->vbar + j * m;
        for (size_t i = 0; i < m; i++) {
            out[i] = h * y[i];
            partial[i] += mu * y[i];
        }
    }
}

static void add_chunk(hfi_inducing_reverse *run, double *sums)
{
    const hfi_inducing_chunk *c = &run->chunk;
    const size_t m = c->inducing->m, jobs = hfi_inducing_chunk_jobs(c);
    hfi_parallel_for(run->e->ctx, jobs, weigh_job, run);
    for (size_t b = 0; b < jobs; b++) hfi_axpy(m, 1.0, run->partial + b * m, sums + m * m);
    hfi_lower_product(run->e->ctx, m, c->count, run->vbar, m, c->y, m, sums, m);
}

typedef struct division {
    size_t m;
    const double *l;
    bool transposed;
    double *b;
} division;

static void divide_job(size_t job, int thread, void *arg)
{
    (void)thread;
    const division *d = arg;
    const size_t first = job * HFI_INDUCING_COLUMNS, left = d->m - first;
    const size_t count = left < HFI_INDUCING_COLUMNS ? left : HFI_INDUCING_COLUMNS;
    if (d->transposed)
        hfi_chol_backward_block(d->m, count, d->l, d->m, d->b + first * d->m, d->m);
    else
        hfi_chol_forward_block(d->m, count, d->l, d->m, d->b + first * d->m, d->m);
}

void hfi_inducing_divide(const hf_context *ctx, size_t m, const double *l, bool transposed, double *b)
{
    division d = {.m = m, .l = l, .transposed = transposed, .b = b};
    hfi_parallel_for(ctx, (m + HFI_INDUCING_COLUMNS - 1) / HFI_INDUCING_COLUMNS, divide_job, &d);
}

/* KL(N(w, B^-1) || N(0, I)) = (w'w + tr B^-1 - m + log det B) / 2; `inverse` receives Lb^-1. */
static double divergence(const hfi_inducing *u, double *inverse)
{
    const size_t m = u->m;
    double trace = 0.0;
    memset(inverse, 0, m * m * sizeof *inverse);
    for (size_t i = 0; i < m; i++) inverse[i + i * m] = 1.0;
    hfi_inducing_divide(u->ctx, m, u->lb, false, inverse);
    for (size_t j = 0; j < m; j++) trace += hfi_dot(m - j, inverse + j * (m + 1), inverse + j * (m + 1));
    return 0.5 * (hfi_dot(m, u->w, u->w) + trace - (double)m + hfi_chol_logdet(m, u->lb, m));
}

/* From the sums to alpha, gamma, tau and dense = -sum_j hbar_j y_j y_j' + penalty Lb^-1 Lb^-T / 2. */
static void collect(hfi_inducing_reverse *run, double *inverse)
{
    const hfi_inducing *u = run->e->inducing;
    const size_t m = u->m;
    double *dense = run->dense;
    memcpy(run->alpha, dense + m * m, m * sizeof *run->alpha);
    if (run->penalty > 0.0) { /* the derivative of w'w / 2 is w */
        double *pulled = run->gamma;
        memcpy(pulled, u->w, m * sizeof *pulled);
        hfi_chol_forward(m, u->lb, m, pulled);
        hfi_axpy(m, -run->penalty, pulled, run->alpha);
    }
    memcpy(run->gamma, run->alpha, m * sizeof *run->gamma);
    run->tau = -0.5 * run->penalty;
    for (size_t j = 0; j < m; j++)
        for (size_t i = j; i < m; i++) dense[i + j * m] = -dense[i + j * m];
    if (run->penalty > 0.0) {
        const double root = sqrt(0.5 * run->penalty);
        for (size_t i = 0; i < m * m; i++) inverse[i] *= root;
        hfi_lower_product(u->ctx, m, m, inverse, m, inverse, m, dense, m);
    }
    hfi_symmetrise(u->ctx, m, dense, m);
}

hf_status hfi_inducing_forward(hfi_inducing_reverse *run, bool gradient, double *value)
{
    const hfi_evaluator *e = run->e;
    const hfi_inducing *u = e->inducing;
    const size_t m = u->m;
    /* Without a gradient the value is all there is to add up. */
    const size_t before = gradient ? m * m + m : 0;
    double *last = run->dense + before, *room = gradient ? run->sums + run->count : run->dense, *sums;
    size_t begin, end;
    hfi_parts parts;
    hf_status status = hfi_parts_init(e->ctx, e->rows, before + 1, run->dense, &parts);
    while (status >= 0 && hfi_parts_next(&parts, &begin, &end, &sums))
        for (size_t at = begin; at < end; at += run->chunk.capacity) {
            const size_t left = end - at, rows = left < run->chunk.capacity ? left : run->chunk.capacity;
            hfi_inducing_chunk_load(&run->chunk, at, at + rows, false);
            hfi_inducing_chunk_solve(&run->chunk);
            sums[before] += hfi_inducing_terms(run->objective, &run->chunk, &run->bars);
            if (gradient) add_chunk(run, sums);
        }
    status = hfi_parts_finish(&parts, status);
    if (status < 0) return status;
    *value = *last;
    if (run->penalty > 0.0) *value -= run->penalty * divergence(u, room);
    if (gradient) collect(run, room);
    return status;
}
