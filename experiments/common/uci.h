/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file uci.h
 * @brief Seven regression sets from the UCI repository as damaged training sets and clean test
 * sets.
 */
#ifndef EXPERIMENTS_UCI_H
#define EXPERIMENTS_UCI_H

#include "common/fits.h"
#include "common/words.h"

typedef struct uci_set {
    const char *name; /**< also folder and file: <data>/<name>/<name>.csv (sets.h) */
    const char *target;
    const char *drop[2]; /**< columns that are neither input nor target */
    size_t sample;       /**< rows used unless all are asked for; 0: always all */
    bool other_shares;   /**< also run at 2 % and 25 % */
    double limit;        /**< allowed ratio of MAE to the clean MAE */
    double test_share;   /**< of the rows; 0: 0.2 */
} uci_set;

extern const uci_set uci_sets[];
extern const size_t uci_set_count;

/** The set of that name, or NULL. */
const uci_set *uci_find(const char *name);
/** Whether the file of a set of that name is there; where not, standard error tells that it is left
 * out of the program. */
bool uci_present(const char *data, const char *name);
/** Leaves out of a list of sets those whose file is missing. */
void uci_keep_present(const char *data, words *sets);

/** One split: rows shuffled (and, for large sets, sampled), 80 % (or what the set says) to train,
 * training rows damaged. The seeds are offset + 3000 + split (sample), offset + 1000 + split
 * (split), offset + 5000 + split (damage). false: reason on standard error. */
bool uci_problem(hf_context *ctx, const char *data, const uci_set *set, bool all_rows, long split,
                 long offset, hf_contamination kind, double share, problem *out);

#endif
