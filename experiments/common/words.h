/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file words.h
 * @brief Comma-separated lists, numbers and ranges on command lines.
 */
#ifndef EXPERIMENTS_WORDS_H
#define EXPERIMENTS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    WORDS_MOST = 32
};

/** Must not be copied: the items point into the text. */
typedef struct words {
    char text[1024];
    const char *items[WORDS_MOST];
    size_t count;
} words;

/** "a,b,c". Ends the program with status 2 when the list is empty, too long, or an item is refused:
 * by `known`, or where that is NULL as none of `choices`, of which NULL allows any word. */
void words_parse(words *out, const char *option, const char *list, bool (*known)(const char *),
                 const char *choices);
/** Whether "a,b,c" holds an item. */
bool words_among(const char *list, const char *item);
bool words_hold(const words *list, const char *item);
/** Whether it is a finite number above 0. */
bool words_positive(const char *text);
/** A whole number in [least, most], or the end of the program with status 2. */
long words_number(const char *option, const char *text, long least, long most);
/** "a..b" or "a". */
void words_range(const char *option, const char *text, long *first, long *last);

#endif
