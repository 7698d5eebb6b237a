/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people, with names that files chose in it: a terminal obeys control characters, and is sent none. */
#include "shell/tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Terminals obey the control characters of C0 (but newline and tab), DEL, and those of C1. Some take a
 * byte that belongs to no character for one of C1. */
static bool is_obeyed(const unsigned char *s, size_t length)
{
    if (length == 0) return s[0] < 0xA0;
    return (s[0] < 0x20 && s[0] != '\n' && s[0] != '\t') || s[0] == 0x7F || (s[0] == 0xC2 && s[1] < 0xA0);
}

static void print_harmless(FILE *out, const char *text)
{
    for (const char *s = text; *s != '\0';) {
        const size_t length = utf8_character(s), bytes = length > 0 ? length : 1;
        if (is_obeyed((const unsigned char *)s, length))
            fputc('?', out);
        else
            fwrite(s, 1, bytes, out);
        s += bytes;
    }
}

void vsay(FILE *out, const char *format, va_list args)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *made = open_memstream(&text, &bytes);
    if (made != NULL) {
        vfprintf(made, format, args);
        if (fclose(made) == 0) print_harmless(out, text);
    }
    if (made == NULL || text == NULL) fputs("(out of memory)", out);
    free(text);
}

void say(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsay(out, format, args);
    va_end(args);
}

void put(tool_line *line, const char *format, ...)
{
    va_list args;
    const size_t room = line->bytes - line->used; /* 1 at least, for the end of the text */
    va_start(args, format);
    const int length = vsnprintf(line->text + line->used, room, format, args);
    va_end(args);
    if (length > 0) line->used += (size_t)length < room ? (size_t)length : room - 1;
}

const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static bool takes_colour(FILE *out)
{
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (refused == NULL || *refused == '\0') && terminal != NULL && strcmp(terminal, "dumb") != 0 &&
           isatty(fileno(out)) == 1;
}

void paint(FILE *out, tool_colour colour, const char *text)
{
    static const char *const codes[] = {[TOOL_PLAIN] = "0",
                                        [TOOL_RED] = "1;31",
                                        [TOOL_YELLOW] = "33",
                                        [TOOL_GREEN] = "32",
                                        [TOOL_BOLD] = "1"};
    if (colour != TOOL_PLAIN && takes_colour(out))
        fprintf(out, "\033[%sm%s\033[0m", codes[colour], text);
    else
        fputs(text, out);
}
