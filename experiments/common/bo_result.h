/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bo_result.h
 * @brief Results of runs of studies: lines of JSON, kept and summed up.
 */
#ifndef EXPERIMENTS_BO_RESULT_H
#define EXPERIMENTS_BO_RESULT_H

#include "common/bo_loop.h"

typedef struct bo_results {
    bo_result *items;
    size_t count, capacity;
} bo_results;

/** Adds a copy; ends the program when memory is out. */
void bo_results_add(bo_results *results, const bo_result *item);
void bo_results_free(bo_results *results);
/** The result of a problem, method, share and seed, or NULL. */
const bo_result *bo_results_find(const bo_results *results, const bo_run *key);

/** Writes one line of JSON. False if the stream failed. */
bool bo_result_write(FILE *out, const bo_result *item);
/** Reads one. False, with the reason on standard error, if it is none. */
bool bo_result_read(const char *line, bo_result *out);
/** Reads a file of them, as lines_load() does. */
bool bo_results_load(bo_results *results, const char *path);

/**
 * Prints a table in Markdown: for each problem, share and method the regret of what is recommended
 * at the end and of the best that was tried (medians); in how many runs it is feasible; and means:
 * wrong values told, trials without a say, how many of these were told wrong values, repeated
 * trials, seconds; and the longest hf_study_ask() of all.
 */
void bo_results_print(FILE *out, const bo_results *results);

#endif
