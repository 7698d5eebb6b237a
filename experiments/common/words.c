/* SPDX-License-Identifier: Apache-2.0 */
#include "common/words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool words_among(const char *list, const char *item)
{
    const size_t length = strlen(item);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, item, length) == 0 && (at[length] == ',' || !at[length])) return true;
    }
    return false;
}

void words_parse(words *out, const char *option, const char *list, bool (*known)(const char *),
                 const char *choices)
{
    char *item = out->text;
    out->count = 0;
    if (strlen(list) >= sizeof out->text) {
        fprintf(stderr, "--%s: the list is too long\n", option);
        exit(2);
    }
    memcpy(out->text, list, strlen(list) + 1);
    while (item) {
        char *comma = strchr(item, ',');
        if (comma) *comma = '\0';
        const bool good = known ? known(item) : !choices || words_among(choices, item);
        if (!*item || out->count == WORDS_MOST || !good) {
            fprintf(stderr, "--%s: \"%s\" is not one of the choices; see --help\n", option, item);
            exit(2);
        }
        out->items[out->count++] = item;
        item = comma ? comma + 1 : NULL;
    }
}

bool words_hold(const words *list, const char *item)
{
    for (size_t i = 0; i < list->count; ++i)
        if (strcmp(list->items[i], item) == 0) return true;
    return false;
}

bool words_positive(const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    return *end == '\0' && number > 0.0 && isfinite(number);
}

long words_number(const char *option, const char *text, long least, long most)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most) {
        fprintf(stderr, "--%s: \"%s\" is no whole number from %ld to %ld\n", option, text, least, most);
        exit(2);
    }
    return value;
}

void words_range(const char *option, const char *text, long *first, long *last)
{
    char head[32];
    const char *dots = strstr(text, "..");
    if (!dots) {
        *first = *last = words_number(option, text, 0, 1000000);
        return;
    }
    snprintf(head, sizeof head, "%.*s", (int)(dots - text < 31 ? dots - text : 31), text);
    *first = words_number(option, head, 0, 1000000);
    *last = words_number(option, dots + 2, *first, 1000000);
}
