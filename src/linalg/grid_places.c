/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices that several processes hold together: who has what. */
#include "linalg/grid.h"

#include "linalg/blas.h"

/* Number of rows of process `at`, when n rows are dealt in blocks to `count` processes. */
static size_t dealt(size_t n, size_t count, size_t at)
{
    const size_t whole = n / HFI_GRID_BLOCK, rounds = whole / count, rest = whole % count;
    size_t mine = rounds * HFI_GRID_BLOCK;
    if (at < rest) mine += HFI_GRID_BLOCK;
    if (at == rest) mine += n % HFI_GRID_BLOCK;
    return mine;
}

static size_t find_global_index(size_t local, size_t count, size_t at)
{
    return (local / HFI_GRID_BLOCK * count + at) * HFI_GRID_BLOCK + local % HFI_GRID_BLOCK;
}

size_t hfi_grid_row(const hfi_grid *grid, size_t local)
{
    return find_global_index(local, grid->down, grid->row);
}

size_t hfi_grid_column(const hfi_grid *grid, size_t local)
{
    return find_global_index(local, grid->across, grid->column);
}

size_t hfi_grid_rows_above(const hfi_grid *grid, size_t row)
{
    return dealt(row, grid->down, grid->row);
}

size_t hfi_grid_diagonal_at(const hfi_grid *grid, size_t local)
{
    const size_t row = hfi_grid_column(grid, local), at = hfi_grid_rows_above(grid, row);
    return at < grid->rows && hfi_grid_row(grid, at) == row ? at + local * grid->rows : SIZE_MAX;
}

hf_status hfi_grid_resize(hfi_grid *grid, size_t n)
{
    if (n > HFI_BLAS_MAX)
        return hfi_fail(grid->ctx, HF_ERR_TOO_LARGE, "a matrix of order %zu is beyond this BLAS (limit %zu)",
                        n, HFI_BLAS_MAX);
    grid->n = n;
    grid->rows = dealt(n, grid->down, grid->row);
    grid->columns = dealt(n, grid->across, grid->column);
    return HF_OK;
}
