/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file student_search.h
 * @brief Training under Student-t noise: the trainer's priors and boxes, and nu; only inference/student*.c include this.
 */
#ifndef HFI_STUDENT_SEARCH_H
#define HFI_STUDENT_SEARCH_H

#include "inference/student_impl.h"
#include "search/trainer.h"

typedef struct hfi_student_search {
    hfi_trainer *trainer;
    hfi_student_problem *problem;
    bool train_nu;
    double enough; /* nats: a search ends at a step that gains less */
} hfi_student_search;

/** The value of hfi_student_evaluate() of the search's problem at a state of its trainer and nu, which are left set. From the trainer's
 * journal where there is one: value and sites are then those of the evaluation that was kept, and the covariances in the problem are of no
 * use. Where a number is not finite: HF_ERR_NOT_POSITIVE_DEFINITE. */
hf_status hfi_student_value(const hfi_student_search *how, const double *state, double nu, double *value);
/** Maximises log evidence + priors over the trainer's free parameters and nu from state and *nu (in and out), at most 1.5 iterations + 5
 * evaluations. nu stays in [2, 50] and has log(nu - 1) ~ N(log 3, 1) when it is trained. Fills what the trainer tells of its last optimisation; the model and the problem are left at the result. Errors as of
 * hfi_trainer_maximise(). */
hf_status hfi_student_maximise(const hfi_student_search *how, double *state, double *nu, size_t iterations);
/** A start for hfi_student_maximise() from at most 400 of the readings: the best state for the given nu and, if that is trained and these are not all,
 * the best state and nu from there. The model is left at some other state. Deterministic in the context's seed. */
hf_status hfi_student_approach(const hfi_student_search *how, double *state, double *nu, size_t iterations);
/** Whether a search from a shorter start than `cold` (explore.h) ends clearly higher than one from
 * there, by the variational method with nu as it is, on at most 300 of the readings. Then `trial`,
 * as long as a state, is that start, else *found is false. Searches take at most `iterations`
 * iterations. The model is left at some other state. */
hf_status hfi_student_shorter(const hfi_student_search *search, const double *cold, double nu,
                              size_t iterations, double *trial, bool *found);

#endif
