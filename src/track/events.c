/* SPDX-License-Identifier: Apache-2.0 */
/* Events: into the journal, then into the memory. */
#include "track/track.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    LISTS = 8,      /* of requests that are kept open */
    DENSE_BATCH = 5 /* answers from which a list replaces what was answered before */
};

/* ---- room: everything that applying could lack is got before the journal is written -------------------- */

hf_status hfi_track_reserve(hf_context *ctx, hf_track *track, size_t count)
{
    const hfi_memory *memory = &track->memory;
    if (hfi_places_reserve(memory, &track->places, count) < 0) return hfi_out_of_memory(ctx);
    hfi_told *told = hfi_memory_grow(memory, track->told, track->held, track->held + count, &track->told_room,
                                     sizeof *told);
    if (told == NULL) return hfi_out_of_memory(ctx);
    track->told = told;
    hfi_waiting *open = hfi_memory_grow(memory, track->open, track->opened, track->opened + count,
                                        &track->open_room, sizeof *open);
    if (open == NULL) return hfi_out_of_memory(ctx);
    track->open = open;
    if (!(track->own.s.robust > 0.0)) return HF_OK;
    hfi_snapshot *before = &track->before;
    told =
        hfi_memory_grow(memory, before->told, before->count, track->told_room, &before->room, sizeof *told);
    if (told == NULL) return hfi_out_of_memory(ctx);
    before->told = told;
    return HF_OK;
}

/* ---- applying ---------------------------------------------------------------------------------------------------- */

/* Keeps what there was until now, as of the clock: the readings to come are compared with it. */
static void keep_what_was(hf_track *track)
{
    if (track->held == 0) return;
    hfi_track_snapshot(track, track->clock);
    track->last = track->ahead;
    track->ahead = NULL;
}

/* Time goes on. */
static void advance(hf_track *track, double time)
{
    if (!(time > track->clock)) return;
    keep_what_was(track);
    track->clock = time;
}

/* The same for something told. If it is of an earlier time than questions were about, it is as if these had not been
 * asked. */
static void advance_told(hf_track *track, double time)
{
    const double clock = hfi_track_clock_for(track, time);
    if (clock < track->clock) {
        track->clock = clock;
        keep_what_was(track);
    }
    advance(track, time);
    track->told_clock = track->clock;
}

static void close_requests(hf_track *track, uint64_t id, uint64_t least_batch)
{
    size_t kept = 0;
    for (size_t i = 0; i < track->opened; i++)
        if (track->open[i].id != id && track->open[i].batch >= least_batch)
            track->open[kept++] = track->open[i];
    track->opened = kept;
}

static void push(const hf_track *track, hfi_recent *recent, const hfi_told *told)
{
    const size_t at = recent->next;
    memcpy(recent->x + at * track->d, track->places.x + told->place * track->d, track->d * sizeof *recent->x);
    recent->time[at] = told->time;
    recent->y[at] = told->y;
    recent->noise[at] = told->noise;
    recent->weight[at] = told->weight;
    recent->answer[at] = told->batch != 0 ? 1.0 : 0.0;
    recent->next = (at + 1) % HFI_RECENT;
    if (recent->count < HFI_RECENT) recent->count++;
}

static void remember_told_reading(hf_track *track, const hfi_event *event, const hfi_told *site, size_t place,
                                  uint64_t batch)
{
    hfi_told *told = &track->told[track->held++];
    *told = *site;
    told->id = event->id;
    told->time = event->time;
    told->place = place;
    told->batch = batch;
    told->horizon = hfi_track_last_horizon(track, told->variance, batch != 0);
    hfi_track_holds(track, told);
    push(track, &track->recent, told);
}

static void apply_told(hf_track *track, const hfi_event *event, const hfi_told *site)
{
    advance_told(track, event->time);
    remember_told_reading(track, event, site, hfi_places_at(&track->places, event->values), 0);
    track->own_told++;
    hfi_track_let_go(track, false);
}

static double correlation(const hf_track *track, size_t a, size_t b)
{
    if (a == b) return 1.0;
    const double *x = track->places.x + a * track->d, *z = track->places.x + b * track->d;
    const double vx = hfi_kernel_value(track->kernel, x, x, false),
                 vz = hfi_kernel_value(track->kernel, z, z, false);
    return hfi_kernel_value(track->kernel, x, z, false) / sqrt(vx * vz);
}

/* sparq-reuse: a fresh answer of a dense list takes the place of older ones nearby. */
static void supersede(hf_track *track, size_t place, uint64_t batch)
{
    size_t kept = 0;
    for (size_t i = 0; i < track->held; i++) {
        const hfi_told *told = &track->told[i];
        const bool older = told->batch != 0 && told->batch < batch;
        if (older && correlation(track, told->place, place) >= track->own.s.superseded) continue;
        track->told[kept++] = *told;
    }
    track->held = kept;
}

static void apply_answered(hf_track *track, const hfi_event *event, const hfi_told *site)
{
    size_t at = 0;
    while (track->open[at].id != event->of) at++;
    const hfi_waiting request = track->open[at];
    advance_told(track, event->time);
    if (track->own.s.method == HF_TRACK_SPARQ_REUSE && request.batch == track->batch &&
        track->batch_size >= DENSE_BATCH)
        supersede(track, request.place, request.batch);
    remember_told_reading(track, event, site, request.place, request.batch);
    track->answered++;
    if (request.batch > track->answered_batch) track->answered_batch = request.batch;
    const bool sparq = track->own.s.method == HF_TRACK_SPARQ;
    close_requests(track, request.id, sparq ? track->answered_batch : 0);
    hfi_track_let_go(track, true);
}

static void apply_batch(hf_track *track, const hfi_event *event)
{
    advance(track, event->time);
    track->batch++;
    track->batch_time = event->time;
    track->batch_size = (size_t)event->id;
    if (track->batch > LISTS) close_requests(track, 0, track->batch - LISTS + 1);
}

static void apply_requested(hf_track *track, const hfi_event *event)
{
    track->open[track->opened++] = (hfi_waiting){.id = event->id,
                                                 .batch = track->batch,
                                                 .time = event->time,
                                                 .sd = event->a,
                                                 .place = hfi_places_at(&track->places, event->values)};
    track->requested++;
}

static void apply_asked(hf_track *track, const hfi_event *event)
{
    advance(track, event->time);
    const size_t bytes = track->d * sizeof *track->ask_place;
    const bool again = track->asked > 0 && event->time == track->ask_time &&
                       memcmp(track->ask_place, event->values, bytes) == 0;
    track->asked += !again;
    track->ask_time = event->time;
    memcpy(track->ask_place, event->values, bytes);
    if (track->held > 0) hfi_track_snapshot(track, event->time);
}

/* Neumaier's sum: 1e5 small regrets are added to a large one. */
static void apply_truth(hf_track *track, const hfi_event *event)
{
    const double missed = track->own.s.minimise ? event->y - event->a : event->a - event->y;
    const double regret = fmax(0.0, missed), sum = track->regret + regret;
    track->regret_carry +=
        fabs(track->regret) >= regret ? (track->regret - sum) + regret : (regret - sum) + track->regret;
    track->regret = sum;
    track->truths++;
}

/* Sites of readings with the track's own noise are linear in it. */
static void apply_fitted(hf_track *track, const hfi_event *event)
{
    hf_track_settings *s = &track->own.s;
    const size_t p = hf_kernel_parameters(track->kernel);
    memcpy(track->theta, event->values, p * sizeof *track->theta);
    track->fitted = true;
    hfi_kernel_set_theta(track->kernel, track->theta);
    const double noise = exp(event->values[p]), ratio = noise / s->noise;
    for (size_t i = 0; i < track->held; i++) {
        hfi_told *told = &track->told[i];
        if (told->noise != s->noise) continue;
        told->noise = noise;
        told->variance *= ratio;
        told->target = told->y + ratio * (told->target - told->y);
    }
    for (size_t i = 0; i < track->recent.count; i++)
        if (track->recent.noise[i] == s->noise) track->recent.noise[i] = noise;
    if (s->expert_noise == s->noise) s->expert_noise = noise;
    s->noise = noise;
    s->age.rate = event->values[p + 1];
    track->typical = hfi_kernel_typical_variance(track->kernel);
    for (size_t i = 0; i < track->held; i++)
        track->told[i].horizon =
            hfi_track_last_horizon(track, track->told[i].variance, track->told[i].batch != 0);
    track->ends = -INFINITY; /* unknown */
    track->before.count = 0; /* what it has is no longer the same */
    if (track->held > 0) hfi_track_snapshot(track, track->clock);
}

static void apply_track_event(hf_context *ctx, hf_track *track, const hfi_event *event, const hfi_told *site)
{
    track->asked_valid = track->asked_valid && event->kind == HFI_EVENT_TRUTH;
    switch (event->kind) {
    case HFI_EVENT_TOLD:
        apply_told(track, event, site);
        break;
    case HFI_EVENT_ANSWERED:
        apply_answered(track, event, site);
        break;
    case HFI_EVENT_BATCH:
        apply_batch(track, event);
        break;
    case HFI_EVENT_REQUESTED:
        apply_requested(track, event);
        break;
    case HFI_EVENT_ASKED:
        apply_asked(track, event);
        break;
    case HFI_EVENT_TRUTH:
        apply_truth(track, event);
        break;
    case HFI_EVENT_FITTED:
        apply_fitted(track, event);
        break;
    case HFI_EVENTS:
        break;
    }
    if (event->kind != HFI_EVENT_TRUTH) {
        hf_posterior_free(track->ahead);
        track->ahead = NULL;
    }
    hfi_track_thin(ctx, track);
}

static bool is_reading(const hfi_event *event)
{
    return event->kind == HFI_EVENT_TOLD || event->kind == HFI_EVENT_ANSWERED;
}

hf_status hfi_track_writable(hf_context *ctx, const hf_track *track)
{
    if (!track->journalled || track->journal.append != NULL) return HF_OK;
    return hfi_refuse(ctx, "the track was opened to look at, not to change");
}

hf_status hfi_track_commit(hf_context *ctx, hf_track *track, size_t count, const hfi_event *events)
{
    hf_status status = hfi_track_writable(ctx, track);
    if (status >= 0) status = hfi_track_reserve(ctx, track, count);
    hfi_told site = {0};
    if (status >= 0 && count == 1 && is_reading(events))
        status = hfi_track_site(ctx, events->y, events->a, events->b, events->c, &site);
    if (status >= 0 && track->journalled)
        status = track->journal.append(ctx, track->journal.user, count, events);
    if (status < 0) return status;
    for (size_t i = 0; i < count; i++) apply_track_event(ctx, track, &events[i], &site);
    if (track->journalled && track->journal.applied != NULL)
        track->journal.applied(track->journal.user, track);
    return HF_OK;
}

/* ---- from a journal ---------------------------------------------------------------------------------------------- */

void hfi_track_set_journal(hf_track *track, const hfi_event_journal *journal)
{
    track->journal = *journal;
    track->journalled = true;
}

const hfi_event_journal *hfi_track_journal(const hf_track *track)
{
    return track->journalled ? &track->journal : NULL;
}

static bool waits(const hf_track *track, uint64_t request, double time)
{
    for (size_t i = 0; i < track->opened; i++)
        if (track->open[i].id == request) return time >= track->open[i].time;
    return false;
}

/* Whether a place is of the domain, as hf_track_tell() would ask. One that is known was of it. */
static bool is_place(const hf_track *track, const hfi_event *event)
{
    return event->count == track->d && event->values != NULL &&
           (hfi_places_known(&track->places, event->values) ||
            hf_domain_contains(&track->own.s.domain, event->values, NULL));
}

/* A reading whose weight can be made: Gaussian, or with a centre and a threshold. */
static bool is_sound(const hfi_event *event)
{
    return isfinite(event->y) && event->a > 0.0 && isfinite(event->a) &&
           (isfinite(event->b) ? event->c >= DBL_MIN : isnan(event->b));
}

static const char *fault_of_reading(const hf_track *track, const hfi_event *event)
{
    if (!is_sound(event)) return "a reading that is none";
    if (event->id != track->own_told + track->answered + 1) return "a reading out of order";
    if (event->kind == HFI_EVENT_TOLD)
        return is_place(track, event) ? NULL : "a reading at a place that there is not";
    if (event->count != 0) return "an answer with values";
    return waits(track, event->of, event->time) ? NULL : "an answer to a request that does not wait for one";
}

static const char *fault_of_request(const hf_track *track, const hfi_event *event)
{
    if (track->batch == 0 || event->id != track->requested + 1 || event->time != track->batch_time)
        return "a request out of order";
    return is_place(track, event) && event->a >= 0.0 && isfinite(event->a) ? NULL : "a request that is none";
}

static const char *fault_of_fit(const hf_track *track, const hfi_event *event)
{
    const size_t p = hf_kernel_parameters(track->kernel);
    if (event->count != p + 2 || event->values == NULL) return "a fit with a wrong number of values";
    for (size_t i = 0; i < event->count; i++)
        if (!isfinite(event->values[i])) return "a fit with a value that is not finite";
    const double noise = exp(event->values[p]);
    return noise > 0.0 && isfinite(noise) && event->values[p + 1] >= 0.0 ? NULL : "a fit that is none";
}

/* NULL, or what is wrong with an event that is to follow those before. */
static const char *fault(const hf_track *track, const hfi_event *event)
{
    if (!isfinite(event->time)) return "a time that is not finite";
    switch (event->kind) {
    case HFI_EVENT_TOLD:
    case HFI_EVENT_ANSWERED:
        return fault_of_reading(track, event);
    case HFI_EVENT_REQUESTED:
        return fault_of_request(track, event);
    case HFI_EVENT_ASKED:
        return is_place(track, event) ? NULL : "a suggestion of a place that there is not";
    case HFI_EVENT_TRUTH:
        return event->count == 0 && isfinite(event->a - event->y) ? NULL : "a truth that is none";
    case HFI_EVENT_FITTED:
        return fault_of_fit(track, event);
    case HFI_EVENT_BATCH:
        return event->count == 0 && event->time > track->batch_time ? NULL : "a list out of order";
    default:
        return "an entry of a kind that there is not";
    }
}

hf_status hfi_track_replay(hf_context *ctx, hf_track *track, const hfi_event *event)
{
    const char *const wrong = fault(track, event);
    if (wrong != NULL) return hfi_fail(ctx, HF_ERR_MODEL_FILE, "the journal of the track has %s", wrong);
    hf_status status = hfi_track_reserve(ctx, track, 1);
    hfi_told site = {0};
    if (status >= 0 && is_reading(event))
        status = hfi_track_site(ctx, event->y, event->a, event->b, event->c, &site);
    if (status < 0) return status;
    apply_track_event(ctx, track, event, &site);
    return HF_OK;
}
