/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file expert.h
 * @brief Parts of an expert's mean; for the mean room only.
 */
#ifndef HFI_MEAN_EXPERT_H
#define HFI_MEAN_EXPERT_H

#include "core/core.h"
#include <holdfast/expert.h>

struct hf_expert {
    hfi_memory memory;
    hf_expert_settings settings; /* without its kernel; what was NaN is filled in */
    hf_kernel *kernel;
    bool flat; /* l = 1 for the mean; the kernel finds neighbours */
    size_t n, d;
    double *x; /* n x d */
    double *y; /* NaN = missing */
    hf_expert_reading *reading;
    bool *asked;   /* n: a correction is there */
    double *self;  /* n: sqrt(k(x, x)) of each row */
    double spread; /* variance of all readings */
    double calm;   /* of those that nobody doubts; spread where there are none */
    size_t count;  /* labelled readings */
    size_t *row;   /* which they are */
    double *place; /* count x d: their inputs, and sqrt(k(x, x)) */
    double *place_self;
};

/** The prior of a right value: what the readings near it say. */
typedef struct hfi_expert_prior {
    double mean, var;
} hfi_expert_prior;

/** l(x, z_k) of a point for `count` rows z of stride d: clipped at 0, and 0 where the kernel has no
 * variance. `self`: sqrt(k(z, z)) of theirs, `own`: of x. */
hf_status hfi_expert_correlations(hf_context *ctx, const hf_expert *e, const double *x, double own,
                                  size_t count, const double *z, const double *self, double *out);

/** The prior of the right value of reading `row`. `l`: n numbers of scratch. */
hf_status hfi_expert_neighbours(hf_context *ctx, const hf_expert *e, size_t row, double *l,
                                hfi_expert_prior *out);

#endif
