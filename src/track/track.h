/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track.h
 * @brief Internal face of the track room: what a track remembers, and the events that change it.
 *
 * A track is the sum of its events. Whatever a public function computes (weights, places, suggestions) ends in events; these are written to the journal, if there
 * is one, and only then applied to the memory. Applying computes nothing that is not exact bookkeeping, so that a journal played again gives the same track.
 */
#ifndef HFI_TRACK_H
#define HFI_TRACK_H

#include "core/core.h"
#include "kernel/kernel.h"
#include "posterior/posterior.h"
#include <holdfast/track.h>

/** Kinds of events. Numbers are in files: append only. */
typedef enum hfi_event_kind {
    HFI_EVENT_TOLD = 0,
    HFI_EVENT_ASKED,
    HFI_EVENT_REQUESTED,
    HFI_EVENT_ANSWERED,
    HFI_EVENT_TRUTH,
    HFI_EVENT_FITTED, /* values: kernel parameters (training scale), log noise, rate */
    HFI_EVENT_BATCH,  /* a list of requests was made for `time`, `id` of them; it comes before them */
    HFI_EVENTS
} hfi_event_kind;

/** One event. What a kind does not need is 0 (y, a, b, c) or NULL, and is kept all the same. */
typedef struct hfi_event {
    hfi_event_kind kind;
    uint64_t id; /* told, answered: of the reading; requested: of the request; batch: how many */
    uint64_t of; /* answered: the request */
    double time;
    double y;         /* told, answered: the reading; asked: upper bound; truth: value at the place taken */
    double a;         /* told, answered: noise variance; asked: mean; truth: best; requested: sd */
    double b;         /* told, answered: centre of the robust weight (NaN: Gaussian); asked: sd */
    double c;         /* told, answered: its threshold; asked: beta */
    size_t count;     /* entries of values */
    const double *values; /* told, asked, requested: the place (d); fitted: parameters */
} hfi_event;

/** Where events go before they happen. */
typedef struct hfi_journal {
    /** All of them or none, durable on return. HF_ERR_IO with a message: the track stays as it was. */
    hf_status (*append)(hf_context *ctx, void *user, size_t count, const hfi_event *events);
    void (*close)(void *user); /* with the track; no message, no context */
    void *user;
    const char *target; /* owned by `user` */
} hfi_journal;

/** The track takes over `journal` (copied); there must be none yet. NULL append: a track to look at, that refuses changes. */
void hfi_track_set_journal(hf_track *track, const hfi_journal *journal);
/** The journal, or NULL. */
const hfi_journal *hfi_track_journal(const hf_track *track);
/** Applies an event from a journal. HF_ERR_MODEL_FILE if it cannot follow those before (unknown request, wrong dimension, not finite where it must be). */
hf_status hfi_track_replay(hf_context *ctx, hf_track *track, const hfi_event *event);
/** After the last event: what is remembered between calls and follows from them. */
hf_status hfi_track_replayed(hf_context *ctx, hf_track *track);

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/** A reading, own or the expert's. */
typedef struct hfi_told {
    uint64_t id;
    double time;
    double y, noise;
    double target;   /* of its site at age 0 */
    double variance; /* of its site at age 0 */
    double weight;
    size_t place;
    uint64_t batch; /* answers: of requests; own readings: 0 */
} hfi_told;

/** A request without an answer, or an answered one of the newest batch. */
typedef struct hfi_asked {
    uint64_t id, batch;
    double time;
    double sd;
    size_t place;
    bool answered;
} hfi_asked;

/** Settings with their own memory. */
typedef struct hfi_track_own {
    hf_track_settings s; /* pointers into the members below */
    double *lower, *upper, *points, *ages, *added;
    char **names;
    char *kernel;
} hfi_track_own;

struct hf_track {
    hfi_memory memory;
    hfi_track_own own;
    hf_kernel *kernel;  /* of the domain's inputs */
    hf_kernel *in_time; /* tv-gp-ucb: of the inputs and the time; else NULL */
    double typical;     /* prior variance that `negligible` and jitter refer to */
    hfi_journal journal;
    bool journalled;

    size_t d;
    double *place; /* places x d */
    size_t *uses;  /* readings and requests that refer to each */
    uint64_t *seen; /* id of the newest reading there: when thinning */
    size_t places, place_room;
    size_t *slot; /* open-addressed table: number of a place + 1, or 0 */
    size_t slots; /* a power of two */

    hfi_told *told; /* held, in the order told */
    size_t held, told_room;
    hfi_asked *open;
    size_t opened, open_room;

    double clock;                 /* -inf while empty */
    double newest;                /* time of the newest reading of any kind; -inf while there is none */
    double batch_time;            /* of the newest list of requests; -inf before the first */
    uint64_t batch;               /* its number; 0 before the first */
    uint64_t next_reading, next_request;
    uint64_t own_told, asked, requested, answered, truths;
    double regret, regret_carry; /* compensated sum */

    double ask_time;   /* of the last suggestion; NaN: none since the last change */
    double *ask_place; /* d */
    hf_suggestion suggestion;
    double last_time;           /* of `last` */
    hf_posterior *last;         /* posterior at the last suggestion: centre of robust weights; or NULL */
    hf_workspace *last_space;
};

#endif
