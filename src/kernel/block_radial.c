/* SPDX-License-Identifier: Apache-2.0 */
/* Streamed products of radial kernels: chunks, their pairs, and what is done with the sums of the strips.
 * Compiled twice, see block_real.h. */
#include "kernel/block_stream.h"
#include "kernel/block_strip.h"
#include "linalg/linalg.h"

#include <string.h>

/* Arrays of one thread. */
typedef struct desk {
    _Alignas(64) real now[HFI_CHUNK_STRIDE];
    real next[HFI_CHUNK_STRIDE], zeros[HFI_CHUNK_STRIDE];
    real entry[HFI_CHUNK_STRIDE], column[HFI_CHUNK_STRIDE], bar[HFI_CHUNK_STRIDE], spread[HFI_CHUNK_STRIDE];
    real kept[HFI_CHUNK_STRIDE], own[HFI_STRIP_ROWS];
    real weight[HFI_STRIP_ROWS * HFI_CHUNK_MOST], facing[HFI_STRIP_ROWS * HFI_CHUNK_MOST];
    double sums[HFI_STRIP_ROWS * HFI_CHUNK_MOST], row_sum[HFI_STRIP_ROWS];
    size_t ends[HFI_CHUNK_MOST], runs, block_of_run[HFI_CHUNK_MOST];
} desk;

typedef struct radial_block {
    const hf_context *ctx;
    const hfi_block_job *job;
    const hfi_block_plan *plan;
    desk *desks; /* for each thread */
    real *z;     /* for each thread: coordinates of its fast points, axis by axis; the strip's partial */
    size_t z_each;
    real *by_row, *by_chunk; /* coordinates of all rows: row by row; chunk by chunk and there axis by axis */
    real *entry;             /* of all rows, over entry_unit */
    double entry_unit, bar_unit;
    double *s_bar;   /* sums without the kernel's factors */
    double *by_axis; /* padded x REAL_LANES for each thread */
    double *theta;   /* for each chunk: padded sums */
    real *tile;      /* for each thread, dense columns: the covariances of a pair of chunks */
    double *tile_double;
} radial_block;

#define TILE ((size_t)HFI_CHUNK_MOST * HFI_CHUNK_MOST)

/* ---- a pair -------------------------------------------------------------------------------------------- */

typedef struct chunk_pair {
    radial_block *all;
    desk *desk;
    hfi_strip strip;
    size_t p, q, fast, count; /* first row and number of rows of chunk q */
    size_t row, end;          /* of chunk p: first row of the strip, end */
} chunk_pair;

/* The blocks of chunk q; without actions all is one. */
static void take_runs(const hfi_block_job *job, chunk_pair *at)
{
    desk *d = at->desk;
    d->runs = 0;
    for (size_t j = 0; j < at->count; j++) {
        const size_t block = job->owner ? job->owner[at->fast + j] : 0;
        if (d->runs == 0 || d->block_of_run[d->runs - 1] != block) d->block_of_run[d->runs++] = block;
        d->ends[d->runs - 1] = j + 1;
    }
}

static void take_fast(const radial_block *all, chunk_pair *at, real *z)
{
    const size_t width = (at->count + REAL_LANES - 1) / REAL_LANES * REAL_LANES, padded = all->plan->padded;
    const real *from = all->by_chunk + at->fast * padded;
    desk *d = at->desk;
    for (size_t a = 0; a < padded; a++) {
        real *to = z + a * HFI_CHUNK_STRIDE;
        memcpy(to, from + a * at->count, at->count * sizeof *to);
        for (size_t j = at->count; j < width; j++) to[j] = to[at->count - 1];
    }
    /* Points that are there for the vector's sake have no weight. */
    for (size_t j = 0; j < width; j++) {
        d->entry[j] = all->entry && j < at->count ? all->entry[at->fast + j] : REAL(0.0);
        d->bar[j] = d->spread[j] = REAL(0.0);
    }
    at->strip.width = width;
    at->strip.z = z;
}

static void start_pair(radial_block *all, size_t p, size_t q, int thread, chunk_pair *at)
{
    const hfi_block_plan *plan = all->plan;
    desk *d = &all->desks[thread];
    const size_t *begin = plan->begin;
    *at = (chunk_pair){
        .all = all, .desk = d, .p = p, .q = q, .fast = begin[q], .count = begin[q + 1] - begin[q]};
    at->row = begin[p];
    at->end = begin[p + 1];
    take_runs(all->job, at);
    const bool further = plan->padded > HFI_STRIP_AXES;
    real *z = all->z + (size_t)thread * all->z_each;
    at->strip = (hfi_strip){.form = plan->form,
                            .axes = plan->padded,
                            .x_step = 1,
                            .left = at->end - at->row,
                            .x = all->by_row + at->row * plan->padded,
                            .now = d->now,
                            .next = d->next,
                            .partial = further ? z + plan->padded * HFI_CHUNK_STRIDE : d->zeros,
                            .partial_step = further ? HFI_CHUNK_STRIDE : 0,
                            .zeros = d->zeros,
                            .runs = d->runs,
                            .ends = d->ends,
                            .entry = d->entry,
                            .own = d->own,
                            .column = d->column,
                            .kept = d->kept,
                            .sums = d->sums,
                            .bar = d->bar,
                            .facing = d->facing,
                            .spread = d->spread,
                            .weight = d->weight,
                            .row_sum = d->row_sum};
    take_fast(all, at, z);
    HFI_STRIP_NAME(begin)(&at->strip);
}

/* Rows of the next strip: of one block. */
static bool next_strip(chunk_pair *at)
{
    const uint32_t *owner = at->all->job->owner;
    size_t rows = 0;
    while (rows < HFI_STRIP_ROWS && at->row + rows < at->end &&
           (!owner || owner[at->row + rows] == owner[at->row]))
        rows++;
    at->strip.rows = rows;
    for (size_t r = 0; r < rows; r++)
        at->desk->own[r] = at->all->entry ? at->all->entry[at->row + r] : REAL(0.0);
    return rows > 0;
}

static void finish_strip(chunk_pair *at)
{
    at->row += at->strip.rows;
    at->strip.x += at->strip.rows * at->strip.axes;
    at->strip.left -= at->strip.rows;
}

/* ---- B = K A ------------------------------------------------------------------------------------------- */

static void product_pair(size_t p, size_t q, int thread, void *arg)
{
    radial_block *all = arg;
    const hfi_block_job *job = all->job;
    const double scale = all->plan->scale * all->entry_unit;
    chunk_pair at;
    start_pair(all, p, q, thread, &at);
    for (; next_strip(&at); finish_strip(&at)) {
        const desk *d = at.desk;
        HFI_STRIP_NAME(product)(&at.strip);
        for (size_t t = 0; t < d->runs; t++)
            for (size_t r = 0; r < at.strip.rows; r++)
                job->b[at.row + r + d->block_of_run[t] * job->ldb] += scale * d->sums[r * d->runs + t];
        if (p == q) continue; /* every row has seen all others */
        double *column = job->b + job->owner[at.row] * job->ldb + at.fast;
        for (size_t j = 0; j < at.count; j++) column[j] += scale * (double)d->column[j];
    }
}

/* ---- adjoint ------------------------------------------------------------------------------------------- */

/* Bbar of either side in the columns of the other's blocks. A chunk with itself: each row for itself. */
static void take_bar(const radial_block *all, chunk_pair *at)
{
    const hfi_block_job *job = all->job;
    const double inverse = 1.0 / all->bar_unit;
    desk *d = at->desk;
    if (at->row == at->all->plan->begin[at->p] || job->owner[at->row] != job->owner[at->row - 1]) {
        const double *bar = job->b_bar + job->owner[at->row] * job->ldb + at->fast;
        for (size_t j = 0; j < at->count; j++) d->bar[j] = (real)(bar[j] * inverse);
    }
    for (size_t t = 0; t < d->runs; t++) {
        const double *facing = job->b_bar + d->block_of_run[t] * job->ldb + at->row;
        for (size_t r = 0; r < at->strip.rows; r++)
            d->facing[r * d->runs + t] = at->p == at->q ? REAL(0.0) : (real)(facing[r] * inverse);
    }
}

/* Sums of weights times squares become the chunk's. */
static void keep_squares(const radial_block *all, const chunk_pair *at)
{
    double *theta = all->theta + at->p * all->plan->padded;
    for (size_t a = 0; a < all->plan->padded; a++)
        for (size_t l = 0; l < REAL_LANES; l++) theta[a] += at->strip.by_axis[a * REAL_LANES + l];
}

static void adjoint_pair(size_t p, size_t q, int thread, void *arg)
{
    radial_block *all = arg;
    chunk_pair at;
    start_pair(all, p, q, thread, &at);
    at.strip.by_axis = all->by_axis + (size_t)thread * all->plan->padded * REAL_LANES;
    at.strip.ard = all->plan->ard && all->theta;
    memset(at.strip.by_axis, 0, all->plan->padded * REAL_LANES * sizeof *at.strip.by_axis);
    for (; next_strip(&at); finish_strip(&at)) {
        const desk *d = at.desk;
        take_bar(all, &at);
        HFI_STRIP_NAME(adjoint)(&at.strip);
        for (size_t r = 0; r < at.strip.rows; r++) all->s_bar[at.row + r] += d->row_sum[r];
        for (size_t j = 0; p != q && j < at.count; j++) all->s_bar[at.fast + j] += (double)d->column[j];
        if (at.strip.ard) HFI_STRIP_NAME(squares)(&at.strip);
    }
    if (all->theta) keep_squares(all, &at);
}

/* ---- dense columns ------------------------------------------------------------------------------------- */

static void dense_pair(size_t p, size_t q, int thread, void *arg)
{
    radial_block *all = arg;
    const hfi_block_job *job = all->job;
    real *tile = all->tile + (size_t)thread * TILE;
    chunk_pair at;
    start_pair(all, p, q, thread, &at);
    const size_t slow = at.row, rows = at.end - at.row, width = at.strip.width;
    for (; next_strip(&at); finish_strip(&at)) {
        at.strip.kept = tile + (at.row - slow) * width;
        at.strip.kept_step = width;
        HFI_STRIP_NAME(product)(&at.strip);
    }
#ifdef HFI_BLOCK_SINGLE
    double *k = all->tile_double + (size_t)thread * TILE;
    for (size_t i = 0; i < rows * width; i++) k[i] = (double)tile[i];
#else
    const double *k = tile;
#endif
    hfi_gemm_tn(rows, job->columns, at.count, all->plan->scale, k, width, job->v + at.fast, job->ldv, 1.0,
                job->p + slow, job->ldp);
    if (p != q)
        hfi_tall_add(all->ctx, at.count, rows, job->columns, all->plan->scale, k, width, job->v + slow,
                     job->ldv, job->p + at.fast, job->ldp);
}

/* ---- memory and the whole ------------------------------------------------------------------------------ */

static double find_largest_magnitude(size_t count, const double *values)
{
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double size = fabs(values[i]);
        most = size > most ? size : most;
    }
    return most;
}

typedef struct bar_job {
    const hfi_block_job *job;
    double *most; /* of each column */
} bar_job;

static void largest_bar(size_t block, int thread, void *arg)
{
    const bar_job *job = arg;
    (void)thread;
    job->most[block] = find_largest_magnitude(job->job->n, job->job->b_bar + block * job->job->ldb);
}

/* In single precision numbers go through the loops in units of their largest: nothing overflows, and what
 * vanishes beside it may. */
static hf_status choose_units(hf_context *ctx, radial_block *all)
{
    all->entry_unit = all->bar_unit = 1.0;
    if (sizeof(real) == sizeof(double) || !all->job->s) return HF_OK;
    const hfi_block_job *job = all->job;
    all->entry_unit = find_largest_magnitude(job->n, job->s);
    if (job->b_bar) {
        bar_job bar = {job, hfi_alloc(ctx, job->blocks, sizeof *bar.most)};
        if (!bar.most) return HF_ERR_MEMORY;
        hfi_parallel_for(ctx, job->blocks, largest_bar, &bar);
        all->bar_unit = find_largest_magnitude(job->blocks, bar.most);
        hfi_free(ctx, bar.most);
    }
    if (!(all->entry_unit > 0.0)) all->entry_unit = 1.0;
    if (!(all->bar_unit > 0.0)) all->bar_unit = 1.0;
    return HF_OK;
}

static void fill_coordinates(radial_block *all)
{
    const hfi_block_job *job = all->job;
    const hfi_block_plan *plan = all->plan;
    for (size_t c = 0; c < plan->chunks; c++) {
        const size_t begin = plan->begin[c], count = plan->begin[c + 1] - begin;
        real *chunk = all->by_chunk + begin * plan->padded; /* axes that only fill up stay 0 */
        for (size_t j = 0; j < count; j++) {
            const double *row = job->x + (begin + j) * job->ldx;
            for (size_t a = 0; a < plan->axes; a++) {
                const real at = (real)((row[plan->columns[a]] - plan->centre[a]) * plan->factor[a]);
                chunk[a * count + j] = all->by_row[(begin + j) * plan->padded + a] = at;
            }
        }
    }
    for (size_t l = 0; all->entry && l < job->n; l++) all->entry[l] = (real)(job->s[l] / all->entry_unit);
}

static bool allocate_radial_block(hf_context *ctx, radial_block *all)
{
    const hfi_block_job *job = all->job;
    const size_t padded = all->plan->padded, threads = (size_t)hf_context_threads(ctx);
    all->desks = hfi_alloc(ctx, threads, sizeof *all->desks);
    all->z_each = (padded + (padded > HFI_STRIP_AXES ? HFI_STRIP_ROWS : 0)) * HFI_CHUNK_STRIDE;
    all->z = all->desks ? hfi_alloc_product(ctx, threads, all->z_each, sizeof *all->z) : NULL;
    all->by_row = all->z ? hfi_alloc_product(ctx, job->n, padded, sizeof *all->by_row) : NULL;
    all->by_chunk = all->by_row ? hfi_alloc_product(ctx, job->n, padded, sizeof *all->by_chunk) : NULL;
    if (!all->by_chunk) return false;
    if (job->s && !(all->entry = hfi_alloc(ctx, job->n, sizeof *all->entry))) return false;
    if (job->columns > 0) {
        all->tile = hfi_alloc_product(ctx, threads, TILE, sizeof *all->tile);
        if (!all->tile) return false;
        if (sizeof(real) != sizeof(double) &&
            !(all->tile_double = hfi_alloc_product(ctx, threads, TILE, sizeof *all->tile_double)))
            return false;
    }
    if (!job->b_bar) return true;
    all->by_axis = hfi_alloc_product(ctx, threads, padded * REAL_LANES, sizeof *all->by_axis);
    all->s_bar = all->by_axis ? hfi_alloc(ctx, job->n, sizeof *all->s_bar) : NULL;
    if (!all->s_bar) return false;
    if (job->theta) all->theta = hfi_alloc_product(ctx, all->plan->chunks, padded, sizeof *all->theta);
    return !job->theta || all->theta;
}

static void free_radial_block(hf_context *ctx, radial_block *all)
{
    HFI_FREE(ctx, all->desks, all->z, all->by_row, all->by_chunk, all->entry, all->tile, all->by_axis,
             all->s_bar, all->theta, all->tile_double);
}

/* Results of the adjoint with all their factors. Since k is proportional to sigma^2, its derivative is the
 * sum of s and s_bar. */
static void deliver_adjoint(const radial_block *all)
{
    const hfi_block_job *job = all->job;
    const hfi_block_plan *plan = all->plan;
    const double factor = plan->scale * all->bar_unit;
    double along = 0.0;
    for (size_t j = 0; j < job->n; j++) {
        const double s_bar = factor * all->s_bar[j];
        if (job->s_bar) job->s_bar[j] += s_bar;
        along += s_bar * job->s[j];
    }
    if (!job->theta) return;
    job->theta[plan->scale_at] += along;
    for (size_t c = 0; c < plan->chunks; c++)
        for (size_t a = 0; a < plan->axes; a++)
            job->theta[plan->lengthscale_at + (plan->ard ? a : 0)] +=
                factor * all->entry_unit * plan->slope * all->theta[c * plan->padded + a];
}

#ifdef HFI_BLOCK_SINGLE
hf_status hfi_block_radial_single(hf_context *ctx, const hfi_block_job *job, const hfi_block_plan *plan)
#else
hf_status hfi_block_radial_double(hf_context *ctx, const hfi_block_job *job, const hfi_block_plan *plan)
#endif
{
    const double n = (double)job->n;
    radial_block all = {.ctx = ctx, .job = job, .plan = plan};
    hf_status status = allocate_radial_block(ctx, &all) ? choose_units(ctx, &all) : HF_ERR_MEMORY;
    if (status >= 0) {
        fill_coordinates(&all);
        status = hfi_pair_rounds(ctx, "covariances", plan->chunks, 0.5 * n * (n + 1.0),
                                 job->b       ? product_pair
                                 : job->b_bar ? adjoint_pair
                                              : dense_pair,
                                 &all);
    }
    if (status >= 0 && job->b_bar) deliver_adjoint(&all);
    free_radial_block(ctx, &all);
    return status;
}
