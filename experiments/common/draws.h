/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file draws.h
 * @brief Made-up data: draws of a Gaussian process with noise of several kinds and wrong readings.
 *
 * The generator is a small one of its own (SplitMix64), so that the data do not change when the
 * library's streams do.
 */
#ifndef EXPERIMENTS_DRAWS_H
#define EXPERIMENTS_DRAWS_H

#include "common/fits.h"

typedef struct draws {
    uint64_t state;
} draws;

double draw_uniform(draws *d); /**< in (0, 1) */
double draw_normal(draws *d);

/** Noise of scale 1: gauss, t3 and skew (exponential, centred) have variance 1; hetero is normal
 * with an sd that grows sevenfold along the first input and mean square 1; t2, which has no
 * variance, has the quartiles of a standard normal. */
double draw_noise(draws *d, const char *name, double first_input);

typedef struct synthetic {
    size_t n, m, d;
    double lengthscale; /**< of the squared exponential kernel on [0, 1]^d, outputscale 1 */
    double noise_sd;
    const char *noise;
    double share, least,
        most; /**< wrong readings: - U(least s, most s), s = sd of the clean training targets */
} synthetic;

/** Draws inputs, function, noise and damage from one seed. false: reason on standard error. */
bool synthetic_problem(hf_context *ctx, const synthetic *what, uint64_t seed, problem *out);

#endif
