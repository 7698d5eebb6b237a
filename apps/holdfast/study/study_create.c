/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study create */
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
    {"surrogate", 0, "PRESET", "model of the outcomes: a preset of holdfast fit (default: default)", false},
    {"kernel", 'k', "EXPR",
     "its kernel, of x1, x2, ... in [0, 1] (default: matern52(ard) of\nnumbers times category(ard) of "
     "categories)",
     false},
    {"acquisition", 0, "RULE",
     "log-ei (default), ei, ucb, log-pi, pi, or thompson: maxima of drawn\nfunctions; of one objective",
     false},
    {"beta", 0, "B", "ucb: sds above the mean (default 2)", false},
    {"reach", 0, "REACH",
     "where to look: global, regions (trust regions), or auto (default):\nregions from 15 numeric variables "
     "on",
     false},
    {"regions", 0, "R", "trust regions side by side (default 1)", false},
    {"start", 0, "N", "trials that fill the space first (default: 2 for each variable and\n2, at least 5)",
     false},
    {"draws", 0, "N", "draws of what pending trials may turn out to be (default 128)", false},
    {"no-doubt", 0, NULL, "believe every value", false},
    {"repeats", 0, "K", "the study repeats a trial at most so often (default 1; 0: never)", false},
    {"expert", 0, "USE",
     "what becomes of corrections (study label): replace (default), in place of\nthe readings, or "
     "prior-mean: the surrogate's, those readings set aside",
     false},
    {"expires", 0, "SECONDS", "give up trials that are pending for so long (default: never)", false},
};

/* ---- settings --------------------------------------------------------------------------------------------------- */

static hf_status take_words(studied *run, hf_study_settings *s)
{
    const tool_arguments *a = run->session.arguments;
    const char *rule = argument(a, "acquisition"), *reach = argument(a, "reach"),
               *use = argument(a, "expert");
    hf_context *ctx = run->session.ctx;
    hf_status status = HF_OK;
    if (argument(a, "surrogate") != NULL) s->preset = argument(a, "surrogate");
    s->kernel = argument(a, "kernel");
    s->robust = !has_argument(a, "no-doubt");
    s->thompson = rule != NULL && strcmp(rule, "thompson") == 0;
    if (rule != NULL && !s->thompson)
        status = session_wrong_word(&run->session, "acquisition",
                                    hf_enum_parse(ctx, HF_ENUM_ACQUISITION, rule, &s->acquisition));
    if (status >= 0 && reach != NULL)
        status = session_wrong_word(&run->session, "reach",
                                    hf_enum_parse(ctx, HF_ENUM_STUDY_REACH, reach, &s->reach));
    if (status >= 0 && use != NULL)
        status = session_wrong_word(&run->session, "expert",
                                    hf_enum_parse(ctx, HF_ENUM_EXPERT_USE, use, &s->expert));
    return status;
}

static hf_status take_numbers(studied *run, hf_study_settings *s)
{
    const tool_arguments *a = run->session.arguments;
    hf_status status = session_number(&run->session, "beta", false, &s->beta);
    if (status >= 0) status = session_number(&run->session, "expires", false, &s->expires);
    if (status >= 0 && !(argument_size(a, "regions", &s->regions) && argument_size(a, "start", &s->start) &&
                         argument_size(a, "draws", &s->draws) && argument_size(a, "repeats", &s->repeats)))
        status = session_told(&run->session);
    return status;
}

/* An option that the study has no use for is refused. */
static hf_status check_uses(studied *run, const study_plan *plan)
{
    const hf_study_settings *s = &plan->settings;
    const tool_arguments *a = run->session.arguments;
    size_t objectives = 0;
    for (size_t o = 0; o < s->outcomes; o++)
        objectives += s->outcome[o].goal == HF_GOAL_MAXIMISE || s->outcome[o].goal == HF_GOAL_MINIMISE;
    if (objectives > 1 && has_argument(a, "acquisition"))
        return session_misuse(
            &run->session,
            "--acquisition is for one objective; of several it is the expected hypervolume improvement");
    if (has_argument(a, "beta") && (s->thompson || s->acquisition != HF_ACQUIRE_UCB))
        return session_misuse(&run->session, "--beta is for --acquisition ucb");
    if (has_argument(a, "regions") && s->reach == HF_REACH_GLOBAL)
        return session_misuse(&run->session, "--regions is not for --reach global");
    if (has_argument(a, "expires") && s->expires == 0.0)
        return session_misuse(&run->session, "--expires: no trial can be given up after 0 seconds");
    return HF_OK;
}

static hf_status create(studied *run, study_plan *plan)
{
    hf_study *study = NULL;
    plan->settings = hf_study_settings_default();
    hf_status status = take_words(run, &plan->settings);
    if (status >= 0) status = take_numbers(run, &plan->settings);
    if (status >= 0) status = study_plan_space(run, plan);
    if (status >= 0) status = check_uses(run, plan);
    if (status < 0) return status;
    status =
        hf_study_file_create(run->session.ctx, run->session.arguments->operand[0], &plan->settings, &study);
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

static bool print(const studied *run)
{
    char goal[64];
    const char *file = run->session.arguments->operand[0];
    if (run->session.json)
        return json_print(json_pack("{s:o, s:o, s:o, s:o}", "file", json_text(file), "variables",
                                    names_of(run, true), "outcomes", names_of(run, false), "start",
                                    json_count(run->settings->start)));
    say(stdout, "%s:", file);
    for (size_t o = 0; o < run->outcomes; o++)
        say(stdout, "%s %s %s", o > 0 ? "," : "",
            studied_is_objective(run, o) ? studied_goal(run, o, goal) : run->settings->outcome[o].name,
            studied_is_objective(run, o) ? run->settings->outcome[o].name : studied_goal(run, o, goal));
    printf(" over %zu variable%s:", run->d, run->d == 1 ? "" : "s");
    for (size_t j = 0; j < run->d; j++)
        say(stdout, "%s %s", j > 0 ? "," : "", run->settings->variable[j].name);
    printf("\n%zu trials will fill the space first\n", run->settings->start);
    return true;
}

static hf_status run_create(studied *run)
{
    study_plan plan = {0};
    const hf_status status = create(run, &plan);
    run->session.kept = status >= 0;
    if (status >= 0 && !print(run)) run->session.refused = TOOL_FAILED;
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
    .least = 1,
    .most = 1,
    .changes = true,
    .run = studied_run,
    .study = run_create,
};
