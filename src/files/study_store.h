/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study_store.h
 * @brief The file of a study: a ledger (ledger.h) that several processes change in turn.
 */
#ifndef HFI_STUDY_STORE_H
#define HFI_STUDY_STORE_H

#include "store/ledger.h"
#include "study/study.h"

#include <holdfast/study_file.h>

/** An open file. */
typedef struct hfi_study_store {
    hfi_ledger *ledger;
    hf_study *study; /* that it belongs to; NULL: to none yet */
    double patience; /* seconds for the turn of others */
    bool grouped;    /* between hf_study_file_begin() and hf_study_file_end() */
} hfi_study_store;

/** With a ledger that is not open. NULL when out of memory, after a message. */
hfi_study_store *hfi_study_store_new(hf_context *ctx, const char *name);
/** Closes the file too. NULL is fine. */
void hfi_study_store_free(hfi_study_store *store);
/** The store of a study that has a file, else NULL. */
hfi_study_store *hfi_study_store_of(const hf_study *study);

/* ---- tables and settings (study_settings.c) -------------------------------------------------- */

/** Settings in meta, variable, level and outcome; kinds are those of events. */
extern const hfi_ledger_form hfi_study_form;

/** Everything but the journal into a database with tables. */
void hfi_study_write_settings(hfi_writer *w, const void *settings);
/** The other way round; what is wrong with them, hf_study_create() says. hfi_study_settings_free()
 * also after an error. */
hf_status hfi_study_read_settings(const hfi_reader *r, hf_study_settings *s);

/* ---- entries (study_events.c) ---------------------------------------------------------------- */

/** hfi_ledger_batch.pack; `events` are hfi_study_event. */
void hfi_study_pack(hfi_bytes *bytes, size_t i, hfi_entry *entry, const void *events);

/** Takes the event of entry k; an error ends the reading. `to` is the reading's user. */
typedef hf_status hfi_study_taker(hf_context *ctx, uint64_t k, const hfi_study_event *e, void *to);
/** Entries on their way to being events. */
typedef struct hfi_study_reading {
    hfi_ledger *ledger;
    hfi_study_taker *take;
    void *user;
} hfi_study_reading;
/** hfi_ledger_taker; `user` is an hfi_study_reading. */
hf_status hfi_study_take(hf_context *ctx, const hfi_entry *entry, void *user);
/** Whether the numbers of an event are such as a study of these outcomes tells. */
bool hfi_study_event_sound(const hf_study *study, const hfi_study_event *event);

/* ---- opening --------------------------------------------------------------------------------- */

/** The study that an open ledger holds, by hfi_ledger_load(). */
hf_status hfi_study_load(hf_context *ctx, const hfi_study_store *store, hf_study **out);

#endif
