/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tile.h
 * @brief The expression on one tile: values, and gradients by reverse mode.
 */
#ifndef HFI_KERNEL_TILE_H
#define HFI_KERNEL_TILE_H

#include "kernel/expression.h"
#include "kernel/loops.h"

#define HFI_BUFFER      ((size_t)HFI_STRIP * HFI_TILE) /* doubles in a tile buffer */
#define HFI_LEAF_SPARES 3u /* buffers a leaf may use while it computes */

typedef struct hfi_tile {
    const hf_kernel *kernel;
    hfi_points points;
    size_t count; /**< fast points that exist; the rest up to points.width repeat the last */
    /** slow and fast points are rows of one table, so that the white kernel is seen */
    bool same;
    ptrdiff_t diagonal; /**< then slow point r is the same row as fast point r + diagonal */
    double *panel;      /**< scratch: columns of up to `room` fast points */
    size_t room, loaded;
    double *buffers; /**< scratch: HFI_BUFFER doubles each */
    double *waves;   /**< scratch of sm: 2 sm_columns rows of HFI_TILE */
} hfi_tile;

/** Computes slots and the numbers of buffers from the tree; part of hfi_kernel_finish(). */
void hfi_tile_plan(hf_kernel *kernel);
/** Divides scratch (hfi_kernel_scratch doubles) into the parts of a tile. */
void hfi_tile_begin(hfi_tile *tile, const hf_kernel *kernel, double *scratch);
/** Takes up to tile->room of the `left` rows at z as a panel of fast points, column by column;
 * tile->loaded says how many. Long
 *  panels make long runs of writes into the matrix, which costs less than jumping between its
 *  columns. */
void hfi_tile_load(hfi_tile *tile, size_t left, const double *z, size_t ldz);
/** The tile's fast points are those of the panel from `first`, a multiple of HFI_TILE; tile->count
 * says how many. */
void hfi_tile_take(hfi_tile *tile, size_t first);
/** The covariances, in the first buffer. */
const double *hfi_tile_value(hfi_tile *tile);
/** The same into a matrix, row r at out + r*ldo; all `width` entries of a row are written. False,
 * and nothing done, unless the
 *  kernel is one radial leaf with an outputscale or with a coregion beside it: its last pass then
 *  stores to memory while it computes, which hides most of the
 *  time that a copy would take. */
bool hfi_tile_write(hfi_tile *tile, double *out, size_t ldo);
/** Where the weights of the entries go before hfi_tile_adjoint(): rows x width, 0 beyond count. */
double *hfi_tile_weights(hfi_tile *tile);
/** The weights of slow point r: those of the fast points at `from`. */
void hfi_tile_weigh(hfi_tile *tile, size_t r, const double *from);
/** grad[p] += sum of weights dk/dtheta_p */
void hfi_tile_adjoint(hfi_tile *tile, double *grad);
/** grad[c] += sum of weights dk/dx_c; one slow point. */
void hfi_tile_backward(hfi_tile *tile, double *grad);

/* ---- all pairs of rows of two tables (sweep.c) ----------------------------------------------- */

#define HFI_SWEEP_BLOCK                                                                            \
    64u /* slow points of one job, whose sums are kept apart and added in order */

typedef struct hfi_sweep {
    const hf_kernel *kernel;
    size_t m, n; /**< slow points x, fast points z */
    const double *x, *z;
    size_t ldx, ldz;
    bool same;  /**< x and z are one table */
    bool lower; /**< of which tiles wholly above the diagonal are left out */
    bool rows;  /**< a tile has one slow point */
    /** Called for each tile, whose first points are x_slow and z_fast. */
    void (*visit)(void *of, hfi_tile *tile, size_t slow, size_t fast);
    void *of;
} hfi_sweep;

/** Slow points begin .. end - 1, on this thread; `scratch` as hfi_tile_begin() has it. */
void hfi_sweep_part(const hfi_sweep *sweep, size_t begin, size_t end, double *scratch);
/** All, block by block on all threads. HF_ERR_MEMORY with a message. */
hf_status hfi_sweep_run(hf_context *ctx, const hfi_sweep *sweep);
/** Likewise, but `visit` writes the weights of a tile: theta[p] += sum of weights dk/dtheta_p, in
 * the order of the blocks. */
hf_status hfi_sweep_adjoint(hf_context *ctx, const hfi_sweep *sweep, double *theta);

/* ---- leaves (leaf.c) ------------------------------------------------------------------------- */

/** Buffers that a leaf keeps for reverse mode; the first is its value. */
size_t hfi_leaf_slots(const hfi_leaf *leaf);
void hfi_leaf_value(const hfi_tile *tile, const hfi_leaf *leaf, double *out, double *spare);
/** scale times the values of a radial leaf, row r at out + r*ldo. */
void hfi_leaf_write(const hfi_tile *tile, const hfi_leaf *leaf, double scale, double *out,
                    size_t ldo, double *spare);
/** The values of a radial leaf times those of a coregion, likewise. */
void hfi_leaf_write_outputs(const hfi_tile *tile, const hfi_leaf *leaf, const hfi_leaf *coregion,
                            double *out, size_t ldo, double *spare);
void hfi_leaf_store(const hfi_tile *tile, const hfi_leaf *leaf, double *slots, double *spare);
/** From the adjoint of the leaf's value to its parameters. */
void hfi_leaf_adjoint(const hfi_tile *tile, const hfi_leaf *leaf, const double *slots,
                      const double *adjoint, double *spare, double *grad);
/** From the adjoint of the leaf's value to the slow point. */
void hfi_leaf_backward(const hfi_tile *tile, const hfi_leaf *leaf, const double *slots,
                       const double *adjoint, double *spare, double *grad);

#endif
