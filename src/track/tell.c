/* SPDX-License-Identifier: Apache-2.0 */
/* Readings and answers: checks and events. */
#include "track/track.h"

#include <math.h>
#include <string.h>

/* A value better than the best by less than this is rounding. */
#define TRUTH_ROUNDING 1e-9

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static hf_status check_reading(hf_context *ctx, double time, double y, double noise)
{
    if (!isfinite(time)) return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the time of a reading is %g", time);
    if (!isfinite(y)) return hfi_fail(ctx, HF_ERR_NOT_FINITE, "a reading at time %.12g is %g", time, y);
    if (!(noise >= 0.0 && isfinite(noise)))
        return hfi_refuse(ctx,
                          "the noise variance of a reading at time %.12g is %g; it must be positive, or 0 "
                          "for the track's own",
                          time, noise);
    return HF_OK;
}

static hf_status check_place(hf_context *ctx, const hf_track *track, const double *x)
{
    const hf_domain *domain = &track->own.s.domain;
    for (size_t j = 0; j < track->d; j++)
        if (!isfinite(x[j]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %s of the place is %g", track->own.names[j], x[j]);
    if (hf_domain_contains(domain, x, NULL)) return HF_OK;
    if (domain->candidates > 0)
        return hfi_refuse(ctx, "the place (%s = %g%s) is none of the %zu candidates", track->own.names[0],
                          x[0], track->d > 1 ? ", ..." : "", domain->candidates);
    for (size_t j = 0; j < track->d; j++)
        if (!(x[j] >= domain->lower[j] && x[j] <= domain->upper[j]))
            return hfi_refuse(ctx, "%s = %g is outside of its box, %g to %g", track->own.names[j], x[j],
                              domain->lower[j], domain->upper[j]);
    return HF_ERR_ARGUMENT;
}

/* A reading from so long ago that it never counts. */
static hf_status check_age(hf_context *ctx, const hf_track *track, double time, double noise, bool answer)
{
    const double clock = hfi_track_clock_for(track, time), behind = clock - time;
    const double horizon = hfi_track_last_horizon(track, noise, answer);
    if (!(behind > horizon) || time >= track->newest) return HF_OK;
    return hfi_refuse(ctx,
                      "time %.12g is %.12g behind the clock (%.12g), and a reading that old counts no longer "
                      "(the horizon is %g): it was not taken" HFI_CLOCK_HINT,
                      time, behind, clock, horizon);
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

hf_status hf_track_tell(hf_context *ctx, hf_track *track, double time, const double *x, double y,
                        double noise, uint64_t *id)
{
    if (ctx == NULL || track == NULL || x == NULL)
        return hfi_refuse(ctx, "telling needs a context, a track and a place");
    const double variance = noise > 0.0 ? noise : track->own.s.noise;
    hf_status status = check_reading(ctx, time, y, noise);
    if (status >= 0) status = check_place(ctx, track, x);
    if (status >= 0) status = check_age(ctx, track, time, variance, false);
    if (status >= 0) status = hfi_track_writable(ctx, track);
    if (status < 0) return status;
    memcpy(track->point, x, track->d * sizeof *x); /* which may be the track's own memory */
    hfi_event event = {.kind = HFI_EVENT_TOLD,
                       .id = track->own_told + track->answered + 1,
                       .time = time,
                       .y = y,
                       .a = variance,
                       .count = track->d,
                       .values = track->point};
    status = hfi_track_centre(ctx, track, time, track->point, variance, &event.b, &event.c);
    if (status >= 0) status = hfi_track_commit(ctx, track, 1, &event);
    if (status >= 0 && id != NULL) *id = event.id;
    return status;
}

static hf_status find_request(hf_context *ctx, const hf_track *track, uint64_t request, size_t *at)
{
    for (size_t i = 0; i < track->opened; i++) {
        if (track->open[i].id != request) continue;
        *at = i;
        return HF_OK;
    }
    if (request == 0 || request > track->requested)
        return hfi_refuse(ctx, "there was never a request %llu (there were %llu)",
                          (unsigned long long)request, (unsigned long long)track->requested);
    return hfi_refuse(ctx, "request %llu is no longer open: it was answered, or later ones took its place",
                      (unsigned long long)request);
}

hf_status hf_track_answer(hf_context *ctx, hf_track *track, uint64_t request, double time, double y,
                          double noise)
{
    if (ctx == NULL || track == NULL) return hfi_refuse(ctx, "an answer needs a context and a track");
    size_t at = 0;
    hf_status status = find_request(ctx, track, request, &at);
    if (status < 0) return status;
    const hfi_waiting *waiting = &track->open[at];
    const double when = isnan(time) ? waiting->time : time;
    const double variance = noise > 0.0 ? noise : track->own.s.expert_noise;
    status = check_reading(ctx, when, y, noise);
    if (status >= 0 && when < waiting->time)
        status =
            hfi_refuse(ctx, "the answer to request %llu is of time %.12g, before it was requested (%.12g)",
                       (unsigned long long)request, when, waiting->time);
    if (status >= 0) status = check_age(ctx, track, when, variance, true);
    if (status >= 0) status = hfi_track_writable(ctx, track);
    if (status < 0) return status;
    memcpy(track->point, track->places.x + waiting->place * track->d, track->d * sizeof *track->point);
    hfi_event event = {.kind = HFI_EVENT_ANSWERED,
                       .id = track->own_told + track->answered + 1,
                       .of = request,
                       .time = when,
                       .y = y,
                       .a = variance};
    status = hfi_track_centre(ctx, track, when, track->point, variance, &event.b, &event.c);
    if (status >= 0) status = hfi_track_commit(ctx, track, 1, &event);
    return status;
}

hf_status hf_track_record_optimum(hf_context *ctx, hf_track *track, double time, double best, double value)
{
    if (ctx == NULL || track == NULL) return hfi_refuse(ctx, "a truth needs a context and a track");
    if (!isfinite(time) || !isfinite(best) || !isfinite(value) || !isfinite(best - value))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "a truth at time %.12g: best %g, value %g", time, best,
                        value);
    const bool minimise = track->own.s.minimise;
    const double better = minimise ? best - value : value - best;
    if (better > TRUTH_ROUNDING * fmax(fabs(best), fabs(value)))
        return hfi_refuse(ctx, "the value at time %.12g, %g, %s the best there is by %g", time, value,
                          minimise ? "is below" : "exceeds", better);
    const hfi_event event = {.kind = HFI_EVENT_TRUTH, .time = time, .y = value, .a = best};
    return hfi_track_commit(ctx, track, 1, &event);
}
