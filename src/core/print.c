/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers to text and back with a point as the decimal mark. C's own functions take the mark from the locale of the
 * program, which a library can neither know nor change for all threads. */
#include "core/core.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The calling thread's locale from plain_begin() to plain_end(); the program's where its mark is a point. */
typedef struct plain_locale {
    locale_t own, before;
} plain_locale;

static plain_locale plain_begin(void)
{
    plain_locale plain = {.own = (locale_t)0};
    if (strcmp(nl_langinfo(RADIXCHAR), ".") == 0) return plain;
    plain.own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain.own != (locale_t)0) plain.before = uselocale(plain.own);
    return plain;
}

static void plain_end(plain_locale plain)
{
    if (plain.own == (locale_t)0) return;
    (void)uselocale(plain.before);
    freelocale(plain.own);
}

int hfi_print_list(char *text, size_t bytes, const char *format, va_list list)
{
    const plain_locale plain = plain_begin();
    const int length = vsnprintf(text, bytes, format, list);
    plain_end(plain);
    return length;
}

int hfi_print(char *text, size_t bytes, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = hfi_print_list(text, bytes, format, list);
    va_end(list);
    return length;
}

double hfi_strtod(const char *text, char **end)
{
    const plain_locale plain = plain_begin();
    const double value = strtod(text, end);
    plain_end(plain);
    return value;
}
