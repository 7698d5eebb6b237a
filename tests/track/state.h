/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file state.h
 * @brief A fingerprint of everything that a track remembers and that can ever matter, bit by bit.
 * Things only worked out (posteriors, room) do not count.
 */
#ifndef TESTS_TRACK_STATE_H
#define TESTS_TRACK_STATE_H

#include "track/tracks.h"

static inline void state_bytes(uint64_t *print, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++) *print = (*print ^ b[i]) * 1099511628211U;
}

#define STATE_PUT(print, thing) state_bytes((print), &(thing), sizeof(thing))

static inline void state_readings(uint64_t *print, const hf_track *track, size_t count,
                                  const hfi_told *told)
{
    STATE_PUT(print, count);
    for (size_t i = 0; i < count; i++) {
        STATE_PUT(print, told[i].id);
        STATE_PUT(print, told[i].time);
        STATE_PUT(print, told[i].y);
        STATE_PUT(print, told[i].noise);
        STATE_PUT(print, told[i].target);
        STATE_PUT(print, told[i].variance);
        STATE_PUT(print, told[i].weight);
        STATE_PUT(print, told[i].horizon);
        STATE_PUT(print, told[i].batch);
        state_bytes(print, track->places.x + told[i].place * track->d, track->d * sizeof(double));
    }
}

static inline void state_requests(uint64_t *print, const hf_track *track)
{
    STATE_PUT(print, track->opened);
    for (size_t i = 0; i < track->opened; i++) {
        const hfi_waiting *w = &track->open[i];
        STATE_PUT(print, w->id);
        STATE_PUT(print, w->batch);
        STATE_PUT(print, w->time);
        STATE_PUT(print, w->sd);
        state_bytes(print, track->places.x + w->place * track->d, track->d * sizeof(double));
    }
}

static inline void state_recent(uint64_t *print, const hf_track *track)
{
    const hfi_recent *recent = &track->recent;
    const size_t bytes = recent->count * sizeof(double);
    STATE_PUT(print, recent->count);
    STATE_PUT(print, recent->next);
    state_bytes(print, recent->x, bytes * track->d);
    state_bytes(print, recent->time, bytes);
    state_bytes(print, recent->y, bytes);
    state_bytes(print, recent->noise, bytes);
    state_bytes(print, recent->weight, bytes);
}

static inline void state_numbers(uint64_t *print, const hf_track *track)
{
    const hf_track_settings *s = &track->own.s;
    STATE_PUT(print, track->clock);
    STATE_PUT(print, track->newest);
    STATE_PUT(print, track->batch_time);
    STATE_PUT(print, track->batch);
    STATE_PUT(print, track->answered_batch);
    STATE_PUT(print, track->batch_size);
    STATE_PUT(print, track->own_told);
    STATE_PUT(print, track->asked);
    STATE_PUT(print, track->requested);
    STATE_PUT(print, track->answered);
    STATE_PUT(print, track->truths);
    STATE_PUT(print, track->regret);
    STATE_PUT(print, track->regret_carry);
    STATE_PUT(print, track->thin_at);
    STATE_PUT(print, track->typical);
    STATE_PUT(print, s->noise);
    STATE_PUT(print, s->expert_noise);
    STATE_PUT(print, s->age.rate);
}

static inline uint64_t state_of(const hf_track *track)
{
    uint64_t print = 14695981039346656037U;
    state_numbers(&print, track);
    state_readings(&print, track, track->held, track->told);
    state_requests(&print, track);
    state_recent(&print, track);
    STATE_PUT(&print, track->places.count);
    state_bytes(&print, track->places.x, track->places.count * track->d * sizeof(double));
    for (size_t i = 0; i < hf_kernel_parameters(track->kernel); i++) {
        hf_parameter p;
        assert_int_equal(hf_kernel_parameter(track->kernel, i, &p), HF_OK);
        STATE_PUT(&print, p.value);
    }
    const hfi_snapshot *before = &track->before;
    state_readings(&print, track, before->count, before->told);
    STATE_PUT(&print, before->moment.time);
    STATE_PUT(&print, before->moment.newest);
    STATE_PUT(&print, before->moment.answered_batch);
    STATE_PUT(&print, before->moment.step);
    return print;
}

#endif
