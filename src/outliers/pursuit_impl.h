/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pursuit_impl.h
 * @brief Steps of relevance pursuit; only outliers/pursuit*.c and its tests include this.
 */
#ifndef HFI_PURSUIT_IMPL_H
#define HFI_PURSUIT_IMPL_H

#include "search/trainer.h"
#include "sites/sites.h"

/** By an outlook (objective/evaluator.h) the objective depends on the reading's own variance rho,
 * up to what does not change with it:
 *
 *     -log(variance + rho)/2 - error^2 / (2 (variance + rho)) - unresolved / (2 (noise + rho))
 */
/** Gain of the objective by rho over rho = 0. */
double hfi_pursuit_gain(const hfi_outlook *outlook, double rho);
/** The rho >= 0 that gains most: error^2 - variance where that is positive, if nothing is
 * unresolved. */
double hfi_pursuit_best(const hfi_outlook *outlook);
/** d objective / d rho. */
double hfi_pursuit_slope(const hfi_outlook *outlook, double rho);

/** Log prior of a support of k among n readings, up to a constant: its size is exponential with
 * mean n / 5, all supports of a size are equally likely, and each member pays log n for its
 * variance:
 *
 *     -5 k / n - log C(n, k) - k log n */
double hfi_pursuit_log_prior(size_t n, size_t k);

/** A model: which readings have a variance of their own, those variances, hyperparameters. */
typedef struct hfi_pursuit_model {
    size_t size;
    bool *member;  /* rows */
    double *rho;   /* rows; 0 outside of the support */
    double *state; /* the trainer's */
    hfi_optimum found;
} hfi_pursuit_model;

typedef struct hfi_pursuit {
    hfi_trainer *trainer;
    double *known;        /* rows: the readings' extra variances as they were */
    hfi_outlook *outlook; /* rows; those of absent readings are 0 */
    hfi_pursuit_model now, best;
    size_t rounds;
} hfi_pursuit;

/** A model with room for the trainer's readings and state, of the least value; what is left of it
 * by HF_ERR_MEMORY is to be freed too. */
hf_status hfi_pursuit_model_init(hfi_trainer *trainer, hfi_pursuit_model *model);
void hfi_pursuit_model_free(hf_context *ctx, hfi_pursuit_model *model);
hf_status hfi_pursuit_init(hfi_trainer *trainer, hfi_pursuit *out);
void hfi_pursuit_free(hfi_pursuit *p);
/** Puts a model into kernel, mean and sites. */
hf_status hfi_pursuit_set(hfi_pursuit *p, const hfi_pursuit_model *model);
/** Fills the outlook at the present values of kernel, mean and sites. */
hf_status hfi_pursuit_look(hfi_pursuit *p);
/** Maximises objective + prior over the free hyperparameters and the rho of the support of p->now,
 * in place. */
hf_status hfi_pursuit_maximise(hfi_pursuit *p, size_t iterations);
/** Objective, prior of the hyperparameters and prior of the support: what models are compared
 * by. */
double hfi_pursuit_score(const hfi_pursuit *p, const hfi_pursuit_model *model);
/** Forward from the state and empty support of p->now, then backward from the best; p->best is
 * replaced by what is better. `blind`: the first readings are chosen before the hyperparameters are
 * trained. */
hf_status hfi_pursuit_path(hfi_pursuit *p, const hf_fit_settings *settings, bool blind);
/** The same, blind, from `cold` with shorter lengthscales (explore.h): from the start whose score
 * is best once its first readings are chosen. It goes no further than its first training unless
 * that is better than p->best. */
hf_status hfi_pursuit_shorter(hfi_pursuit *p, const hf_fit_settings *settings, const double *cold);

#endif
