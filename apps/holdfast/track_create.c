/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track create */
#include "tracked.h"

static hf_status create(tracked *run, track_plan *plan)
{
    hf_status status = plan_settings(run, plan);
    if (status >= 0) status = plan_domain(run, plan);
    if (status < 0) return status;
    status = hf_track_file_create(run->session.ctx, run->arguments->operand[0], &plan->settings, plan->target,
                                  plan->label, &run->track);
    return warn_status(&run->session, status);
}

static bool print(tracked *run)
{
    const char *path = run->arguments->operand[0];
    const hf_track_settings *s = hf_track_settings_of(run->track);
    const char *method = hf_track_method_name(s->method), *target = hf_track_target(run->track);
    if (run->session.json)
        return json_print(json_pack("{s:s, s:s, s:s, s:b, s:I, s:I}", "file", path, "method", method,
                                    "target", target, "minimise", s->minimise, "inputs",
                                    (json_int_t)s->domain.dimension, "candidates",
                                    (json_int_t)s->domain.candidates));
    printf("%s: %s, to %s \"%s\" ", path, method, s->minimise ? "minimise" : "maximise", target);
    if (s->domain.candidates > 0)
        printf("over %zu candidates\n", s->domain.candidates);
    else
        printf("in a box of %zu input%s\n", s->domain.dimension, s->domain.dimension == 1 ? "" : "s");
    return true;
}

static int run_create(const tool_arguments *arguments)
{
    tracked run;
    const int code = tracked_begin(&run, arguments);
    if (code != TOOL_OK) return code;
    track_plan plan = {0};
    const hf_status status = create(&run, &plan);
    if (status >= 0 && !print(&run)) run.refused = TOOL_FAILED;
    plan_free(&plan);
    return tracked_close(&run, status);
}

const tool_verb verb_track_create = {
    .name = "track create",
    .operands = "FILE --box RANGES|--candidates PLACES.csv [OPTION]...",
    .summary = "Make a track: the file that follows the optimum of a function that drifts",
    .text =
        "The file must not exist. Readings of one method count by their age: --drift says how much the "
        "function\n"
        "can change in a unit of time, in whatever unit --time will be. sparq-reuse and sparq have an expert "
        "who\n"
        "is asked to measure again where something was measured before (holdfast track refresh); without\n"
        "answers they go on with what there is.",
    .example =
        "  holdfast track create made.hf --box 'x=-50:50' --drift 0.1 --noise 0.01 -k 'se(lengthscale=6)'",
    .options = track_create_options,
    .option_count = TRACK_CREATE_OPTIONS,
    .least = 1,
    .most = 1,
    .run = run_create,
};
