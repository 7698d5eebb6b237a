/* SPDX-License-Identifier: Apache-2.0 */
/* A sum of outer products, lower triangle only, tile by tile. */
#include "linalg/blas.h"

/* Order of a tile of C: a constant, so that the cut does not depend on the machine. Large enough for the speed of a
 * product, small enough that a few threads find work in a matrix of some hundred rows. */
enum {
    BLOCK = 128
};

typedef struct lower_product {
    size_t m, n;
    const double *a, *b;
    size_t lda, ldb;
    double *c;
    size_t ldc;
} lower_product;

/* Tile `item` of the lower triangle, counted row by row: the last rows, which have most, come first. */
static void add_tile(size_t item, int thread, void *arg)
{
    (void)thread;
    const lower_product *job = arg;
    const double one = 1.0;
    size_t i = (job->m + BLOCK - 1) / BLOCK - 1, j = item;
    while (j > i) j -= i-- + 1;
    const size_t row = i * BLOCK, column = j * BLOCK;
    int rows = hfi_blas_int(hfi_smaller(BLOCK, job->m - row)),
        columns = hfi_blas_int(hfi_smaller(BLOCK, job->m - column));
    int inner = hfi_blas_int(job->n), lda = hfi_blas_int(job->lda), ldb = hfi_blas_int(job->ldb),
        ldc = hfi_blas_int(job->ldc);
    double *c = job->c + row + column * job->ldc;
    if (i == j && job->a == job->b)
        dsyrk_("L", "N", &rows, &inner, &one, job->a + row, &lda, &one, c, &ldc, 1, 1);
    else
        dgemm_("N", "T", &rows, &columns, &inner, &one, job->a + row, &lda, job->b + column, &ldb, &one, c,
               &ldc, 1, 1);
}

void hfi_lower_product(const hf_context *ctx, size_t m, size_t n, const double *a, size_t lda,
                       const double *b, size_t ldb, double *c, size_t ldc)
{
    if (m == 0 || n == 0) return;
    lower_product job = {.m = m, .n = n, .a = a, .b = b, .lda = lda, .ldb = ldb, .c = c, .ldc = ldc};
    const size_t blocks = (m + BLOCK - 1) / BLOCK;
    hfi_blas_parallel_for(ctx, blocks * (blocks + 1) / 2, add_tile, &job);
}
