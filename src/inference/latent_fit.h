/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file latent_fit.h
 * @brief Training by an approximate evidence, and the sites that it ends in.
 */
#ifndef HFI_INFERENCE_LATENT_FIT_H
#define HFI_INFERENCE_LATENT_FIT_H

#include "inference/latent.h"
#include "search/trainer.h"

/** Training: a trainer's priors, boxes and free parameters, with an objective that it does not
 * know. */
typedef struct hfi_latent_search {
    hfi_trainer *trainer;
    /** Log evidence at the trainer's present values; `gradient`, or NULL, has an entry for every
     * one of a state and is zero before. */
    hf_status (*evaluate)(void *arg, double *value, double *gradient);
    void *arg;
    /** `count` numbers that an evaluation ended with. After the best one so far they are copied to
     * `kept`, where later ones start, and *started is set: an evaluation depends on nothing else
     * of those before. With the trainer's journal they are part of an answer. */
    size_t count;
    double *ended, *kept;
    bool *started;
    size_t iterations, restarts;
} hfi_latent_search;

/** Maximises log evidence + priors over the trainer's free parameters from `state` (in and out),
 * then the same from seeded random starts around it; the best is left. Fills the trainer's report
 * of its last optimisation; the model is left at the result, for which evaluate() is called last,
 * without a gradient. Errors as of hfi_trainer_search(). */
hf_status hfi_latent_train(hfi_latent_search *how, double *state);

/** The sites of the last evaluation, given to sites of all rows (hfi_sites_give()).
 * HF_ERR_MEMORY. */
hf_status hfi_latent_give(const hfi_latent_problem *p, hf_sites *sites);

/** Readings of any likelihood, and how they become normal. */
typedef struct hfi_latent_data {
    const hfi_likelihood *likelihood;
    hf_inference inference;
    const double *y;     /* a reading for each row of the trainer's evaluator; NaN: none */
    const double *shift; /* added to the latent values, or NULL */
    size_t iterations, restarts;
} hfi_latent_data;

/** hfi_latent_train() with the evidence of these readings, by the exact solver, or the inducing one
 * where the trainer's evaluator has inducing inputs. The noise of the evaluator's sites is the
 * dispersion. They end as the sites that the method settled on (hfi_sites_give()), from which any
 * solver makes the posterior. `rounds` receives the steps of the last inference.
 * HF_WARN_NOT_CONVERGED: it was stopped by its limit or by rounding; the result is usable. Errors
 * as of hfi_latent_problem_init() and above. */
hf_status hfi_latent_fit(hfi_trainer *trainer, const hfi_latent_data *data, double *state,
                         size_t *rounds);

#endif
