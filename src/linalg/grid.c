/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices that several processes hold together: sums, and the methods of one process. */
#include "linalg/grid.h"

#include "linalg/blas.h"
#include <string.h>

/* ---- a grid of one ------------------------------------------------------------------------------------- */

static hf_status chol_alone(const hfi_grid *grid, double *a)
{
    return hfi_chol(grid->ctx, grid->n, a, grid->n);
}

static void solve_alone(const hfi_grid *grid, const double *l, double *rows)
{
    hfi_chol_solve(grid->n, l, grid->n, rows);
}

static hf_status inverse_alone(const hfi_grid *grid, double *l)
{
    hfi_chol_inverse(grid->ctx, grid->n, l, grid->n);
    return HF_OK;
}

static void weighted_square_alone(const hfi_grid *grid, double *g, const double *w, double *c, double *work)
{
    hfi_symmetrise(grid->ctx, grid->n, g, grid->n);
    hfi_weighted_square(grid->ctx, grid->n, g, grid->n, w, c, grid->n, work);
}

static void close_alone(hfi_grid *grid)
{
    (void)grid;
}

static const struct hfi_grid_methods ALONE = {chol_alone, solve_alone, inverse_alone, weighted_square_alone,
                                              close_alone};

/* ---- who shares ------------------------------------------------------------------------------------------ */

bool hfi_grid_wanted(const hf_context *ctx, size_t n)
{
    int communicator = 0;
    return hfi_group_communicator(ctx, &communicator) && n >= hfi_group_shared_factor(ctx);
}

hf_status hfi_grid_open(hf_context *ctx, size_t n, hfi_grid *out)
{
    hfi_grid grid = {.ctx = ctx, .down = 1, .across = 1, .methods = &ALONE};
    memset(out, 0, sizeof *out);
    (void)hfi_scalapack_open(ctx, &grid);
    const hf_status status = hfi_grid_resize(&grid, n);
    if (status < 0)
        hfi_grid_close(&grid);
    else
        *out = grid;
    return status;
}

void hfi_grid_close(hfi_grid *grid)
{
    if (grid == NULL || grid->methods == NULL) return;
    grid->methods->close(grid);
    memset(grid, 0, sizeof *grid);
}

/* ---- work ------------------------------------------------------------------------------------------------- */

hf_status hfi_grid_chol(const hfi_grid *grid, double *a)
{
    return grid->methods->chol(grid, a);
}

hf_status hfi_grid_inverse(const hfi_grid *grid, double *l)
{
    return grid->methods->inverse(grid, l);
}

hf_status hfi_grid_weighted_square(const hfi_grid *grid, double *g, const double *w, double *c, double *work)
{
    grid->methods->weighted_square(grid, g, w, c, work);
    return HF_OK;
}

hf_status hfi_grid_solve(const hfi_grid *grid, const double *l, double *b)
{
    double *rows = hfi_alloc(grid->ctx, grid->rows, sizeof *rows);
    hf_status status = hfi_grid_agree(grid, rows ? HF_OK : HF_ERR_MEMORY);
    if (status >= 0) {
        for (size_t r = 0; r < grid->rows; r++) rows[r] = b[hfi_grid_row(grid, r)];
        grid->methods->solve(grid, l, rows);
        memset(b, 0, grid->n * sizeof *b);
        for (size_t r = 0; r < grid->rows && grid->column == 0; r++) b[hfi_grid_row(grid, r)] = rows[r];
        status = hfi_grid_sum(grid, grid->n, b);
    }
    hfi_free(grid->ctx, rows);
    return status;
}

hf_status hfi_grid_diagonal(const hfi_grid *grid, const double *a, double *diagonal)
{
    memset(diagonal, 0, grid->n * sizeof *diagonal);
    for (size_t c = 0; c < grid->columns; c++) {
        const size_t at = hfi_grid_diagonal_at(grid, c);
        if (at != SIZE_MAX) diagonal[hfi_grid_column(grid, c)] = a[at];
    }
    return hfi_grid_sum(grid, grid->n, diagonal);
}

/* Every entry below the diagonal serves its row and its column. */
hf_status hfi_grid_symv(const hfi_grid *grid, const double *a, const double *x, double *y)
{
    const size_t rows = grid->rows;
    double *mine = hfi_alloc(grid->ctx, rows, 2 * sizeof *mine), *sums = mine ? mine + rows : NULL;
    hf_status status = hfi_grid_agree(grid, mine ? HF_OK : HF_ERR_MEMORY);
    if (status >= 0) {
        for (size_t r = 0; r < rows; r++) mine[r] = x[hfi_grid_row(grid, r)];
        memset(y, 0, grid->n * sizeof *y);
        for (size_t c = 0; c < grid->columns; c++) {
            const size_t at = hfi_grid_column(grid, c), first = hfi_grid_rows_above(grid, at);
            const double *column = a + c * rows;
            const bool diagonal = first < rows && hfi_grid_row(grid, first) == at;
            if (first < rows) y[at] += hfi_dot(rows - first, column + first, mine + first);
            const size_t below = first + (diagonal ? 1 : 0);
            if (below < rows) hfi_axpy(rows - below, x[at], column + below, sums + below);
        }
        for (size_t r = 0; r < rows; r++) y[hfi_grid_row(grid, r)] += sums[r];
        status = hfi_grid_sum(grid, grid->n, y);
    }
    hfi_free(grid->ctx, mine);
    return status;
}

hf_status hfi_grid_gather(const hfi_grid *grid, const double *a, double *whole, size_t ld)
{
    const size_t n = grid->n;
    for (size_t j = 0; j < n; j++) memset(whole + j * ld, 0, n * sizeof *whole);
    for (size_t c = 0; c < grid->columns; c++) {
        const size_t at = hfi_grid_column(grid, c);
        double *column = whole + at * ld;
        for (size_t r = hfi_grid_rows_above(grid, at); r < grid->rows; r++)
            column[hfi_grid_row(grid, r)] = a[r + c * grid->rows];
    }
    if (ld == n) return hfi_grid_sum(grid, n * n, whole);
    hf_status status = HF_OK;
    for (size_t j = 0; j < n && status >= 0; j++) status = hfi_grid_sum(grid, n - j, whole + j + j * ld);
    return status;
}
