/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_rows.h
 * @brief Rows of named numbers: kept as lines of JSON, found again when a program goes on where it
 * was, or only reports.
 */
#ifndef EXPERIMENTS_ENV_ROWS_H
#define EXPERIMENTS_ENV_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    ENV_COLUMNS = 24
};

typedef struct env_row {
    char name[64];
    double values[ENV_COLUMNS]; /**< NaN: not computed */
} env_row;

/** Rows computed so far. `columns` (`width` of them, at most ENV_COLUMNS) name the values. */
typedef struct env_rows {
    const char *const *columns;
    size_t width;
    const char *path; /**< NULL: nothing is kept */
    env_row *items;
    size_t count;
} env_rows;

/** Reads the lines of path; a missing file is an empty one. false: reason on standard error. */
bool env_rows_load(env_rows *rows);
/** The values under a name, or NULL. Valid until the next is added. */
const double *env_rows_find(const env_rows *rows, const char *name);
/** Adds and, with a path, appends to the file. Ends the program when memory is out or the file
 * cannot be written. */
void env_rows_add(env_rows *rows, const char *name, const double *values);
void env_rows_free(env_rows *rows);

/** Prints a row as one line, from a child process to the one that keeps the rows; `count` values,
 * the others NaN. */
void env_rows_send(FILE *out, const env_rows *rows, const char *name, size_t count,
                   const double *values);
/** Adds the row of such a line; false where it is none. */
bool env_rows_take(env_rows *rows, const char *line);

#endif
