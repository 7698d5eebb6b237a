/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track ask */
#include "track/tracked.h"

#include <stdlib.h>

static const tool_option options[] = {
    {"time", 0, "T", "time of the measurement to come (required)", false},
};

static void print_suggestion_json(tracked *run, double time, const double *x, const hf_suggestion *s,
                                  const standing_still *still)
{
    json_t *object = JSON_OF({"time", json_number(time)});
    tracked_json_add_place(run, object, x);
    JSON_ADD(object, {"mean", json_number(s->mean)}, {"sd", json_number(s->sd)},
             {"bound", json_number(s->bound)}, {"minimise", json_boolean(tracked_minimises(run))},
             {"beta", json_number(s->beta)}, {"readings", json_count(s->readings)},
             {"answers", json_count(s->answers)}, {"places", json_count(s->places)},
             {"pending", json_count(s->pending)}, {"information", json_number(s->information)},
             {"prior_mean", json_number(s->prior_mean)}, {"jitter", json_number(s->jitter)},
             {"seconds", json_number(s->seconds)}, {"standing", standing_json(run, still)});
    session_print(&run->session, object);
}

static void print_suggestion_text(const tracked *run, const double *x, const hf_suggestion *s)
{
    char place[1024];
    say(stdout, "%s\n", tracked_place(run, x, place, sizeof place));
    if (s->readings == 0) {
        printf("No reading counts: any place would do.\n");
        return;
    }
    printf("mean %.6g, sd %.6g, %s bound %.6g (beta %.4g), from %zu reading%s, %zu of them an expert's\n",
           s->mean, s->sd, tracked_minimises(run) ? "lower" : "upper", s->bound, s->beta, s->readings,
           plural(s->readings), s->answers);
    if (s->pending > 0)
        printf("%zu request%s to the expert without an answer: holdfast track show lists them\n", s->pending,
               plural(s->pending));
}

static hf_status ask_track(tracked *run)
{
    double time = 0.0;
    hf_suggestion suggestion;
    hf_status status = session_number(&run->session, "time", true, &time);
    if (status >= 0) status = tracked_open(run, true);
    double *x = status >= 0 ? calloc(run->d, sizeof *x) : NULL;
    if (status >= 0 && x == NULL) status = HF_ERR_MEMORY;
    if (status >= 0)
        status = warn_status(&run->session, hf_track_ask(run->session.ctx, run->track, time, x, &suggestion));
    standing_still still = {0};
    if (status >= 0) status = standing_look(run, &still);
    progress_clear(run->session.progress);
    if (status >= 0 && run->session.json) print_suggestion_json(run, time, x, &suggestion, &still);
    if (status >= 0 && !run->session.json) print_suggestion_text(run, x, &suggestion);
    if (status >= 0) standing_warn(run, &still);
    standing_free(&still);
    free(x);
    return status;
}

const tool_verb verb_track_ask = {
    .name = "track ask",
    .operands = "FILE --time T [OPTION]...",
    .summary = "Say where to measure next",
    .text = "The place where the upper confidence bound of the function at that time is largest or, to "
            "minimise,\nwhere the lower one is smallest. Asking twice without telling anything in between "
            "gives the same place.\nAsk the expert first (holdfast track refresh), if there is one: the "
            "answers belong to what is known now.",
    .example = "  holdfast track create asked.hf --box 'x=-50:50' --drift 0.1\n"
               "  holdfast track ask asked.hf --time 0",
    TOOL_OPTIONS(options),
    .changes = true,
    TRACKED(ask_track),
};
