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

#include "inference/latent.h"
#include "search/trainer.h"

/**
 * Trains kernel, mean, sigma^2 and nu on the present readings. It leaves the
 * sites that the method settled on in trainer->evaluator.sites (hfi_sites_give()), from which any
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

/* ---- for inference/student*.c: the trainer's priors and boxes, and nu ------------------------ */

/** How near to its fixed point an evaluation goes: hfi_latent_problem.tolerance. */
static const double hfi_student_exact = 1e-6, hfi_student_rough = 1e-4;

typedef struct hfi_student_search {
    hfi_trainer *trainer;
    hfi_latent_problem *problem;
    bool train_nu;
    bool *replaced; /* expectation propagation had no fixed point: Laplace took over */
    double enough;  /* nats: a search ends at a step that gains less */
} hfi_student_search;

/** A problem of the present readings of an evaluator, which is exact and selected: its matrix is
 * the problem's. Errors as of hfi_latent_problem_init(). */
hf_status hfi_student_problem(const hfi_evaluator *evaluator, const hfi_likelihood *likelihood,
                              hf_inference inference, hfi_latent_problem *out);
/** hfi_latent_evaluate() at the noise of the evaluator's sites and these degrees of freedom. */
hf_status hfi_student_evaluate(hfi_latent_problem *p, const hfi_evaluator *evaluator, double nu,
                               double *value, double *gradient);

/** The value of hfi_student_evaluate() of the search's problem at a state of its trainer and nu,
 * which are left set. From the trainer's journal where there is one: value and sites are then those
 * of the evaluation that was kept, and the covariances in the problem are of no use. Where a number
 * is not finite: HF_ERR_NOT_POSITIVE_DEFINITE. */
hf_status hfi_student_value(const hfi_student_search *how, const double *state, double nu,
                            double *value);
/** Maximises log evidence + priors over the trainer's free parameters and nu from state and *nu (in
 * and out), at most 1.5 iterations + 5 evaluations. nu is trained as its row of the table of
 * likelihoods says. Fills what the trainer tells of its last optimisation; the model and the
 * problem are left at the result. Errors as of hfi_trainer_maximise(). */
hf_status hfi_student_maximise(const hfi_student_search *how, double *state, double *nu,
                               size_t iterations);
/** A start for hfi_student_maximise() from at most 400 of the readings: the best state for the
 * given nu and, if that is trained and these are not all, the best state and nu from there. The
 * model is left at some other state. Deterministic in the context's seed. */
hf_status hfi_student_approach(const hfi_student_search *how, double *state, double *nu,
                               size_t iterations);
/** Whether a search from a shorter start than `cold` (explore.h) ends clearly higher than one from
 * there. It goes by the variational method with nu as it is, on at most 300 of the readings. Then
 * `trial`, as long as a state, is that start, else *found is false. Searches take at most
 * `iterations` iterations. The model is left at some other state. */
hf_status hfi_student_shorter(const hfi_student_search *search, const double *cold, double nu,
                              size_t iterations, double *trial, bool *found);

#endif
