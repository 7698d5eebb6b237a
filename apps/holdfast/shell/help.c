/* SPDX-License-Identifier: Apache-2.0 */
/* Help, made from the tables that are parsed. */
#include "shell/tool.h"

enum {
    HELP_COLUMN = 28
};

static void print_option(FILE *out, const tool_option *option)
{
    char left[80];
    char letter[8] = "    ";
    if (option->letter != 0) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    int width =
        snprintf(left, sizeof left, "  %s--%s%s%s", letter, option->name, option->argument != NULL ? " " : "",
                 option->argument != NULL ? option->argument : "");
    fputs(left, out);
    if (width > HELP_COLUMN - 2)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(out, "%*s", HELP_COLUMN - width, "");
    for (const char *c = option->help; *c != '\0'; c++) {
        fputc(*c, out);
        if (*c == '\n') fprintf(out, "%*s", HELP_COLUMN, "");
    }
    fputc('\n', out);
}

void print_help(const tool_verb *verb, FILE *out)
{
    fprintf(out, "Usage: holdfast %s %s\n\n%s.\n", verb->name, verb->operands, verb->summary);
    if (verb->text != NULL) fprintf(out, "\n%s\n", verb->text);
    if (option_total(verb) > 0) fputs("\nOptions\n", out);
    for (size_t i = 0; i < option_total(verb); i++) print_option(out, option_at(verb, i));
    fputs("\nOptions of all verbs\n", out);
    for (size_t i = 0; i < common_option_count; i++) print_option(out, &common_options[i]);
    fprintf(out, "\nExample\n%s\n", verb->example);
}
