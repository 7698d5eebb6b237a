/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study expert */
#include "study/studied.h"

#include <stdlib.h>

static const tool_option options[] = {
    {"count", 'n', "N", "how many to list (default: as many as are due)", false},
    STUDIED_WAIT,
};

/* The trials' lines, or their objects in `list`. */
static hf_status report_labelled_trials(studied *run, size_t count, const uint64_t *trial, json_t *list)
{
    hf_status status = HF_OK;
    for (size_t i = 0; i < count && status >= 0; i++) {
        char at[STUDIED_WORDS], told[STUDIED_WORDS];
        hf_trial t;
        status = hf_study_trial(run->session.ctx, run->study, trial[i], &t);
        if (status >= 0 && run->session.json)
            json_array_append_new(list, studied_json_trial(run, &t));
        else if (status >= 0)
            say(stdout, "%llu  %s: %s\n", (unsigned long long)t.id, studied_at(run, t.at, sizeof at, at),
                studied_told(run, t.value, sizeof told, told));
    }
    return status;
}

static void tell_due(const studied *run, size_t due)
{
    const char *name = run->settings->outcome[studied_first(run)].name;
    if (due == 0)
        say(stdout, "no value of %s is due to be looked at: one in twenty was\n", name);
    else
        say(stdout, "%zu value%s of %s %s due to be looked at, one in twenty\n", due, plural(due), name,
            due == 1 ? "is" : "are");
}

static hf_status expert(studied *run)
{
    size_t count = 0, due = 0;
    uint64_t *trial = NULL;
    if (!argument_size(run->arguments, "count", &count)) return session_told(&run->session);
    hf_status status = studied_open(run, false);
    if (status >= 0) {
        trial = calloc((size_t)hf_study_trials(run->study) + 1, sizeof *trial);
        status = trial != NULL ? hf_study_expert(run->session.ctx, run->study, &count, trial) : HF_ERR_MEMORY;
    }
    progress_clear(run->session.progress);
    if (status >= 0) due = hf_study_expert_due(run->study);
    json_t *list = json_array();
    if (status >= 0 && !run->session.json) tell_due(run, due);
    if (status >= 0) status = report_labelled_trials(run, count, trial, list);
    free(trial);
    if (status >= 0 && run->session.json) {
        session_print(&run->session, JSON_OF({"due", json_count(due)}, {"trials", list}));
        return status;
    }
    json_decref(list);
    return status;
}

const tool_verb verb_study_expert = {
    .name = "study expert",
    .operands = "FILE [OPTION]...",
    .summary = "List the values that an expert should look at, the most urgent first",
    .text =
        "Of the first objective one value in twenty is due to be looked at: those whose right values would\n"
        "move most what is thought of all. Answers are told by holdfast study label.",
    .example = "  holdfast study create looked.hf --real miles=1:30 --real feet=200:8000 --minimise minutes\n"
               "  holdfast study import looked.hf data/hills.csv --drop race\n"
               "  holdfast study expert looked.hf\n"
               "  holdfast study label looked.hf 18 doubted --correction 18.65 --note 'one hour too long'\n"
               "  holdfast study expert looked.hf",
    TOOL_OPTIONS(options),
    STUDIED(1, 1, expert),
};
