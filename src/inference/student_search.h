/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file student_search.h
 * @brief Training under Student-t noise: the trainer's priors and boxes, and nu; only
 * inference/student*.c include this.
 */
#ifndef HFI_STUDENT_SEARCH_H
#define HFI_STUDENT_SEARCH_H

#include "inference/latent.h"
#include "search/trainer.h"

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
 * there, by the variational method with nu as it is, on at most 300 of the readings. Then `trial`,
 * as long as a state, is that start, else *found is false. Searches take at most `iterations`
 * iterations. The model is left at some other state. */
hf_status hfi_student_shorter(const hfi_student_search *search, const double *cold, double nu,
                              size_t iterations, double *trial, bool *found);

#endif
