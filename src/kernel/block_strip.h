/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file block_strip.h
 * @brief The inner loops of the streamed products of radial kernels: some rows against one chunk.
 *
 * A strip is up to HFI_STRIP_ROWS slow points, all of one block, beside the points of one chunk, the fast ones. Coordinates are scaled beforehand so
 * that the kernel is a function of t = |x - z| alone (t^2 for se), see hfi_block_plan. Fast points are padded to whole vectors by
 * repeating the last; their weights are 0 there.
 *
 * While one row is used the next row's distances are computed by the same loop: two chains of dependent instructions at a time, without
 * which the square roots leave the multipliers idle a sixth of the time.
 */
#ifndef HFI_KERNEL_BLOCK_STRIP_H
#define HFI_KERNEL_BLOCK_STRIP_H

#include "kernel/block_real.h"

#define HFI_STRIP_ROWS 16u
#define HFI_CHUNK_MOST 256u /* fast points */
/* From one axis to the next of the fast points: an odd number of cache lines, so that the axes do not fall into each other's place. */
#define HFI_CHUNK_STRIDE (HFI_CHUNK_MOST + REAL_LANES)

/* Coordinates up to which the gradient may be summed in squares of coordinates: the sum of w (x - z)^2 loses at most their square (and that only if
 * the points that count are as far from the centre as this), times the rounding error. */
#ifdef HFI_BLOCK_SINGLE
#define HFI_STRIP_MODERATE 0.0
#else
#define HFI_STRIP_MODERATE 1e3
#endif

typedef struct hfi_strip {
    hfi_form form;
    size_t axes; /**< a multiple of 4; those beyond the kernel's are zero */
    size_t rows; /**< slow points */
    size_t ldx;  /**< x[a*ldx + r] */
    size_t left; /**< slow points from x to the end of their chunk, >= rows */
    const real *x;
    size_t width;       /**< fast points, whole vectors */
    const real *z;      /**< z[a*HFI_CHUNK_STRIDE + j] */
    real *now, *next;   /**< distances of the current row and of the one after it; they change places */
    real *partial;      /**< room for sums over all but the last axes of the next row */
    const real *zeros;  /**< HFI_CHUNK_STRIDE of them */
    size_t runs;        /**< blocks among the fast points */
    const size_t *ends; /**< where they end */
    const real *entry;  /**< actions' entries of the fast points */
    const real *
        own; /**< those of the slow ones; 0 in a pair of a chunk with itself, where each row serves itself alone */
    real *column; /**< sums for the fast points: one for each */

    real *kept;       /**< product: covariances, row r at kept + r*kept_step */
    size_t kept_step; /**< 0: each row in the place of the last */
    double *sums;     /**< product: rows x runs sums for the slow points */

    bool ard; /**< adjoint: weights are kept for hfi_strip_squares, otherwise their sum with t^2 is taken */
    const real *bar; /**< Bbar of the fast points in the column of the slow ones' block */
    const real *
        facing; /**< rows x runs: Bbar of the slow points in the columns of the fast points' blocks; 0 with itself */
    real *spread;       /**< room for a row of `facing`, point by point */
    real *weight;       /**< rows x width: W times the slope */
    double *row_sum;    /**< rows: sum of k Bbar for the slow points */
    double *weight_sum; /**< rows: sum of the weights; not ard: of the weights times t^2 */
    double *by_axis;    /**< axes x REAL_LANES: += sums of weights times squared differences, lane by lane */
} hfi_strip;

#ifdef HFI_BLOCK_SINGLE
#define HFI_STRIP_NAME(name) hfi_single_##name
#else
#define HFI_STRIP_NAME(name) hfi_double_##name
#endif

/** Distances of the first slow point, into now. */
void HFI_STRIP_NAME(begin)(hfi_strip *strip);
/** column[j] := sum over slow points of k own;  sums := sum over each run of k entry. */
void HFI_STRIP_NAME(product)(hfi_strip *strip);
/** column[j] := sum over slow points of k facing;  row_sum := sum of k bar;  weight := (facing entry + own bar) slope. */
void HFI_STRIP_NAME(adjoint)(hfi_strip *strip);
/** From the weights of the strip to by_axis. `expanded`: by the squares of coordinates, not of differences, in less than half the time; right
 *  to rounding only while coordinates are moderate. */
void HFI_STRIP_NAME(squares)(hfi_strip *strip, bool expanded);

#endif
