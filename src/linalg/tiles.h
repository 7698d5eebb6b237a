/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tiles.h
 * @brief The lower triangle of a square matrix, seen as a grid of square tiles.
 *
 * Tiles stay where they are in the column-major matrix (no repacking: BLAS packs anyway). The
 * routines on tiles create one OpenMP task for each operation and name the tiles it reads and
 * writes; whatever order the threads find, each tile sees its operations in the same sequence, so
 * the result is the same to the last bit.
 */
#ifndef HFI_TILES_H
#define HFI_TILES_H

#include "linalg/blas.h"

/** Order of a tile: large enough for full speed of the products, small enough for many threads; a
 * constant, so that
 *  nothing depends on the machine. Factor and inverse of order 2000 on one Zen 4 core, in GF/s: 128
 *  gives 39 and 40,
 *  160 40 and 41, 192 41 and 42, 224 41 and 45, 256 40 and 45 (LAPACK: 43 and 44). */
#define HFI_MATRIX_TILE 224

typedef struct hfi_tiles {
    size_t n;     /* order of the matrix, > 0 */
    size_t count; /* tiles in a row */
    double *a;
    size_t lda;
    int stride; /* lda as BLAS wants it */
    int failed; /* set by the first task that fails; read and written atomically */
} hfi_tiles;

static inline hfi_tiles hfi_tiles_make(size_t n, double *a, size_t lda)
{
    return (hfi_tiles){.n = n,
                       .count = (n + HFI_MATRIX_TILE - 1) / HFI_MATRIX_TILE,
                       .a = a,
                       .lda = lda,
                       .stride = hfi_blas_int(lda)};
}

/** First entry of tile (i, j). */
static inline double *hfi_tile(const hfi_tiles *t, size_t i, size_t j)
{
    return t->a + i * HFI_MATRIX_TILE + j * HFI_MATRIX_TILE * t->lda;
}

/** Rows of the tiles in block row i; the last one may be smaller. */
static inline int hfi_tile_size(const hfi_tiles *t, size_t i)
{
    return i + 1 < t->count ? HFI_MATRIX_TILE : (int)(t->n - i * HFI_MATRIX_TILE);
}

/** Creates the tasks of one algorithm. */
typedef void (*hfi_tile_tasks)(hfi_tiles *t);

/** Runs an algorithm on the context's threads (on one thread inside a parallel region) and waits
 * for it. */
void hfi_tiles_run(const hf_context *ctx, hfi_tiles *t, hfi_tile_tasks tasks);

#endif
