/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file book.h
 * @brief Which readings of a track count at a time, and with what variance, written down once more
 * from the tables of ageing.h and track.h.
 */
#ifndef TESTS_TRACK_BOOK_H
#define TESTS_TRACK_BOOK_H

#include "track/tracks.h"

typedef struct reading {
    double time, x, y, noise;
    uint64_t batch; /* of an answer; 0: own */
} reading;

typedef struct book {
    const hf_track_settings *s;
    reading list[DENSE_MOST];
    size_t count, own;
    uint64_t answered_batch;
    double clock; /* latest time told or answered */
} book;

static inline double book_law(const hf_age_law *l, double v, double a)
{
    switch (l->kind) {
    case HF_AGE_QUADRATIC:
        return v + pow(l->rate * a, 2.0);
    case HF_AGE_LINEAR:
        return pow(sqrt(v) + l->rate * a, 2.0);
    case HF_AGE_EXPONENTIAL:
        return v * exp(l->rate * a);
    case HF_AGE_WIENER:
        return v + l->rate * l->rate * a;
    case HF_AGE_TABLE: {
        double before = 0.0, added = 0.0;
        for (size_t k = 0; k < l->entries; k++) {
            if (a <= l->ages[k])
                return v + added + (l->added[k] - added) * (a - before) / (l->ages[k] - before);
            before = l->ages[k];
            added = l->added[k];
        }
        return INFINITY;
    }
    default:
        return v;
    }
}

static inline double book_newest(const book *b)
{
    double time = -INFINITY;
    for (size_t i = 0; i < b->count; i++) time = fmax(time, b->list[i].time);
    return time;
}

static inline double book_limit(const book *b, bool answer)
{
    const double negligible = b->s->negligible * TRACKS_SCALE;
    if (answer || b->s->discard == HF_DISCARD_NEGLIGIBLE) return negligible;
    const double t = (double)(b->own + 1);
    return fmin(negligible, b->s->discard == HF_DISCARD_LOG ? TRACKS_NOISE * fmax(1.0, log(t))
                                                            : b->s->discard_variance);
}

/* Variance of the site at `now`, infinite where it does not count; `power` 2 for the spread of
 * w-gp-ucb. */
static inline double book_site(const book *b, const reading *r, double now, double power)
{
    const hf_track_settings *s = b->s;
    const double age = fabs(now - r->time);
    double variance = r->noise, judged = variance;
    switch (s->method) {
    case HF_TRACK_R_GP_UCB:
        if (floor(now / s->window) != floor(r->time / s->window)) judged = INFINITY;
        break;
    case HF_TRACK_SW_GP_UCB:
        if (age >= s->window) judged = INFINITY;
        break;
    case HF_TRACK_TV_GP_UCB: {
        const double left = pow(1.0 - s->forgetting, age);
        judged = (TRACKS_SCALE * (1.0 - left) + variance) / left;
        break;
    }
    case HF_TRACK_W_GP_UCB:
        judged = variance * pow(s->forgetting, -age);
        variance *= pow(s->forgetting, -power * age);
        break;
    case HF_TRACK_GP_UCB:
        break;
    default:
        if (s->method == HF_TRACK_SPARQ && r->batch != 0 && r->batch != b->answered_batch)
            return INFINITY;
        judged = variance = book_law(&s->age, variance, age);
    }
    if (r->time >= book_newest(b)) return fmin(variance, 1e300);
    return judged > book_limit(b, r->batch != 0) ? INFINITY : variance;
}

static inline dense book_gather(const book *b, double now, double power)
{
    dense p = {.now = now,
               .eps = b->s->method == HF_TRACK_TV_GP_UCB ? b->s->forgetting : 0.0,
               .mean = b->s->mean_given ? b->s->mean : NAN};
    for (size_t i = 0; i < b->count; i++) {
        const double variance = book_site(b, &b->list[i], now, power);
        if (!isfinite(variance)) continue;
        p.x[p.n] = b->list[i].x;
        p.time[p.n] = b->list[i].time;
        p.target[p.n] = b->list[i].y;
        p.variance[p.n++] = variance;
    }
    return p;
}

static inline void book_add(book *b, double time, double x, double y, double noise, uint64_t batch)
{
    assert_true(b->count < DENSE_MOST);
    b->clock = b->count > 0 ? fmax(b->clock, time) : time;
    b->list[b->count++] = (reading){time, x, y, noise > 0.0 ? noise : TRACKS_NOISE, batch};
    b->own += batch == 0;
}

/* sparq-reuse: a fresh answer of a list of five or more, the newest, replaces older ones whose
 * correlation is 0.6. */
static inline void book_supersede(book *b, double x, uint64_t batch)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++) {
        const reading *r = &b->list[i];
        const double correlation = (double)dense_kernel(r->x, x) / TRACKS_SCALE;
        if (r->batch != 0 && r->batch < batch && correlation >= b->s->superseded) continue;
        b->list[kept++] = *r;
    }
    b->count = kept;
}

#endif
