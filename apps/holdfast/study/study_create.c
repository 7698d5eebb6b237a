/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study create */
#include "shell/settings.h"
#include "study/studied.h"

#include <string.h>

static const tool_option options[] = {
    {"real", 0, "NAME=RANGE", "a variable: any number of a range LOW:HIGH", true},
    {"log", 0, "NAME=RANGE", "the same where ratios count: 1e-5:1", true},
    {"integer", 0, "NAME=RANGE", "whole numbers of a range, both ends included", true},
    {"log-integer", 0, "NAME=RANGE", "the same where ratios count: 1:4096", true},
    {"ordered", 0, "NAME=A,B,...", "labels in their order: low,mid,high", true},
    {"category", 0, "NAME=A,B,...", "labels without an order", true},
    {"minimise", 0, "NAME", "an outcome that is to be small; up to three objectives", true},
    {"maximise", 0, "NAME", "an outcome that is to be large", true},
    {"at-most", 0, "NAME=LIMIT", "an outcome that must not be above a limit", true},
    {"at-least", 0, "NAME=LIMIT", "an outcome that must not be below a limit", true},
    {"certain", 0, "BOUNDS",
     "ask only where a constraint surely holds; BOUNDS is\nNAME:noise=V,norm=B,centre=C,kernel=EXPR: "
     "readings are off by V at most,\nthe truth less C (default 0) has at most norm B under the kernel,\na "
     "function of x1, x2, ... in [0, 1]",
     true},
    TOOL_SETTINGS(0, NULL),
};

/* ---- settings --------------------------------------------------------------------------------------------------- */

static hf_status take_study_option(studied *run, const tool_given *given, hf_study_settings *s)
{
    const hf_settings_table *table = hf_study_settings_table();
    const hf_setting *setting = setting_of(table, given->option->name);
    if (setting == NULL) return HF_OK;
    const bool thompson = strcmp(setting->name, "acquisition") == 0 && strcmp(given->value, "thompson") == 0;
    if (thompson) setting = hf_setting_find(table, "thompson");
    return session_wrong_word(
        &run->session, given->option->name,
        setting_apply(run->session.ctx, table, setting, thompson ? "on" : given->value, s));
}

/* An option that the study has no use for is refused. */
static hf_status check_uses(studied *run, const study_plan *plan)
{
    const hf_study_settings *s = &plan->settings;
    const tool_arguments *a = run->arguments;
    size_t objectives = 0;
    for (size_t o = 0; o < s->outcomes; o++)
        objectives += s->outcome[o].goal == HF_GOAL_MAXIMISE || s->outcome[o].goal == HF_GOAL_MINIMISE;
    if (objectives > 1 && has_argument(a, "acquisition"))
        return MISUSE(
            run, "--acquisition is for one objective; of several it is the expected hypervolume improvement");
    if (has_argument(a, "beta") && (s->thompson || s->acquisition != HF_ACQUIRE_UCB))
        return MISUSE(run, "--beta is for --acquisition ucb");
    if (has_argument(a, "regions") && s->reach == HF_REACH_GLOBAL)
        return MISUSE(run, "--regions is not for --reach global");
    if (has_argument(a, "expires") && s->expires == 0.0)
        return MISUSE(run, "--expires: no trial can be given up after 0 seconds");
    return HF_OK;
}

static hf_status create_study(studied *run, study_plan *plan)
{
    hf_study *study = NULL;
    plan->settings = hf_study_settings_default();
    const tool_arguments *a = run->arguments;
    hf_status status = HF_OK;
    for (size_t i = 0; i < a->count && status >= 0; i++)
        status = take_study_option(run, &a->list[i], &plan->settings);
    if (status >= 0) status = study_plan_space(run, plan);
    if (status >= 0) status = check_uses(run, plan);
    if (status < 0) return status;
    status = hf_study_file_create(run->session.ctx, run->arguments->operand[0], &plan->settings, &study);
    if (status >= 0) studied_take(run, study);
    return warn_status(&run->session, status);
}

/* ---- what was made ---------------------------------------------------------------------------------------------- */

static json_t *names_of(const studied *run, bool variables)
{
    json_t *names = json_array();
    for (size_t k = 0; k < (variables ? run->d : run->outcomes); k++)
        json_array_append_new(
            names, json_text(variables ? run->settings->variable[k].name : run->settings->outcome[k].name));
    return names;
}

static void print(studied *run)
{
    char goal[64];
    const char *file = run->arguments->operand[0];
    if (run->session.json) {
        session_print(&run->session, JSON_OF({"file", json_text(file)}, {"variables", names_of(run, true)},
                                             {"outcomes", names_of(run, false)},
                                             {"start", json_count(run->settings->start)}));
        return;
    }
    say(stdout, "%s:", file);
    for (size_t o = 0; o < run->outcomes; o++)
        say(stdout, "%s %s %s", o > 0 ? "," : "",
            studied_is_objective(run, o) ? studied_goal(run, o, goal) : run->settings->outcome[o].name,
            studied_is_objective(run, o) ? run->settings->outcome[o].name : studied_goal(run, o, goal));
    printf(" over %zu variable%s:", run->d, plural(run->d));
    for (size_t j = 0; j < run->d; j++)
        say(stdout, "%s %s", j > 0 ? "," : "", run->settings->variable[j].name);
    printf("\n%zu trials will fill the space first\n", run->settings->start);
}

static hf_status run_create(studied *run)
{
    study_plan plan = {0};
    const hf_status status = create_study(run, &plan);
    run->session.kept = status >= 0;
    if (status >= 0) print(run);
    study_plan_free(&plan);
    return status;
}

const tool_verb verb_study_create = {
    .name = "study create",
    .operands = "FILE --real NAME=RANGE... --minimise|--maximise NAME [OPTION]...",
    .summary = "Make a study: what can be set, and what is looked for",
    .text =
        "The file must not exist. Its variables and outcomes are in the order of the options and never\n"
        "change. There are no conditional variables: one that only matters where another has a certain\n"
        "value is set all the same, and has no effect elsewhere; or make a study for each case, and take\n"
        "the better of the two. Forbidden combinations are told with holdfast study fail, and then avoided.\n"
        "--seed is kept in the file: ask and best use it.",
    .example = "  holdfast study create trials.hf --log rate=1e-4:1 --integer depth=1:8 --minimise loss\n"
               "  holdfast study create kinds.hf --real x=0:1 --category kind=a,b --maximise y --at-most z=3",
    TOOL_OPTIONS(options),
    TOOL_TABLES(hf_study_settings_table),
    .traits = (const tool_option[]){{.name = "kernel", .letter = 'k'}, {.name = NULL}},
    .changes = true,
    STUDIED(1, 1, run_create),
};
