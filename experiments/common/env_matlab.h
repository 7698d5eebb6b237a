/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_matlab.h
 * @brief Inputs of experiments as a published MATLAB program lays them out: even grids, thinned
 * with its random numbers.
 */
#ifndef EXPERIMENTS_ENV_MATLAB_H
#define EXPERIMENTS_ENV_MATLAB_H

#include "common/env_python.h"

/** rng(seed): the same generator as Python's, seeded from the number itself; afterwards
 * py_uniform() is rand(). */
void matlab_seed(py_random *r, uint32_t seed);
/**
 * The smallest grid over the box [low, high] with as many values in each of the d dimensions, two
 * or more, that has `count` points; the first input changes fastest. After rng(1), random points
 * are taken out until `count` are left; the stream goes on with what follows. count x d, caller
 * frees; ends the program when memory is out.
 */
double *matlab_grid(py_random *stream, size_t count, size_t d, const double *low,
                    const double *high);

#endif
