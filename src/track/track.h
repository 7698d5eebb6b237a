/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track.h
 * @brief Internal face of the track room: what a track remembers, and the events that change it.
 *
 * A track is the sum of its events. Whatever a public function computes (weights, places,
 * suggestions) ends in events; these are written to the journal, if there is one, and only then
 * applied to the memory. Applying computes nothing that is not exact bookkeeping, so that a journal
 * played again gives the same track.
 */
#ifndef HFI_TRACK_H
#define HFI_TRACK_H

#include "core/bytes.h"
#include "core/core.h"
#include "kernel/kernel.h"
#include "posterior/posterior.h"
#include <holdfast/track.h>
#include <math.h>

/** Kinds of events. Numbers are in files: append only. */
typedef enum hfi_event_kind {
    HFI_EVENT_TOLD = 0,
    HFI_EVENT_ASKED,
    HFI_EVENT_REQUESTED,
    HFI_EVENT_ANSWERED,
    HFI_EVENT_TRUTH,
    HFI_EVENT_FITTED, /* values: kernel parameters (training scale), log noise, rate */
    /* a list of requests was made for `time`, `id` of them; it comes before them */
    HFI_EVENT_BATCH,
    HFI_EVENTS
} hfi_event_kind;

/** One event. A member that a kind does not need is 0 (y, a, b, c) or NULL, and is kept all the
 * same. */
typedef struct hfi_event {
    hfi_event_kind kind;
    uint64_t id; /* told, answered: of the reading; requested: of the request; batch: how many */
    uint64_t of; /* answered: the request */
    double time;
    /* told, answered: the reading; asked: bound; truth: value at the place taken */
    double y;
    /* told, answered: noise variance; asked: mean; truth: best; requested: sd */
    double a;
    /* told, answered: centre of the robust weight (NaN: Gaussian); asked: sd */
    double b;
    double c;             /* told, answered: its threshold; asked: beta */
    size_t count;         /* entries of values */
    const double *values; /* told, asked, requested: the place (d); fitted: parameters */
} hfi_event;

/** Where events go before they happen. */
typedef struct hfi_event_journal {
    /** All of them or none, durable on return. HF_ERR_IO with a message: the track stays as it
     * was. */
    hf_status (*append)(hf_context *ctx, void *user, size_t count, const hfi_event *events);
    /** After events were applied; or NULL. No message. */
    void (*applied)(void *user, const hf_track *track);
    void (*close)(void *user); /* with the track; no message, no context */
    void *user;
    const char *target; /* owned by `user` */
} hfi_event_journal;

/** The track takes over `journal` (copied); there must be none yet. NULL append: a track to look
 * at, that refuses changes. */
void hfi_track_set_journal(hf_track *track, const hfi_event_journal *journal);
/** The journal, or NULL. */
const hfi_event_journal *hfi_track_journal(const hf_track *track);
/** Applies an event from a journal. HF_ERR_MODEL_FILE if it cannot follow those before (unknown
 * request, wrong dimension, not finite where it must be). */
hf_status hfi_track_replay(hf_context *ctx, hf_track *track, const hfi_event *event);

/* ---- memory ---------------------------------------------------------------------------------- */

/** A reading, own or the expert's. */
typedef struct hfi_told {
    uint64_t id;
    double time;
    double y, noise;
    double target;   /* of its site at age 0 */
    double variance; /* of its site at age 0 */
    double weight;
    /* hfi_track_last_horizon() of it: at that age it counts no longer, and never will again */
    double horizon;
    size_t place;
    uint64_t batch; /* answers: of requests; own readings: 0 */
} hfi_told;

/** A request that waits for its answer. */
typedef struct hfi_waiting {
    uint64_t id, batch;
    double time;
    double sd;
    size_t place;
} hfi_waiting;

/** Distinct places, numbered, found by their coordinates. */
typedef struct hfi_places {
    size_t d, count, room;
    double *x;    /* count x d */
    size_t *slot; /* open addressing: number + 1, or 0 */
    size_t slots; /* a power of two, more than 2 room */
} hfi_places;

/** Settings with their own memory. */
typedef struct hfi_track_own {
    hf_track_settings s; /* pointers into the members below */
    double *lower, *upper, *points, *ages, *added;
    char **names;
    char *kernel;
} hfi_track_own;

/** The moment that decides which readings count: track, time, the newest reading's time and the
 * step. */
typedef struct hfi_moment {
    const hf_track *track;
    double time, newest;
    uint64_t answered_batch;
    size_t step;
    bool squared;  /* w-gp-ucb: weights squared, for the spread */
    bool own_only; /* no answers: what will be there when new answers come (sparq) */
} hfi_moment;

/** Readings as they were at some moment; none before the first one. */
typedef struct hfi_snapshot {
    hfi_told *told;
    size_t count, room;
    hfi_moment moment;
} hfi_snapshot;

/** The newest readings for hf_track_fit(), counting or not: a ring. */
typedef struct hfi_recent {
    double *x; /* HFI_RECENT x d */
    double *time, *y, *noise, *weight;
    double *answer; /* 1 for an answer, 0 for an own reading */
    size_t count, next;
} hfi_recent;

enum {
    HFI_RECENT = 512
};

struct hf_track {
    hfi_memory memory;
    hfi_track_own own;
    hf_kernel *kernel; /* of the domain's inputs */
    double *theta;     /* its parameters as they were fitted last, on the training scale */
    bool fitted;
    double typical; /* prior variance that `negligible` refers to */
    hfi_event_journal journal;
    bool journalled;
    size_t d;

    hfi_places places;
    size_t thin_at; /* more places than this are too many */
    hfi_recent recent;
    hfi_told *told; /* held, in the order told */
    size_t held, told_room;
    hfi_waiting *open;
    size_t opened, open_room;

    double clock;      /* -inf while empty */
    double told_clock; /* the same without the questions that nothing has followed yet */
    double newest;     /* time of the newest reading; -inf while there is none */
    /* none can go before the clock less the asking horizon is here; 0 at first: too early */
    double ends;
    double batch_time;       /* of the newest list of requests; -inf before the first */
    uint64_t batch;          /* its number; 0 before the first */
    uint64_t answered_batch; /* newest with an answer */
    size_t batch_size;       /* of the newest */
    uint64_t own_told, asked, requested, answered, truths;
    double regret, regret_carry; /* compensated sum */

    bool asked_valid; /* nothing has changed since the last suggestion */
    double ask_time;
    double *ask_place; /* d */
    hf_suggestion suggestion;
    hf_status suggestion_status;

    hfi_snapshot before; /* what robust weights are centred by; only kept when they are asked for */
    hf_posterior *last;  /* its posterior, made when it is needed; or NULL */
    /* that of what is told now, at the clock: `last` when time goes on; or NULL */
    hf_posterior *ahead;
    double *point; /* d: a place on its way into an event */
};

/** Whether it is above zero and finite. */
static inline bool hfi_is_positive(double value)
{
    return value > 0.0 && isfinite(value);
}

/** Where the newest reading but k lies in the ring. */
static inline size_t hfi_recent_row(const hfi_recent *recent, size_t k)
{
    return (recent->next + HFI_RECENT - 1 - k) % HFI_RECENT;
}

/* ---- settings.c ------------------------------------------------------------------------------ */

/** A checked copy with nothing left to defaults. On error `own` is empty. */
hf_status hfi_track_own_settings(hf_context *ctx, const hf_track_settings *settings,
                                 hfi_track_own *own);
void hfi_track_own_free(const hfi_memory *memory, hfi_track_own *own);
/** Whether the method asks an expert. */
bool hfi_track_has_expert(const hf_track *track);

/* ---- places.c -------------------------------------------------------------------------------- */

hf_status hfi_places_init(hf_context *ctx, size_t d, hfi_places *places);
void hfi_places_free(const hfi_memory *memory, hfi_places *places);
/** Room for `more` further ones. HF_ERR_MEMORY without a message. */
hf_status hfi_places_reserve(const hfi_memory *memory, hfi_places *places, size_t more);
/** Whether there is a place at x. O(d). */
bool hfi_places_known(const hfi_places *places, const double *x);
/** Number of the place at x, a new one if it is not there; room must have been reserved. O(d). */
size_t hfi_places_at(hfi_places *places, const double *x);
/** Where there are more places than the settings allow, this lets those go that the others
 * determine best. Without an expert, or where he is asked anywhere, all go that are of no use. A
 * place that a reading or request is at never goes. Amortised O(most_places) a new place. Does
 * nothing when out of memory. */
void hfi_track_thin(hf_context *ctx, hf_track *track);

/* ---- counts.c: which readings count, and how much -------------------------------------------- */

hfi_moment hfi_track_moment(const hf_track *track, double time);
/** Variance of a reading's site at the moment; infinite: it does not count. The newest always
 * counts. */
double hfi_track_variance(const hfi_moment *moment, const hfi_told *told);
/** Largest age at which a reading of this site variance counts by the settings at whatever step is
 * to come, were it not the newest: what is dropped above noise log t may count again when t has
 * grown. */
double hfi_track_last_horizon(const hf_track *track, double variance, bool answer);
/** Where the clock stands for something told at a time: a question about a time to come has not
 * moved it for what is earlier. */
double hfi_track_clock_for(const hf_track *track, double time);
/** Advice in messages about a clock that is too late. */
#define HFI_CLOCK_HINT "; if the clock was told a wrong time, holdfast track undo takes that back"
/** How far behind the clock may be asked. */
double hfi_track_asking_horizon(const hf_track *track);
/** Variance of the track's age law; the variance itself for methods without one. */
double hfi_track_aged(const hf_track *track, double variance, double age);
/** tv-gp-ucb: the factor (1 - eps)^(age / 2) of a prior covariance; 1 for others. */
double hfi_track_fading(const hf_track *track, double age);

/* ---- solve.c --------------------------------------------------------------------------------- */

/** A posterior and what it was made of. */
typedef struct hfi_solved {
    hf_posterior *posterior;
    size_t readings, answers, places;
    double information, prior_mean, jitter;
} hfi_solved;
/** HF_ERR_NO_DATA when nothing counts. `out` is zero on error. */
hf_status hfi_track_solve(hf_context *ctx, const hfi_moment *moment, size_t count,
                          const hfi_told *told, hfi_solved *out);
/** beta of the settings at a step for a posterior of this information. */
double hfi_track_beta(const hf_track *track, size_t step, double information);

/* ---- ask.c ----------------------------------------------------------------------------------- */

/** HF_ERR_ARGUMENT for a time at which nothing that was told would count any more,
 * HF_ERR_NOT_FINITE. */
hf_status hfi_track_check_time(hf_context *ctx, const hf_track *track, double time);

/* ---- choose.c -------------------------------------------------------------------------------- */

/** Where the expert is to be asked: `chosen` places of `most` at the most (x: most x d), and the
 * latent sd at each before. */
hf_status hfi_track_choose(hf_context *ctx, hf_track *track, double time, size_t most, double *x,
                           double *sd, size_t *chosen);

/* ---- events.c -------------------------------------------------------------------------------- */

/** Journal first, then memory: all of the events, or none and an error. */
hf_status hfi_track_commit(hf_context *ctx, hf_track *track, size_t count, const hfi_event *events);
/** HF_ERR_ARGUMENT for a track that is open to look at only. */
hf_status hfi_track_writable(hf_context *ctx, const hf_track *track);

/* ---- fit.c ----------------------------------------------------------------------------------- */

/** hf_track_fit() from several noises and time scales; the highest evidence stays. Neither the
 * track's own noise nor its rate is where a search starts. Five times the cost. */
hf_status hfi_track_fit_cold(hf_context *ctx, hf_track *track);

/** Room for `count` further events, whatever they are. HF_ERR_MEMORY. */
hf_status hfi_track_reserve(hf_context *ctx, hf_track *track, size_t count);

/* ---- state.c --------------------------------------------------------------------------------- */

/** Adds what the track remembers to bytes: what its events made of its settings. O(held). */
void hfi_track_state(hfi_bytes *to, const hf_track *track);
/**
 * Puts that into a new track of the same settings, which then is to the bit the one that all events
 * make. HF_ERR_MODEL_FILE without a message: no such state, or of another version; HF_ERR_MEMORY.
 * After an error the track is good for nothing but hf_track_free(). O(held).
 */
hf_status hfi_track_restore(hf_context *ctx, hf_track *track, const void *state, size_t bytes);

/* ---- held.c ---------------------------------------------------------------------------------- */

/** Takes the snapshot that robust weights are centred by from now on: what is told as of now, at
 * `time`. Without robust weights nothing. */
void hfi_track_snapshot(hf_track *track, double time);
/** A reading was put into memory. */
void hfi_track_holds(hf_track *track, const hfi_told *told);
/** Readings that can count at no time that may still be asked about go. The newest may have gone
 * with a list that was replaced: then another one is. O(1) while all stay, O(held) after an answer,
 * which may replace others. */
void hfi_track_let_go(hf_track *track, bool answered);

/* ---- robust.c -------------------------------------------------------------------------------- */

/** Site of a reading at age 0 from its robust centre (NaN: Gaussian) and threshold. */
hf_status hfi_track_site(hf_context *ctx, double y, double noise, double centre, double threshold,
                         hfi_told *out);
/** Centre and threshold c, c^2 = k^2 (variance there + what the age law adds since + noise), of a
 * reading to come. NaN and infinity where there is no posterior to compare it with, or robust
 * weights are not asked for: a Gaussian site. The posterior is kept. */
hf_status hfi_track_centre(hf_context *ctx, hf_track *track, double time, const double *x,
                           double noise, double *centre, double *threshold);

/**
 * Places whose answers, each with this noise variance, leave the least variance on average: one
 * after another, each where it takes most off the sum over all places,
 *
 *     sum_i C_ip^2 / (C_pp + noise),        C := C - c_p c_p' / (C_pp + noise),
 *
 * until no variance exceeds `enough`, or there are `most`; then each in turn leaves the list for
 * where it takes more off, in two rounds at most. A place may come more than once.
 * @param covariance n x n, of f at the places; overwritten
 * @param place      `most` entries, `chosen` of them set
 * HF_ERR_MEMORY, HF_ERR_CANCELLED. O(n^2 most).
 */
hf_status hfi_survey_choose(hf_context *ctx, size_t n, double *covariance, double noise,
                            double enough, size_t most, size_t *place, size_t *chosen);

#endif
