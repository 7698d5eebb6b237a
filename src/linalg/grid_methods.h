/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file grid_methods.h
 * @brief What a grid of several processes does by ScaLAPACK, and a grid of one without.
 */
#ifndef HFI_LINALG_GRID_METHODS_H
#define HFI_LINALG_GRID_METHODS_H

#include "linalg/grid.h"

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
