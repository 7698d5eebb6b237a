/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pursuit.h
 * @brief Relevance pursuit: Gaussian noise, and a variance rho_i of its own for each of a few
 * readings (Ament, Santorella, Eriksson, Letham, Balandat, Bakshy, "Robust Gaussian Processes via
 * Relevance Pursuit", 2024).
 */
#ifndef HFI_TRAIN_PURSUIT_H
#define HFI_TRAIN_PURSUIT_H

#include "search/trainer.h"

/**
 * Finds which readings have a variance of their own, how large it is, and the hyperparameters, with
 * the exact or the inducing evaluator of the trainer (objective: evidence).
 *
 * Beside that start, one with shorter lengthscales (explore.h) is tried.
 *
 * @param state     in: where to start (hfi_trainer_cold()); out: the result
 * @param rounds    receives how many supports were fitted
 * @param suspected one entry a row: set where rho_i > 3 s_i (weight below 1/4). The sites are left
 *                  with weight s_i / (s_i + rho_i).
 * Errors: HF_ERR_ARGUMENT (projected evaluator, another objective), HF_ERR_NO_DATA, HF_ERR_MEMORY,
 * HF_ERR_CANCELLED.
 */
hf_status hfi_pursuit_fit(hfi_trainer *trainer, const hf_fit_settings *settings, double *state,
                          size_t *rounds, bool *suspected);

#endif
