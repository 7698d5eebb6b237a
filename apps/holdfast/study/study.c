/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study: its sub-verbs. */
#include "study/studied.h"

static const tool_verb *const sub_verbs[] = {&verb_study_create, &verb_study_ask,    &verb_study_tell,
                                             &verb_study_fail,   &verb_study_import, &verb_study_export,
                                             &verb_study_best,   &verb_study_show,   &verb_study_plot,
                                             &verb_study_label,  &verb_study_expert, &verb_study_undo};

const tool_verb verb_study = {
    .name = "study",
    .operands = "create|ask|tell|fail|import|export|best|show|plot|label|expert|undo FILE [OPTION]...",
    .summary = "Find the best settings of something expensive, though some readings are wrong",
    .text =
        "A study is a file that remembers which settings were tried and what came of them, and says what to\n"
        "try next. Readings may be wrong, trials may fail, be late or never end, and many programs may ask\n"
        "and tell at once. What a command said it took is in the file.\n\n"
        "  holdfast study create   make one: what can be set, what is looked for\n"
        "  holdfast study ask      settings to try next\n"
        "  holdfast study tell     what came of a trial, or a table of them\n"
        "  holdfast study fail     a trial that came to nothing\n"
        "  holdfast study import   past data\n"
        "  holdfast study export   all trials as a table\n"
        "  holdfast study best     the settings to use\n"
        "  holdfast study show     what the study knows, and whom it doubts\n"
        "  holdfast study label    which values are right or wrong, where somebody knows\n"
        "  holdfast study expert   the values that such a person should look at\n"
        "  holdfast study undo     take back what was told last\n\n"
        "Each has a --help and a page of its own: holdfast-study-create(1) and so on.",
    .example = "  holdfast study create tuned.hf --log rate=1e-4:1 --integer depth=1:8 --minimise loss\n"
               "  holdfast study ask tuned.hf\n"
               "  holdfast study tell tuned.hf 1 0.31\n"
               "  holdfast study ask tuned.hf -n 2\n"
               "  holdfast study fail tuned.hf 2 --note 'out of memory'\n"
               "  holdfast study show tuned.hf",
    .most = SIZE_MAX,
    .run = run_part,
    .parts = sub_verbs,
    .part_count = sizeof sub_verbs / sizeof sub_verbs[0],
};
