/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file expert_means.h
 * @brief Experts who know better: damaged data, what an expert says of some of the wrong readings,
 * and the means that this makes.
 */
#ifndef EXPERIMENTS_EXPERT_MEANS_H
#define EXPERIMENTS_EXPERT_MEANS_H

#include "common/fits.h"

/** A problem with one input: 3 sin(2 pi x) + 4 x on [0, 2] and noise of sd 0.1 at 80 places; of the
 * readings exactly 15 % are larger by U(1, 3) sd of the clean ones. 200 clean readings on a grid
 * judge. In units of that sd, less the average. `clean`: room for n readings before the damage. */
enum {
    TOY_ROWS = 80,
    TOY_GRID = 200
};
problem expert_toy(long split, long offset, double *clean);

/** Uses of the wrong readings that the expert knows. */
typedef enum expert_use {
    EXPERT_CONSTANT, /**< nothing: the constant mean of the fit */
    EXPERT_ONE,      /**< Algorithm 1: a constant, the average of expected corrections */
    EXPERT_PRINTED,  /**< equation 22 as printed */
    EXPERT_AVERAGE,  /**< hf_expert_settings_default() */
    EXPERT_REPLACED, /**< no prior mean: readings are replaced by their corrections */
    EXPERT_USES
} expert_use;
/** "const", "alg1", "eq22", "average", "replace"; EXPERT_USES if it is none. */
expert_use expert_use_of(const char *name);
const char *expert_use_name(expert_use use);

/** How good an expert is. */
typedef struct expert_skill {
    double told;   /**< share of the wrong readings that are corrected, at random; at least one */
    double sd;     /**< of what a correction is off by, in units of the problem; 0: none */
    uint64_t seed; /**< of both */
} expert_skill;

/** Prior means of the n training rows and the m test rows, from what the expert says; or, for
 * EXPERT_REPLACED, the readings of `data` are changed and the means are 0. `clean`: the n readings
 * without damage. false: reason on standard error. */
bool expert_means(hf_context *ctx, problem *data, const double *clean, expert_use use,
                  const expert_skill *skill, double *train, double *test);

#endif
