/* SPDX-License-Identifier: Apache-2.0 */
/* Where to start, and which starts to follow: random rows, lots of large tables, and the stages in which they
 * are joined. */
#include "sites/mcd.h"

#include <math.h>
#include <string.h>

enum {
    LOT_ROWS = 300,  /* rows of a lot, about */
    LARGEST = 600,   /* more rows than this are cut into lots */
    MOST_LOTS = 5,   /* so that the joined lots have at most 1500 rows */
    POOL = 100,      /* candidates that lots leave, a fair share from each */
    BEST = 10,       /* what the joined lots hand on to all rows */
    EARLY_STEPS = 2, /* concentration steps of a start in a lot */
    MOST_STEPS = 200 /* elsewhere; they end when the support stays as it is, which takes a handful */
};

/* Candidates are written by one thread each. */
typedef struct mcd_stage {
    const hf_context *ctx;
    const hfi_mcd_rows *rows;
    size_t h, first;          /* `first`: number of the first stream */
    size_t steps;             /* at most */
    const size_t *which;      /* starts to make; NULL: the index itself */
    hfi_mcd_scratch *scratch; /* one per thread */
    hfi_mcd_fit *fits;        /* starting points in, results out; NULL: log_determinant only */
    double *log_determinant;  /* of every start */
    size_t *taken;            /* steps that each took; NULL: nobody asks */
} mcd_stage;

typedef struct mcd_pool {
    double *block;
    size_t count;
    hfi_mcd_fit fit[POOL];
} mcd_pool;

static hf_status pool_create(hf_context *ctx, size_t p, mcd_pool *out)
{
    const size_t most = POOL;
    *out = (mcd_pool){.block = hfi_alloc(ctx, most * (p + p * p), sizeof *out->block)};
    if (out->block == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < most; k++)
        out->fit[k] =
            (hfi_mcd_fit){.mean = out->block + k * (p + p * p), .factor = out->block + k * (p + p * p) + p};
    return HF_OK;
}

/* The half of the rows that is nearest to the origin, which is where the columns' medians are. */
static void central_start(const mcd_stage *job, hfi_mcd_scratch *scratch)
{
    const size_t p = job->rows->p;
    memset(scratch->fit.mean, 0, p * sizeof *scratch->fit.mean);
    memset(scratch->fit.factor, 0, p * p * sizeof *scratch->fit.factor);
    for (size_t j = 0; j < p; j++) scratch->fit.factor[j + j * p] = 1.0;
    hfi_mcd_concentrate(job->ctx, job->rows, (job->rows->n + 1) / 2, scratch);
}

/* p + 1 random rows, and a few more while they lie in a plane. */
static void random_start(const mcd_stage *job, size_t number, hfi_mcd_scratch *scratch)
{
    const size_t n = job->rows->n, fewest = job->rows->p + 1, most = 3 * fewest < n ? 3 * fewest : n;
    size_t count = 0;
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(job->ctx), HFI_PURPOSE_SUBSET, number);
    memset(scratch->chosen, 0, n * sizeof *scratch->chosen);
    while (count < most) {
        const size_t row = hfi_stream_below(&stream, n);
        if (scratch->chosen[row]) continue;
        scratch->chosen[row] = true;
        if (++count < fewest) continue;
        hfi_mcd_fit_chosen(job->ctx, job->rows, count, scratch);
        if (!scratch->fit.singular) return;
    }
}

static size_t concentrate(const mcd_stage *job, hfi_mcd_scratch *scratch)
{
    double last = INFINITY;
    for (size_t step = 1; step <= job->steps; step++) {
        hfi_mcd_concentrate(job->ctx, job->rows, job->h, scratch);
        /* The sums of one support are the same to the last digit: an equal determinant is an equal support. */
        if (!(scratch->fit.log_determinant < last)) return step;
        last = scratch->fit.log_determinant;
    }
    return job->steps;
}

static void follow_start(size_t index, int thread, void *arg)
{
    const mcd_stage *job = arg;
    const size_t number = job->which ? job->which[index] : index;
    hfi_mcd_scratch *scratch = &job->scratch[thread];
    if (number == 0)
        central_start(job, scratch);
    else
        random_start(job, job->first + number, scratch);
    (void)concentrate(job, scratch);
    if (job->log_determinant) job->log_determinant[index] = scratch->fit.log_determinant;
    if (job->fits) hfi_mcd_fit_copy(job->rows->p, &scratch->fit, &job->fits[index]);
}

static void follow_fit(size_t index, int thread, void *arg)
{
    const mcd_stage *job = arg;
    hfi_mcd_scratch *scratch = &job->scratch[thread];
    hfi_mcd_fit_copy(job->rows->p, &job->fits[index], &scratch->fit);
    const size_t taken = concentrate(job, scratch);
    hfi_mcd_fit_copy(job->rows->p, &scratch->fit, &job->fits[index]);
    if (job->taken) job->taken[index] = taken;
}

/* Indices of the `most` least values, different from each other, in `best`; how many there are. */
static size_t least(size_t count, const double *value, size_t most, size_t *best)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        size_t place = 0;
        while (place < found && value[best[place]] < value[i]) place++;
        if (place == most || (place < found && value[best[place]] == value[i])) continue;
        if (found < most) found++;
        for (size_t k = found - 1; k > place; k--) best[k] = best[k - 1];
        best[place] = i;
    }
    return found;
}

/* Random and central starts on some rows; the best of them are added to the pool. `value` holds starts + 1. */
static void explore(mcd_stage job, size_t starts, size_t most, double *value, mcd_pool *out)
{
    size_t best[POOL];
    job.log_determinant = value;
    hfi_parallel_for(job.ctx, starts + 1, follow_start, &job);
    const size_t count = least(starts + 1, value, most, best);
    job.which = best;
    job.log_determinant = NULL;
    job.fits = out->fit + out->count; /* made once more: a start is nothing but its number */
    hfi_parallel_for(job.ctx, count, follow_start, &job);
    out->count += count;
}

/* Concentration steps on other rows, after which only the best of the pool are kept. */
static void condense(mcd_stage job, mcd_pool *candidates)
{
    double value[POOL];
    size_t best[BEST];
    job.fits = candidates->fit;
    hfi_parallel_for(job.ctx, candidates->count, follow_fit, &job);
    for (size_t k = 0; k < candidates->count; k++) value[k] = candidates->fit[k].log_determinant;
    const size_t count = least(candidates->count, value, BEST, best);
    hfi_mcd_fit kept[POOL];
    memcpy(kept, candidates->fit, sizeof kept);
    for (size_t k = 0; k < count; k++) candidates->fit[k] = kept[best[k]];
    candidates->count = count;
}

static size_t compute_subset_share(size_t n, size_t h, size_t rows)
{
    return (h * rows + n - 1) / n;
}

/* Candidates from lots of the rows, and then from all those lots together. `gathered` has room for MOST_LOTS
 * lots and `order` for all rows. */
static void join_lots(mcd_stage job, const hfi_mcd_rows *all, size_t h, size_t starts, size_t *order,
                      double *gathered, double *value, mcd_pool *candidates)
{
    const size_t p = all->p, lots = all->n / LOT_ROWS < MOST_LOTS ? all->n / LOT_ROWS : MOST_LOTS;
    const size_t used = all->n < MOST_LOTS * LOT_ROWS ? all->n : MOST_LOTS * LOT_ROWS;
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(job.ctx), HFI_PURPOSE_SUBSET, UINT64_MAX);
    for (size_t i = 0; i < all->n; i++) order[i] = i;
    hfi_stream_shuffle(&stream, order, all->n);
    for (size_t i = 0; i < used; i++) memcpy(gathered + i * p, all->u + order[i] * p, p * sizeof *gathered);
    for (size_t k = 0; k < lots; k++) {
        size_t begin, end;
        hfi_part(used, lots, k, &begin, &end);
        const hfi_mcd_rows lot = {.n = end - begin, .p = p, .u = gathered + begin * p};
        job.rows = &lot;
        job.h = compute_subset_share(all->n, h, lot.n);
        job.first = k * (starts + 1);
        explore(job, (starts + lots - 1) / lots, POOL / lots, value, candidates);
    }
    const hfi_mcd_rows joined = {.n = used, .p = p, .u = gathered};
    job.rows = &joined;
    job.h = compute_subset_share(all->n, h, used);
    job.steps = MOST_STEPS;
    condense(job, candidates);
}

static hf_status search_mcd_subset(hf_context *ctx, const hfi_mcd_rows *rows, size_t h, size_t starts,
                                   mcd_stage *job, bool *chosen, size_t *steps)
{
    const size_t n = rows->n, p = rows->p, room = n > LARGEST ? MOST_LOTS * LOT_ROWS : 0;
    size_t *order = hfi_alloc(ctx, n > LARGEST ? n : 1, sizeof *order), taken[POOL] = {0};
    double *block = hfi_alloc(ctx, room * p + starts + 1, sizeof *block);
    mcd_pool candidates = {0};
    hf_status status = order && block ? pool_create(ctx, p, &candidates) : HF_ERR_MEMORY;
    if (status >= 0) {
        job->steps = n > LARGEST ? EARLY_STEPS : MOST_STEPS;
        if (n > LARGEST)
            join_lots(*job, rows, h, starts, order, block + starts + 1, block, &candidates);
        else
            explore(*job, starts, BEST, block, &candidates);
        job->rows = rows;
        job->h = h;
        job->steps = MOST_STEPS;
        job->taken = taken;
        condense(*job, &candidates);
        hfi_mcd_fit_copy(p, &candidates.fit[0], &job->scratch[0].fit);
        hfi_mcd_concentrate(ctx, rows, h, &job->scratch[0]);
        memcpy(chosen, job->scratch[0].chosen, n * sizeof *chosen);
        *steps = 0;
        for (size_t k = 0; k < POOL; k++) *steps += taken[k];
    }
    HFI_FREE(ctx, candidates.block, order, block);
    return status;
}

hf_status hfi_mcd_search(hf_context *ctx, const hfi_mcd_rows *rows, size_t h, size_t starts, bool *chosen,
                         size_t *steps)
{
    const size_t threads = (size_t)hf_context_threads(ctx);
    hfi_mcd_scratch *scratch = hfi_alloc(ctx, threads, sizeof *scratch);
    hf_status status = scratch ? HF_OK : HF_ERR_MEMORY;
    size_t ready = 0;
    while (status >= 0 && ready < threads) {
        status = hfi_mcd_scratch_create(ctx, rows->n, rows->p, &scratch[ready]);
        ready += status >= 0;
    }
    mcd_stage job = {.ctx = ctx, .rows = rows, .h = h, .scratch = scratch};
    if (status >= 0) status = search_mcd_subset(ctx, rows, h, starts, &job, chosen, steps);
    while (ready > 0) hfi_mcd_scratch_free(ctx, &scratch[--ready]);
    hfi_free(ctx, scratch);
    return status;
}
