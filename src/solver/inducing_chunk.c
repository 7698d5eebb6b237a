/* SPDX-License-Identifier: Apache-2.0 */
#include "solver/inducing_chunk.h"

#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    SITE_ARRAYS = 7, /* of hf_sites */
    READING_ARRAYS = 8
};

/* Cuts `count` arrays of `length` doubles from a block. */
static double *cut_chunk_arrays(double *block, double **const arrays[], size_t count, size_t length)
{
    for (size_t a = 0; a < count; a++, block += length) *arrays[a] = block;
    return block;
}

static void divide(hfi_inducing_chunk *c)
{
    hf_sites *s = &c->sites;
    double **const site[SITE_ARRAYS] = {&s->y,     &s->extra,  &s->centre,  &s->weight,
                                        &s->shift, &s->target, &s->variance};
    double **const reading[READING_ARRAYS] = {&c->offset,    &c->prior,    &c->white,     &c->residual,
                                              &c->precision, &c->resolved, &c->mean_part, &c->variance_part};
    c->x = cut_chunk_arrays(cut_chunk_arrays(c->numbers, site, SITE_ARRAYS, c->capacity), reading,
                            READING_ARRAYS, c->capacity);
}

hf_status hfi_inducing_chunk_init(hfi_inducing_chunk *chunk, const hfi_inducing *inducing,
                                  const hf_kernel *kernel, const hf_mean *mean, const hf_sites *sites,
                                  size_t rows, const double *x, size_t ldx, bool solved)
{
    hf_context *ctx = inducing->ctx;
    hfi_inducing_chunk c = {.inducing = inducing,
                            .kernel = kernel,
                            .mean = mean,
                            .table = sites,
                            .inputs = x,
                            .ldx = ldx,
                            .capacity = rows < HFI_INDUCING_ROWS ? rows : HFI_INDUCING_ROWS};
    size_t square;
    memset(chunk, 0, sizeof *chunk);
    if (!hfi_size_mul(c.capacity, inducing->m, &square)) return hfi_out_of_memory(ctx);
    c.row = hfi_alloc(ctx, c.capacity, 2 * sizeof *c.row); /* and the readings' channels */
    c.numbers = hfi_alloc(ctx, c.capacity, (SITE_ARRAYS + READING_ARRAYS + inducing->d) * sizeof *c.numbers);
    c.v = hfi_alloc(ctx, square, sizeof *c.v);
    c.scratch = hfi_kernel_scratch_alloc(ctx, kernel, &c.scratch_each);
    if (solved) c.y = hfi_alloc(ctx, square, sizeof *c.y);
    if (!c.row || !c.numbers || !c.v || !c.scratch || (solved && !c.y)) {
        hfi_inducing_chunk_free(&c);
        return HF_ERR_MEMORY;
    }
    c.sites = *sites; /* noise, threshold, amplitude; the arrays of readings are replaced */
    if (sites->channel) c.sites.channel = c.row + c.capacity;
    divide(&c);
    *chunk = c;
    return HF_OK;
}

void hfi_inducing_chunk_free(hfi_inducing_chunk *chunk)
{
    if (chunk->inducing) {
        hf_context *ctx = chunk->inducing->ctx;
        HFI_FREE(ctx, chunk->row, chunk->numbers, chunk->v, chunk->y, chunk->scratch);
    }
    memset(chunk, 0, sizeof *chunk);
}

size_t hfi_inducing_chunk_jobs(const hfi_inducing_chunk *chunk)
{
    return (chunk->count + HFI_INDUCING_COLUMNS - 1) / HFI_INDUCING_COLUMNS;
}

size_t hfi_inducing_chunk_job(const hfi_inducing_chunk *chunk, size_t job, size_t *first)
{
    *first = job * HFI_INDUCING_COLUMNS;
    const size_t left = chunk->count - *first;
    return left < HFI_INDUCING_COLUMNS ? left : HFI_INDUCING_COLUMNS;
}

/* Rows and sites side by side, so that the rest need not know that readings can be absent. */
static void gather_chunk_rows(hfi_inducing_chunk *c, size_t begin, size_t end, bool absent)
{
    const hf_sites *from = c->table;
    const size_t d = c->inducing->d;
    size_t n = 0;
    for (size_t i = begin; i < end; i++) {
        if (!absent && !hf_sites_is_present(from, i)) continue;
        memcpy(c->x + n * d, c->inputs + i * c->ldx, d * sizeof *c->x);
        c->row[n] = i;
        if (from->channel) c->sites.channel[n] = from->channel[i];
        c->sites.y[n] = from->y[i];
        c->sites.extra[n] = from->extra[i];
        c->sites.centre[n] = from->centre[i];
        c->sites.weight[n] = from->weight[i];
        c->sites.shift[n] = from->shift[i];
        c->sites.target[n] = from->target[i];
        c->sites.variance[n] = from->variance[i];
        n++;
    }
    c->count = n;
    c->sites.n = n;
}

static void whiten_job(size_t job, int thread, void *arg)
{
    hfi_inducing_chunk *c = arg;
    const hfi_inducing *u = c->inducing;
    size_t first;
    const size_t count = hfi_inducing_chunk_job(c, job, &first), end = first + count;
    const double *x = c->x + first * u->d;
    double *v = c->v + first * u->m;
    hfi_kernel_cross_block(c->kernel, count, x, u->d, u->m, u->z, u->d, v, u->m,
                           c->scratch + (size_t)thread * c->scratch_each);
    hfi_chol_forward_block(u->m, count, u->lu, u->m, v, u->m);
    hfi_kernel_diagonal(c->kernel, count, x, u->d, false, c->prior + first);
    hfi_kernel_diagonal(c->kernel, count, x, u->d, true, c->white + first);
    hf_mean_evaluate(c->mean, count, x, u->d, c->offset + first);
    for (size_t j = first; j < end; j++) {
        const bool present = c->sites.weight[j] > 0.0;
        const double *column = c->v + j * u->m;
        c->white[j] = fmax(c->white[j] - c->prior[j], 0.0);
        c->resolved[j] = hfi_dot(u->m, column, column);
        const double missing = u->method == HF_INDUCING_FITC ? fmax(c->prior[j] - c->resolved[j], 0.0) : 0.0;
        c->precision[j] = present ? 1.0 / (c->sites.variance[j] + c->white[j] + missing) : 0.0;
        c->residual[j] = present ? c->sites.target[j] - c->offset[j] : 0.0;
    }
}

void hfi_inducing_chunk_load(hfi_inducing_chunk *chunk, size_t begin, size_t end, bool absent)
{
    gather_chunk_rows(chunk, begin, end, absent);
    hfi_parallel_for(chunk->inducing->ctx, hfi_inducing_chunk_jobs(chunk), whiten_job, chunk);
}

static void solve_job(size_t job, int thread, void *arg)
{
    (void)thread;
    hfi_inducing_chunk *c = arg;
    const hfi_inducing *u = c->inducing;
    size_t first;
    const size_t count = hfi_inducing_chunk_job(c, job, &first);
    memcpy(c->y + first * u->m, c->v + first * u->m, count * u->m * sizeof *c->y);
    hfi_chol_forward_block(u->m, count, u->lb, u->m, c->y + first * u->m, u->m);
    for (size_t j = first; j < first + count; j++) {
        const double *column = c->y + j * u->m;
        c->mean_part[j] = hfi_dot(u->m, column, u->whitened);
        c->variance_part[j] = hfi_dot(u->m, column, column);
    }
}

void hfi_inducing_chunk_solve(hfi_inducing_chunk *chunk)
{
    hfi_parallel_for(chunk->inducing->ctx, hfi_inducing_chunk_jobs(chunk), solve_job, chunk);
}
