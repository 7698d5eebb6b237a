/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file options.h
 * @brief Command lines of experiments, told as a table: what is read and what --help prints come
 * from the same rows.
 */
#ifndef EXPERIMENTS_OPTIONS_H
#define EXPERIMENTS_OPTIONS_H

#include "common/words.h"

/** One option. Exactly one of the targets is set and says what kind of value follows. */
typedef struct option_row {
    const char *name;  /**< without the dashes */
    const char *value; /**< what the value is called in the help; NULL for a flag */
    const char *help;  /**< further lines are indented by the printer */
    const char **text;
    words *list; /**< checked by `known` or `choices` as words_parse() does */
    bool (*known)(const char *);
    const char *choices;
    long *number, least, most;
    long *first, *last; /**< "A..B" */
    bool *flag;
    bool *given; /**< set when the option occurs; may be NULL */
} option_row;

/** @name Rows, one function for each kind of value. */
/**@{*/
option_row option_text(const char *name, const char *value, const char *help, const char **text);
/** The list is `usual` until the option occurs; as it is where `usual` is NULL. */
option_row option_list(const char *name, const char *value, const char *help, words *list,
                       const char *usual, bool (*known)(const char *));
/** The same where the items are among those of `choices`, "a,b,c", or any where that is NULL. */
option_row option_choice(const char *name, const char *value, const char *help, words *list,
                         const char *usual, const char *choices);
/** Some of ITEMS, a literal "a,b,c", and all of them until the option occurs. */
#define OPTION_SOME(NAME, LIST_OF, ITEMS)                                                          \
    option_choice(NAME, "LIST", "of " ITEMS " (default all)", LIST_OF, ITEMS, ITEMS)
option_row option_number(const char *name, const char *value, const char *help, long *number,
                         long least, long most);
option_row option_range(const char *name, const char *help, long *first, long *last);
option_row option_flag(const char *name, const char *help, bool *flag);
/**@}*/

/** Reads the command line; --help prints `heading`, the rows and `example` and ends the program
 * with 0, anything that is not understood ends it with 2. */
void options_read(int argc, char **argv, const char *heading, const char *example, size_t count,
                  const option_row *rows);

#endif
