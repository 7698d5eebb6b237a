/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track: finds the sub-verb. */
#include "tracked.h"

#include <string.h>

static const tool_verb *const sub_verbs[] = {&verb_track_create,  &verb_track_ask,  &verb_track_tell,
                                             &verb_track_refresh, &verb_track_show, &verb_track_plot,
                                             &verb_track_undo};

enum {
    SUB_VERBS = sizeof sub_verbs / sizeof sub_verbs[0]
};

/* "track ask" is called ask. */
static const tool_verb *find(const char *name)
{
    for (size_t i = 0; i < SUB_VERBS; i++)
        if (strcmp(strrchr(sub_verbs[i]->name, ' ') + 1, name) == 0) return sub_verbs[i];
    return NULL;
}

static int run(const tool_arguments *arguments)
{
    if (arguments->operands == 0)
        return usage_error(arguments->verb,
                           "what is to be done with a track? create, ask, tell, refresh, show, "
                           "plot or undo");
    const tool_verb *verb = find(arguments->operand[0]);
    if (verb == NULL)
        return usage_error(arguments->verb,
                           "'%s' is nothing that can be done with a track; create, ask, tell, refresh, show, "
                           "plot and undo are",
                           arguments->operand[0]);
    /* They are main's, which are not changed. */
    return tool_run(verb, (int)arguments->operands - 1, (char **)(arguments->operand + 1));
}

const tool_verb verb_track = {
    .name = "track",
    .operands = "create|ask|tell|refresh|show|plot|undo FILE [OPTION]...",
    .summary = "Follow the optimum of a function that drifts, measurement by measurement",
    .text = "A track is a file that remembers what was measured where and when, and says where to measure "
            "next. It\n"
            "survives whatever happens to the program: what a command said it took is in it.\n\n"
            "  holdfast track create   make one: where can be measured, how fast the function drifts\n"
            "  holdfast track ask      the place to measure next\n"
            "  holdfast track tell     what was measured, one reading or a table of them\n"
            "  holdfast track refresh  places that an expert should measure again, and their answers\n"
            "  holdfast track show     what the track knows\n"
            "  holdfast track plot     draw it\n"
            "  holdfast track undo     take back what was told last\n\n"
            "Each has a --help and a page of its own: holdfast-track-create(1) and so on.",
    .example = "  holdfast track create drift.hf --box 'x=-50:50' --drift 0.1 -k 'se(lengthscale~6)'\n"
               "  holdfast track ask drift.hf --time 0\n"
               "  holdfast track tell drift.hf --time 0 --x 0 --y 2.0\n"
               "  holdfast track refresh drift.hf --time 1\n"
               "  holdfast track tell drift.hf --request 1 --y 2.1\n"
               "  holdfast track show drift.hf",
    .options = NULL,
    .option_count = 0,
    .least = 0,
    .most = SIZE_MAX,
    .run = run,
    .part = find,
};
