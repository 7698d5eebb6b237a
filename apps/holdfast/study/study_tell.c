/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study tell, holdfast study fail */
#include "study/studied.h"

#include <stdlib.h>

enum {
    MOST_OPERANDS = 21 /* file, trial, and as many outcomes as a study can have */
};

static const tool_option tell_options[] = {
    {"noise", 0, "NAME=V,...",
     "variance of readings, where it is known; of a study's first\noutcomes without NAME=", true},
    {"note", 0, "TEXT", "what there is to say about it", false},
    {"from", 0, "RESULTS.csv",
     "many: columns trial and the outcomes; NAME_noise, note and the\nvariables if they are there",
     TOOL_READS},
    STUDIED_WAIT,
};
static const tool_option fail_options[] = {
    {"note", 0, "TEXT", "why it failed", false},
    STUDIED_WAIT,
};

/* Room for an outcome each, twice; NULL when out of memory. */
static double *allocate_outcomes(const studied *run)
{
    return calloc(2 * run->outcomes, sizeof(double));
}

/* ---- one trial -------------------------------------------------------------------------------------------------- */

static hf_status print_trial(studied *run, uint64_t id)
{
    char words[STUDIED_WORDS];
    hf_trial trial;
    const hf_status status = hf_study_trial(run->session.ctx, run->study, id, &trial);
    if (status < 0) return status;
    if (run->session.json) {
        session_print(&run->session, studied_json_trial(run, &trial));
        return status;
    }
    studied_told(run, trial.value, sizeof words, words);
    say(stdout, "Trial %llu %s%s%s\n", (unsigned long long)id,
        trial.state == HF_TRIAL_FAILED ? "failed" : "told", *words != '\0' ? ": " : "", words);
    return status;
}

static hf_status end_trial(studied *run, bool failed)
{
    const tool_arguments *a = run->arguments;
    hf_trial trial;
    hf_status status = studied_open(run, true);
    double *value = status >= 0 ? allocate_outcomes(run) : NULL;
    if (status >= 0 && value == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = studied_trial(run, a->operand[1], &trial);
    if (status >= 0) status = studied_values(run, 2, value);
    if (status >= 0 && !failed) status = studied_noise(run, value + run->outcomes);
    if (status >= 0)
        status = failed ? hf_study_fail(run->session.ctx, run->study, trial.id, value, argument(a, "note"))
                        : hf_study_tell(run->session.ctx, run->study, trial.id, value, value + run->outcomes,
                                        argument(a, "note"));
    progress_clear(run->session.progress);
    run->session.kept = status >= 0;
    if (status >= 0) status = print_trial(run, trial.id);
    free(value);
    return status;
}

/* ---- a table of them -------------------------------------------------------------------------------------------- */

static void print_counts(studied *run, size_t told, size_t left)
{
    if (run->session.json) {
        session_print(&run->session, JSON_OF({"told", json_count(told)}, {"left", json_count(left)}));
        return;
    }
    printf("Told %zu trial%s", told, plural(told));
    if (left > 0) printf("; %zu row%s without an outcome left out", left, plural(left));
    putchar('\n');
}

static hf_status tell_many(studied *run, const char *path)
{
    study_counts counts;
    const tool_arguments *a = run->arguments;
    if (a->operands > 1) return MISUSE(run, "--from has the trials; leave out '%s'", a->operand[1]);
    if (has_argument(a, "noise") || has_argument(a, "note"))
        return MISUSE(run, "--noise and --note are for one trial; with --from they stand in the table");
    hf_status status = studied_open(run, true);
    if (status >= 0) status = study_tell_table(run, path, &counts);
    progress_clear(run->session.progress);
    run->session.kept = status >= 0;
    if (status >= 0) print_counts(run, counts.taken, counts.left);
    return status;
}

static hf_status tell_study(studied *run)
{
    const tool_arguments *a = run->arguments;
    const char *from = argument(a, "from");
    if (from != NULL) return tell_many(run, from);
    if (a->operands < 2) return MISUSE(run, "which trial? Its number is missing, or --from RESULTS.csv");
    if (a->operands < 3)
        return MISUSE(run,
                      "the outcome of trial %s is missing; one that has none failed: holdfast study fail",
                      a->operand[1]);
    return end_trial(run, false);
}

static hf_status fail(studied *run)
{
    return end_trial(run, true);
}

const tool_verb verb_study_tell = {
    .name = "study tell",
    .operands = "FILE TRIAL VALUE...|NAME=VALUE...|--from RESULTS.csv [OPTION]...",
    .summary = "Tell what came of a trial",
    .text =
        "A value for each outcome in their order, or by name; nan, or an outcome left out, was not "
        "measured.\n"
        "The same told twice is one; another value is refused: holdfast study undo takes the first back.\n"
        "A table is taken as a whole or not at all; rows without an outcome are left out. Trials that were\n"
        "given up may be told all the same.",
    .example = "  holdfast study create results.hf --real x=0:1 --minimise loss --at-most memory=100\n"
               "  holdfast study ask results.hf -n 2\n"
               "  holdfast study tell results.hf 1 0.31 88\n"
               "  holdfast study tell results.hf 2 memory=97 loss=-0.2 --note 'on the old machine'",
    TOOL_OPTIONS(tell_options),
    .changes = true,
    STUDIED(1, MOST_OPERANDS, tell_study),
};

const tool_verb verb_study_fail = {
    .name = "study fail",
    .operands = "FILE TRIAL [NAME=VALUE]... [OPTION]...",
    .summary = "Tell that a trial came to nothing",
    .text =
        "A program that crashed, a part that broke, a combination that is forbidden. The study learns where\n"
        "trials fail, and asks less there. Outcomes that were measured before it failed may be told.",
    .example = "  holdfast study create failed.hf --real x=0:1 --minimise loss\n"
               "  holdfast study ask failed.hf\n"
               "  holdfast study fail failed.hf 1 --note 'out of memory'",
    TOOL_OPTIONS(fail_options),
    .changes = true,
    STUDIED(2, MOST_OPERANDS, fail),
};
