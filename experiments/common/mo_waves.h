/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo_waves.h
 * @brief Figures 2 and 4: two correlated outputs, made up, with wrong readings in one place.
 *
 * 120 inputs uniform on (0, 1), B = [[2, 1.25], [1.25, 1]], squared exponential kernel with
 * lengthscale 0.1, noise of sd 0.05.
 */
#ifndef EXPERIMENTS_MO_WAVES_H
#define EXPERIMENTS_MO_WAVES_H

#include "common/mo_table.h"

enum {
    MO_WAVES_SAMPLES = 120,
    MO_WAVES_GRID = 300
};

extern const mo_model mo_waves;

/** Draws the functions at the inputs of `data` (n samples, filled in) and on a grid over (0, 1);
 * readings and test rows of `data` get noise; both arrays of functions are the caller's to free. */
void mo_waves_draw(draws *stream, problem *data, double **latent, double **grid);
/** The published models have the true hyperparameters and the averages of the readings as prior
 * mean. */
void mo_waves_terms(mo_terms *out);
/** Parts of a picture; the arrays are freed with it. */
typedef struct mo_waves_drawing {
    problem data;
    double *latent, *grid;
    const double *hidden; /**< readings that the models do not get, or NULL; the caller's */
    const char *kind;     /**< of damage */
    const char *models;   /**< comma-separated */
} mo_waves_drawing;

/** STEM.svg and STEM.png (nothing without a stem): the readings, and on the grid the functions and
 * what each model says. Frees what is in `drawing`. */
void mo_waves_picture(mo_waves_drawing *drawing, void (*terms)(const char *kind, mo_terms *out),
                      const char *stem);

#endif
