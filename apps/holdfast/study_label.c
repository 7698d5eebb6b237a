/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study label */
#include "studied.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"of", 0, "NAME", "of which outcome (default: the first objective)", false},
    {"correction", 0, "V", "doubted: what it should have been", false},
    {"correction-var", 0, "V", "variance of the correction", false},
    {"note", 0, "TEXT", "why", false},
    {"count", 'n', "N", "without a trial: how many to list (default: one in twenty)", false},
    STUDIED_WAIT,
};

/* ---- whom to ask about -------------------------------------------------------------------------------------- */

static hf_status list(studied *run)
{
    const tool_arguments *a = run->session.arguments;
    const char *const single[] = {"of", "correction", "correction-var", "note"};
    size_t count = 0;
    for (size_t k = 0; k < sizeof single / sizeof single[0]; k++)
        if (has_argument(a, single[k]))
            return session_misuse(&run->session, "--%s is for one trial: name it, and say what it is",
                                  single[k]);
    if (!argument_size(a, "count", &count)) return session_told(&run->session);
    hf_status status = studied_open(run, false);
    uint64_t *trial = NULL;
    if (status >= 0) {
        trial = calloc((size_t)hf_study_trials(run->study) + 1, sizeof *trial);
        status = trial != NULL ? hf_study_expert(run->session.ctx, run->study, &count, trial) : HF_ERR_MEMORY;
    }
    progress_clear(run->session.progress);
    json_t *found = json_array();
    for (size_t i = 0; i < count && status >= 0; i++) {
        char at[STUDIED_WORDS], told[STUDIED_WORDS];
        hf_trial t;
        status = hf_study_trial(run->session.ctx, run->study, trial[i], &t);
        if (status >= 0 && run->session.json)
            json_array_append_new(found, studied_json_trial(run, &t));
        else if (status >= 0)
            say(stdout, "%llu  %s: %s\n", (unsigned long long)t.id, studied_at(run, t.at, sizeof at, at),
                studied_told(run, t.value, sizeof told, told));
    }
    free(trial);
    if (status >= 0 && run->session.json) {
        if (!json_print(json_pack("{s:o}", "trials", found))) run->session.refused = TOOL_FAILED;
        return status;
    }
    json_decref(found);
    return status;
}

/* ---- what was said ---------------------------------------------------------------------------------------------- */

static hf_status label(studied *run)
{
    const tool_arguments *a = run->session.arguments;
    hf_expert_label said = HF_EXPERT_UNKNOWN;
    hf_trial trial;
    size_t outcome = 0;
    double correction = NAN, variance = 0.0;
    if (has_argument(a, "count"))
        return session_misuse(&run->session, "--count is for the list, without a trial");
    if (a->operands < 3)
        return session_misuse(&run->session, "what is said of trial %s? believed, doubted or unknown",
                              a->operand[1]);
    hf_status status = hf_expert_label_parse(run->session.ctx, a->operand[2], &said);
    if (status < 0) return status;
    status = session_number(&run->session, "correction", false, &correction);
    if (status >= 0) status = session_number(&run->session, "correction-var", false, &variance);
    if (status >= 0) status = studied_open(run, true);
    if (status >= 0) status = studied_outcome(run, &outcome);
    if (status >= 0) status = studied_trial(run, a->operand[1], &trial);
    if (status >= 0)
        status = hf_study_label(run->session.ctx, run->study, trial.id, outcome, said, correction, variance,
                                argument(a, "note"));
    progress_clear(run->session.progress);
    run->session.kept = status >= 0;
    if (status >= 0) status = hf_study_trial(run->session.ctx, run->study, trial.id, &trial);
    if (status >= 0 && run->session.json && !json_print(studied_json_trial(run, &trial)))
        run->session.refused = TOOL_FAILED;
    if (status >= 0 && !run->session.json)
        say(stdout, "%s of trial %llu is %s\n", run->settings->outcome[outcome].name,
            (unsigned long long)trial.id, hf_expert_label_name(said));
    return status;
}

static int run_label(const tool_arguments *arguments)
{
    studied run;
    const int code = studied_begin(&run, arguments);
    if (code != TOOL_OK) return code;
    return studied_close(&run, arguments->operands == 1 ? list(&run) : label(&run));
}

const tool_verb verb_study_label = {
    .name = "study label",
    .operands = "FILE [TRIAL believed|doubted|unknown] [OPTION]...",
    .summary = "Say which values are right or wrong, where somebody knows",
    .text = "A value that is believed is never set aside, one that is doubted always, and a correction takes "
            "its\n"
            "place. Without a trial: those whose right values would move most, the most urgent first.",
    .example = "  holdfast study create judged.hf --real miles=1:30 --real feet=200:8000 --minimise minutes\n"
               "  holdfast study import judged.hf data/hills.csv --drop race\n"
               "  holdfast study label judged.hf\n"
               "  holdfast study label judged.hf 18 doubted --correction 18.65 --note 'one hour too long'",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 1,
    .most = 3,
    .changes = true,
    .run = run_label,
};
