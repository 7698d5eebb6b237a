/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file anderson.h
 * @brief Anderson's acceleration of a fixed-point iteration x := x + r(x): the combination of the
 * last points whose residuals cancel best.
 */
#ifndef HFI_ANDERSON_H
#define HFI_ANDERSON_H

#include "core/core.h"

enum {
    HFI_ANDERSON_DEPTH = 8
};

typedef struct hfi_anderson {
    hf_context *ctx;
    size_t size;
    size_t held;         /* differences in store, the newest last */
    double *steps;       /* size x HFI_ANDERSON_DEPTH: x_k+1 - x_k */
    double *differences; /* size x HFI_ANDERSON_DEPTH: r_k+1 - r_k */
    double *last_x;      /* size */
    double *last_r;      /* size */
    bool started;
} hfi_anderson;

/** *out is zeroed on error. */
hf_status hfi_anderson_init(hf_context *ctx, size_t size, hfi_anderson *out);
void hfi_anderson_free(hfi_anderson *a);
/** Forgets all points. */
void hfi_anderson_reset(hfi_anderson *a);
/** Takes note of a point and its residual and writes the next point: x + share r without a history.
 * O(size x depth). */
void hfi_anderson_next(hfi_anderson *a, const double *x, const double *r, double share,
                       double *next);

#endif
