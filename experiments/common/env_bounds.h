/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_bounds.h
 * @brief Envelopes of readings at many queries: optimal and closed forms, and what their widths are
 * on average.
 */
#ifndef EXPERIMENTS_ENV_BOUNDS_H
#define EXPERIMENTS_ENV_BOUNDS_H

#include <holdfast/closed_envelope.h>
#include <stdbool.h>
#include <stdio.h>

/** The facts known about a function. The kernel is an expression over readings->ldx inputs. */
typedef struct env_problem {
    const char *kernel;
    hf_bounded_readings readings;
    double norm;
    double jitter; /**< on the diagonal of K */
} env_problem;

/** Lower and upper bounds at m queries; lower is followed by upper in one block. */
typedef struct env_bounds {
    size_t m;
    double *lower, *upper;
    double radius; /**< of closed forms */
} env_bounds;

/** NULL with the reason on standard error, `what` in front. */
hf_envelope *env_problem_envelope(hf_context *ctx, const env_problem *p, const char *what);
env_bounds env_bounds_create(size_t m);
void env_bounds_free(env_bounds *b);
/** Both at the m queries x (m x d); false: reason on standard error. */
bool env_optimal(hf_context *ctx, const hf_envelope *envelope, size_t m, const double *x,
                 env_bounds *out);
bool env_closed(hf_context *ctx, const hf_envelope *envelope, hf_closed_method method,
                const hf_closed_settings *settings, size_t m, const double *x, env_bounds *out);
double env_mean_width(const env_bounds *b);
/** Queries, of the m, at which `inner` does not lie in `outer` by more than `slack`. */
size_t env_outside(const env_bounds *inner, const env_bounds *outer, double slack);

#endif
