/* SPDX-License-Identifier: Apache-2.0 */
/* Help, made from the tables that are parsed. */
#include "shell/tool.h"

#include <string.h>

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

void print_overview(FILE *out)
{
    fputs("Usage: holdfast VERB [OPTION]... [FILE]...\n"
          "       holdfast VERB --help\n"
          "       holdfast --version\n\n"
          "Robust Gaussian processes: regression that holds fast when some readings are wrong.\n\nVerbs\n",
          out);
    for (size_t i = 0; i < verb_count; i++) fprintf(out, "  %-13s%s\n", verbs[i]->name, verbs[i]->summary);
    fputs("\nExample\n"
          "  holdfast contaminate data/boston.csv --target medv --kind uniform --share 0.1 -o bad.csv\n"
          "  holdfast fit bad.csv --target medv -o model.hf\n"
          "  holdfast predict model.hf data/boston.csv -o predictions.csv\n"
          "  holdfast plot model.hf -o picture.svg\n\n"
          "Exit status: 0 success, 1 bad input or failure, 2 wrong usage, 130 stopped by Ctrl-C.\n",
          out);
}

void print_beginning(FILE *out)
{
    static const tool_verb *const few[] = {&verb_fit, &verb_predict, &verb_score, &verb_compare, &verb_plot};
    fputs("Robust Gaussian processes: regression that holds fast when some readings are wrong.\n\n", out);
    for (size_t i = 0; i < sizeof few / sizeof few[0]; i++) {
        fputs("  holdfast ", out);
        paint(out, TOOL_BOLD, few[i]->name);
        fprintf(out, "%*s%s\n", (int)(11 - strlen(few[i]->name)), "", few[i]->summary);
    }
    fprintf(
        out,
        "\nTo begin: holdfast fit TABLE.csv --target COLUMN -o model.hf\n"
        "All %zu verbs: holdfast --help; one of them: holdfast VERB --help; is all well: holdfast doctor\n",
        verb_count);
}
