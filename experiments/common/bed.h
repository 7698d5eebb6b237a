/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bed.h
 * @brief The tables of data/bed: many small real regressions that judge the default fit.
 *
 * The last column of a table is its target. A table belongs to one of two halves, by a hash of its
 * name: choices about the default may look at "tune", and "held" judges them. Tables that they
 * have looked at all the same are "tune" by name.
 */
#ifndef EXPERIMENTS_BED_H
#define EXPERIMENTS_BED_H

#include "common/fits.h"

enum {
    BED_KNOWN = 24, /**< rows that are known to be odd, of one table */
    BED_FEWEST = 15 /**< sound rows of a table that is split; smaller ones show known rows only */
};

typedef struct bed_table {
    char name[40];
    bool held;
    size_t n, d;
    double *x, *y;                        /**< n x d and n */
    size_t known[BED_KNOWN], known_count; /**< rows from 0 */
} bed_table;

typedef struct bed {
    bed_table *tables;
    size_t count;
} bed;

/** The half of a name: odd FNV-1a of 32 bits is tune. */
bool bed_is_held(const char *name);
/** Reads the index and all tables, from DIR/bed or from among the data that come with Holdfast.
 * false: `missing` says whether the index is not there; the reason is on standard error. */
bool bed_open(hf_context *ctx, const char *folder, bed *out, bool *missing);
void bed_free(bed *b);
/** The table of that name, or NULL. */
const bed_table *bed_find(const bed *b, const char *name);

/** Whether a row, from 0, is known to be odd. */
bool bed_row_known(const bed_table *table, size_t row);
/** How many rows are not. */
size_t bed_sound_rows(const bed_table *table);

/** Damage that is done to a table. */
typedef struct bed_case {
    const bed_table *table;
    const char *kind; /**< of bed_damage.h */
    double share;     /**< of damaged training rows; 0 for kinds of a fixed number */
    long split, offset;
    size_t most; /**< a larger table is sampled to so many rows */
} bed_case;

/**
 * The training and test rows of a case. Rows known to be odd are left out, so that no damage means
 * clean rows as far as is known. A random fifth of the others, 3 at least, is held out, and
 * training targets are damaged. Split, sample and damage depend on the names and numbers of the
 * case alone.
 *
 * `applies` tells whether the damage changes anything: too few rows, or a reading that the kind
 * leaves about where it was, make no case. false: reason on standard error.
 */
bool bed_problem(hf_context *ctx, const bed_case *what, problem *out, bool *applies);
/** All rows to train and the same to test; wrong are those known to be odd. */
problem bed_whole(const bed_table *table);

#endif
