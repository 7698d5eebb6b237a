/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file comma.h
 * @brief A locale with a decimal comma for a while, as programs with windows have it in most of
 * Europe.
 */
#ifndef TESTS_DATA_COMMA_H
#define TESTS_DATA_COMMA_H

#include "data/support.h"

#include <locale.h>

typedef struct comma {
    folder scratch;
    bool there;
} comma;

/* Debian's minimal installations have no German locale; localedef can usually make one. */
static inline comma comma_begin(void)
{
    comma made = {.scratch = folder_make()};
    char command[512];
    made.there = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    if (made.there) return made;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
             made.scratch.path);
    if (system(command) != 0) return made;
    setenv("LOCPATH", made.scratch.path, 1);
    made.there = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    if (made.there) assert_string_equal(localeconv()->decimal_point, ",");
    return made;
}

/* Skips the test where there was none. */
static inline void comma_end(const comma *made)
{
    char command[256];
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", made->scratch.path);
    assert_int_equal(system(command), 0);
    if (made->there) return;
    print_message("no locale with a decimal comma on this machine\n");
    skip();
}

#endif
