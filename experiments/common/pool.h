/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pool.h
 * @brief Runs numbered tasks in child processes, a few at a time, and collects the lines they
 * print.
 *
 * Processes and not threads: every task is then timed as a program of one thread would be, and a
 * crash loses one task.
 */
#ifndef EXPERIMENTS_POOL_H
#define EXPERIMENTS_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct pool_calls {
    /** Runs in a child: prints whole lines to `out`. false: the task failed (the reason is on
     * standard error). */
    bool (*work)(size_t task, FILE *out, void *user);
    /** Runs in the parent, once per line (without its newline). false ends the run. */
    bool (*line)(const char *line, void *user);
    void *user;
} pool_calls;

/** Runs tasks[0..count) with at most `jobs` children. Returns the number of tasks that failed.
 * Progress goes to standard error. */
size_t pool_run(const size_t *tasks, size_t count, size_t jobs, const pool_calls *calls);

#endif
