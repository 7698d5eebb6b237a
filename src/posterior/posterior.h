/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file posterior.h
 * @brief Internal face of the posterior room.
 */
#ifndef HFI_POSTERIOR_H
#define HFI_POSTERIOR_H

#include "solver/solver.h"
#include <holdfast/posterior.h>

/** x_scaled = (x - shift) / scale per input; y the same. Identity when made by hfi_scaling_identity(). */
typedef struct hfi_scaling {
    hfi_memory memory;
    size_t d;
    double *x_shift;
    double *x_scale; /* > 0 */
    double y_shift;
    double y_scale; /* > 0 */
} hfi_scaling;

hf_status hfi_scaling_identity(hf_context *ctx, size_t d, hfi_scaling *out);
hf_status hfi_scaling_copy(hf_context *ctx, const hfi_scaling *scaling, hfi_scaling *out);
void hfi_scaling_free(hfi_scaling *scaling);
/** Standardises m rows: out (m x d, stride d) from x (stride ldx). */
void hfi_scaling_inputs(const hfi_scaling *scaling, size_t m, const double *x, size_t ldx, double *out);

struct hf_posterior {
    hfi_memory memory;
    hf_kernel *kernel;
    hf_mean *mean;
    hfi_solution solution;
    hfi_scaling scaling;
    double noise;       /* observed noise variance, scaled units */
    double calibration; /* kappa */
};

/** A posterior that takes over (moves) its parts on success; on error they stay the caller's. `kernel` and
 * `mean` are copied. */
hf_status hfi_posterior_create(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                               hfi_solution *solution, const hfi_scaling *scaling, double noise,
                               double calibration, hf_posterior **out);

#endif
