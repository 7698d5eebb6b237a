/* SPDX-License-Identifier: Apache-2.0 */
/* What was given, as a command that a shell takes. */
#include "shell/tool.h"

#include <stdlib.h>
#include <string.h>

bool option_counts(const tool_option *option)
{
    return (option->traits & (TOOL_WRITES | TOOL_TELLS)) == 0;
}

/* After a blank; in quotes where a shell would take it for something else. */
static void put_word(FILE *out, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%";
    fputc(' ', out);
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    fputc('\'', out);
}

char *command_text(const tool_arguments *arguments, bool whole)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL) return NULL;
    fprintf(out, "holdfast %s", arguments->verb->name);
    for (size_t k = 0; k < arguments->operands; k++) put_word(out, arguments->operand[k]);
    for (size_t k = 0; k < arguments->count; k++) {
        const tool_given *given = &arguments->list[k];
        if (!whole && !option_counts(given->option)) continue;
        fprintf(out, " --%s", given->option->name);
        if (given->value != NULL) put_word(out, given->value);
    }
    const bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed) return text;
    free(text);
    return NULL;
}
