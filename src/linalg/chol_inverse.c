/* SPDX-License-Identifier: Apache-2.0 */
/* Inverse from a factor by tiles: T = L^-1 in place, then T' T in place. */
#include "linalg/tiles.h"

#include <string.h>

static const double ONE = 1.0, MINUS_ONE = -1.0;

/* Below this order LAPACK's own loop is as fast. */
enum {
    SMALL_TRIANGLE = 48
};

/* L := L^-1 for one tile. LAPACK's dtrtri runs at a fifth of the speed of a product; halving the triangle
 * moves most of its work into products: [A 0; B C]^-1 = [A^-1 0; -C^-1 B A^-1 C^-1]. */
static void invert_triangle(int n, double *l, const int *stride)
{
    if (n <= SMALL_TRIANGLE) {
        int info = 0;
        dtrtri_("L", "N", &n, l, stride, &info, 1, 1);
        return;
    }
    int upper = (n / 2 + 7) / 8 * 8, lower = n - upper;
    double *b = l + upper, *c = b + (size_t)upper * (size_t)*stride;
    invert_triangle(upper, l, stride);
    invert_triangle(lower, c, stride);
    dtrmm_("L", "L", "N", "N", &lower, &upper, &MINUS_ONE, c, stride, b, stride, 1, 1, 1, 1);
    dtrmm_("R", "L", "N", "N", &lower, &upper, &ONE, l, stride, b, stride, 1, 1, 1, 1);
}

static void invert_diagonal(const hfi_tiles *t, size_t k)
{
    invert_triangle(hfi_tile_size(t, k), hfi_tile(t, k, k), &t->stride);
}

/* A_kj := -T_kk A_kj */
static void finish_row(const hfi_tiles *t, size_t k, size_t j)
{
    int rows = hfi_tile_size(t, k), cols = hfi_tile_size(t, j);
    dtrmm_("L", "L", "N", "N", &rows, &cols, &MINUS_ONE, hfi_tile(t, k, k), &t->stride, hfi_tile(t, k, j),
           &t->stride, 1, 1, 1, 1);
}

/* A_ij := A_ij + L_ik T_kj */
static void accumulate(const hfi_tiles *t, size_t i, size_t j, size_t k)
{
    int rows = hfi_tile_size(t, i), cols = hfi_tile_size(t, j), inner = hfi_tile_size(t, k);
    dgemm_("N", "N", &rows, &cols, &inner, &ONE, hfi_tile(t, i, k), &t->stride, hfi_tile(t, k, j), &t->stride,
           &ONE, hfi_tile(t, i, j), &t->stride, 1, 1);
}

/* A_ik := L_ik T_kk */
static void start_column(const hfi_tiles *t, size_t i, size_t k)
{
    int rows = hfi_tile_size(t, i), cols = hfi_tile_size(t, k);
    dtrmm_("R", "L", "N", "N", &rows, &cols, &ONE, hfi_tile(t, k, k), &t->stride, hfi_tile(t, i, k),
           &t->stride, 1, 1, 1, 1);
}

/* Row k of T is -T_kk times the sum over j <= m < k of L_km T_mj. Tile (i, j) holds L_ij until row j is done;
 * from then on that sum, as far as it has come. */
static void invert_whole(hfi_tiles *t)
{
    for (size_t k = 0; k < t->count; k++) {
#pragma omp task depend(inout : *hfi_tile(t, k, k))
        invert_diagonal(t, k);
        for (size_t j = 0; j < k; j++) {
#pragma omp task depend(in : *hfi_tile(t, k, k)) depend(inout : *hfi_tile(t, k, j))
            finish_row(t, k, j);
        }
        for (size_t i = k + 1; i < t->count; i++) {
            for (size_t j = 0; j < k; j++) {
#pragma omp task depend(in : *hfi_tile(t, i, k), *hfi_tile(t, k, j)) depend(inout : *hfi_tile(t, i, j))
                accumulate(t, i, j, k);
            }
#pragma omp task depend(in : *hfi_tile(t, k, k)) depend(inout : *hfi_tile(t, i, k))
            start_column(t, i, k);
        }
    }
}

/* A_ij := A_ij + T_ki' T_kj */
static void add_product(const hfi_tiles *t, size_t i, size_t j, size_t k)
{
    int rows = hfi_tile_size(t, i), cols = hfi_tile_size(t, j), inner = hfi_tile_size(t, k);
    if (i == j)
        dsyrk_("L", "T", &rows, &inner, &ONE, hfi_tile(t, k, i), &t->stride, &ONE, hfi_tile(t, i, i),
               &t->stride, 1, 1);
    else
        dgemm_("T", "N", &rows, &cols, &inner, &ONE, hfi_tile(t, k, i), &t->stride, hfi_tile(t, k, j),
               &t->stride, &ONE, hfi_tile(t, i, j), &t->stride, 1, 1);
}

/* A_kj := T_kk' T_kj */
static void start_row(const hfi_tiles *t, size_t k, size_t j)
{
    int rows = hfi_tile_size(t, k), cols = hfi_tile_size(t, j);
    dtrmm_("L", "L", "T", "N", &rows, &cols, &ONE, hfi_tile(t, k, k), &t->stride, hfi_tile(t, k, j),
           &t->stride, 1, 1, 1, 1);
}

/* A_kk := T_kk' T_kk */
static void start_diagonal(const hfi_tiles *t, size_t k)
{
    int size = hfi_tile_size(t, k), info = 0;
    dlauum_("L", &size, hfi_tile(t, k, k), &t->stride, &info, 1);
}

/* Row k of T is added to all products above it, and is then overwritten by its own first product. */
static void square_triangle(hfi_tiles *t)
{
    for (size_t k = 0; k < t->count; k++) {
        for (size_t i = 0; i < k; i++) {
            for (size_t j = 0; j <= i; j++) {
#pragma omp task depend(in : *hfi_tile(t, k, i), *hfi_tile(t, k, j)) depend(inout : *hfi_tile(t, i, j))
                add_product(t, i, j, k);
            }
        }
        for (size_t j = 0; j < k; j++) {
#pragma omp task depend(in : *hfi_tile(t, k, k)) depend(inout : *hfi_tile(t, k, j))
            start_row(t, k, j);
        }
#pragma omp task depend(inout : *hfi_tile(t, k, k))
        start_diagonal(t, k);
    }
}

static void inverse_tasks(hfi_tiles *t)
{
    invert_whole(t);
    square_triangle(t); /* no barrier between the two: the dependences say what can overlap */
}

void hfi_chol_inverse(const hf_context *ctx, size_t n, double *l, size_t ldl)
{
    if (n == 0) return;
    hfi_tiles t = hfi_tiles_make(n, l, ldl);
    hfi_tiles_run(ctx, &t, inverse_tasks);
}

void hfi_triangle_square(const hf_context *ctx, size_t n, double *t, size_t ldt)
{
    if (n == 0) return;
    hfi_tiles tiles = hfi_tiles_make(n, t, ldt);
    hfi_tiles_run(ctx, &tiles, square_triangle);
}

typedef struct inverse_diagonal {
    size_t n;
    const double *l;
    size_t ldl;
    double *work; /* n x n */
    double *diagonal;
} inverse_diagonal;

enum {
    COLUMNS = 32
};

static size_t last_column(const inverse_diagonal *job, size_t block)
{
    return (block + 1) * COLUMNS < job->n ? (block + 1) * COLUMNS : job->n;
}

static void copy_columns(size_t block, int thread, void *arg)
{
    (void)thread;
    const inverse_diagonal *job = arg;
    for (size_t j = block * COLUMNS; j < last_column(job, block); j++)
        memcpy(job->work + j * job->n + j, job->l + j * job->ldl + j, (job->n - j) * sizeof(double));
}

/* (T' T)_jj is the squared length of column j of T. */
static void column_lengths(size_t block, int thread, void *arg)
{
    (void)thread;
    const inverse_diagonal *job = arg;
    for (size_t j = block * COLUMNS; j < last_column(job, block); j++) {
        const double *column = job->work + j * job->n + j;
        job->diagonal[j] = hfi_dot(job->n - j, column, column);
    }
}

void hfi_chol_inverse_diagonal(const hf_context *ctx, size_t n, const double *l, size_t ldl, double *work,
                               double *diagonal)
{
    if (n == 0) return;
    inverse_diagonal job = {.n = n, .l = l, .ldl = ldl, .work = work, .diagonal = diagonal};
    if (work != l) hfi_parallel_for(ctx, (n + COLUMNS - 1) / COLUMNS, copy_columns, &job);
    hfi_tiles t = hfi_tiles_make(n, work, n);
    hfi_tiles_run(ctx, &t, invert_whole);
    hfi_parallel_for(ctx, (n + COLUMNS - 1) / COLUMNS, column_lengths, &job);
}
