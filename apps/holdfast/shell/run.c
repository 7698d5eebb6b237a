/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a verb, or the part of a verb that its first operand names. */
#include "shell/tool.h"

#include <string.h>

int run_verb(const tool_verb *verb, int argc, char **argv)
{
    tool_arguments arguments;
    int status = arguments_parse(verb, argc, argv, &arguments);
    if (status != TOOL_OK) return status;
    if (has_argument(&arguments, "help")) {
        print_help(verb, stdout);
        status = fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
    } else {
        status = files_check(&arguments);
        if (status == TOOL_OK) status = verb->run(&arguments);
    }
    arguments_free(&arguments);
    return status;
}

const tool_verb *find_part(const tool_verb *verb, const char *name)
{
    for (size_t i = 0; i < verb->part_count; i++)
        if (strcmp(strrchr(verb->parts[i]->name, ' ') + 1, name) == 0) return verb->parts[i];
    return NULL;
}

/* "create, ask or tell"; `last` stands before the last one. */
static void list_parts(const tool_verb *verb, const char *last, size_t bytes, char *out)
{
    tool_line line = {.text = out, .bytes = bytes};
    for (size_t i = 0; i < verb->part_count; i++) {
        const char *between = i == 0 ? "" : i + 1 < verb->part_count ? ", " : last;
        put(&line, "%s%s", between, strrchr(verb->parts[i]->name, ' ') + 1);
    }
}

int run_part(const tool_arguments *arguments)
{
    const tool_verb *verb = arguments->verb;
    char list[256] = "";
    const tool_verb *part = arguments->operands > 0 ? find_part(verb, arguments->operand[0]) : NULL;
    list_parts(verb, arguments->operands == 0 ? " or " : " and ", sizeof list, list);
    if (arguments->operands == 0)
        return usage_error(verb, "what is to be done with a %s? %s", verb->name, list);
    if (part == NULL)
        return usage_error(verb, "'%s' is nothing that can be done with a %s; %s are", arguments->operand[0],
                           verb->name, list);
    /* They are main's, which are not changed. */
    return run_verb(part, (int)arguments->operands - 1, (char **)(arguments->operand + 1));
}
