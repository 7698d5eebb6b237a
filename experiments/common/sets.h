/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sets.h
 * @brief The data sets of others that experiments read: where each is looked for, what it is and
 * who has it.
 *
 * A set is known by its file below the folder of the data, "energy/energy.csv". Sets that come
 * with Holdfast are found without such a folder.
 */
#ifndef EXPERIMENTS_SETS_H
#define EXPERIMENTS_SETS_H

#include <stdbool.h>
#include <stddef.h>

/** Sentence of --help about the folder of the data. */
#define SETS_DEFAULT "(default $HOLDFAST_DATA, without it ../shared/data)"

enum {
    SETS_PATH = 4096,
    SETS_MISSING = 77 /**< exit status of a program that ran nothing, for want of data */
};

/** The folder of the data where no option names one. */
const char *sets_folder(void);
/** The folder of the running program, with a slash at its end; false where that cannot be known. */
bool sets_program(char folder[SETS_PATH]);
/** Writes where the file of a set is: in the folder, or among the data that come with Holdfast.
 * False: in neither, and the path is the one in the folder. */
bool sets_find(const char *folder, const char *file, char path[SETS_PATH]);
/** The same, with sets_explain() of "nothing was run" where it is not there. */
bool sets_need(const char *folder, const char *file, char path[SETS_PATH]);
/** Says on standard error what is missing, where it comes from and where it belongs; `outcome` is
 * what follows from that, "nothing was run". */
void sets_explain(const char *folder, const char *file, const char *outcome);

#endif
