/* SPDX-License-Identifier: Apache-2.0 */
/* lower(G diag(w) G) as P'P - N'N: the rows of P are those of G with a positive weight, times its root, those
 * of N the ones with a negative weight. So the diagonal blocks are symmetric products, of which only half is
 * computed, and rows without weight cost nothing. */
#include "linalg/blas.h"

#include <math.h>

/* Blocks of C are large, because products with a long inner dimension want to be; there are at least two to a
 * side as soon as two threads can gain. Constants: the cut decides the rounding. */
enum {
    BLOCK = 512,
    SPLIT_FROM = 256,
    STRIP = 512,
    COLUMNS = 64
};

typedef struct weighted_square {
    size_t n;
    const double *g;
    size_t ldg;
    const double *w;
    double *c;
    size_t ldc;
    double *roots;   /* column j: column j of P, then column j of N; leading dimension n */
    size_t positive; /* rows of P */
    size_t negative; /* rows of N */
    size_t blocks;   /* blocks of C in a row */
} weighted_square;

/* NaN counts as positive, so that it is not lost. */
static bool is_positive(double w)
{
    return !(w <= 0.0);
}

static void count_signs(weighted_square *job)
{
    for (size_t i = 0; i < job->n; i++) {
        job->positive += is_positive(job->w[i]) ? 1 : 0;
        job->negative += job->w[i] < 0.0 ? 1 : 0;
    }
}

/* Makes COLUMNS columns of P and N. Roots and places are worked out once per strip of rows. */
static void make_roots(size_t item, int thread, void *arg)
{
    (void)thread;
    const weighted_square *job = arg;
    double root[STRIP];
    size_t from[STRIP], place[STRIP], next_positive = 0, next_negative = job->positive;
    size_t end = hfi_smaller((item + 1) * COLUMNS, job->n);
    for (size_t row = 0; row < job->n; row += STRIP) {
        size_t used = 0;
        for (size_t i = row; i < hfi_smaller(row + STRIP, job->n); i++) {
            if (job->w[i] == 0.0) continue;
            from[used] = i;
            place[used] = is_positive(job->w[i]) ? next_positive++ : next_negative++;
            root[used++] = sqrt(fabs(job->w[i]));
        }
        for (size_t j = item * COLUMNS; j < end; j++)
            for (size_t k = 0; k < used; k++)
                job->roots[place[k] + j * job->n] = root[k] * job->g[from[k] + j * job->ldg];
    }
}

static size_t block_begin(const weighted_square *job, size_t block)
{
    return block * job->n / job->blocks;
}

/* C_ij := beta C_ij + sign X_i' X_j for the `count` rows of `x`, which is P or N. */
static void add_product(const weighted_square *job, size_t i, size_t j, const double *x, size_t count,
                        double sign, double beta)
{
    size_t row = block_begin(job, i), column = block_begin(job, j);
    int rows = hfi_blas_int(block_begin(job, i + 1) - row),
        columns = hfi_blas_int(block_begin(job, j + 1) - column);
    int inner = hfi_blas_int(count), stride = hfi_blas_int(job->n), stride_c = hfi_blas_int(job->ldc);
    double *c = job->c + row + column * job->ldc;
    if (i == j)
        dsyrk_("L", "T", &rows, &inner, &sign, x + row * job->n, &stride, &beta, c, &stride_c, 1, 1);
    else
        dgemm_("T", "N", &rows, &columns, &inner, &sign, x + row * job->n, &stride, x + column * job->n,
               &stride, &beta, c, &stride_c, 1, 1);
}

/* Items go along the block diagonals, the lowest first: the cheaper blocks of the main diagonal end the work.
 */
static void make_block(size_t item, int thread, void *arg)
{
    (void)thread;
    const weighted_square *job = arg;
    size_t offset = job->blocks - 1, length = 1;
    while (item >= length) {
        item -= length++;
        offset--;
    }
    size_t j = item, i = item + offset;
    add_product(job, i, j, job->roots, job->positive, 1.0, 0.0);
    if (job->negative > 0) add_product(job, i, j, job->roots + job->positive, job->negative, -1.0, 1.0);
}

void hfi_weighted_square(const hf_context *ctx, size_t n, const double *g, size_t ldg, const double *w,
                         double *c, size_t ldc, double *work)
{
    if (n == 0) return;
    weighted_square job = {.n = n, .g = g, .ldg = ldg, .w = w, .c = c, .ldc = ldc, .roots = work};
    job.blocks = n < SPLIT_FROM ? 1 : n <= 2 * BLOCK ? 2 : (n + BLOCK - 1) / BLOCK;
    count_signs(&job);
    hfi_parallel_for(ctx, (n + COLUMNS - 1) / COLUMNS, make_roots, &job);
    hfi_blas_parallel_for(ctx, job.blocks * (job.blocks + 1) / 2, make_block, &job);
}
