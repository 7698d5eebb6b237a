/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bo_expert.h
 * @brief An expert in the loop of bo_paper.h, who has a word on one reading in twenty.
 *
 * The expert knows which readings are wrong, and corrects one for every twenty that there are,
 * exactly; as in section 5 and Figure 5 (right) of "Robust and Computation-Aware Gaussian
 * Processes" (2025). Which one: of the wrong ones that the model sees, the one that hf_expert_ask()
 * would ask about first.
 *
 * | name    | what becomes of the corrections                                                   |
 * |---------|-----------------------------------------------------------------------------------|
 * | alg1    | constant prior mean of Algorithm 1: rule `published` of hf_expert, infinite width |
 * | average | prior mean of hf_expert_settings_default(), with exact corrections                |
 * | replace | no prior mean: they take the readings' place                                      |
 */
#ifndef EXPERIMENTS_BO_EXPERT_H
#define EXPERIMENTS_BO_EXPERT_H

#include <holdfast/holdfast.h>
#include <stdbool.h>

typedef enum bo_expert_use {
    BO_EXPERT_NONE,
    BO_EXPERT_ALG1,
    BO_EXPERT_AVERAGE,
    BO_EXPERT_REPLACE
} bo_expert_use;

/** Splits "RCaGP+alg1" into the model, of `size` characters at most, and the use; false if it is no
 * use. */
bool bo_expert_split(const char *name, size_t size, char *model, bo_expert_use *use);

/** Words so far, of readings in the loop's units. */
typedef struct bo_expert {
    bo_expert_use use;
    const double *clean; /**< right values of the readings, by number */
    double *correction;  /**< NaN: none */
    size_t said;
} bo_expert;

/** Readings that a model sees: their numbers among all, and values as told. */
typedef struct bo_expert_view {
    size_t n, d;
    const size_t *row;
    const double *x, *y;
} bo_expert_view;

/** Says as much as is due when there are `trials` readings. false: reason on standard error. */
bool bo_expert_hear(hf_context *ctx, bo_expert *expert, size_t trials, const bo_expert_view *view);
/** Makes a prior mean of the expert's answers; NULL where none. false: reason on standard error. */
bool bo_expert_mean(hf_context *ctx, const bo_expert *expert, const bo_expert_view *view,
                    hf_expert **out);

#endif
