/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file distances.h
 * @brief Euclidean distances between rows, and what is read off the nearest ones.
 */
#ifndef HFI_SITES_DISTANCES_H
#define HFI_SITES_DISTANCES_H

#include "core/core.h"

/** A copy of n rows by columns, so that the distances from one row to all are a vector loop. */
typedef struct hfi_rows {
    size_t n, d;
    double *columns; /* d x n: entry k of row i is columns[k * n + i] */
} hfi_rows;

/** Copies. The inputs are scaled down together by a power of two if their squares would
 * overflow. */
hf_status hfi_rows_create(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                          hfi_rows *out);
void hfi_rows_free(hf_context *ctx, hfi_rows *rows);

/** squared[j] = |x_i - x_j|^2 for all j. O(n d). */
void hfi_rows_distances(const hfi_rows *rows, size_t i, double *squared);

enum {
    HFI_NEIGHBOURS = 11 /* how many of the nearest rows stand for a place */
};

#endif
