/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ledger.h
 * @brief A ledger: a file with a journal of entries, which tracks and studies are kept in. It is a
 * SQLite database that is changed in place, documented in docs/model-format.md.
 *
 * The owner (a track, a study) is the sum of its entries. It says by an hfi_ledger_form which
 * tables its settings lie in and which kinds of entries there are, and packs each entry into bytes;
 * the ledger numbers entries, seals them as a chain, and keeps them through crashes.
 *
 *     hfi_ledger_new(), hfi_ledger_create() or hfi_ledger_open(), hfi_ledger_load()
 *     LOOK    hfi_ledger_catch_up() now and then
 *     OWN     hfi_ledger_append(); or hfi_ledger_begin(), several appends, hfi_ledger_end()
 *     SHARED  for each change: hfi_ledger_begin(), hfi_ledger_catch_up(), appends, hfi_ledger_end()
 *     hfi_ledger_close()
 *
 * Two locks. Whoever changes a file holds flock() of it: OWN for as long as the ledger lives,
 * SHARED between begin and end. That is what a second program waits for or is told of. SQLite's own
 * locks are held for as long as a transaction or a reading takes. Programs that only look therefore
 * never wait for a writer to end. Only what was opened for changes lets SQLite write, also to put
 * in order what a program left that was killed.
 *
 * SQLite's locks are of the process: it loses them when it closes any descriptor of the file, also
 * one that was opened for flock() alone. Descriptors of locks are therefore kept, and used again,
 * until nothing in this process has the file open (ledger_lock.c). For the same reason no other
 * part of a program may open and close a ledger's file while one is open in it. After fork() the
 * child opens files anew, and leaves alone what its parent had open.
 *
 * A rollback journal, not a write-ahead log: between two calls all is in one file, which can be
 * copied. A transaction is final when the header of its journal is zeroes on the disk (journal_mode
 * PERSIST with synchronous FULL, which waits for that; deleting the journal would be final only
 * once the folder is on the disk too, and takes three times as long). Closing deletes it. A
 * rollback journal that is none of ours is refused before SQLite sees it (database.h).
 *
 * Not thread-safe: one ledger belongs to one thread at a time. Different ones are independent, also
 * those of one file, which in one process exclude each other as those of different processes do.
 */
#ifndef HFI_LEDGER_H
#define HFI_LEDGER_H

#include "core/bytes.h"
#include "store/database.h"
#include "store/reader.h"
#include "store/writer.h"

enum {
    HFI_SEAL_BYTES = 16
};

/** Mark of an entry and of all entries before it: the first bytes of SHA-256 over the seal before
 * it and the entry. */
typedef struct hfi_seal {
    unsigned char bytes[HFI_SEAL_BYTES];
} hfi_seal;

/* ---- what an owner says about its files ----------------------------------------------------- */

/** How entries of a kind hang together when the newest are taken back. */
typedef enum hfi_entry_part {
    HFI_ENTRY_ALONE = 0,
    HFI_ENTRY_LIST,  /* begins a list: does not count, and goes with any entry of its list */
    HFI_ENTRY_AHEAD, /* belongs to the entry after it: does not count, and goes with it */
    HFI_ENTRY_LISTED /* belongs to the list before it: no cut is made between the two */
} hfi_entry_part;

typedef struct hfi_ledger_kind {
    const char *name; /* as it is in the file */
    hfi_entry_part part;
} hfi_ledger_kind;

/** Everything that differs between files of tracks and of studies. */
typedef struct hfi_ledger_form {
    const hfi_file_kind *file; /* marks and nouns; `newest` is the version with a snapshot */
    unsigned version;          /* without one */
    hfi_file_tables tables;    /* of the settings, which never change */
    size_t kinds;
    const hfi_ledger_kind *kind; /* their positions are what hfi_entry.kind counts */
    const char *payload;         /* what the column of the payload is called */
} hfi_ledger_form;

/* ---- an open ledger ------------------------------------------------------------------------- */

typedef enum hfi_ledger_use {
    HFI_LEDGER_LOOK = 0, /* changes nothing and locks nothing for longer than reading takes */
    HFI_LEDGER_OWN,      /* the only one to change it, for life */
    HFI_LEDGER_SHARED    /* one of several that take turns */
} hfi_ledger_use;

/** An entry. Handed in: `number` is not looked at. Handed out: `payload` is valid during the call.
 */
typedef struct hfi_entry {
    uint64_t number; /* 1, 2, ... without a gap */
    unsigned kind;   /* position in hfi_ledger_form.kind */
    uint64_t id, of;
    size_t bytes;
    const unsigned char *payload; /* may be NULL where there are no bytes */
} hfi_entry;

/** This process's part in the locks of a file (ledger_lock.c). All zero: none. */
typedef struct hfi_file_guard {
    struct hfi_guarded *file;
    struct hfi_guard_lock *lock; /* NULL: to look only */
    bool locked;
    int error; /* errno of the last try to lock that failed for another reason than somebody else */
} hfi_file_guard;

/** Owners read these and change none of them. */
typedef struct hfi_ledger {
    hfi_memory memory;
    const hfi_ledger_form *form;
    sqlite3 *db;
    hfi_two_names *files; /* through which db is on the disk; NULL: in memory */
    hfi_file_guard guard;
    hfi_ledger_use mode;
    char *name;       /* as the caller calls it, for messages */
    char *path;       /* as SQLite does; NULL: in memory */
    uint64_t entries; /* that were read or written here, or that a restored state covers */
    int64_t most;     /* entries with larger numbers are not looked at; INT64_MAX: all are */
    hfi_seal seal;    /* of the last one; of the settings while there is none */
    hfi_seal first;   /* of the settings */
    uint64_t covered; /* entries by the newest snapshot */
    bool ruined;      /* the snapshot disagrees with the journal: any other is better */
    bool held;        /* between hfi_ledger_begin() and hfi_ledger_end() */
    bool agreed;      /* and the file was seen to end where we do */
    bool added;       /* and entries were appended */
    bool behind;      /* what was held is lost: the owner is ahead of the file */
    double *number;   /* room for the numbers of an entry */
    size_t numbers;
} hfi_ledger;

/** All zero but memory, form, name and `most`. NULL when out of memory, after a message. */
hfi_ledger *hfi_ledger_new(hf_context *ctx, const hfi_ledger_form *form, const char *name);
/** Undoes a transaction that is open, deletes the rollback journal where nobody else is at work,
 * lets the locks go, and releases everything. NULL is fine. */
void hfi_ledger_close(hfi_ledger *ledger);

/** Writes the settings into the owner's tables (all but content_sha256), which are empty. Errors
 * stay in the writer. */
typedef void hfi_ledger_settings(hfi_writer *w, const void *user);
/**
 * A new file without entries, made in memory and there complete or not at all; then opened. Nothing
 * is to be loaded.
 *
 * HF_ERR_IO: `path` is there already (never overwritten), or cannot be made. HF_ERR_ARGUMENT:
 * `path` stands for standard output. HF_ERR_MEMORY. On an error no file is left.
 */
hf_status hfi_ledger_create(hf_context *ctx, hfi_ledger *ledger, const char *path,
                            hfi_ledger_settings *settings, const void *user, hfi_ledger_use as);
/**
 * Finds the file, locks it (OWN; waits half a second), opens it and looks at its marks. Work
 * that a killed program left half done is put in order, also to look only where the file may be
 * written.
 *
 * HF_ERR_IO: it cannot be read, or another program has it open for changes. HF_ERR_MODEL_FILE: it
 * is of another kind, or newer. hfi_ledger_load() reads it.
 */
hf_status hfi_ledger_open(hf_context *ctx, hfi_ledger *ledger, const char *path, hfi_ledger_use as);

/* ---- reading -------------------------------------------------------------------------------- */

/** Takes an entry; an error ends the reading, which returns it. */
typedef hf_status hfi_ledger_taker(hf_context *ctx, const hfi_entry *entry, void *user);

/** Duties of an owner. */
typedef struct hfi_ledger_owner {
    /** Reads the settings, whose checksum is right, and makes an owner without entries. Called
     * again when a state could not be restored: then it drops what it made before. */
    hf_status (*begin)(const hfi_reader *r, void *user);
    /** Takes a state over that an hfi_ledger_state made, of any bytes whatever. HF_ERR_MODEL_FILE:
     * it is none, or of another version; all entries are then taken instead. NULL: there are no
     * states. */
    hf_status (*restore)(hf_context *ctx, const unsigned char *state, size_t bytes, void *user);
    hfi_ledger_taker *take;
    /** After the last entry, with what the reading ended in: returns that, or makes an error of it,
     * and lowers *good where entries that were taken cannot stand without those that are missing.
     * NULL: nothing to say. */
    hf_status (*end)(hf_context *ctx, hf_status status, uint64_t *good, void *user);
    void *user;
} hfi_ledger_owner;

/**
 * The owner out of an open file as it is at one moment, whatever another program writes: settings,
 * then all entries in order, each checked against its seal, and their end against what the file
 * says it is. Where a snapshot agrees with the journal, its state is restored, and only the entries
 * after it are read. A transaction of its own, unless there is one.
 *
 * On an error the caller releases what there is of the owner. HF_ERR_MODEL_FILE names the entry
 * that is damaged; `entries` is how many are good before it. HF_ERR_IO, HF_ERR_MEMORY;
 * HF_ERR_CANCELLED by the progress callback (stage "open"). O(entries read); without a snapshot
 * O(file).
 */
hf_status hfi_ledger_load(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_owner *owner);
/** The same without the snapshot: all entries, and the whole database. */
hf_status hfi_ledger_verify(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_owner *owner);
/**
 * Hands out (`take`) the entries that others appended since, verified as by loading; `entries` and
 * `seal` move on with each that was taken. Between hfi_ledger_begin() and hfi_ledger_end() it is
 * then certain that the file ends where we do. O(new entries).
 *
 * HF_ERR_IO: what is here is not in the file any more, since entries were taken back: load it
 * again. Other errors as for loading.
 */
hf_status hfi_ledger_catch_up(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_owner *owner);
/** Hands out (`take`) all entries from the first, verified, and moves nothing. Errors as for
 * loading. */
hf_status hfi_ledger_each(hf_context *ctx, const hfi_ledger *ledger, const hfi_ledger_owner *owner);
/** For takers: room for `count` numbers of an entry, which is the ledger's, until the next one
 * asks. NULL after a message. */
double *hfi_ledger_numbers(hf_context *ctx, hfi_ledger *ledger, size_t count);
/** For takers: this entry's payload is not what its kind has, as HF_ERR_MODEL_FILE. */
hf_status hfi_ledger_damaged_entry(hf_context *ctx, const hfi_ledger *ledger, uint64_t number);
/** For takers: puts file and entry into the message of an error that lies in entry k, as
 * HF_ERR_MODEL_FILE; others pass. */
hf_status hfi_ledger_blame(hf_context *ctx, const hfi_ledger *ledger, uint64_t k, hf_status status);

/** For owners' `begin`: an owner that settings out of a file do not make, as HF_ERR_MODEL_FILE,
 * unless it is this machine that cannot. */
hf_status hfi_ledger_blame_settings(const hfi_reader *r, hf_status status);

/* ---- changes -------------------------------------------------------------------------------- */

/**
 * Calls up to hfi_ledger_end() are one change of the file, which has all of it or none.
 *
 * OWN: HF_ERR_IO when something else has changed the file. SHARED: others wait meanwhile, so be
 * quick; what they appended before is still to be caught up with.
 * @param seconds how long to wait for others (SHARED); the progress callback is asked meanwhile
 * (stage
 *                "wait") and can cancel
 *
 * HF_ERR_ARGUMENT: to look only, begun already, or behind. HF_ERR_IO: others took longer, or it
 * cannot be written. HF_ERR_CANCELLED. On an error nothing has begun.
 */
hf_status hfi_ledger_begin(hf_context *ctx, hfi_ledger *ledger, double seconds);
/**
 * Appends n entries: all of them or none. They are on the disk on return; within begin and end,
 * when hfi_ledger_end() returns. SHARED without a begin waits ten seconds for its turn.
 *
 * HF_ERR_IO (SHARED) when the file has entries that were not caught up with. Nothing is lost then:
 * catch up, and decide again what to append. HF_ERR_ARGUMENT: to look only. After another error
 * between begin and end nothing of that change is kept, and every further change is HF_ERR_ARGUMENT
 * until the owner is loaded again.
 */
hf_status hfi_ledger_append(hf_context *ctx, hfi_ledger *ledger, size_t n, const hfi_entry *entry);
/** Events that are still to be packed. */
typedef struct hfi_ledger_batch {
    size_t count;
    /** Adds the payload of event i to `bytes`, and says the entry's kind, id and of. */
    void (*pack)(hfi_bytes *bytes, size_t i, hfi_entry *entry, const void *events);
    const void *events;
} hfi_ledger_batch;
/** hfi_ledger_append() of events. */
hf_status hfi_ledger_append_all(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_batch *batch);
/**
 * The same as the last, or only, thing of a change that has begun: they are on the disk on return,
 * and the change has ended. After an error the caller ends it where it has not ended (`held`). If
 * nothing was appended before, the file is then as it was, and its owner, who has not taken the
 * entries, goes on.
 */
hf_status hfi_ledger_finish_all(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_batch *batch);
/**
 * Ends the change.
 * @param keep false: the file stays as it was. Where entries had been appended, their owner is now
 *             ahead of it and must be loaded again
 * HF_ERR_ARGUMENT: nothing was begun. HF_ERR_IO: nothing was kept.
 */
hf_status hfi_ledger_end(hf_context *ctx, hfi_ledger *ledger, bool keep);
/** HF_ERR_ARGUMENT when what was held is lost, with a message that says to open it again. */
hf_status hfi_ledger_check(hf_context *ctx, const hfi_ledger *ledger);

/**
 * Takes the newest entries back, as if they had never been, in one transaction. A list goes whole
 * or not at all. Entries that begin a list or belong to the next entry do not count. The entries
 * that stay are verified first; what goes may be damaged. A snapshot that covers entries that went
 * goes with them. 0 entries: only verifies. The ledger is one that was opened as OWN and not
 * loaded; it is of no further use.
 * @param removed how many went
 * HF_ERR_MODEL_FILE says how many would have to go. Other errors as for loading.
 */
hf_status hfi_ledger_undo(hf_context *ctx, hfi_ledger *ledger, uint64_t entries,
                          const hfi_ledger_owner *owner, uint64_t *removed);

/* ---- snapshots ------------------------------------------------------------------------------ */

/** Adds the owner's state to bytes, whose lack of memory is looked at later. Restored, it must be
 * to the bit the owner that all entries make. */
typedef void hfi_ledger_state(hfi_bytes *to, const void *user);
/**
 * Keeps the owner's state in the file, in a transaction of its own, when that is due: when the
 * entries since the last snapshot are 1000 or more, and half of what the owner holds or more.
 * Amortised O(1) for each entry where a state is as large as what is held.
 *
 * To be called after a change, or before one, with the owner as it is after `entries` of the
 * ledger; between begin and end nothing happens. Nothing is said of a failure: opening then takes
 * all entries again. SHARED: only when nobody else is changing the file.
 */
void hfi_ledger_snapshot(hfi_ledger *ledger, size_t held, hfi_ledger_state *make, const void *user);

/* ---- inside --------------------------------------------------------------------------------- */

/** The error as HF_ERR_IO, HF_ERR_MODEL_FILE or HF_ERR_MEMORY; `doing`: "read" or "written". */
hf_status hfi_ledger_failed(hf_context *ctx, const hfi_ledger *ledger, int rc, const char *doing);
/** Runs SQL without results. Extended SQLite result code. */
int hfi_ledger_execute(const hfi_ledger *ledger, const char *sql);
/** Prepares SQL in which %s stands for the name of the payload's column. SQLite result code. */
int hfi_ledger_prepare(const hfi_ledger *ledger, const char *sql, sqlite3_stmt **out);

/* Tables and checksums (ledger_schema.c). */

/** Creates the empty tables of the journal. SQLite result code. */
int hfi_ledger_schema_create(sqlite3 *db, const hfi_ledger_form *form);
/** Makes the table of a snapshot, which not every file has. */
extern const char hfi_ledger_snapshot_table[];
bool hfi_ledger_has_snapshot(sqlite3 *db);
/** HF_ERR_MODEL_FILE unless the database has exactly these tables, and perhaps a snapshot. */
hf_status hfi_ledger_schema_check(hf_context *ctx, sqlite3 *db, const hfi_ledger_form *form,
                                  const char *name);
/** SHA-256 over the settings; of its beginning, the first seal. SQLite result code. */
int hfi_ledger_settings_digest(sqlite3 *db, const hfi_ledger_form *form, char hex[HFI_SHA256_HEX],
                               hfi_seal *first);
/** The seal of an entry, whose number it has, after another seal; `kind` is its name. */
hfi_seal hfi_ledger_seal(const hfi_seal *before, const char *kind, const hfi_entry *entry);

/* Snapshots (ledger_snapshot.c). */

/** Restores the state of a snapshot that agrees with the journal, and moves to where it was made;
 * else *restored is false. Errors that are not the snapshot's. */
hf_status hfi_ledger_restore(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_owner *owner,
                             bool *restored);
/** Removes a snapshot that covers more than `entries`. SQLite result code. */
int hfi_ledger_drop_snapshot(const hfi_ledger *ledger);

/* Locks (ledger_lock.c). */

/** Counts this process in as one that has `path` open; `lock`: with a descriptor for flock().
 * Returns errno, or 0. */
int hfi_guard_enter(const char *path, bool lock, hfi_file_guard *guard);
/** Takes flock(), waiting up to `seconds`. HF_ERR_IO without a message: another one has it, or
 * `error` says why it cannot be had; HF_ERR_CANCELLED. */
hf_status hfi_guard_lock(hf_context *ctx, hfi_file_guard *guard, double seconds);
void hfi_guard_unlock(hfi_file_guard *guard);
/** After the database is closed. */
void hfi_guard_leave(hfi_file_guard *guard);

/* Opening (ledger_open.c). */

/** HF_ERR_IO for a rollback journal that SQLite must not see. */
hf_status hfi_ledger_check_rollback(hf_context *ctx, const hfi_ledger *ledger);
/** Whether looking failed since a program was killed in a change, which is still to be undone. */
bool hfi_ledger_is_left_over(int rc);
/** Undoes it, and opens the database anew. */
hf_status hfi_ledger_mend(hf_context *ctx, hfi_ledger *ledger);
/** The header, as bytes: HF_ERR_MODEL_FILE unless it is that of this kind of file. */
hf_status hfi_ledger_check_marks(hf_context *ctx, const hfi_ledger *ledger, bool and_length);
/** Bytes of the database. SQLite result code. */
int hfi_ledger_size(const hfi_ledger *ledger, sqlite3_int64 *size);

/* The end of the journal (ledger_head.c). */

/** Where the file says that its journal ends. HF_ERR_MODEL_FILE unless it says it once. */
hf_status hfi_ledger_head(hf_context *ctx, const hfi_ledger *ledger, uint64_t *end, hfi_seal *seal);
/** Seal of entry `number`, 0: that of the settings. *there: there is such an entry. SQLite result
 * code. */
int hfi_ledger_seal_at(const hfi_ledger *ledger, uint64_t number, hfi_seal *seal, bool *there);

#endif
