/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file grid.h
 * @brief Symmetric matrices that the processes of a group hold together.
 *
 * The processes stand in a grid of `down` x `across`. A matrix is cut into square blocks of
 * HFI_GRID_BLOCK rows and columns. Block (I, J) belongs to the process in row I modulo `down`
 * and column J modulo `across` of the grid (block-cyclic, as in ScaLAPACK): of n x n numbers
 * everybody holds about n^2 / (down across), and everybody has work until the last block column. A
 * part is column-major, hfi_grid.rows x hfi_grid.columns, without gaps; row r of it is row
 * hfi_grid_row(r) of the matrix. The lower triangle of a symmetric matrix counts.
 *
 * Vectors are whole in every process. All functions that take a grid are collective: every process
 * of the group calls them with the same arguments beside its own part. Without ScaLAPACK, and
 * without a group that hf_group_mpi() made, the grid is of one process, and the functions are those
 * of linalg.h.
 */
#ifndef HFI_LINALG_GRID_H
#define HFI_LINALG_GRID_H

#include "linalg/linalg.h"

#define HFI_GRID_BLOCK ((size_t)64)

typedef struct hfi_grid {
    hf_context *ctx;
    size_t n;             /**< order of the matrices */
    size_t down, across;  /**< processes in a column of the grid, and in a row */
    size_t row, column;   /**< where this process stands */
    size_t rows, columns; /**< of this process's part */
    int system, place;    /**< ScaLAPACK's numbers for the group and the grid */
    const struct hfi_grid_methods *methods;
} hfi_grid;

/** The matrices of order n are to be shared: there are several processes that can, and it pays
 * (hfi_group_shared_factor()). */
bool hfi_grid_wanted(const hf_context *ctx, size_t n);

/** A grid of all processes of the context's group for matrices of order n; of one process where
 * they cannot share. */
hf_status hfi_grid_open(hf_context *ctx, size_t n, hfi_grid *out);
/** NULL and a zeroed grid are allowed. */
void hfi_grid_close(hfi_grid *grid);
/** Matrices of another order from now on. HF_ERR_TOO_LARGE beyond what a BLAS can count. */
hf_status hfi_grid_resize(hfi_grid *grid, size_t n);

/** Row of the matrix that is row `local` of this process's part; the same for columns. Both
 * ascend. */
size_t hfi_grid_row(const hfi_grid *grid, size_t local);
size_t hfi_grid_column(const hfi_grid *grid, size_t local);
/** Rows of this process's part that lie above row `row` of the matrix: where its rows from there on
 * begin. */
size_t hfi_grid_rows_above(const hfi_grid *grid, size_t row);

/** Place in the part of the diagonal entry in local column `local`, or SIZE_MAX when another
 * process has it. */
size_t hfi_grid_diagonal_at(const hfi_grid *grid, size_t local);

/** hfi_group_sum() and hfi_group_agree() of the processes of the grid: nothing where it is of one,
 * whatever the context's group. */
static inline hf_status hfi_grid_sum(const hfi_grid *grid, size_t count, double *values)
{
    return grid->down * grid->across == 1 ? HF_OK : hfi_group_sum(grid->ctx, count, values);
}
static inline hf_status hfi_grid_agree(const hfi_grid *grid, hf_status status)
{
    return grid->down * grid->across == 1 ? status : hfi_group_agree(grid->ctx, status);
}

/** A = L L', in place. HF_ERR_NOT_POSITIVE_DEFINITE in all processes; sets no message then. n^3 /
 * (3 p) flops, O(n^2 / sqrt(p)) numbers sent. */
hf_status hfi_grid_chol(const hfi_grid *grid, double *a);
/** b := (L L')^-1 b. O(n^2 / p). */
hf_status hfi_grid_solve(const hfi_grid *grid, const double *l, double *b);
/** L becomes the lower triangle of (L L')^-1. 2 n^3 / (3 p). */
hf_status hfi_grid_inverse(const hfi_grid *grid, double *l);
/** The diagonal, in all processes. */
hf_status hfi_grid_diagonal(const hfi_grid *grid, const double *a, double *diagonal);
/** y := A x. O(n^2 / p). */
hf_status hfi_grid_symv(const hfi_grid *grid, const double *a, const double *x, double *y);
/** lower(C) := G diag(w) G, w of any sign. All above the diagonal of all three parts is spoilt.
 * 1.1 n^3 / p. */
hf_status hfi_grid_weighted_square(const hfi_grid *grid, double *g, const double *w, double *c,
                                   double *work);
/** The lower triangle of the matrix into an n x n array of every process. O(n^2) numbers sent. */
hf_status hfi_grid_gather(const hfi_grid *grid, const double *a, double *whole, size_t ld);

/* ---- for the files of the grid: by ScaLAPACK, and alone -------------------------------------- */

/** As the functions of grid.h; vectors of `solve` are this process's rows, and count in the first
 * column of the grid. */
struct hfi_grid_methods {
    hf_status (*chol)(const hfi_grid *grid, double *a);
    void (*solve)(const hfi_grid *grid, const double *l, double *rows);
    hf_status (*inverse)(const hfi_grid *grid, double *l);
    void (*weighted_square)(const hfi_grid *grid, double *g, const double *w, double *c,
                            double *work);
    void (*close)(hfi_grid *grid);
};

/** Puts the processes of the group into a grid: down, across, row, column, handles and methods.
 * False where that cannot be. */
bool hfi_scalapack_open(hf_context *ctx, hfi_grid *grid);

#endif
