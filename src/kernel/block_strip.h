/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file block_strip.h
 * @brief The inner loops of the streamed products of radial kernels: some rows against one chunk.
 *
 * A strip is up to HFI_STRIP_ROWS slow points, all of one block, beside the points of one chunk,
 * the fast ones. Coordinates are scaled beforehand so that the kernel is a function of t = |x - z|
 * alone (t^2 for se), see hfi_block_plan. Fast points are padded to whole vectors by repeating the
 * last; their weights are 0 there.
 *
 * While one row is used the next row's distances are computed by the same loop: two chains of
 * dependent instructions at a time, without which the square roots leave the multipliers idle a
 * sixth of the time.
 */
#ifndef HFI_KERNEL_BLOCK_STRIP_H
#define HFI_KERNEL_BLOCK_STRIP_H

#include "kernel/block_real.h"

#define HFI_STRIP_ROWS 16u
#define HFI_STRIP_AXES 8u   /* that one pass takes */
#define HFI_CHUNK_MOST 256u /* fast points */
/* From one axis to the next of the fast points: an odd number of cache lines, so that the axes do
 * not fall into each other's place. */
#define HFI_CHUNK_STRIDE (HFI_CHUNK_MOST + REAL_LANES)

typedef struct hfi_strip {
    hfi_form form;
    size_t axes; /**< a multiple of 4; those beyond the kernel's are zero */
    size_t rows; /**< slow points of the strip */
    size_t left; /**< slow points from x to the end of their chunk, >= rows */
    /** Row by row, x[r*axes + a*x_step]. */
    const real *x;
    size_t x_step; /**< 1 */
    /** Fast points, whole vectors of them: z[a*HFI_CHUNK_STRIDE + j]. */
    const real *z;
    size_t width;
    /** Blocks among the fast points, and where each ends. */
    size_t runs;
    const size_t *ends;

    /** Distances of the current row and of the one after it; they change places. */
    real *now, *next;
    /** For the row after row r, at partial + r*partial_step: sums over all axes but the last 8 or
     * 4. Without such axes it is `zeros`
     *  and the step is 0. */
    real *partial;
    size_t partial_step;
    const real *zeros; /**< HFI_CHUNK_STRIDE of them */

    /** Entries of the actions: of the fast points and of the slow ones. The latter are 0 in a pair
     * of a chunk with itself, where each row
     *  serves itself alone. */
    const real *entry, *own;
    /** Sums for the fast points, one for each. */
    real *column;

    /* Product. */
    real *kept; /**< covariances, row r at kept + r*kept_step */
    size_t kept_step;
    double *sums; /**< rows x runs: sums for the slow points */

    /* Adjoint. */
    /** weights are kept for squares(); otherwise by_axis[0] += their sum with t^2 */
    bool ard;
    const real *bar; /**< Bbar of the fast points in the column of the slow ones' block */
    /** rows x runs: Bbar of the slow points in the columns of the fast ones' blocks; 0 with
     * itself */
    const real *facing;
    real *spread;    /**< room for a row of `facing`, point by point */
    real *weight;    /**< rows x width: W times the slope */
    double *row_sum; /**< rows: sums of k Bbar for the slow points */
    /** axes x REAL_LANES: += sums of weights times squared differences, lane by lane */
    double *by_axis;
} hfi_strip;

#ifdef HFI_BLOCK_SINGLE
#define HFI_STRIP_NAME(name) hfi_single_##name
#else
#define HFI_STRIP_NAME(name) hfi_double_##name
#endif

/** Distances of the first slow point, into now. */
void HFI_STRIP_NAME(begin)(hfi_strip *strip);
/** column := sums over slow points of k own;  sums := sums over each run of k entry. */
void HFI_STRIP_NAME(product)(hfi_strip *strip);
/** column := sums over slow points of k facing;  row_sum := sums of k bar;  weight := (facing entry
 * + own bar) slope. */
void HFI_STRIP_NAME(adjoint)(hfi_strip *strip);
/** From the weights of the strip to by_axis. */
void HFI_STRIP_NAME(squares)(hfi_strip *strip);

#endif
