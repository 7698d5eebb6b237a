/* SPDX-License-Identifier: Apache-2.0 */
/* Life of a track, and what it tells about itself. */
#include "track/track.h"

#include <math.h>
#include <string.h>

static hf_status check_kernel(hf_context *ctx, const hf_track *track)
{
    if (hf_kernel_coregions(track->kernel) > 0)
        return hfi_refuse(ctx, "a track has one output; its kernel has several (coregion)");
    if (!(track->typical > 0.0))
        return hfi_refuse(ctx, "the kernel's variance is %g; it must be positive", track->typical);
    double with, without; /* at the origin: `point` is zero still */
    hfi_kernel_diagonal(track->kernel, 1, track->point, track->d, true, &with);
    hfi_kernel_diagonal(track->kernel, 1, track->point, track->d, false, &without);
    if (with != without)
        return hfi_refuse(
            ctx, "the kernel has a white term; what differs from reading to reading is the track's noise");
    return HF_OK;
}

static hf_status fill_track(hf_context *ctx, const hf_track_settings *settings, hf_track *track)
{
    hf_status status = hfi_track_own_settings(ctx, settings, &track->own);
    if (status < 0) return status;
    const hf_track_settings *s = &track->own.s;
    track->d = s->domain.dimension;
    status = hf_kernel_parse(ctx, s->kernel, s->names, track->d, &track->kernel);
    if (status < 0) return status;
    track->typical = hfi_kernel_typical_variance(track->kernel);
    status = hfi_places_init(ctx, track->d, &track->places);
    if (status < 0) return status;
    track->thin_at = s->most_places;
    hfi_recent *recent = &track->recent;
    status = HFI_ALLOC(ctx, HFI_ROOM(track->ask_place, track->d), HFI_ROOM(track->point, track->d),
                       HFI_ROOM(track->theta, hf_kernel_parameters(track->kernel)),
                       HFI_ROOMS(recent->x, HFI_RECENT, track->d + 5));
    if (status < 0) return status;
    recent->time = recent->x + HFI_RECENT * track->d;
    recent->y = recent->time + HFI_RECENT;
    recent->noise = recent->y + HFI_RECENT;
    recent->weight = recent->noise + HFI_RECENT;
    recent->answer = recent->weight + HFI_RECENT;
    return check_kernel(ctx, track);
}

hf_status hf_track_create(hf_context *ctx, const hf_track_settings *settings, hf_track **out)
{
    if (ctx == NULL || settings == NULL || out == NULL)
        return hfi_refuse(ctx, "a track needs a context, settings and a place for the result");
    hf_track *track = hfi_alloc(ctx, 1, sizeof *track);
    if (track == NULL) return HF_ERR_MEMORY;
    track->memory = hfi_context_memory(ctx);
    track->clock = track->told_clock = track->newest = track->batch_time = -INFINITY;
    const hf_status status = fill_track(ctx, settings, track);
    if (status < 0) {
        hf_track_free(track);
        return status;
    }
    *out = track;
    return status;
}

void hf_track_free(hf_track *track)
{
    if (track == NULL) return;
    if (track->journalled && track->journal.close != NULL) track->journal.close(track->journal.user);
    const hfi_memory memory = track->memory;
    hf_posterior_free(track->last);
    hf_posterior_free(track->ahead);
    hf_kernel_free(track->kernel);
    hfi_places_free(&memory, &track->places);
    hfi_track_own_free(&memory, &track->own);
    HFI_MEMORY_FREE(&memory, track->told, track->open, track->before.told, track->ask_place, track->point,
                    track->theta, track->recent.x, track);
}

const hf_track_settings *hf_track_settings_of(const hf_track *track)
{
    return track != NULL ? &track->own.s : NULL;
}

const hf_kernel *hf_track_kernel(const hf_track *track)
{
    return track != NULL ? track->kernel : NULL;
}

const char *hf_track_name(const hf_track *track, size_t i)
{
    return track != NULL && i < track->d ? track->own.names[i] : NULL;
}

static size_t bytes_of_posterior(const hf_posterior *posterior)
{
    return posterior != NULL ? (size_t)hf_posterior_report_of(posterior)->bytes : 0;
}

static size_t bytes_of(const hf_track *track)
{
    size_t bytes = sizeof *track;
    bytes += track->places.room * track->d * sizeof *track->places.x +
             track->places.slots * sizeof *track->places.slot;
    bytes += (track->told_room + track->before.room) * sizeof *track->told +
             track->open_room * sizeof *track->open;
    bytes += track->own.s.domain.candidates * track->d * sizeof(double) + 2 * track->d * sizeof(double);
    bytes += HFI_RECENT * (track->d + 5) * sizeof(double);
    bytes += bytes_of_posterior(track->last) + bytes_of_posterior(track->ahead);
    return bytes;
}

void hf_track_summary_of(const hf_track *track, hf_track_summary *out)
{
    if (out == NULL) return;
    memset(out, 0, sizeof *out);
    if (track == NULL) return;
    const double regret = track->regret + track->regret_carry;
    *out =
        (hf_track_summary){.clock = isfinite(track->clock) ? track->clock : NAN,
                           .step = (size_t)track->own_told + 1,
                           .told = track->own_told,
                           .asked = track->asked,
                           .requested = track->requested,
                           .answered = track->answered,
                           .held = track->held,
                           .places = track->places.count,
                           .pending = track->opened,
                           .truths = track->truths,
                           .regret = regret,
                           .average_regret = track->truths > 0 ? regret / (double)track->truths : NAN,
                           .regret_per_answer = track->answered > 0 ? regret / (double)track->answered : NAN,
                           .bytes = bytes_of(track)};
}

hf_status hf_track_reading_at(const hf_track *track, size_t index, hf_track_reading *out)
{
    if (track == NULL || out == NULL || index >= track->held) return HF_ERR_ARGUMENT;
    const hfi_told *told = &track->told[index];
    const hfi_moment moment = hfi_track_moment(track, track->clock);
    const double variance = hfi_track_variance(&moment, told);
    *out = (hf_track_reading){.id = told->id,
                              .time = told->time,
                              .x = track->places.x + told->place * track->d,
                              .y = told->y,
                              .noise = told->noise,
                              .weight = told->weight,
                              .answer = told->batch != 0,
                              .counts = isfinite(variance),
                              .variance = variance};
    return HF_OK;
}
