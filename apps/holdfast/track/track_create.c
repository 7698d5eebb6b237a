/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track create */
#include "track/tracked.h"

static hf_status create_track(tracked *run, track_plan *plan)
{
    const bool learns = has_argument(run->arguments, "learn");
    hf_status status = learns ? plan_learn(run, plan) : plan_settings(run, plan);
    if (status >= 0 && !learns) status = plan_domain(run, plan);
    if (status < 0) return status;
    status = hf_track_file_create(run->session.ctx, run->arguments->operand[0], &plan->settings, plan->target,
                                  plan->label, &run->track);
    return warn_status(&run->session, status);
}

static void print_track_plan_json(tracked *run, const track_plan *plan)
{
    const hf_track_settings *s = hf_track_settings_of(run->track);
    json_t *names = json_array();
    for (size_t j = 0; j < s->domain.dimension; j++)
        json_array_append_new(names, json_string(hf_track_name(run->track, j)));
    session_print(
        &run->session,
        JSON_OF({"file", json_text(run->arguments->operand[0])},
                {"method", json_string(hf_enum_name(HF_ENUM_TRACK_METHOD, s->method))},
                {"target", json_string(hf_track_target(run->track))}, {"minimise", json_boolean(s->minimise)},
                {"inputs", json_count(s->domain.dimension)}, {"names", names},
                {"candidates", json_count(s->domain.candidates)}, {"label", json_text(plan->called)},
                {"advice", plan->advice != NULL ? json_incref(plan->advice) : json_null()}));
}

/* A column that was not meant to be an input is noticed here, or never. */
static void print_track_plan_text(const tracked *run, const track_plan *plan)
{
    const hf_track_settings *s = hf_track_settings_of(run->track);
    const size_t d = s->domain.dimension, candidates = s->domain.candidates;
    say(stdout, "%s: %s, to %s \"%s\" ", run->arguments->operand[0],
        hf_enum_name(HF_ENUM_TRACK_METHOD, s->method), s->minimise ? "minimise" : "maximise",
        hf_track_target(run->track));
    if (candidates > 0)
        printf("over %zu candidate%s\n", candidates, plural(candidates));
    else
        puts("in a box");
    printf("%zu input%s:", d, plural(d));
    for (size_t j = 0; j < d; j++) say(stdout, "%s %s", j > 0 ? "," : "", hf_track_name(run->track, j));
    if (plan->called != NULL)
        say(stdout, "; candidates are called by \"%s\"", plan->called);
    else if (candidates > 0)
        printf("; candidates are called 1 to %zu", candidates);
    putchar('\n');
}

static hf_status run_create(tracked *run)
{
    track_plan plan = {0};
    const hf_status status = create_track(run, &plan);
    run->session.kept = status >= 0;
    if (status >= 0 && !run->session.json) print_track_plan_text(run, &plan);
    if (status >= 0 && run->session.json) print_track_plan_json(run, &plan);
    plan_free(&plan);
    return status;
}

const tool_verb verb_track_create = {
    .name = "track create",
    .operands = "FILE --box RANGES|--candidates PLACES.csv [OPTION]...",
    .summary = "Make a track: the file that follows the optimum of a function that drifts",
    .text = "The file must not exist. Readings of one method count by their age: --drift says how much the "
            "function\ncan change in a unit of time, in whatever unit --time will be. sparq-reuse and sparq "
            "have an expert who\nis asked to measure again where something was measured before (holdfast "
            "track refresh); without\nanswers they go on with what there is.\n\nWithout answers a drift that "
            "is too large makes a track explore for ever, and lose more than who never\nmoves: --learn "
            "chooses by a survey, and says so where standing still is best; track ask warns later.\n\nIn a "
            "kernel lengthscale=6 is held at 6, and lengthscale~6 starts there: holdfast track refresh --fit "
            "learns\nit from the readings, with the noise and the drift.",
    .example =
        "  holdfast track create made.hf --box 'x=-50:50' --drift 0.1 --noise 0.01 -k 'se(lengthscale~6)'\n"
        "  holdfast track create learnt.hf --box 'heat=0:100' -t yield --learn data/oven.csv",
    .options = track_create_options,
    .option_count = TRACK_CREATE_OPTIONS,
    TOOL_TABLES(hf_track_settings_table),
    .traits = (const tool_option[]){{.name = "kernel", .letter = 'k'},
                                    {.name = "method", .letter = 'm'},
                                    {.name = NULL}},
    .changes = true,
    TRACKED(run_create),
};
