/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo_curves.h
 * @brief A picture of several outputs over one input: readings, and what some models make of them.
 */
#ifndef EXPERIMENTS_MO_CURVES_H
#define EXPERIMENTS_MO_CURVES_H

#include "common/mo_methods.h"
#include "common/words.h"

/** The data and the labels of a drawing. */
typedef struct mo_curves {
    const problem *data;  /**< one input; test rows are a grid */
    const double *latent; /**< the functions on the grid (m), or NULL */
    /** n: readings that the models do not get, NaN elsewhere; or NULL */
    const double *hidden;
    const char *const *outputs; /**< their names */
    const char *axis;           /**< what the input is */
    const char *settings;       /**< further gnuplot, lines; or NULL */
    bool latent_bands;          /**< bands of the functions; else of new readings */
} mo_curves;

/** Fits the models (three at most are drawn with 95 % bands, the others as lines) and draws
 * STEM.svg and STEM.png. false: reason on standard error. */
bool mo_curves_draw(hf_context *ctx, const mo_curves *what, const mo_terms *terms,
                    const words *models, const char *stem);

#endif
