/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_control.h
 * @brief Feeds for the reactor by certainty equivalence: an optimal control problem on a model of
 * one step that was learned from noisy readings.
 *
 *     min sum_k (x_k - r)'Q(x_k - r) + R (u_k - s)^2 + (x_N - r)'P(x_N - r),   x_{k+1} = model(x_k, u_k),   states and feeds within their constraints
 *
 * Q = diag(0.2, 1), R = 0.1, P as published, N at most 8.
 */
#ifndef EXPERIMENTS_ENV_CONTROL_H
#define EXPERIMENTS_ENV_CONTROL_H

#include "common/env_reactor.h"

#include <holdfast/holdfast.h>
#include <stdbool.h>

enum {
    CONTROL_STEPS = 8
};

/** One step of the reactor as two posterior means of (cA, cB, u). */
typedef struct control_model {
    hf_posterior *posterior[REACTOR_STATES];
    hf_posterior_workspace *work[REACTOR_STATES];
} control_model;

/** Squared exponential Gaussian process means of n readings x (n x d) of y, noise variance var;
 * NULL: reason on standard error. */
hf_posterior *control_fit(hf_context *ctx, size_t n, size_t d, const double *x, const double *y,
                          double lengthscale, double var);
/** Learned from `samples` readings on a grid of states and feeds, noise uniform within `noise`;
 * `var` is the noise variance that the fit assumes. false: reason on standard error. */
bool control_model_create(hf_context *ctx, size_t samples, double noise, double var,
                          const double lengthscale[REACTOR_STATES], control_model *out);
void control_model_free(control_model *model);

/** Feeds u (steps) from state x. Returns whether the solver believes in them. */
bool control_solve(const control_model *model, const double x[REACTOR_STATES], size_t steps,
                   bool ipopt, double *u);

#endif
