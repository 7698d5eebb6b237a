/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp_paper.h
 * @brief The printed numbers of "Robust and Computation-Aware Gaussian Processes" (2025): Tables 1,
 * S1, S2 and S3.
 */
#ifndef EXPERIMENTS_RCAGP_PAPER_H
#define EXPERIMENTS_RCAGP_PAPER_H

#include <stddef.h>

/** A printed "mean ± sd" over 20 splits; the sd is that of the population (its program calls
 * numpy's std). */
typedef struct paper_value {
    double mean, sd;
} paper_value;

/** One model on one set: mean absolute error, mean negative log predictive density (both in units
 * of the sd of the set's clean targets), seconds to train. */
typedef struct paper_cell {
    const char *table; /**< table1, s1, s2, s3 */
    const char *kind;  /**< none, asymmetric, uniform, focused */
    const char *set;   /**< boston, energy, yacht, parkinsons */
    const char *model; /**< SVGP, CaGP, RCSVGP, RCaGP, Student-t, RRP */
    paper_value mae, nll, seconds;
} paper_cell;

extern const paper_cell rcagp_paper[];
extern const size_t rcagp_paper_count;

/** The cell, or NULL where the table has none. */
const paper_cell *rcagp_paper_find(const char *table, const char *kind, const char *set,
                                   const char *model);

#endif
