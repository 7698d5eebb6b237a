/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of requests to the expert. */
#include "track/track.h"

#include <math.h>

/* Q_t, or what the user says. */
static size_t most_requests(const hf_track *track)
{
    const hf_track_settings *s = &track->own.s;
    const double step = fmax(2.0, (double)(track->own_told + 1));
    const double wanted =
        s->queries > 0 ? (double)s->queries : ceil(s->query_factor * pow(log(step), s->query_power));
    return wanted < (double)s->most_places ? (size_t)wanted : s->most_places;
}

/* Whether a new list is due at this time. */
static bool due(const hf_track *track, double time)
{
    const hf_track_settings *s = &track->own.s;
    return hfi_track_has_expert(track) && track->held > 0 && time > track->batch_time &&
           time - track->batch_time >= s->every;
}

/* The list as events: one that says how many there are, and one for each. */
static hf_status commit(hf_context *ctx, hf_track *track, double time, size_t count, const double *x,
                        const double *sd)
{
    hfi_event *events = hfi_alloc(ctx, count + 1, sizeof *events);
    hf_status status = events != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        events[0] = (hfi_event){.kind = HFI_EVENT_BATCH, .id = count, .time = time};
        for (size_t k = 0; k < count; k++)
            events[k + 1] = (hfi_event){.kind = HFI_EVENT_REQUESTED,
                                        .id = track->requested + k + 1,
                                        .time = time,
                                        .a = sd[k],
                                        .count = track->d,
                                        .values = x + k * track->d};
        status = hfi_track_commit(ctx, track, count + 1, events);
    }
    hfi_free(ctx, events);
    return status;
}

static hf_status make_list(hf_context *ctx, hf_track *track, double time)
{
    const size_t most = most_requests(track);
    if (most == 0) return HF_OK;
    size_t chosen = 0;
    double *x = hfi_alloc(ctx, most, track->d * sizeof *x);
    double *sd = hfi_alloc(ctx, most, sizeof *sd);
    hf_status status = x != NULL && sd != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = hfi_track_choose(ctx, track, time, most, x, sd, &chosen);
    if (status >= 0) status = commit(ctx, track, time, chosen, x, sd);
    HFI_FREE(ctx, x, sd);
    return status;
}

hf_status hf_track_requests(hf_context *ctx, hf_track *track, double time, size_t *count)
{
    if (ctx == NULL || track == NULL || count == NULL)
        return hfi_refuse(ctx, "requests need a context, a track and a place for their number");
    hf_status status = hfi_track_check_time(ctx, track, time);
    if (status >= 0 && due(track, time)) {
        status = hfi_track_writable(ctx, track);
        if (status >= 0) status = make_list(ctx, track, time);
    }
    if (status < 0) return status;
    *count = 0;
    for (size_t i = 0; i < track->opened; i++) *count += track->open[i].time == time;
    return HF_OK;
}

size_t hf_track_pending_count(const hf_track *track)
{
    return track != NULL ? track->opened : 0;
}

hf_status hf_track_request_at(const hf_track *track, size_t index, hf_track_request *out)
{
    if (track == NULL || out == NULL || index >= track->opened) return HF_ERR_ARGUMENT;
    const hfi_waiting *waiting = &track->open[index];
    *out = (hf_track_request){.id = waiting->id,
                              .time = waiting->time,
                              .x = track->places.x + waiting->place * track->d,
                              .sd = waiting->sd};
    if (track->own.s.domain.candidates > 0)
        (void)hf_domain_contains(&track->own.s.domain, out->x, &out->index);
    return HF_OK;
}
