/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study ask */
#include "study/studied.h"

#include <math.h>
#include <stdlib.h>

static const tool_option options[] = {
    {"count", 'n', "Q", "how many trials (default 1)", false},
    {"output", 'o', "OUT.csv", "file to write the table to (default: standard output)", TOOL_WRITES},
    STUDIED_WAIT,
};

static void print_proposals_json(studied *run, size_t count, const hf_proposal *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        hf_trial trial;
        if (hf_study_trial(run->session.ctx, run->study, p[i].trial, &trial) < 0) continue;
        json_array_append_new(
            list, JSON_OF({"trial", json_count(p[i].trial)}, {"at", studied_json_at(run, trial.at)},
                          {"why", json_string(hf_enum_name(HF_ENUM_REASON, p[i].reason))},
                          {"repeats", p[i].repeats > 0 ? json_count(p[i].repeats) : json_null()},
                          {"mean", json_number(p[i].mean)}, {"sd", json_number(p[i].sd)},
                          {"acquisition", json_number(p[i].value)}));
    }
    session_print(&run->session, JSON_OF({"trials", list}));
}

static hf_status ask_study(studied *run)
{
    const tool_arguments *a = run->arguments;
    const char *output = argument(a, "output");
    size_t count = 1;
    if (!argument_size(a, "count", &count)) return session_told(&run->session);
    if (count == 0) return MISUSE(run, "--count: 0 trials are none");
    if (run->session.json && is_standard(output))
        return MISUSE(run, "--json and -o - cannot both go to standard output");
    hf_proposal *proposal = calloc(count, sizeof *proposal);
    hf_status status = proposal != NULL ? studied_open(run, true) : HF_ERR_MEMORY;
    if (status >= 0)
        status = warn_status(&run->session,
                             hf_study_ask(run->session.ctx, run->study, count, (double)NAN, proposal));
    progress_clear(run->session.progress);
    run->session.kept = status >= 0;
    if (status >= 0 && (output != NULL || !run->session.json))
        status = study_asked_table(run, count, proposal, output_of(a));
    if (status >= 0 && run->session.json) print_proposals_json(run, count, proposal);
    free(proposal);
    return status;
}

const tool_verb verb_study_ask = {
    .name = "study ask",
    .operands = "FILE [-n Q] [OPTION]...",
    .summary = "Say what to try next",
    .text =
        "A table: trial, the variables, an empty field for each outcome, why it is asked, and which trial\n"
        "it repeats. Filled in it goes to holdfast study tell --from. The trials are pending from now on,\n"
        "and the next ones differ from them. They may be told in any order, by any program.\n\n"
        "why is start (the space is filled evenly first), acquired (most promising), repeat (one reading\n"
        "decides what comes next, and may be wrong: measure it again) or explore (where least is known).",
    .example = "  holdfast study create next.hf --real x=0:1 --minimise loss\n"
               "  holdfast study ask next.hf -n 3 -o trials.csv",
    TOOL_OPTIONS(options),
    .changes = true,
    STUDIED(1, 1, ask_study),
};
