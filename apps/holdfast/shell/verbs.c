/* SPDX-License-Identifier: Apache-2.0 */
/* All verbs, and what is told of them at a glance. */
#include "shell/tool.h"

#include <string.h>

const tool_verb *const verbs[] = {
    &verb_fit,    &verb_predict, &verb_score, &verb_compare,     &verb_inspect,   &verb_export, &verb_report,
    &verb_plot,   &verb_bound,   &verb_norm,  &verb_certify,     &verb_extremum,  &verb_attack, &verb_explain,
    &verb_expert, &verb_track,   &verb_study, &verb_contaminate, &verb_reproduce, &verb_doctor};
const size_t verb_count = sizeof verbs / sizeof verbs[0];

const tool_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verbs[i]->name, name) == 0) return verbs[i];
    return NULL;
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
