/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track_store.h
 * @brief The file of a track: a ledger (ledger.h) of what happened to it.
 */
#ifndef HFI_TRACK_STORE_H
#define HFI_TRACK_STORE_H

#include "store/ledger.h"
#include "track/track.h"

#include <holdfast/track_file.h>

enum {
    HFI_EVENT_NUMBERS = 5 /* of an entry, before its values: time, y, a, b, c */
};

/** An open file. */
typedef struct hfi_track_store {
    hfi_ledger *ledger;
    char *target; /* what is maximised or minimised */
    char **label; /* of candidates; NULL: they have none */
    size_t labels;
} hfi_track_store;

/** With a ledger that is not open. NULL when out of memory, after a message. */
hfi_track_store *hfi_track_store_new(hf_context *ctx, const char *name);
/** Closes the file too. */
void hfi_track_store_free(hfi_track_store *store);
/** The store of a track that has a file, else NULL. */
hfi_track_store *hfi_track_store_of(const hf_track *track);

/* ---- tables and settings (track_settings.c) -------------------------------------------------- */

/** Settings in meta, input, candidate and array; kinds are those of events. */
extern const hfi_ledger_form hfi_track_form;

/** Everything but the journal into a database with tables. */
void hfi_track_write_settings(hfi_writer *w, const hf_track_settings *settings, const char *target,
                              const char *const *labels);
/** The other way round, with target and labels into the store; what is wrong with them,
 * hf_track_create() says. On error there is nothing to free. */
hf_status hfi_track_read_settings(const hfi_reader *r, hfi_track_store *store, hfi_track_own *out);

/* ---- entries (track_events.c) ---------------------------------------------------------------- */

/** hfi_event_journal.append; `user` is a store. */
hf_status hfi_track_append(hf_context *ctx, void *user, size_t count, const hfi_event *events);

/** Takes an event; an error ends the reading. */
typedef hf_status hfi_track_taker(hf_context *ctx, uint64_t number, const hfi_event *event,
                                  void *user);
/** Entries on their way to being events. */
typedef struct hfi_track_reading {
    hfi_track_store *store;
    hfi_track_taker *take;
    void *user;
} hfi_track_reading;
/** hfi_ledger_taker; `user` is an hfi_track_reading. */
hf_status hfi_track_take(hf_context *ctx, const hfi_entry *entry, void *user);
/** Every event in order, as hfi_ledger_each(). */
hf_status hfi_track_read_entries(hf_context *ctx, hfi_track_store *store, hfi_track_taker *take,
                                 void *user);

/* ---- opening --------------------------------------------------------------------------------- */

/** The track that an open ledger holds, and the store's names, by hfi_ledger_load(). */
hf_status hfi_track_load(hf_context *ctx, hfi_track_store *store, hf_track **out);

#endif
