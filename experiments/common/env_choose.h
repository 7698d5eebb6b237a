/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_choose.h
 * @brief Lengthscale and norm of a function from exact readings, as the published program of the
 * reactor chooses them.
 */
#ifndef EXPERIMENTS_ENV_CHOOSE_H
#define EXPERIMENTS_ENV_CHOOSE_H

#include <holdfast/holdfast.h>

/**
 * The squared exponential kernel's lengthscale among 2, 2.1, ..., 5 with the least squared error
 * over five contiguous folds of the n readings x (n x d) of y; `added` goes onto the diagonal of K.
 * NaN when no fit succeeds.
 */
double env_choose_lengthscale(hf_context *ctx, size_t n, size_t d, const double *x, const double *y,
                              double added);
/** sqrt(y'(K + added I)^-1 y): at most the norm of any function through the readings. NaN: reason
 * on standard error. */
double env_ask_norm(hf_context *ctx, size_t n, size_t d, const double *x, const double *y,
                    double lengthscale, double added);

#endif
