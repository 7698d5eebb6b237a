/* SPDX-License-Identifier: Apache-2.0 */
/* The opinion of holdfast track about standing still: its own readings against the best place that never moves. */
#include "track/tracked.h"

#include <math.h>
#include <stdlib.h>

hf_status standing_look(tracked *run, standing_still *out)
{
    *out = (standing_still){.x = calloc(run->d, sizeof *out->x)};
    if (out->x == NULL) return HF_ERR_MEMORY;
    const hf_status status = hf_track_standing_of(run->session.ctx, run->track, out->x, &out->of);
    out->known = status >= 0;
    return status == HF_ERR_NO_DATA || status == HF_ERR_NOT_POSITIVE_DEFINITE ? HF_OK : status;
}

void standing_free(standing_still *still)
{
    free(still->x);
    *still = (standing_still){0};
}

json_t *standing_json(const tracked *run, const standing_still *still)
{
    const hf_track_standing *s = &still->of;
    if (!still->known) return json_null();
    json_t *object = json_object();
    tracked_json_add_place(run, object, still->x);
    JSON_ADD(object, {"compared", json_count(s->compared)}, {"answers", json_count(s->answers)},
             {"gain", json_number(s->gain)}, {"gain_sd", json_number(s->sd)},
             {"hindsight", json_number(s->hindsight)}, {"hindsight_sd", json_number(s->sd_of_hindsight)},
             {"better", json_boolean(s->better)}, {"gain_of_runs", json_number(s->gain_of_runs)},
             {"gain_of_runs_sd", json_number(s->sd_of_runs)},
             {"better_than_runs", json_boolean(s->better_than_runs)}, {"period", json_number(s->period)});
    return object;
}

static const char *gained(double gain)
{
    return gain < 0.0 ? "lost" : "gained";
}

void standing_print(const tracked *run, const standing_still *still)
{
    char place[1024];
    const hf_track_standing *s = &still->of;
    if (!still->known) return;
    say(stdout,
        "Standing still at %s, the best known then, would have %s %.3g +- %.2g a reading over the newest %zu "
        "(the best fixed place, known now: %s %.3g +- %.2g)\n",
        tracked_place(run, still->x, place, sizeof place), gained(s->gain), fabs(s->gain), s->sd, s->compared,
        gained(s->hindsight), fabs(s->hindsight), s->sd_of_hindsight);
    if (s->answers > 0)
        printf("Counting the expert's %zu answers since as runs like the others, it would have %s %.3g +- "
               "%.2g a run\n",
               s->answers, gained(s->gain_of_runs), fabs(s->gain_of_runs), s->sd_of_runs);
}

void standing_warn(const tracked *run, const standing_still *still)
{
    char place[1024];
    const hf_track_standing *s = &still->of;
    if (!still->known || (!s->better && !s->better_than_runs)) return;
    (void)tracked_place(run, still->x, place, sizeof place);
    const char *const advice = "holdfast track advise compares methods on these readings";
    if (s->better)
        warn(&run->session,
             "standing still at %s, the best known before, would have been better: by %.3g +- %.2g a reading "
             "over the newest %zu, by the track's own posterior.\n%s",
             place, s->gain, s->sd, s->compared, advice);
    else
        warn(&run->session,
             "if the expert's answers are runs of the same plant, standing still at %s, the best known "
             "before, would have been better: by %.3g +- %.2g a run over %zu readings and %zu answers, by "
             "the track's own posterior.\n"
             "If they cost nothing (a simulator, sensors) this does not matter; else ask for fewer "
             "(--queries)",
             place, s->gain_of_runs, s->sd_of_runs, s->compared, s->answers);
}
