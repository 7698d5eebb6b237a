/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file student.h
 * @brief Student-t noise with the exact solver: y_i = f_i + sigma_i e_i, e_i ~ t with nu degrees of
 * freedom.
 *
 * sigma_i^2 = sigma^2 + extra_i: a known variance widens the scale of its reading.
 */
#ifndef HFI_TRAIN_STUDENT_H
#define HFI_TRAIN_STUDENT_H

#include "search/trainer.h"

/**
 * Trains kernel, mean, sigma^2 and nu on the present readings, then leaves in
 * trainer->evaluator.sites the sites that the method settled on (hfi_sites_give()), from which any
 * solver makes the posterior.
 *
 * Trains from the given start and, where a cheap comparison finds it clearly better, from one with
 * shorter lengthscales (hfi_student_shorter()); the better one counts.
 *
 * @param state  in: where to start (hfi_trainer_cold()); out: the result. Its log noise is log
 *               sigma^2.
 * @param nu     receives the degrees of freedom: settings->student_nu where that is positive, else
 *               trained from 4 in
 *               [2, 50] with log(nu - 1) ~ N(log 3, 1)
 * @param rounds receives how often the hyperparameters were trained: a constant mean that is not
 *               trained with them follows
 *               the readings' weights from one round to the next
 * For new readings sigma^2 is not the variance (that is infinite for nu <= 2): see
 * hfi_student_normal_variance(). Warnings: HF_WARN_NOT_CONVERGED (a usable result: the sites of the
 * last iteration). Errors: HF_ERR_ARGUMENT (an evaluator of another solver, student_nu <= 1),
 * HF_ERR_NO_DATA, HF_ERR_MEMORY, HF_ERR_CANCELLED.
 */
hf_status hfi_student_fit(hfi_trainer *trainer, const hf_fit_settings *settings, double *state,
                          double *nu, size_t *rounds);

#endif
