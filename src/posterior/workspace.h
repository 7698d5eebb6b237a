/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file workspace.h
 * @brief Scratch of the one-point functions; for the posterior room only.
 */
#ifndef HFI_WORKSPACE_H
#define HFI_WORKSPACE_H

#include "posterior/posterior.h"

struct hf_posterior_workspace {
    hfi_memory memory;
    size_t d;
    size_t anchors;      /* room for so many */
    size_t scratch_size; /* of the kernel */
    double *x;           /* 4 d: the point in scaled units, then what hfi_workspace_spare() lends */
    double *gradient;    /* 2 d: of the mean, then of the variance, scaled units */
    double *covariance;  /* anchors: k(Z, x), then S k(Z, x) */
    size_t room_size;
    double *room; /* R' k(Z, x) where it does not fit in place */
    double *scratch;
};

#endif
