/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sites_impl.h
 * @brief How one site follows from its reading, and distances between rows; for the sites room
 * only.
 */
#ifndef HFI_SITES_IMPL_H
#define HFI_SITES_IMPL_H

#include "core/core.h"
#include "sites/sites.h"

/** Weight and shift of reading i for its centre and the threshold in use (absent: both 0), then z
 * and d. */
void hfi_site_weigh(hf_sites *sites, size_t i);

/** z and d of reading i from weight, shift and noise. */
void hfi_site_refresh(hf_sites *sites, size_t i);

/** Finite and at least 0, and greater than 0 together with the extra variance of every present
 * reading; else
 *  an error that says which reading has no noise. */
hf_status hfi_sites_check_noise(hf_context *ctx, const hf_sites *sites, double noise);
/** The same for one noise variance per channel. */
hf_status hfi_sites_check_noises(hf_context *ctx, const hf_sites *sites, const double *noises);

/* ---- Euclidean distances between rows, and what is read off the nearest ones ----------------- */

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
