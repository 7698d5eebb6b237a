/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo_methods.h
 * @brief The models that the experiments of "Multi-output robust and conjugate Gaussian processes"
 * compare, as it has them and as the library has them.
 *
 * | name        | published settings                                                                                     |
 * |-------------|--------------------------------------------------------------------------------------------------------|
 * | MOGP        | evidence                                                                                               |
 * | wRCGP       | weights centred on the prior mean; weighted leave-one-out density, weights fixed while it is climbed     |
 * | MO-RCGP     | weights centred on the other outputs, first by a robust covariance, then by the fitted one; the same density |
 * | t-MOGP      | Student-t noise that the outputs share, variational                                                    |
 * | MO-RCGP-own | MO-RCGP with the average of each output's readings as its prior mean, where the protocol has one number for all |
 *
 * All of those have the kernel, noise and prior mean of the protocol and no priors on
 * hyperparameters. Nothing is standardised unless the protocol says so. Not imitated: the
 * jitter of the published program (common/mo_reference.h has it), its numerical gradients, and its
 * loose stopping.
 *
 * | name        | ours                                                                                                   |
 * |-------------|--------------------------------------------------------------------------------------------------------|
 * | mogp, morcgp, t-mogp, independent, default | the presets                                                             |
 * | joint       | preset morcgp, weights of a sample as a whole                                                          |
 * | morcgp-told | preset morcgp, told the protocol's share of outliers of each output                                    |
 * | recentred   | robust weights centred on leave-one-out means, to a fixed point                                        |
 * | forced      | the default, which then sets aside whatever it suspects                                                  |
 */
#ifndef EXPERIMENTS_MO_METHODS_H
#define EXPERIMENTS_MO_METHODS_H

#include "common/mo_problem.h"
#include "common/options.h"

enum {
    MO_ASSIGNMENTS_MOST = 80
};

/** Terms of the protocol. */
typedef struct mo_terms {
    const char *kernel;     /**< of the published models */
    const char *own_kernel; /**< of ours; NULL: the default of the library */
    double eps[MO_OUTPUTS_MOST];
    bool shared_noise;
    bool standardise;   /**< also of the published models: inside, by robust scales */
    double noise_start; /**< variance that the published models start from; 0: 0.1 */
    double nu;          /**< degrees of freedom of t-MOGP */
    double max_noise;   /**< 0: none */
    /** standardised units: where the first entry of MO-RCGP's factor of B is held; 0: trained */
    double edge;
    /** variance of every output that the published models do not train; 0: they do */
    double held_noise;
    /** prior mean of the published models: the averages of the readings; else `mean` */
    bool average;
    double mean; /**< of all outputs */
    /** not trained: hyperparameters of all models but default and independent, which find their
     * own; or NULL */
    const mo_model *known;
} mo_terms;

/** Settings, and what they point to: must not be moved. */
typedef struct mo_method {
    hf_fit_settings settings;
    hf_assignment set[MO_ASSIGNMENTS_MOST];
    char names[MO_ASSIGNMENTS_MOST][64];
    double eps[MO_OUTPUTS_MOST];
} mo_method;

bool mo_method_known(const char *method);
/** --models LIST: names of methods into `models`, which holds the usual ones until it occurs. */
option_row mo_method_option(words *models, const char *usual);
bool mo_method_is_ours(const char *method);
/** false: reason on standard error. */
bool mo_method_make(hf_context *ctx, const char *method, const mo_terms *terms, const problem *p,
                    mo_method *out);

/** Predictions for the test rows: m entries each. */
typedef struct mo_result {
    double *mean, *latent_sd, *sd;
    hf_reading *readings; /**< n */
} mo_result;
mo_result mo_result_create(const problem *p);
void mo_result_free(mo_result *r);
/** Fits and predicts; fills all of `out` but its key and its scores, where it is not NULL. false:
 * reason on standard error. */
bool mo_run(hf_context *ctx, const char *method, const mo_terms *terms, const problem *p,
            mo_result *result, record *out);

#endif
