/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bo_problem.h
 * @brief Test problems of optimisation: spaces, clean values, and the values that a careless lab
 * tells.
 *
 * Every objective is maximised; a classic that is minimised has its sign changed. A problem with
 * constraints is feasible where each of their values is at most 0. Parameters are in the user's
 * units: a log-scaled one as it is, an integer as a whole double, a category as its code 0, 1, ...
 */
#ifndef EXPERIMENTS_BO_PROBLEM_H
#define EXPERIMENTS_BO_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    BO_MOST_PARAMETERS = 180,
    BO_MOST_OBJECTIVES = 2,
    BO_MOST_VALUES = 3
};

typedef enum bo_kind {
    BO_REAL,
    BO_LOG,
    BO_INTEGER,
    BO_CATEGORY /**< codes lower = 0, ..., upper */
} bo_kind;

typedef struct bo_parameter {
    char name[24];
    bo_kind kind;
    double lower, upper;
} bo_parameter;

typedef struct bo_problem bo_problem;

/** One problem of the table. */
typedef struct bo_row {
    const char *name, *about;
    size_t d, objectives, constraints;
    double lower, upper;            /**< box of all parameters, where `parameters` is NULL */
    const bo_parameter *parameters; /**< d of them, or NULL: x1 to xd, real */
    size_t evaluations;             /**< of one run of an optimiser */
    size_t starts;                  /**< of them by the common random design */
    /** The largest feasible clean value; of two objectives the largest hypervolume above
     * `reference`. NaN: nobody knows. */
    double best;
    bool proved; /**< `best` is exact to its digits; else the best that was found */
    double reference[BO_MOST_OBJECTIVES];
    /** Standard deviations of the clean objectives at `spread_points` points of bo_spread(). */
    double sd[BO_MOST_OBJECTIVES];
    size_t spread_points;
    /** Objectives first, then constraints. */
    void (*evaluate)(const bo_problem *p, const double *x, double *values);
    /** of the data of others that it needs, as in sets.h, or NULL */
    const char *file;
    void *(*open)(const char *path); /**< reads that file; NULL with the reason on standard error */
    void (*close)(void *context);
} bo_row;

/** A problem that is ready to be evaluated. Reading it from several threads at once is fine. */
struct bo_problem {
    const bo_row *row;
    void *context;
    uint64_t hash; /**< of the name */
};

/** The table; rows in the order in which reports show them. */
const bo_row *bo_rows(size_t *count);
/** The row of that name, or NULL. */
const bo_row *bo_find(const char *name);
/** Parameter j < d. */
bo_parameter bo_parameter_of(const bo_row *row, size_t j);
/** Reads the data that the problem needs from below `folder` (NULL: sets_folder()). False, with the
 * reason on standard error, where they are not there. */
bool bo_open(const bo_row *row, const char *folder, bo_problem *out);
void bo_close(bo_problem *p);

/** A point of the unit cube, u in [0, 1)^d, in the units of the problem: equal parts for the levels
 * of integers and categories. */
void bo_from_unit(const bo_row *row, const double *u, double *x);
/** False, with the parameter and its value in `message`, where x is outside the space. */
bool bo_inside(const bo_row *row, const double *x, char message[200]);
/** The clean values of a point inside: objectives + constraints of them. */
void bo_evaluate(const bo_problem *p, const double *x, double *values);

/**
 * The value of an objective that an optimiser is told at evaluation `k` (from 0) of run `seed`:
 * with probability `share` wrong, clean + U(1, 2) sd, else clean. Which evaluations are wrong, and
 * by how many sd, depends on problem, seed and k alone, so that every method meets the same errors.
 * Constraints are told as they are.
 */
double bo_told(const bo_problem *p, uint64_t seed, size_t k, double share, size_t objective,
               double clean);

/** The common random design of run `seed`: `count` points, uniform in the unit cube. x: count x
 * d. */
void bo_start(const bo_problem *p, uint64_t seed, size_t count, double *x);

/** Standard deviations of the objectives over `points` uniform points of a fixed seed: what `sd` of
 * the row holds. */
void bo_spread(const bo_problem *p, size_t points, double sd[BO_MOST_OBJECTIVES]);

#endif
