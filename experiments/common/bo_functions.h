/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bo_functions.h
 * @brief The functions behind the table of bo_rows.c: objectives to maximise first, then
 * constraints.
 *
 * Each takes a point inside its space; nothing is checked here.
 */
#ifndef EXPERIMENTS_BO_FUNCTIONS_H
#define EXPERIMENTS_BO_FUNCTIONS_H

#include "common/bo_problem.h"

/** @name bo_synthetic.c: classics, see Surjanovic and Bingham, Virtual Library of Simulation
 * Experiments. */
/**@{*/
void bo_branin(const bo_problem *p, const double *x, double *values);
void bo_hartmann3(const bo_problem *p, const double *x, double *values);
void bo_hartmann6(const bo_problem *p, const double *x, double *values);
void bo_ackley(const bo_problem *p, const double *x, double *values);
void bo_levy(const bo_problem *p, const double *x, double *values);
void bo_rosenbrock(const bo_problem *p, const double *x, double *values);
void bo_michalewicz(const bo_problem *p, const double *x, double *values);
/** Branin's function, to be minimised. */
double bo_branin_of(double x1, double x2);
/** Ackley's function of d numbers, to be minimised. */
double bo_ackley_of(size_t d, const double *x);
/**@}*/

/** @name bo_mixed.c: spaces with integers, categories and log scales. */
/**@{*/
extern const bo_parameter bo_mixed_branin_space[3], bo_two_choices_space[4],
    bo_mixed_ackley_space[7], bo_tuning_space[5];
void bo_mixed_branin(const bo_problem *p, const double *x, double *values);
void bo_two_choices(const bo_problem *p, const double *x, double *values);
void bo_mixed_ackley(const bo_problem *p, const double *x, double *values);
void bo_tuning(const bo_problem *p, const double *x, double *values);
/**@}*/

/** @name bo_several.c: constraints and two objectives. */
/**@{*/
extern const bo_parameter bo_branin_space[2];
void bo_branin_disc(const bo_problem *p, const double *x, double *values);
void bo_gardner(const bo_problem *p, const double *x, double *values);
void bo_branin_currin(const bo_problem *p, const double *x, double *values);
void bo_zdt1(const bo_problem *p, const double *x, double *values);
void bo_dtlz2(const bo_problem *p, const double *x, double *values);
/**@}*/

/** @name Controllers and ways: bo_rover.c, bo_lander.c. */
/**@{*/
void bo_rover(const bo_problem *p, const double *x, double *values);
void bo_lander(const bo_problem *p, const double *x, double *values);
/**@}*/

/** @name bo_dna.c: penalties of a lasso. */
/**@{*/
void bo_dna(const bo_problem *p, const double *x, double *values);
/** Reads the table of the set; NULL with the reason on standard error. */
void *bo_dna_open(const char *path);
void bo_dna_close(void *context);
/**@}*/

#endif
