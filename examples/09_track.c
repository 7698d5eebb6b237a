/* SPDX-License-Identifier: Apache-2.0 */
/* The best setting of a machine wanders, and is followed: once a minute the machine is set, and its yield read.
 *
 * Readings grow old: here a yield may change by 0.4 a minute, and soon one says nothing about now. So four
 * settings that were tried before are tried again, for a moment, by whoever can ("the expert"); which ones,
 * the track says. Beside it a track without that help, and the best setting that never moves. */
#include <holdfast/holdfast.h>
#include <math.h>
#include <stdio.h>

enum {
    MINUTES = 240
};

/* The yield that nobody knows: the best setting swings between 20 and 80 in the course of three hours. */
static double yield(double minute, double setting)
{
    const double best = 50.0 + 30.0 * sin(0.035 * minute);
    return 5.0 * exp(-pow((setting - best) / 12.0, 2.0));
}

static double reading(double minute, double setting)
{
    return yield(minute, setting) + 0.1 * sin(7919.0 * minute + 104729.0 * setting);
}

/* Every request is answered by a fresh reading at its place. */
static hf_status refresh(hf_context *ctx, hf_track *track, double minute)
{
    size_t count;
    hf_track_request request;
    hf_status s = hf_track_requests(ctx, track, minute, &count);
    for (; s >= 0 && count > 0; count--) {
        s = hf_track_request_at(track, hf_track_pending_count(track) - count, &request);
        if (s >= 0) s = hf_track_answer(ctx, track, request.id, minute, reading(minute, request.x[0]), 0.0);
    }
    return s;
}

/* Mean shortfall of a method: what the best setting of each minute would have yielded more. */
static hf_status follow(hf_context *ctx, hf_track_method method, hf_track_summary *summary)
{
    const double lower = 0.0, upper = 100.0;
    hf_track_settings settings = hf_track_settings_default(method);
    settings.domain = (hf_domain){.dimension = 1, .lower = &lower, .upper = &upper};
    settings.kernel = "4*se(lengthscale~12)"; /* yields differ by about 2; settings 12 apart are alike */
    settings.age.rate = 0.4;                  /* the largest change in a minute */
    settings.queries = 4;                     /* a minute; at most */
    hf_track *track = NULL;
    hf_status s = hf_track_create(ctx, &settings, &track);
    for (int minute = 0; minute < MINUTES && s >= 0; minute++) {
        double setting;
        hf_suggestion next;
        s = refresh(ctx, track, minute);
        if (s >= 0) s = hf_track_ask(ctx, track, minute, &setting, &next);
        if (s >= 0) s = hf_track_tell(ctx, track, minute, &setting, reading(minute, setting), 0.0, NULL);
        if (s >= 0) s = hf_track_record_optimum(ctx, track, minute, 5.0, yield(minute, setting));
    }
    hf_track_summary_of(track, summary);
    hf_track_free(track);
    return s;
}

int main(void)
{
    hf_context *ctx = hf_context_create();
    hf_track_summary helped = {0}, alone = {0};
    hf_status s = follow(ctx, HF_TRACK_SPARQ_REUSE, &helped);
    if (s >= 0) s = follow(ctx, HF_TRACK_UI_GP_UCB, &alone);

    double fixed = INFINITY; /* the best setting in hindsight that stays where it is */
    for (int setting = 0; setting <= 100; setting++) {
        double lost = 0.0;
        for (int minute = 0; minute < MINUTES; minute++) lost += 5.0 - yield(minute, setting);
        fixed = fmin(fixed, lost / MINUTES);
    }
    if (s >= 0)
        printf("yield lost per minute, of 5: %.2f with %.1f settings tried again a minute, %.2f without; "
               "%.2f at "
               "the best fixed setting\n%zu readings at %zu places in memory\n",
               helped.average_regret, (double)helped.answered / MINUTES, alone.average_regret, fixed,
               helped.held, helped.places);
    if (s < 0) fprintf(stderr, "%s: %s\n", hf_status_name(s), hf_context_message(ctx));
    hf_context_free(ctx);
    return s < 0;
}
