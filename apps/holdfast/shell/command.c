/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments as a command that a shell takes. */
#include "shell/tool.h"

#include <stdlib.h>
#include <string.h>

bool option_counts(const tool_option *option)
{
    return (option->traits & (TOOL_WRITES | TOOL_TELLS)) == 0;
}

/* In quotes where a shell would take it for something else; a blank comes before all words but the first. */
static void put_word(FILE *out, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%";
    if (ftell(out) > 0) fputc(' ', out);
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    fputc('\'', out);
}

/* The text of a stream in memory; NULL when out of memory. */
static char *close_text_stream(FILE *out, char **text)
{
    const bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed) return *text;
    free(*text);
    return NULL;
}

char *command_of(const char *const *words)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL) return NULL;
    for (; *words != NULL; words++) put_word(out, *words);
    return close_text_stream(out, &text);
}

char *command_text(const tool_arguments *arguments)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL) return NULL;
    fprintf(out, "holdfast %s", arguments->verb->name);
    for (size_t k = 0; k < arguments->operands; k++) put_word(out, arguments->operand[k]);
    for (size_t k = 0; k < arguments->count; k++) {
        const tool_given *given = &arguments->list[k];
        if (!option_counts(given->option)) continue;
        fprintf(out, " --%s", given->option->name);
        if (given->value != NULL) put_word(out, given->value);
    }
    return close_text_stream(out, &text);
}
