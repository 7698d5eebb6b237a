/* SPDX-License-Identifier: Apache-2.0 */
/* Which texts can be written as JSON, and what is written for others. */
#include "shell/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t utf8_character(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) return 1;
    const size_t length = s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    for (size_t k = 1; k < length; k++)
        if ((s[k] & 0xC0) != 0x80) return 0;
    const bool wrong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
                       (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F);
    return wrong ? 0 : length;
}

bool is_utf8(const char *text)
{
    const char *s = text;
    size_t length = 1;
    while (*s != '\0' && (length = utf8_character(s)) > 0) s += length;
    return length > 0;
}

/* Characters as they are; a byte that belongs to none as U+FFFD, or as \xHH. */
static char *rewritten(const char *text, bool hexadecimal)
{
    static const char unknown[] = "\xEF\xBF\xBD"; /* U+FFFD */
    char *made = malloc(4 * strlen(text) + 1), *to = made;
    for (const char *s = text; made != NULL && *s != '\0';) {
        const size_t length = utf8_character(s), taken = length > 0 ? length : 1;
        char hex[5];
        (void)snprintf(hex, sizeof hex, "\\x%02X", (unsigned)(unsigned char)*s);
        const char *from = length > 0 ? s : hexadecimal ? hex : unknown;
        const size_t bytes = length > 0 ? length : strlen(from);
        memcpy(to, from, bytes);
        to += bytes;
        s += taken;
    }
    if (made != NULL) *to = '\0';
    return made;
}

char *to_utf8(const char *text)
{
    return rewritten(text, false);
}

char *json_escaped(const char *text)
{
    return rewritten(text, true);
}

json_t *json_text(const char *text)
{
    char *made = text != NULL ? json_escaped(text) : NULL;
    json_t *string = text == NULL ? json_null() : made != NULL ? json_string(made) : NULL;
    free(made);
    return string;
}
