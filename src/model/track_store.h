/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track_store.h
 * @brief The file of a track: a SQLite database that is changed in place, documented in docs/model-format.md.
 *
 * Two locks. Whoever changes a track holds flock() of its file for as long as the track lives: that is what a second program is told. SQLite's own locks are held
 * for as long as a transaction or a reading takes, so that programs that only look never wait for a writer to end. Only a holder of the first lock lets SQLite
 * write, also to put in order what a program left that was killed.
 *
 * A rollback journal, not a write-ahead log: between two calls the track is one file, which can be copied. A transaction is final when the header of its journal is zeroes on the
 * disk (journal_mode PERSIST with synchronous FULL, which waits for that; deleting the journal would be final only once the folder is on the disk too, and takes three times as long).
 * Closing deletes it. A journal that is none of ours is refused before SQLite sees it (database.h).
 */
#ifndef HFI_TRACK_STORE_H
#define HFI_TRACK_STORE_H

#include "model/database.h"
#include "model/file_reader.h"
#include "model/file_writer.h"
#include "track/track.h"

#include <holdfast/track_file.h>

enum {
    HFI_SEAL_BYTES = 16,
    HFI_EVENT_NUMBERS = 5 /* of an entry, before its values: time, y, a, b, c */
};

/** What an entry, and with it all entries before it, is recognised by: the first bytes of SHA-256 over the seal before it and the entry. */
typedef struct hfi_seal {
    unsigned char bytes[HFI_SEAL_BYTES];
} hfi_seal;

/** An open file. */
typedef struct hfi_track_store {
    hfi_memory memory;
    sqlite3 *db;
    hfi_two_names *files; /* through which db is on the disk; NULL: in memory */
    int lock;             /* descriptor that holds the lock; -1: to look only */
    char *name;           /* as the caller calls it, for messages */
    char *target;         /* what is maximised or minimised */
    char **label;         /* of candidates; NULL: they have none */
    size_t labels;
    uint64_t entries; /* of the journal */
    int64_t most;     /* entries with larger numbers are not looked at; INT64_MAX: all are */
    hfi_seal seal;    /* of the last one; of the settings while there is none */
    hfi_seal first;   /* of the settings */
    bool held;        /* between hf_track_file_begin() and hf_track_file_end() */
    bool behind;      /* what was held is lost: the track is ahead of the file */
} hfi_track_store;

/** All zero but memory, name and lock. NULL when out of memory, after a message. */
hfi_track_store *hfi_track_store_new(hf_context *ctx, const char *name);
void hfi_track_store_free(hfi_track_store *store);
/** Copies target and labels. */
hf_status hfi_track_store_names(hf_context *ctx, hfi_track_store *store, const char *target, size_t labels,
                                const char *const *label);
/** The journal of a track with this store, which then owns it. */
hfi_event_journal hfi_track_store_journal(hfi_track_store *store, bool write);
/** The store of a track that has a file, else NULL. */
hfi_track_store *hfi_track_store_of(const hf_track *track);

/* ---- tables and checksums (track_schema.c) ------------------------------------------------------------------ */

/** Creates the empty tables. SQLite result code. */
int hfi_track_schema_create(sqlite3 *db);
/** HF_ERR_MODEL_FILE unless the database has exactly these tables. */
hf_status hfi_track_schema_check(hf_context *ctx, sqlite3 *db, const char *name);
/** SHA-256 over everything but the journal; of its beginning, the first seal. SQLite result code. */
int hfi_track_settings_digest(sqlite3 *db, char hex[HFI_SHA256_HEX], hfi_seal *first);
/** The seal of an entry after another one; `numbers` as they are in the file. */
hfi_seal hfi_track_seal(const hfi_seal *before, uint64_t number, const char *kind, uint64_t id, uint64_t of,
                        const void *numbers, size_t bytes);
/** Makes all checksums agree with what is there, as far as it is of the right types: for tests. SQLite result code. */
int hfi_track_seal_all(sqlite3 *db);
/** "told", "asked", ... */
extern const char *const hfi_event_names[HFI_EVENTS];

/* ---- settings (track_settings_write.c, track_settings_read.c) ------------------------------------------------- */

extern const hfi_file_field hfi_track_fields[];
extern const size_t hfi_track_field_count;

/** Settings with the names that go with them, as hf_track_create() and hf_track_file_create() are given them. */
typedef struct hfi_track_told {
    hf_track_settings settings; /* pointers into what follows */
    char *target, *kernel;
    char **names; /* of inputs, domain.dimension; or NULL */
    char **label; /* domain.candidates, or NULL */
    double *numbers;
} hfi_track_told;

/** Everything but the journal into a database with tables. */
void hfi_track_write_settings(hfi_writer *w, const hf_track_settings *settings, const char *target,
                              const char *const *labels);
/** The other way round; what is wrong with them, hf_track_create() says. */
hf_status hfi_track_read_settings(const hfi_reader *r, hfi_track_told *out);
void hfi_track_told_free(const hfi_memory *memory, hfi_track_told *told);

/* ---- entries (track_append.c, track_read.c) -------------------------------------------------------------------- */

/** hfi_event_journal.append; `user` is a store. */
hf_status hfi_track_append(hf_context *ctx, void *user, size_t count, const hfi_event *events);
/** What went wrong, as HF_ERR_IO or HF_ERR_MEMORY; `doing`: "read" or "written". */
hf_status hfi_track_sqlite_failed(hf_context *ctx, const hfi_track_store *store, int rc, const char *doing);

/** Takes an entry; an error ends the reading. */
typedef hf_status hfi_track_taker(hf_context *ctx, uint64_t number, const hfi_event *event, void *user);
/** Every entry in order, each checked against its seal, and, unless `most` of the store leaves some out, their end against what the file says it is; sets entries and seal of the store.
 * HF_ERR_MODEL_FILE names the entry that is damaged, and `entries` is how many are good before it. */
hf_status hfi_track_read_entries(hf_context *ctx, hfi_track_store *store, hfi_track_taker *take, void *user);

/* ---- opening (track_open.c) ------------------------------------------------------------------------------------- */

/** Locks the file (not to look only), opens it and looks at its marks. */
hf_status hfi_track_store_open(hf_context *ctx, hfi_track_store *store, const char *path, bool write);
/** The track that an open database holds, after as many entries as `most` of the store lets in; the store's names, entries and seals. In a transaction of its own, unless there is one. */
hf_status hfi_track_load(hf_context *ctx, hfi_track_store *store, hf_track **out);
/** Puts file and entry into the message of an error that lies in the entry, as HF_ERR_MODEL_FILE; others pass. */
hf_status hfi_track_in_entry(hf_context *ctx, const hfi_track_store *store, uint64_t number,
                             hf_status status);
/** The track of a database in memory: for the fuzzer. Takes any bytes whatever. */
hf_status hfi_track_from_bytes(hf_context *ctx, const unsigned char *bytes, size_t size, const char *name,
                               hf_track **out);

#endif
