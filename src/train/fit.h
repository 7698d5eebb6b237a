/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fit.h
 * @brief Steps of a fit; only train/fit*.c include this.
 */
#ifndef HFI_FIT_H
#define HFI_FIT_H

#include "train/train.h"

/** Everything a fit works with, in scaled units, for the readings that are present. */
typedef struct hfi_fit {
    hf_context *ctx;
    const hf_data *data;
    const hf_fit_settings *settings;
    size_t n, d;
    size_t *row;          /* rows of the data that are here */
    double *x;            /* n x d */
    double *comparable;   /* n x d, standardised; NULL when x is */
    double *y;            /* n */
    double *extra;        /* n */
    hfi_scaling scaling;  /* applied */
    hfi_scaling measured; /* what standardisation would be: starts, boxes and priors follow it when it is not
                             applied */
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    double noise; /* start, scaled units */
    bool noise_held;
    double threshold; /* given soft threshold, scaled units; infinity if none */
    hfi_trainer trainer;
    hfi_verdict verdict;
} hfi_fit;

/** Checks data and settings. */
hf_status hfi_fit_check(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings);
/** Gathers the readings that are present and standardises them. */
hf_status hfi_fit_gather(hfi_fit *fit);
/** Kernel, mean and sites at their starting or given values. */
hf_status hfi_fit_prepare(hfi_fit *fit);
/** Trainer: free parameters, boxes, priors, cold start. */
hf_status hfi_fit_trainer(hfi_fit *fit);

#endif
