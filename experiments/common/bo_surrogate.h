/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bo_surrogate.h
 * @brief Surrogates and questions of "Robust and Computation-Aware Gaussian Processes" (2025),
 * section 7.3: which model of the readings, and how it chooses the next place.
 *
 * | model   | what it is                                                                         |
 * |---------|------------------------------------------------------------------------------------|
 * | SVGP    | inducing inputs, 25, trained                                                       |
 * | RCSVGP  | the same with robust weights                                                       |
 * | CaGP    | 25 block actions with trained entries; under dpp: actions of 25 inducing inputs    |
 * | RCaGP   | the same with robust weights                                                       |
 * | default | what a user of the library gets who asks for nothing, exact; for `ei` and `chance` |
 *
 * | question    | next place                                                              |
 * |-------------|-------------------------------------------------------------------------|
 * | eulbo       | hf_eulbo() with the published utility, E[log softplus], temperature 1   |
 * | eulbo-log   | hf_eulbo() with the library's utility, log E[softplus], temperature 0.1 |
 * | eulbo-turbo | as eulbo, in a trust region                                             |
 * | dpp-ei      | inducing inputs by quality and diversity, then expected improvement     |
 * | dpp-ts      | the same, then where a function drawn from the posterior is largest     |
 * | dpp-turbo   | as dpp-ei, in a trust region                                            |
 * | ei          | expected improvement of the model as it is fitted                       |
 * | chance      | uniform, whatever the model says                                        |
 *
 * With an expert the readings that are corrected count by their corrections where the largest is
 * looked for, but not with alg1: there the largest reading told is to be improved upon, as in the
 * authors' program. hf_eulbo() takes no prior mean but a constant: of the experts it knows alg1 and
 * replace.
 */
#ifndef EXPERIMENTS_BO_SURROGATE_H
#define EXPERIMENTS_BO_SURROGATE_H

#include <holdfast/holdfast.h>
#include <stdbool.h>

#include "common/bo_expert.h"

enum {
    BO_SURROGATE_MOST = 64,
    BO_HYPERPARAMETERS = 8 /**< of an isotropic kernel, noise and mean, and some more */
};

/** How all surrogates of a run are treated. */
typedef struct bo_manner {
    /** robust threshold 20, as the authors' program has it, which down-weights nothing; else the
     * 0.8 quantile */
    bool high;
    /** the largest posterior mean at a reading is to be improved upon; else the largest reading */
    bool mean;
    size_t epochs; /**< of EULBO, at most */
    size_t size;   /**< inducing inputs, or actions; at most BO_SURROGATE_MOST */
} bo_manner;

/** A run in progress. Inputs in the unit cube, readings in sd of the first ones. */
typedef struct bo_search {
    hf_context *ctx;
    uint64_t seed;
    const bo_manner *manner;
    const char *model;
    size_t n, d, window; /**< readings; inputs; readings that the model sees */
    const double *u;     /**< n x d */
    const double *y;     /**< n */
    bo_expert *expert;   /**< NULL: there is none */
    /** of the last step, whose hyperparameters the next begins with; NULL before */
    hf_posterior *posterior;
    hf_trust_region region;
    double *centre; /**< d, of the region */
    bool placed;    /**< there is a centre */
} bo_search;

/** Names of models; behind a plus that of an expert (bo_expert.h). */
bool bo_model_known(const char *name);
bool bo_question_known(const char *question);
/** Whether a question can be asked of a model, with or without an expert. */
bool bo_question_fits(const char *asked, const char *name);

/** Fits the model to the readings of the window, into search->posterior. false: reason on standard
 * error. */
bool bo_search_fit(bo_search *search);
/** Number of the reading, of all, with the largest posterior mean. false: reason on standard
 * error. */
bool bo_search_incumbent(bo_search *search, size_t *row);
/** The next place, d entries; `step` numbers it. false: reason on standard error. */
bool bo_search_ask(bo_search *search, const char *question, size_t step, double *u);

#endif
