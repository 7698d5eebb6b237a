/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bo_table.h
 * @brief Runs of optimisers: regrets read and written, summed up as tables and curves.
 *
 * A run is a line of CSV, as peer_optimisers.py writes it: problem, peer, share of wrong values,
 * seed, evaluations, and the simple regret after each tenth of them.
 */
#ifndef EXPERIMENTS_BO_TABLE_H
#define EXPERIMENTS_BO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    BO_TENTHS = 10
};

typedef struct bo_run {
    char problem[24], method[24];
    double wrong;
    long seed;
    size_t evaluations;
    double regret[BO_TENTHS];
} bo_run;

typedef struct bo_runs {
    bo_run *items;
    size_t count, capacity;
} bo_runs;

/** Adds a copy; ends the program when memory is out. */
void bo_runs_add(bo_runs *runs, const bo_run *run);
void bo_runs_free(bo_runs *runs);
/** Adds the runs of a file. False, with file and line on standard error, where it cannot be read.
 * So it is where a line other than a torn last one is no run or one that is there already. */
bool bo_runs_load(bo_runs *runs, const char *path);
/** The run of a problem, method, share and seed, or NULL. */
const bo_run *bo_runs_find(const bo_runs *runs, const bo_run *key);

/** Writes a file that bo_runs_load() reads. False, with the reason on standard error, where it
 * cannot. */
bool bo_runs_save(const bo_runs *runs, const char *path);

/** Median and quartiles over the seeds; NaN where there are none. */
typedef struct bo_cell {
    size_t seeds;
    double lower, median, upper;
} bo_cell;

/** The regret of a method after tenth + 1 tenths of the evaluations. */
bo_cell bo_runs_cell(const bo_runs *runs, const char *problem, const char *method, double wrong,
                     size_t tenth);
/** The method other than `ours` (may be NULL) whose median regret at the end is least, the first
 * of equal ones; NULL where no other method has run. */
const char *bo_runs_best(const bo_runs *runs, const char *problem, double wrong, const char *ours);

/**
 * Prints a table in Markdown for each share of wrong values: a row for each problem: the median
 * regret (quartiles) of each method at the end; the seeds where a cell has fewer than the most;
 * where `ours` is not NULL, the ratio of our median to the best peer's, with "yes" where it is at
 * most what is asked: 1 on right values, 1/3 on wrong ones.
 */
void bo_table_print(FILE *out, const bo_runs *runs, const char *ours);

/**
 * Prints a table in Markdown for each share of wrong values: a row for each problem that two
 * methods have both run on, of the seeds that they have in common: mean regret at the end and
 * standard error of each; on how many seeds the first is lower; and how the intervals of one
 * standard error on either side lie: "lower" (the first's wholly below), "higher" or "overlap".
 */
void bo_pair_print(FILE *out, const bo_runs *runs, const char *first, const char *second);

/**
 * Draws STEM.svg and STEM.png: for each problem, the median regret of each method against
 * evaluations, with a band from quartile to quartile, at one share of wrong values; `ours` (may be
 * NULL) is drawn black. False, with a message on standard error, where gnuplot is not installed or
 * fails.
 */
bool bo_curves_draw(const bo_runs *runs, double wrong, const char *ours, const char *stem);

#endif
