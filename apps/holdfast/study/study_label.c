/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study label */
#include "study/studied.h"

#include <math.h>

static const tool_option options[] = {
    {"of", 0, "NAME", "of which outcome (default: the first objective)", false},
    {"correction", 0, "V", "doubted: what it should have been", false},
    {"correction-var", 0, "V", "variance of the correction", false},
    {"note", 0, "TEXT", "why", false},
    STUDIED_WAIT,
};

static hf_status label(studied *run)
{
    const tool_arguments *a = run->arguments;
    hf_expert_label said = HF_EXPERT_UNKNOWN;
    hf_trial trial;
    size_t outcome = 0;
    double correction = NAN, variance = 0.0;
    if (a->operands == 1)
        return MISUSE(run, "which trial is it? holdfast study expert lists those that matter most");
    if (a->operands == 2)
        return MISUSE(run, "what is said of trial %s? believed, doubted or unknown", a->operand[1]);
    hf_status status = hf_enum_parse(run->session.ctx, HF_ENUM_EXPERT_LABEL, a->operand[2], &said);
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
    if (status >= 0 && run->session.json) session_print(&run->session, studied_json_trial(run, &trial));
    if (status >= 0 && !run->session.json)
        say(stdout, "%s of trial %llu is %s\n", run->settings->outcome[outcome].name,
            (unsigned long long)trial.id, hf_enum_name(HF_ENUM_EXPERT_LABEL, said));
    return status;
}

const tool_verb verb_study_label = {
    .name = "study label",
    .operands = "FILE TRIAL believed|doubted|unknown [OPTION]...",
    .summary = "Say which values are right or wrong, where somebody knows",
    .text =
        "A value that is believed is never set aside, one that is doubted always. A correction takes its\n"
        "place, or makes a prior mean (study create --expert). holdfast study expert says which to look at.",
    .example = "  holdfast study create judged.hf --real miles=1:30 --real feet=200:8000 --minimise minutes\n"
               "  holdfast study import judged.hf data/hills.csv --drop race\n"
               "  holdfast study label judged.hf 18 doubted --correction 18.65 --note 'one hour too long'",
    TOOL_OPTIONS(options),
    .changes = true,
    STUDIED(1, 3, label),
};
