/* SPDX-License-Identifier: Apache-2.0 */
/* Products with the streamed matrix of covariances for any kernel: whole tiles are evaluated and then used
 * for the rows of both sides. */
#include "kernel/block_stream.h"
#include "kernel/tile.h"

#define CHUNK 128u /* rows */

typedef struct tiles {
    const hfi_block_job *job;
    double *scratch; /* for each thread */
    size_t scratch_each;
    double *theta; /* for each chunk: one row of parameters, or NULL */
} tiles;

/* A tile in its place: slow points are rows slow .. slow + tile->points.rows - 1 of the table, fast ones fast
 * .. fast + tile->count - 1. In a pair of one chunk with itself every entry and its mirror image are
 * evaluated, and each serves its slow point alone. */
typedef struct placed {
    const hfi_block_job *job;
    hfi_tile *tile;
    size_t slow, fast;
    size_t begin; /* of the chunk of the fast points */
    bool both;
    double *theta;
} placed;

/* The end of the run of rows from `from` that belong to one block, not beyond `end`. */
static size_t run_end(const uint32_t *owner, size_t from, size_t end)
{
    const uint32_t block = owner[from];
    while (from < end && owner[from] == block) from++;
    return from;
}

/* ---- B = K A ------------------------------------------------------------------------------------------- */

static void product_tile(const hfi_block_job *job, placed *at)
{
    const double *k = hfi_tile_value(at->tile);
    const size_t width = at->tile->points.width, fast_end = at->fast + at->tile->count;
    const size_t slow_end = at->slow + at->tile->points.rows;
    for (size_t l = at->slow; l < slow_end; l++) {
        const double *row = k + (l - at->slow) * width;
        for (size_t j = at->fast; j < fast_end;) {
            const size_t end = run_end(job->owner, j, fast_end);
            job->b[l + job->owner[j] * job->ldb] += hfi_loop_dot(end - j, row + (j - at->fast), job->s + j);
            j = end;
        }
        if (!at->both) continue;
        double *column = job->b + job->owner[l] * job->ldb + at->fast;
        for (size_t c = 0; c < at->tile->count; c++) column[c] += row[c] * job->s[l];
    }
}

/* ---- its adjoint --------------------------------------------------------------------------------------- */

static void entries_tile(const hfi_block_job *job, placed *at)
{
    const double *k = hfi_tile_value(at->tile);
    const size_t width = at->tile->points.width, fast_end = at->fast + at->tile->count;
    for (size_t r = 0; r < at->tile->points.rows; r++) {
        const size_t l = at->slow + r;
        const double *row = k + r * width, *mine = job->b_bar + job->owner[l] * job->ldb + at->fast;
        job->s_bar[l] += hfi_loop_dot(at->tile->count, row, mine);
        if (!at->both) continue;
        for (size_t j = at->fast; j < fast_end; j++)
            job->s_bar[j] += row[j - at->fast] * job->b_bar[l + job->owner[j] * job->ldb];
    }
}

static void parameters_tile(const hfi_block_job *job, placed *at, double *theta)
{
    double *weights = hfi_tile_weights(at->tile);
    const size_t width = at->tile->points.width;
    for (size_t r = 0; r < at->tile->points.rows; r++) {
        const size_t l = at->slow + r;
        const double *mine = job->b_bar + job->owner[l] * job->ldb + at->fast;
        double *row = weights + r * width;
        for (size_t c = 0; c < width; c++) row[c] = c < at->tile->count ? mine[c] * job->s[l] : 0.0;
        for (size_t c = 0; at->both && c < at->tile->count; c++)
            row[c] += job->b_bar[l + job->owner[at->fast + c] * job->ldb] * job->s[at->fast + c];
    }
    hfi_tile_adjoint(at->tile, theta);
}

/* ---- dense columns ------------------------------------------------------------------------------------- */

static void dense_tile(const hfi_block_job *job, placed *at)
{
    const double *k = hfi_tile_value(at->tile);
    const size_t width = at->tile->points.width;
    for (size_t q = 0; q < job->columns; q++) {
        const double *v = job->v + q * job->ldv;
        double *p = job->p + q * job->ldp;
        for (size_t r = 0; r < at->tile->points.rows; r++) {
            const double *row = k + r * width, mine = v[at->slow + r];
            p[at->slow + r] += hfi_loop_dot(at->tile->count, row, v + at->fast);
            for (size_t c = 0; at->both && c < at->tile->count; c++) p[at->fast + c] += row[c] * mine;
        }
    }
}

/* ---- pairs --------------------------------------------------------------------------------------------- */

static void use_tile(void *of, hfi_tile *tile, size_t slow, size_t fast)
{
    placed *at = of;
    const hfi_block_job *job = at->job;
    at->tile = tile;
    at->slow = slow;
    at->fast = at->begin + fast;
    if (job->v) dense_tile(job, at);
    if (job->b) product_tile(job, at);
    if (job->s_bar) entries_tile(job, at);
    if (at->theta) parameters_tile(job, at, at->theta);
}

/* Without `same` the white kernel is 0. */
static void pair(size_t p, size_t q, int thread, void *arg)
{
    const tiles *all = arg;
    const hfi_block_job *job = all->job;
    placed at = {.job = job, .begin = q * CHUNK, .both = p != q};
    const hfi_sweep pairs = {job->kernel,
                             job->n,
                             hfi_smaller(job->n - at.begin, CHUNK),
                             job->x,
                             job->x + at.begin * job->ldx,
                             job->ldx,
                             job->ldx,
                             .visit = use_tile,
                             .of = &at};
    if (all->theta) at.theta = all->theta + p * job->kernel->parameters;
    hfi_sweep_part(&pairs, p * CHUNK, hfi_smaller(job->n, (p + 1) * CHUNK),
                   all->scratch + (size_t)thread * all->scratch_each);
}

hf_status hfi_block_tiles(hf_context *ctx, const hfi_block_job *job)
{
    const size_t chunks = (job->n + CHUNK - 1) / CHUNK, parameters = job->kernel->parameters;
    const double n = (double)job->n;
    size_t theta = 0;
    tiles all = {.job = job};
    double *const into = job->theta, *sums = NULL;
    if (!hfi_size_mul(chunks, parameters, &theta)) return hfi_out_of_memory(ctx);
    all.scratch = hfi_kernel_scratch_alloc(ctx, job->kernel, &all.scratch_each);
    if (into) sums = hfi_alloc(ctx, theta, sizeof *sums);
    all.theta = sums;
    hf_status status = all.scratch && (sums || !into) ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = hfi_pair_rounds(ctx, "covariances", chunks, 0.5 * n * (n + 1.0), pair, &all);
    for (size_t c = 0; status >= 0 && into && sums && c < chunks; c++)
        for (size_t p = 0; p < parameters; p++) into[p] += sums[c * parameters + p];
    HFI_FREE(ctx, all.scratch, sums);
    return status;
}
