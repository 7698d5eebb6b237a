/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a track as bytes, and back to the bit: a shortcut past the events that made it. Things that
 * can be computed again without them (settings, posteriors, the last suggestion) are not in it. */
#include "track/track.h"

#include <math.h>
#include <string.h>

enum {
    VERSION = 2,       /* of these bytes: it changes whenever events come to mean something else */
    READING_BYTES = 80 /* each of hfi_told */
};

/* ---- writing -------------------------------------------------------------------------------------------------- */

/* The numbers of a reading, none of which is NaN. */
static const size_t told_numbers[] = {
    offsetof(hfi_told, time),    offsetof(hfi_told, y),        offsetof(hfi_told, noise),
    offsetof(hfi_told, target),  offsetof(hfi_told, variance), offsetof(hfi_told, weight),
    offsetof(hfi_told, horizon),
};

enum {
    TOLD_NUMBERS = sizeof told_numbers / sizeof *told_numbers
};

static void numbers_of(const hfi_told *told, double numbers[TOLD_NUMBERS])
{
    for (size_t k = 0; k < TOLD_NUMBERS; k++)
        memcpy(&numbers[k], (const char *)told + told_numbers[k], sizeof *numbers);
}

static void add_readings(hfi_bytes *to, size_t count, const hfi_told *told)
{
    for (size_t i = 0; i < count; i++) {
        double numbers[TOLD_NUMBERS];
        numbers_of(&told[i], numbers);
        hfi_bytes_add_u64(to, told[i].id);
        hfi_bytes_add_doubles(to, TOLD_NUMBERS, numbers);
        hfi_bytes_add_u64(to, told[i].place);
        hfi_bytes_add_u64(to, told[i].batch);
    }
}

static void add_waiting(hfi_bytes *to, const hf_track *track)
{
    hfi_bytes_add_u64(to, track->opened);
    for (size_t i = 0; i < track->opened; i++) {
        const hfi_waiting *w = &track->open[i];
        hfi_bytes_add_u64(to, w->id);
        hfi_bytes_add_u64(to, w->batch);
        hfi_bytes_add_double(to, w->time);
        hfi_bytes_add_double(to, w->sd);
        hfi_bytes_add_u64(to, w->place);
    }
}

/* The same to the bit: a zero has a sign. */
static bool same_reading(const hfi_told *a, const hfi_told *b)
{
    double of_a[TOLD_NUMBERS], of_b[TOLD_NUMBERS];
    numbers_of(a, of_a);
    numbers_of(b, of_b);
    bool same = a->id == b->id && a->place == b->place && a->batch == b->batch;
    for (size_t k = 0; k < TOLD_NUMBERS; k++)
        same = same && of_a[k] == of_b[k] && signbit(of_a[k]) == signbit(of_b[k]);
    return same;
}

/* How many readings the snapshot begins with as the track does, in all numbers. */
static size_t in_common(const hf_track *track)
{
    const hfi_snapshot *before = &track->before;
    const size_t most = before->count < track->held ? before->count : track->held;
    size_t same = 0;
    while (same < most && same_reading(&before->told[same], &track->told[same])) same++;
    return same;
}

static void add_before(hfi_bytes *to, const hf_track *track)
{
    const hfi_snapshot *before = &track->before;
    const size_t same = in_common(track);
    hfi_bytes_add_u64(to, before->count);
    hfi_bytes_add_u64(to, same);
    add_readings(to, before->count - same, before->told + same);
    hfi_bytes_add_double(to, before->moment.time);
    hfi_bytes_add_double(to, before->moment.newest);
    hfi_bytes_add_u64(to, before->moment.answered_batch);
    hfi_bytes_add_u64(to, before->moment.step);
}

/* Columns of the newest readings beside their places. */
static const size_t recent_columns[] = {
    offsetof(hfi_recent, time),   offsetof(hfi_recent, y),      offsetof(hfi_recent, noise),
    offsetof(hfi_recent, weight), offsetof(hfi_recent, answer),
};

enum {
    RECENT_COLUMNS = sizeof recent_columns / sizeof *recent_columns
};

static double *column_of(const hfi_recent *recent, size_t k)
{
    double *column;
    memcpy(&column, (const char *)recent + recent_columns[k], sizeof column);
    return column;
}

static void add_recent(hfi_bytes *to, const hf_track *track)
{
    const hfi_recent *recent = &track->recent;
    hfi_bytes_add_u64(to, recent->count);
    hfi_bytes_add_u64(to, recent->next);
    hfi_bytes_add_doubles(to, recent->count * track->d, recent->x);
    for (size_t k = 0; k < RECENT_COLUMNS; k++)
        hfi_bytes_add_doubles(to, recent->count, column_of(recent, k));
}

static void add_clocks(hfi_bytes *to, const hf_track *track)
{
    const double clocks[] = {track->clock,      track->told_clock, track->newest,       track->ends,
                             track->batch_time, track->regret,     track->regret_carry, track->ask_time};
    const uint64_t counts[] = {track->batch,    track->answered_batch, track->batch_size,
                               track->own_told, track->asked,          track->requested,
                               track->answered, track->truths,         track->thin_at};
    hfi_bytes_add_doubles(to, sizeof clocks / sizeof *clocks, clocks);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) hfi_bytes_add_u64(to, counts[i]);
    hfi_bytes_add_doubles(to, track->d, track->ask_place);
}

void hfi_track_state(hfi_bytes *to, const hf_track *track)
{
    const hf_track_settings *s = &track->own.s;
    const size_t p = hf_kernel_parameters(track->kernel);
    hfi_bytes_add_u64(to, VERSION);
    hfi_bytes_add_u64(to, track->d);
    hfi_bytes_add_u64(to, track->fitted ? p : 0);
    if (track->fitted) hfi_bytes_add_doubles(to, p, track->theta);
    hfi_bytes_add_double(to, s->noise);
    hfi_bytes_add_double(to, s->expert_noise);
    hfi_bytes_add_double(to, s->age.rate);
    hfi_bytes_add_u64(to, track->places.count);
    hfi_bytes_add_doubles(to, track->places.count * track->d, track->places.x);
    hfi_bytes_add_u64(to, track->held);
    add_readings(to, track->held, track->told);
    add_waiting(to, track);
    add_before(to, track);
    add_recent(to, track);
    add_clocks(to, track);
}

/* ---- reading: bytes of anybody's making ----------------------------------------------------------------------- */

/* A count of things of `size` bytes each that can still come. */
static size_t take_count(hfi_bytes_left *from, size_t size)
{
    const uint64_t count = hfi_bytes_take_u64(from);
    if (!hfi_bytes_have(from, count, size)) from->bad = true;
    return from->bad ? 0 : (size_t)count;
}

static bool take_fit(hfi_bytes_left *from, hf_track *track)
{
    hf_track_settings *s = &track->own.s;
    const size_t p = hf_kernel_parameters(track->kernel);
    const size_t count = take_count(from, 8);
    if (count != 0 && count != p) return false;
    track->fitted = count > 0;
    if (track->fitted) hfi_bytes_take_doubles(from, p, track->theta);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(track->theta[i])) return false;
    if (track->fitted) hfi_kernel_set_theta(track->kernel, track->theta);
    track->typical = hfi_kernel_typical_variance(track->kernel);
    s->noise = hfi_bytes_take_double(from);
    s->expert_noise = hfi_bytes_take_double(from);
    s->age.rate = hfi_bytes_take_double(from);
    return !from->bad && hfi_is_positive(track->typical) && hfi_is_positive(s->noise) &&
           hfi_is_positive(s->expert_noise) && isfinite(s->age.rate) && s->age.rate >= 0.0;
}

/* HF_ERR_MODEL_FILE, here and below: not a state that a track of these settings can have. */
static hf_status take_places(hfi_bytes_left *from, hf_track *track)
{
    const size_t count = take_count(from, 8 * track->d);
    if (hfi_places_reserve(&track->memory, &track->places, count) < 0) return HF_ERR_MEMORY;
    for (size_t k = 0; k < count; k++) {
        hfi_bytes_take_doubles(from, track->d, track->point);
        if (!hf_domain_contains(&track->own.s.domain, track->point, NULL) ||
            hfi_places_at(&track->places, track->point) != k)
            return HF_ERR_MODEL_FILE;
    }
    return HF_OK;
}

static bool take_readings(hfi_bytes_left *from, const hf_track *track, uint64_t last, size_t count,
                          hfi_told *told)
{
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        double n[TOLD_NUMBERS];
        const uint64_t id = hfi_bytes_take_u64(from);
        hfi_bytes_take_doubles(from, TOLD_NUMBERS, n);
        const uint64_t place = hfi_bytes_take_u64(from), batch = hfi_bytes_take_u64(from);
        good = id > last && place < track->places.count && isfinite(n[0]) && isfinite(n[1]) &&
               hfi_is_positive(n[2]) && isfinite(n[3]) && hfi_is_positive(n[4]) && hfi_is_positive(n[5]) &&
               n[5] <= 1.0 && n[6] >= 0.0;
        told[i] = (hfi_told){.id = id, .place = (size_t)place, .batch = batch};
        for (size_t k = 0; k < TOLD_NUMBERS; k++)
            memcpy((char *)&told[i] + told_numbers[k], &n[k], sizeof *n);
        last = id;
    }
    return good;
}

static hf_status take_held(hf_context *ctx, hfi_bytes_left *from, hf_track *track)
{
    const size_t count = take_count(from, READING_BYTES);
    if (hfi_track_reserve(ctx, track, count) < 0) return HF_ERR_MEMORY;
    if (!take_readings(from, track, 0, count, track->told)) return HF_ERR_MODEL_FILE;
    track->held = count;
    return HF_OK;
}

static hf_status take_waiting(hf_context *ctx, hfi_bytes_left *from, hf_track *track)
{
    const size_t count = take_count(from, 40);
    if (hfi_track_reserve(ctx, track, count) < 0) return HF_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        hfi_waiting *w = &track->open[i];
        w->id = hfi_bytes_take_u64(from);
        w->batch = hfi_bytes_take_u64(from);
        w->time = hfi_bytes_take_double(from);
        w->sd = hfi_bytes_take_double(from);
        const uint64_t place = hfi_bytes_take_u64(from);
        w->place = (size_t)place;
        if (place >= track->places.count || !isfinite(w->time) || !isfinite(w->sd) || !(w->sd >= 0.0) ||
            w->id <= (i > 0 ? w[-1].id : 0) || w->batch == 0)
            return HF_ERR_MODEL_FILE;
    }
    track->opened = count;
    return HF_OK;
}

static hf_status take_before(hf_context *ctx, hfi_bytes_left *from, hf_track *track)
{
    hfi_snapshot *before = &track->before;
    const uint64_t count = hfi_bytes_take_u64(from), same = hfi_bytes_take_u64(from);
    if (same > count || same > track->held || !hfi_bytes_have(from, count - same, READING_BYTES))
        return HF_ERR_MODEL_FILE;
    if (count > 0 && !(track->own.s.robust > 0.0)) return HF_ERR_MODEL_FILE;
    const size_t more = (size_t)count > track->held ? (size_t)count - track->held : 0;
    if (hfi_track_reserve(ctx, track, more) < 0) return HF_ERR_MEMORY;
    if (same > 0) memcpy(before->told, track->told, (size_t)same * sizeof *before->told);
    const uint64_t last = same > 0 ? before->told[same - 1].id : 0;
    const size_t rest = (size_t)(count - same);
    if (rest > 0 && !take_readings(from, track, last, rest, before->told + same)) return HF_ERR_MODEL_FILE;
    before->count = (size_t)count;
    const double time = hfi_bytes_take_double(from), newest = hfi_bytes_take_double(from);
    before->moment = (hfi_moment){.track = track, .time = time, .newest = newest};
    before->moment.answered_batch = hfi_bytes_take_u64(from);
    before->moment.step = (size_t)hfi_bytes_take_u64(from);
    return count == 0 || (isfinite(time) && !isnan(newest)) ? HF_OK : HF_ERR_MODEL_FILE;
}

static bool take_recent(hfi_bytes_left *from, hf_track *track)
{
    hfi_recent *recent = &track->recent;
    const size_t count = take_count(from, 8 * (track->d + 5));
    const uint64_t next = hfi_bytes_take_u64(from);
    if (count > HFI_RECENT || next != (count < HFI_RECENT ? count : next % HFI_RECENT)) return false;
    hfi_bytes_take_doubles(from, count * track->d, recent->x);
    for (size_t k = 0; k < RECENT_COLUMNS; k++) hfi_bytes_take_doubles(from, count, column_of(recent, k));
    recent->count = count;
    recent->next = (size_t)next;
    for (size_t i = 0; i < count * track->d; i++)
        if (!isfinite(recent->x[i])) return false;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(recent->time[i]) || !isfinite(recent->y[i]) || !hfi_is_positive(recent->noise[i]) ||
            !hfi_is_positive(recent->weight[i]) || (recent->answer[i] != 0.0 && recent->answer[i] != 1.0))
            return false;
    return true;
}

static void take_clocks(hfi_bytes_left *from, hf_track *track)
{
    double *const clocks[] = {&track->clock,      &track->told_clock, &track->newest,       &track->ends,
                              &track->batch_time, &track->regret,     &track->regret_carry, &track->ask_time};
    uint64_t *const counts[] = {&track->own_told, &track->asked, &track->requested, &track->answered,
                                &track->truths};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) *clocks[i] = hfi_bytes_take_double(from);
    track->batch = hfi_bytes_take_u64(from);
    track->answered_batch = hfi_bytes_take_u64(from);
    track->batch_size = (size_t)hfi_bytes_take_u64(from);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) *counts[i] = hfi_bytes_take_u64(from);
    track->thin_at = (size_t)hfi_bytes_take_u64(from);
    hfi_bytes_take_doubles(from, track->d, track->ask_place);
}

/* No later than everything that is remembered. */
static bool are_sound(const hf_track *track)
{
    const size_t held = track->held, opened = track->opened;
    const bool started = track->own_told + track->answered > 0;
    bool good = !isnan(track->clock) && track->clock < INFINITY && track->told_clock <= track->clock &&
                track->newest <= track->told_clock && !isnan(track->ends) && track->batch_time < INFINITY &&
                isfinite(track->regret) && isfinite(track->regret_carry) && isfinite(track->ask_time) &&
                track->thin_at >= track->own.s.most_places && track->answered_batch <= track->batch &&
                track->answered <= track->requested;
    if (held > 0)
        good = good && started && isfinite(track->newest) &&
               track->told[held - 1].id <= track->own_told + track->answered;
    if (opened > 0) good = good && track->open[opened - 1].id <= track->requested;
    for (size_t i = 0; i < opened && good; i++) good = track->open[i].batch <= track->batch;
    for (size_t i = 0; i < held && good; i++) good = track->told[i].batch <= track->batch;
    for (size_t j = 0; j < track->d && good; j++) good = isfinite(track->ask_place[j]);
    return good;
}

hf_status hfi_track_restore(hf_context *ctx, hf_track *track, const void *state, size_t bytes)
{
    hfi_bytes_left from = {.at = state, .left = bytes};
    if (hfi_bytes_take_u64(&from) != VERSION || hfi_bytes_take_u64(&from) != track->d ||
        !take_fit(&from, track))
        return HF_ERR_MODEL_FILE;
    hf_status status = take_places(&from, track);
    if (status >= 0) status = take_held(ctx, &from, track);
    if (status >= 0) status = take_waiting(ctx, &from, track);
    if (status >= 0) status = take_before(ctx, &from, track);
    if (status < 0) return status;
    if (!take_recent(&from, track)) return HF_ERR_MODEL_FILE;
    take_clocks(&from, track);
    return !from.bad && from.left == 0 && are_sound(track) ? HF_OK : HF_ERR_MODEL_FILE;
}
