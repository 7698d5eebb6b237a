/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study.h
 * @brief A study: numbered tasks, each a set of data on which several models are fitted; and a file
 * of results. In it a study that was stopped finds what it has done already.
 */
#ifndef EXPERIMENTS_STUDY_H
#define EXPERIMENTS_STUDY_H

#include "common/fits.h"
#include "common/options.h"

typedef struct study study;

/** Functions that a study is made of. */
typedef struct study_calls {
    /** The key of model `which` of a task; false when the task has fewer. */
    bool (*key)(const study *s, size_t task, size_t which, record *key);
    /** The data of a task. In a child process; false with the reason on standard error. */
    bool (*data)(const study *s, hf_context *ctx, size_t task, problem *out);
    /** Fits and scores the model of `item`, whose key is filled in. In a child process; false with
     * the reason on standard error. */
    bool (*fit)(const study *s, hf_context *ctx, const problem *data, record *item);
} study_calls;

struct study {
    const char *json; /**< file of results, or NULL */
    bool report;      /**< do not fit, only sum up */
    long first, last; /**< splits */
    bool chosen;      /**< --splits was given */
    long offset;      /**< added to every seed */
    long jobs;        /**< processes at once */
    long threads;     /**< of each process; 0: all */
    size_t count;     /**< tasks */
    const study_calls *calls;
    void *user;
    records done;
    FILE *file;
};

enum {
    STUDY_OWN_OPTIONS = 9
};
/** Reads a command line as options_read() does: `count` options of the program, STUDY_OWN_OPTIONS
 * at most, then those that all studies have. */
void study_read(study *s, int argc, char **argv, const char *heading, const char *example,
                size_t count, const option_row *own);

/** How many splits there are. */
size_t study_splits(const study *s);
/** Reads the file of results, opens it for more and, but for --report, fits what is missing. Ends
 * the program with 1 when it cannot, with 2 when --report has no file. Returns how many tasks
 * failed. */
size_t study_run(study *s);
/** Closes the file and says on standard error how many tasks failed; returns the exit status of the
 * program. */
int study_close(study *s, const char *program, size_t failed);

#endif
