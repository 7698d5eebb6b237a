/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track: its sub-verbs. */
#include "track/tracked.h"

static const tool_verb *const sub_verbs[] = {&verb_track_create,  &verb_track_ask,   &verb_track_tell,
                                             &verb_track_refresh, &verb_track_show,  &verb_track_plot,
                                             &verb_track_undo,    &verb_track_advise};

const tool_verb verb_track = {
    .name = "track",
    .operands = "create|ask|tell|refresh|show|plot|advise|undo FILE [OPTION]...",
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
            "  holdfast track advise   compare methods on what it was told\n"
            "  holdfast track undo     take back what was told last\n\n"
            "Each has a --help and a page of its own: holdfast-track-create(1) and so on.",
    .example = "  holdfast track create drift.hf --box 'x=-50:50' --drift 0.1 -k 'se(lengthscale~6)'\n"
               "  holdfast track ask drift.hf --time 0\n"
               "  holdfast track tell drift.hf --time 0 --x 0 --y 2.0\n"
               "  holdfast track refresh drift.hf --time 1\n"
               "  holdfast track tell drift.hf --request 1 --y 2.1\n"
               "  holdfast track show drift.hf",
    .most = SIZE_MAX,
    .run = run_part,
    .parts = sub_verbs,
    .part_count = sizeof sub_verbs / sizeof sub_verbs[0],
};
