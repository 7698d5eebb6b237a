/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file spread.h
 * @brief Mean and covariance of some rows and distances from them, singular or not; for the sites
 * room only.
 */
#ifndef HFI_SITES_SPREAD_H
#define HFI_SITES_SPREAD_H

#include "sites/mcd.h"

typedef struct hfi_spread {
    size_t p, rank;     /* rank: of the correlation matrix, as far as rounding lets one see */
    double *block;      /* everything below */
    double *mean;       /* p */
    double *covariance; /* p x p, both triangles, divided by the number of rows */
    double *sd;         /* p; of a column that is constant a length that no rounding reaches */
    /* p x p, columns: eigenvectors of the correlation matrix, in ascending order of the values */
    double *vectors;
    double *values; /* p */
    double *work;   /* p */
} hfi_spread;

/** Makes the spread of the `count` chosen rows. O(count p^2 + p^3). */
hf_status hfi_spread_create(hf_context *ctx, const hfi_mcd_rows *rows, const bool *chosen,
                            size_t count, hfi_spread *out);
void hfi_spread_free(hf_context *ctx, hfi_spread *spread);
/** (u - mean)' covariance^-1 (u - mean); infinite off the plane of a singular covariance.
 * O(p^2). */
double hfi_spread_squared(const hfi_spread *spread, const double *u);
/** log det covariance, -infinity when singular. */
double hfi_spread_log_determinant(const hfi_spread *spread);
/** Whether the rows are all the same in column j. */
bool hfi_spread_is_constant(const hfi_spread *spread, size_t j);

#endif
