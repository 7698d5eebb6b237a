/* SPDX-License-Identifier: Apache-2.0 */
/* The readings in memory: which may go, and how they were when time went on. Each event costs O(1) while
 * all stay. */
#include "track/track.h"

#include <math.h>
#include <string.h>

/* Rounding of a sum of four numbers, as a share of their sizes, and more. */
#define ROUNDING 1e-15

/* ---- the snapshot -------------------------------------------------------------------------------------- */

/* How many readings the snapshot begins with as the track does: all of it while none of them has gone, as
 * their numbers ascend. */
static size_t shared(const hf_track *track)
{
    const size_t count = track->before.count;
    if (count == 0 || count > track->held) return 0;
    return track->before.told[count - 1].id == track->told[count - 1].id ? count : 0;
}

void hfi_track_snapshot(hf_track *track, double time)
{
    if (!(track->own.s.robust > 0.0)) return;
    hf_posterior_free(track->last);
    track->last = NULL;
    const size_t same = shared(track);
    if (same < track->held)
        memcpy(track->before.told + same, track->told + same, (track->held - same) * sizeof *track->told);
    track->before.count = track->held;
    track->before.moment = hfi_track_moment(track, time);
}

/* ---- letting go ---------------------------------------------------------------------------------------- */

/* sparq: answers of a list before the newest that was answered. */
static bool replaced(const hf_track *track, const hfi_told *told)
{
    return track->own.s.method == HF_TRACK_SPARQ && told->batch != 0 && told->batch < track->answered_batch;
}

/* Clock less asking horizon from which on a reading may be let go: not later than where rounding would have it. */
static double end_of(const hfi_told *told)
{
    if (!isfinite(told->horizon)) return INFINITY;
    return told->time + told->horizon - ROUNDING * (fabs(told->time) + told->horizon);
}

void hfi_track_holds(hf_track *track, const hfi_told *told)
{
    track->newest = fmax(track->newest, told->time);
    track->ends = fmin(track->ends, end_of(told));
}

/* None has come to its end. */
static bool all_stay(const hf_track *track)
{
    const double asked = hfi_track_asking_horizon(track);
    if (!isfinite(asked)) return true;
    return !(track->clock - asked + ROUNDING * (fabs(track->clock) + asked) > track->ends);
}

void hfi_track_let_go(hf_track *track, bool answered)
{
    if (!answered && all_stay(track)) return;
    const double asked = hfi_track_asking_horizon(track);
    track->newest = -INFINITY;
    for (size_t i = 0; i < track->held; i++)
        if (track->told[i].time > track->newest && !replaced(track, &track->told[i]))
            track->newest = track->told[i].time;
    size_t kept = 0;
    track->ends = INFINITY;
    for (size_t i = 0; i < track->held; i++) {
        const hfi_told *told = &track->told[i];
        const bool old = track->clock - told->time > asked + told->horizon && told->time < track->newest;
        if (old || replaced(track, told)) continue;
        track->ends = fmin(track->ends, end_of(told));
        if (kept < i) track->told[kept] = *told;
        kept++;
    }
    track->held = kept;
}
