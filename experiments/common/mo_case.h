/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo_case.h
 * @brief A set of readings of which one is known to be wrong and nobody knows the truth: what that
 * reading does to each model, and how well the others are predicted when they are left out.
 */
#ifndef EXPERIMENTS_MO_CASE_H
#define EXPERIMENTS_MO_CASE_H

#include "common/mo_methods.h"

typedef struct mo_case {
    const char *program, *title;
    const char *file; /**< below the folder of the data */
    /** Training rows, with `wrong` set for the one reading, and a grid as test rows. false: reason
     * on standard error. */
    bool (*load)(hf_context *ctx, const char *path, problem *out);
    void (*terms)(const problem *p, mo_terms *out);
    const char *models, *drawn; /**< comma-separated: of the tables, of the picture */
    size_t folds;               /**< parts that are left out in turn; 0: each reading by itself */
    const char *const *outputs; /**< their names */
    const char *axis, *unit;    /**< of the input; of the readings, as in "in ticks" */
    double scale;               /**< that unit */
    const char *settings;       /**< further gnuplot */
} mo_case;

/** The whole program: options, fits, tables, picture. Returns its exit status. */
int mo_case_main(int argc, char **argv, const mo_case *what);

#endif
