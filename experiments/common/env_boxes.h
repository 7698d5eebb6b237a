/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_boxes.h
 * @brief Boxes around planned runs of the reactor: their rows, what is printed of them, and their
 * picture.
 */
#ifndef EXPERIMENTS_ENV_BOXES_H
#define EXPERIMENTS_ENV_BOXES_H

#include "common/env_reactor.h"
#include "common/env_rows.h"

enum {
    BOX_STARTS = 4
};

/** Values of a row: the feed of the step, the state after it, low and high of each state by two
 * methods, and what the kernels and norms were. */
typedef enum box_column {
    BOX_FEED,
    BOX_STATE,
    BOX_OPTIMAL = BOX_STATE + REACTOR_STATES,
    BOX_CLOSED = BOX_OPTIMAL + 2 * REACTOR_STATES,
    BOX_LENGTHSCALE = BOX_CLOSED + 2 * REACTOR_STATES,
    BOX_NORM = BOX_LENGTHSCALE + REACTOR_STATES,
    BOX_COLUMNS = BOX_NORM + REACTOR_STATES
} box_column;

typedef double box_values[BOX_COLUMNS];

extern const char *const box_columns[BOX_COLUMNS];
/** The states that the published program has plans from; the first is the one in the corner of the
 * constraints. */
extern const double box_starts[BOX_STARTS][REACTOR_STATES];

/** The row of a step, from 1, of the plan from a start, and its name; NULL when it is not there. */
const double *boxes_find(const env_rows *rows, size_t start, size_t step, char name[64]);
void boxes_report(const env_rows *rows, size_t steps);
/** STEM.svg and STEM.png; false: reason on standard error. */
bool boxes_picture(const env_rows *rows, size_t steps, const char *stem);

#endif
