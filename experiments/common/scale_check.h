/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file scale_check.h
 * @brief Is the variance of a cheaper solver below the exact one anywhere?
 */
#ifndef EXPERIMENTS_SCALE_CHECK_H
#define EXPERIMENTS_SCALE_CHECK_H

#include "common/fits.h"
#include "common/words.h"

/** The heading of the table that scale_check() adds rows to. */
void scale_check_heading(void);

/** Hyperparameters and weights from the preset "rcsvgp"; then the posterior of the same sites by
 * the exact, the projected (Krylov and inducing actions) and the inducing solver. They have budgets
 * from `sizes` and are compared at the test rows. Prints a row each. false: reason on standard
 * error. */
bool scale_check(hf_context *ctx, const char *set, const problem *data, const words *sizes);

#endif
