/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fits.h
 * @brief The methods that experiments compare, each fitted and scored through the public interface.
 *
 * | name    | what it is                                                                                       |
 * |---------|--------------------------------------------------------------------------------------------------|
 * | gp      | plain Gaussian process, preset "gp"                                                              |
 * | rcgp    | the published robust conjugate GP, preset "rcgp"                                                 |
 * | smooth  | robust weights re-centred on the leave-one-out mean, site evidence, consistent noise             |
 * | default | what a user gets who asks for nothing                                                            |
 * | oracle  | the plain GP, told which readings are wrong: what no method that must find out can expect to beat |
 */
#ifndef EXPERIMENTS_FITS_H
#define EXPERIMENTS_FITS_H

#include "common/record.h"

#include <holdfast/holdfast.h>

/** A training set with known damage, and clean rows to judge by. All arrays belong to the
 * problem. */
typedef struct problem {
    size_t n, m, d;
    double *x, *y;   /**< n x d inputs and n targets, damaged */
    bool *wrong;     /**< n: which rows were damaged */
    double *tx, *ty; /**< m x d and m: test rows, clean */
    double unit;     /**< sd of the n targets before the damage: scores are in this unit */
} problem;

/** Room for a problem; ends the program when memory is out. */
problem problem_create(size_t n, size_t m, size_t d);
void problem_free(problem *p);
/** sd with n - 1 in the denominator. */
double sample_sd(size_t n, const double *y);

/** Scores of predictions for the test rows (sd of a new reading), into the scores of `out`. false
 * with the reason on standard error. */
bool score_predictions(hf_context *ctx, const problem *data, const double *mean, const double *sd,
                       record *out);
/** Fits these settings and scores them on the test rows; fills everything of `out` but its key.
 * false with the reason on standard error. */
bool settings_run(hf_context *ctx, const hf_fit_settings *settings, const problem *data,
                  record *out);
/** The same with prior means of the training rows and of the test rows, of the targets less which
 * the fit is. */
bool settings_run_about(hf_context *ctx, const hf_fit_settings *settings, const double *train,
                        const double *test, const problem *data, record *out);

/** The same for a method of the table. */
bool method_run(hf_context *ctx, const char *method, const problem *p, record *out);

#endif
