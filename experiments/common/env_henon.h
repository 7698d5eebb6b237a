/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_henon.h
 * @brief The forced Henon map of the envelope paper's first two examples, and readings of it.
 *
 *     f(z) = 1 - 0.8 z1^2 + z2 + 8 sin(0.8 z2)     on [-10, 10]^2
 *
 * taken as a function of norm at most 1200 under the squared exponential kernel with lengthscale 5.
 */
#ifndef EXPERIMENTS_ENV_HENON_H
#define EXPERIMENTS_ENV_HENON_H

#include "common/env_python.h"
#include "common/options.h"

#include <holdfast/holdfast.h>
#include <stdbool.h>
#include <stdio.h>

#define ENV_HENON_KERNEL "se(lengthscale=5)"
#define ENV_HENON_NORM   1200.0
/**
 * The kernel of the published program, which adds 1e-8 to the whole kernel matrix *with the query
 * in it*: another kernel term that looks at a third input, the number of the reading. All readings
 * have numbers of their own and all queries ENV_HENON_QUERY, so that 1e-8 stands on the diagonal
 * alone, that of the query included. The bound is then for a function of the whole term's norm. It
 * is read without noise of that term, at a place with a number that no reading has.
 */
#define ENV_HENON_PUBLISHED "se(x1,x2,lengthscale=5)+1e-8*se(x3,lengthscale=0.01)"
#define ENV_HENON_QUERY     (-5.0)

/** Readings y of f at n points x (n x 2); |y - f(x)| <= noise. */
typedef struct env_set {
    size_t n;
    double *x, *y;
    double noise;
} env_set;

double env_henon(const double *z);

/** n readings, not filled in; ends the program when memory is out. */
env_set env_set_create(size_t n, double noise);
void env_set_free(env_set *set);
/** The view that the library takes of it, with another noise bound. */
hf_bounded_readings env_set_readings(const env_set *set, double noise);

/** Uniform noise: side x side points on an even grid with both ends, z1 outer; or n points uniform
 * on the square, their inputs and noise drawn in turn. */
env_set env_henon_grid(py_random *stream, size_t side, double noise);
env_set env_henon_random(py_random *stream, size_t n, double noise);
/** The data of the paper's Tables I and II: seed 1, 100 random points first, then the 10 x 10 grid;
 * normal noise of sd noise / 2.58, clipped. */
void env_henon_tables(double noise, env_set *random, env_set *grid);
/** DATA/rkhs_henon_grid_delta1/readings.csv: a grid of the authors with noise 1, and where `bounds`
 * is not NULL their bounds (m rows of z1, z2, lower, upper, caller frees). false, with the reason
 * in *out empty, where the file is not there or not readable. */
bool env_henon_authors(hf_context *ctx, const char *data, env_set *out, size_t *m, double **bounds);
/** --data DIR for the folder of that file, which is set to the default. */
option_row env_henon_option(const char **data);

/** side x side points of a mesh over the square, z1 outer; 2 side^2 numbers, caller frees. */
double *env_henon_mesh(size_t side);

/** n rows of two inputs with a third one behind: row i has first + i step; 3 n numbers, caller
 * frees. (0, 1) numbers readings, (ENV_HENON_QUERY, 0) marks queries. */
double *env_henon_numbered(const double *x, size_t n, double first, double step);
/** Mean widths and mean heights of the upper bound above the map, over a mesh of side x side, of
 * the published program's optimal envelope. false: reason on standard error. */
bool env_henon_published(hf_context *ctx, const env_set *set, double noise, double norm,
                         size_t side, double *width, double *above);

#endif
