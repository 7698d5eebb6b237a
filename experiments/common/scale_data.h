/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file scale_data.h
 * @brief Large tables: five regression sets, whole or sampled, and made-up data of any size.
 */
#ifndef EXPERIMENTS_SCALE_DATA_H
#define EXPERIMENTS_SCALE_DATA_H

#include "common/uci.h"

/** bike, elevators, pol, kin40k, protein (files), and synthetic. */
bool scale_set_known(const char *set);
/** Whether the file of a set is there; synthetic data always are. */
bool scale_present(const char *data, const char *set);

/**
 * One split: `rows` of the set (0: all; more than it has: all), 90 % to train; kind "none", or
 * "asymmetric": 5 % of the training targets less U(3 s, 9 s), hf_contaminate(). Scores are in units
 * of the clean training targets' sd.
 *
 * Synthetic: `rows` train (0: 100 000) and 10 000 test; 5 inputs uniform on [0, 1], f a sum of 64
 * random cosines whose spectrum is that of a squared exponential kernel with lengthscale 0.4 and
 * variance 1, noise of sd 0.2.
 */
bool scale_problem(hf_context *ctx, const char *data, const char *set, size_t rows,
                   const char *kind, long split, long offset, problem *out);

#endif
