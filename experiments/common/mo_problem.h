/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo_problem.h
 * @brief Readings of several outputs as one long table, and draws of correlated functions.
 *
 * A problem of T outputs holds n samples as n T rows: row i T + t is the reading of output t in
 * sample i, and t is the last of its inputs. A missing reading is NaN. Test rows are ordered alike.
 */
#ifndef EXPERIMENTS_MO_PROBLEM_H
#define EXPERIMENTS_MO_PROBLEM_H

#include "common/draws.h"

enum {
    MO_OUTPUTS_MOST = 10
};

/** Room for samples with `inputs` inputs each (the number of the output not counted, and filled
 * in). */
problem mo_problem_create(size_t samples, size_t tests, size_t inputs, size_t outputs);
/** T. */
size_t mo_outputs(const problem *p);
/** Gives input j of all readings of training sample i (or, with `test`, of test sample i) a
 * value. */
void mo_set_input(problem *p, bool test, size_t i, size_t j, double value);
/** Average of the readings of output t that there are. */
double mo_average(const problem *p, size_t t);
/** Evenly spaced values of the only input, from `least` to `most`, for the test rows. */
void mo_test_grid(problem *p, double least, double most);

/** Covariances that functions are drawn with: K((x,t), (x',t')) = b[t T + t'] exp(-(x - x')^2 / (2
 * l^2)). */
typedef struct mo_model {
    size_t outputs;
    const double *b;
    double lengthscale, noise_sd;
} mo_model;

/** T functions at n inputs: f is n x T, row by row. Ends the program when memory is out. */
void mo_draw(draws *stream, const mo_model *model, size_t n, const double *x, double *f);
/** n samples at inputs uniform on (least, most): training rows hold the readings, test rows the
 * same inputs with the readings once more; latent (n x T) the functions, to be freed by the
 * caller. */
problem mo_draw_problem(draws *stream, const mo_model *model, size_t n, double least, double most,
                        double **latent);
/** Chooses `count` of n samples, all sets equally likely. `chosen` has n entries. */
void mo_choose(draws *stream, size_t n, size_t count, bool *chosen);

/** The squared Mahalanobis length v' B^-1 v of the first s entries, B being their covariances (rows
 * of length T). */
double mo_mahalanobis(size_t s, const double *v, size_t outputs, const double *b);

#endif
