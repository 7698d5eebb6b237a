/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mode.h
 * @brief Newton's method to a mode of a posterior, with steps that never lower its density: the
 * search that all of Laplace's approximations have in common, whatever a likelihood couples.
 */
#ifndef HFI_INFERENCE_MODE_H
#define HFI_INFERENCE_MODE_H

#include "core/core.h"

typedef struct hfi_mode_search {
    hf_context *ctx;
    void *self;
    size_t length;
    double *alpha, *latent;           /* the place: a = K^-1 g and g; in and out */
    double *step_alpha, *step_latent; /* room for directions */
    /* Least Newton decrement, nats. The last step is made too: the factor is then that at a place
     * this far off. */
    double tolerance;
    /** Factors at the place and writes the direction to the mode of the quadratic there; *slope:
     * what a unit step gains to first order. */
    hf_status (*direction)(void *self, double *alpha, double *latent, double *slope);
    /** Log density up to a constant, a step along a direction from the place. */
    double (*density)(void *self, double step, const double *alpha, const double *latent);
    /** A step up from where `direction` found no posterior (HF_ERR_NOT_POSITIVE_DEFINITE); NULL:
     * that is an error. */
    hf_status (*leave)(struct hfi_mode_search *search);
    bool converged; /* out */
    size_t rounds;  /* out: directions */
} hfi_mode_search;

/** To the mode; what `direction` left is of a place next to it. A search that rounding or its limit
 * stops is no error. HF_ERR_NOT_FINITE; errors of the functions. */
hf_status hfi_mode_find(hfi_mode_search *search);
/** The first of the steps step, step/2, ... along a direction that raises the density by 1e-4
 * |step| slope is made; false if none does. */
bool hfi_mode_climb(hfi_mode_search *search, double step, double slope, const double *alpha,
                    const double *latent);

#endif
