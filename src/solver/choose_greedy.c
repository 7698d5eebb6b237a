/* SPDX-License-Identifier: Apache-2.0 */
/* Inducing inputs one by one, each where the prior is least determined by those before: pivoted Cholesky. The columns
 * of the factor are kept in chunks of rows, each a small matrix of its own. A chunk's part of a column is thus one
 * product that stays in cache, and the sums do not depend on who computes it. */
#include "linalg/linalg.h"
#include "solver/choose.h"

#include <math.h>

enum {
    CHUNK = 2048
};

/* Conditional variances that differ by less, in units of the largest prior one, are equal: rows that mirror each other
 * differ by rounding, which would choose others on other processors. */
static const double EQUAL = 1e-12;

/* A row and what it is worth: its conditional variance times its quality squared. */
typedef struct best_row {
    double residual;
    double square; /* of the quality; 1 without */
    size_t row;
} best_row;

typedef struct greedy {
    const hf_kernel *kernel;
    size_t n, ldx, m, chunks;
    const double *x;
    const double *quality; /* n, largest at most 1; NULL: all 1 */
    double *factor;        /* chunk c: its rows x m, column-major, at c * CHUNK * m */
    double *residual;      /* n: conditional prior variances; -1 for chosen rows */
    double *pivot;         /* m: the chosen row's entries of the earlier columns */
    best_row *best;        /* chunks */
    double *scratch;       /* a thread's at thread * scratch_size */
    size_t scratch_size;
    size_t column; /* columns there are before the one being made */
    size_t row;    /* chosen for it */
    double root;   /* of its conditional variance */
    double equal;  /* conditional variances that differ by less are equal */
    double enough; /* conditional variances up to this are not worth a row */
    double least;  /* the same, but for the first row, which is taken whatever its variance */
    double log_det;
} greedy;

static size_t chunk_rows(const greedy *g, size_t chunk)
{
    size_t left = g->n - chunk * CHUNK;
    return left < CHUNK ? left : CHUNK;
}

static bool is_candidate(const greedy *g, const best_row *row)
{
    return row->residual > g->least && row->square > 0.0;
}

/* By more than what rounding of the two conditional variances comes to. */
static bool is_worth_more(const greedy *g, const best_row *a, const best_row *b)
{
    return a->square * a->residual > b->square * b->residual + g->equal * fmax(a->square, b->square);
}

static void find_best(greedy *g, size_t chunk)
{
    best_row best = {.residual = -1.0, .square = 1.0, .row = chunk * CHUNK};
    for (size_t i = chunk * CHUNK; i < chunk * CHUNK + chunk_rows(g, chunk); i++) {
        const double quality = g->quality != NULL ? g->quality[i] : 1.0;
        const best_row row = {.residual = g->residual[i], .square = quality * quality, .row = i};
        if (is_candidate(g, &row) && (!is_candidate(g, &best) || is_worth_more(g, &row, &best))) best = row;
    }
    g->best[chunk] = best;
}

static void start_chunk(size_t chunk, int thread, void *arg)
{
    greedy *g = arg;
    (void)thread;
    hfi_kernel_diagonal(g->kernel, chunk_rows(g, chunk), g->x + chunk * CHUNK * g->ldx, g->ldx, false,
                        g->residual + chunk * CHUNK);
    find_best(g, chunk);
}

static void extend_chunk(size_t chunk, int thread, void *arg)
{
    greedy *g = arg;
    size_t first = chunk * CHUNK, rows = chunk_rows(g, chunk);
    double *matrix = g->factor + first * g->m, *column = matrix + g->column * rows;
    hfi_kernel_cross_block(g->kernel, 1, g->x + g->row * g->ldx, g->ldx, rows, g->x + first * g->ldx, g->ldx,
                           column, rows, g->scratch + (size_t)thread * g->scratch_size);
    if (g->column > 0) hfi_gemv(rows, g->column, -1.0, matrix, rows, g->pivot, 1.0, column);
    for (size_t i = 0; i < rows; i++) {
        column[i] /= g->root;
        if (g->residual[first + i] >= 0.0)
            g->residual[first + i] = fmax(0.0, g->residual[first + i] - column[i] * column[i]);
    }
    if (g->row >= first && g->row < first + rows) g->residual[g->row] = -1.0;
    find_best(g, chunk);
}

/* The lowest of the rows that are worth most: one that is above all rows before it by more than
 * what counts as equal. */
static best_row overall_best(const greedy *g)
{
    best_row best = g->best[0];
    for (size_t c = 1; c < g->chunks; c++)
        if (is_candidate(g, &g->best[c]) && (!is_candidate(g, &best) || is_worth_more(g, &g->best[c], &best)))
            best = g->best[c];
    return best;
}

static void gather_pivot(greedy *g)
{
    size_t chunk = g->row / CHUNK, rows = chunk_rows(g, chunk);
    const double *entry = g->factor + chunk * CHUNK * g->m + g->row % CHUNK;
    for (size_t k = 0; k < g->column; k++) g->pivot[k] = entry[k * rows];
}

static hf_status check_prior(hf_context *ctx, const greedy *g, double *largest)
{
    *largest = 0.0;
    for (size_t i = 0; i < g->n; i++) {
        if (!isfinite(g->residual[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the prior variance of row %zu (counted from 0) is %g", i,
                            g->residual[i]);
        *largest = fmax(*largest, g->residual[i]);
    }
    return HF_OK;
}

static hf_status choose_greedy_rows(hf_context *ctx, greedy *g, size_t *rows, size_t *chosen)
{
    double largest;
    g->least = -0.5; /* chosen rows are at -1 */
    hfi_parallel_for(ctx, g->chunks, start_chunk, g);
    hf_status status = check_prior(ctx, g, &largest);
    if (status < 0) return status;
    best_row best = overall_best(g);
    g->least = fmax(g->enough, HFI_CHOICE_RESOLUTION * largest);
    g->equal = EQUAL * largest;
    size_t count = 0;
    do {
        rows[count++] = best.row;
        g->log_det += log(best.residual) + log(best.square);
        if (count == g->m || best.residual <= g->least)
            break; /* the first row is taken whatever its variance */
        if (!hfi_progress(ctx, "choose", (double)count / (double)g->m, NAN)) return hfi_cancelled(ctx);
        g->row = best.row;
        g->root = sqrt(best.residual);
        gather_pivot(g);
        hfi_parallel_for(ctx, g->chunks, extend_chunk, g);
        g->column++;
        best = overall_best(g);
    } while (is_candidate(g, &best));
    *chosen = count;
    return HF_OK;
}

hf_status hfi_choose_greedy(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x, size_t ldx,
                            const double *q, size_t m, double enough, size_t *rows, size_t *chosen,
                            double *log_det)
{
    greedy g = {.kernel = kernel,
                .n = n,
                .ldx = ldx,
                .m = m < n ? m : n,
                .chunks = n / CHUNK + (n % CHUNK != 0),
                .x = x,
                .quality = q,
                .enough = enough};
    size_t entries;
    if (!hfi_size_mul(n, g.m, &entries))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu of %zu rows are too many to choose", m, n);
    g.factor = hfi_alloc_unset(ctx, entries, sizeof *g.factor);
    g.residual = hfi_alloc(ctx, n, sizeof *g.residual);
    g.pivot = hfi_alloc(ctx, g.m, sizeof *g.pivot);
    g.best = hfi_alloc(ctx, g.chunks, sizeof *g.best);
    g.scratch = hfi_kernel_scratch_alloc(ctx, kernel, &g.scratch_size);
    hf_status status = HF_ERR_MEMORY;
    if (g.factor != NULL && g.residual != NULL && g.pivot != NULL && g.best != NULL && g.scratch != NULL)
        status = choose_greedy_rows(ctx, &g, rows, chosen);
    if (status >= 0 && log_det != NULL) *log_det = g.log_det;
    HFI_FREE(ctx, g.factor, g.residual, g.pivot, g.best, g.scratch);
    return status;
}
