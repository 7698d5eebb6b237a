/* SPDX-License-Identifier: Apache-2.0 */
/* track create --learn: a new track by what a survey advises. */
#include "track/tracked.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    KERNEL_BYTES = 4096
};

static hf_status check_learn_options(tracked *run)
{
    static const char *const learnt[] = {"method",    "noise",  "drift",     "age-law",
                                         "age-table", "window", "forgetting"};
    for (size_t k = 0; k < sizeof learnt / sizeof learnt[0]; k++)
        if (has_argument(run->arguments, learnt[k]))
            return MISUSE(run, "--%s is what --learn learns: leave one of them out", learnt[k]);
    const char *file = run->arguments->operand[0];
    if (access(file, F_OK) ==
        0) /* the file's creation asks again; but nobody should wait for advice in vain */
        return REFUSE(run, "%s: is there already; a track is never made over another file", file);
    return HF_OK;
}

/* A track in memory that remembers the survey: nothing fades. */
static hf_status survey(tracked *run, track_plan *plan)
{
    const tool_arguments *a = run->arguments;
    const char *target = argument(a, "target");
    size_t told;
    plan->settings = hf_track_settings_default(HF_TRACK_GP_UCB);
    plan->settings.kernel = argument(a, "kernel");
    plan->settings.minimise = has_argument(a, "minimise");
    plan->target = target != NULL ? target : "y";
    hf_status status = plan_domain(run, plan);
    if (status >= 0) status = hf_track_create(run->session.ctx, &plan->settings, &run->track);
    if (status < 0) return status;
    run->d = plan->settings.domain.dimension;
    run->candidates = plan->settings.domain.candidates;
    run->target = plan->target;
    run->label = plan->label;
    return tell_table(run, argument(a, "learn"), &told);
}

/* The settings that the row says, and the options of the command over them. */
static hf_status adopt(tracked *run, track_plan *plan, const advised *a)
{
    const hf_advice_row *row = advised_row(a);
    const hf_track_settings asked = plan->settings;
    plan->kernel = calloc(1, KERNEL_BYTES);
    if (plan->kernel == NULL) return HF_ERR_MEMORY;
    if (!learnt_kernel(&a->learnt, plan->kernel, KERNEL_BYTES))
        return REFUSE(run,
                      "--learn writes kernels of one term; '%s' has more: create the track with it, tell it "
                      "the survey, and see holdfast track advise and track refresh --fit",
                      asked.kernel);
    hf_track_settings *s = &plan->settings;
    *s = hf_track_settings_default(row->method);
    s->domain = asked.domain;
    s->names = asked.names;
    s->kernel = plan->kernel;
    s->noise = a->advice.noise;
    if (row->law != HF_AGE_NONE) s->age = (hf_age_law){.kind = row->law, .rate = row->rate};
    s->window = row->window;
    s->forgetting = row->forgetting;
    s->queries = row->queries;
    const hf_status status = plan_options(run, plan);
    s->kernel = plan->kernel; /* the option is where it was learnt from */
    return status;
}

static void warn_of_moving(tracked *run, const advised *a)
{
    char place[1024];
    const hf_advice_row *row = advised_row(a);
    if (a->advice.moving_pays) return;
    warn(
        &run->session,
        "standing still at %s is as good, as far as the survey tells: %s saves %.2g +- %.2g a step over it.\n"
        "The track is made all the same; it warns where standing still would have been better",
        tracked_place(run, a->advice.still, place, sizeof place),
        hf_enum_name(HF_ENUM_TRACK_METHOD, row->method), row->saved, row->saved_error);
}

hf_status plan_learn(tracked *run, track_plan *plan)
{
    advised a = {0};
    hf_status status = check_learn_options(run);
    if (status >= 0) status = survey(run, plan);
    if (status >= 0) status = advised_ask(run, &a);
    if (status >= 0) status = adopt(run, plan, &a);
    if (status >= 0 && !run->session.json) advised_print(run, &a);
    if (status >= 0) warn_of_moving(run, &a);
    if (status >= 0 && run->session.json) plan->advice = advised_json(run, &a);
    advised_free(&a);
    hf_track_free(run->track); /* of the survey */
    run->track = NULL;
    run->target = NULL;
    run->label = NULL;
    return status;
}
