/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file choice.h
 * @brief The solver of a fit, and what the fit will take.
 */
#ifndef HFI_FIT_CHOICE_H
#define HFI_FIT_CHOICE_H

#include <holdfast/train.h>

/** The solver that a fit of n readings with d inputs will use, and how many inducing inputs and
 * actions (0 where there are none). What the settings leave open is chosen by n: exact up to 2000
 * readings, then projected on Krylov actions with hyperparameters from inducing inputs, from 20 000
 * on inducing alone. */
hf_solver hfi_choose_solver(const hf_fit_settings *settings, size_t n, size_t d, size_t *inducing,
                            size_t *actions);

/** Costs of a fit of n readings with d inputs (cost.c). */
typedef struct hfi_estimate {
    hf_solver solver;         /* never auto */
    size_t inducing, actions; /* 0 where there are none */
    size_t training_rows;     /* that the hyperparameters are learnt from */
    double bytes;             /* at the peak, without the data */
    double evaluation_flops;  /* one objective with gradient */
    double flops;             /* a typical fit */
} hfi_estimate;
void hfi_fit_estimate(const hf_fit_settings *settings, size_t n, size_t d, hfi_estimate *out);

#endif
