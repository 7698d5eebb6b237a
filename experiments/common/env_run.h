/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_run.h
 * @brief Shared by programs that keep rows: options, and the way from the rows that are
 * there over those that are lacking to what is printed and drawn.
 */
#ifndef EXPERIMENTS_ENV_RUN_H
#define EXPERIMENTS_ENV_RUN_H

#include "common/env_rows.h"
#include "common/options.h"

#include <holdfast/holdfast.h>

enum {
    ENV_OPTIONS = 4,
    ENV_OWN_OPTIONS = 12
};

/** Options that the programs have in common. */
typedef struct env_options {
    const char *json, *picture;
    bool report;
    long jobs; /**< threads; 0: all */
} env_options;

/** Writes their rows, ENV_OPTIONS at most; without --picture for programs that draw none. Returns
 * how many. */
size_t env_options_rows(env_options *options, bool picture, option_row *rows);

/** A program. The functions get `state` and are called after the options are read; false: reason on
 * standard error. */
typedef struct env_program {
    /** Adds the rows that are lacking, those apart whose data are not there; not called with
     * --report. */
    bool (*work)(void *state);
    void (*report)(const void *state);
    bool (*picture)(const void *state, const char *stem); /**< NULL: no --picture */
    void *state;
    /** columns and width are set; given a path, filled, and emptied in the end */
    env_rows *rows;
    hf_context **ctx; /**< where the context is put while the functions run */
    /** its rows are about data of others: without any it ends with SETS_MISSING */
    bool needs_data;
} env_program;

/** Runs it, with `count` options of its own, ENV_OWN_OPTIONS at most; what main() returns. The help
 * has the name, a title, and an example, the name followed by `example`. */
int env_run(int argc, char **argv, const char *name, const char *title, const char *example,
            size_t count, const option_row *own, const env_program *program);

#endif
