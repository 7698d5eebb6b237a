/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* flock, realpath */
/* The file of a track is found, locked, opened, and looked at before anything in it is believed. */
#include "model/track_store.h"

#include "data/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    WAIT_STEPS = 25,
    WAIT_MILLISECONDS = 20,   /* together half a second for the lock of a track */
    BUSY_MILLISECONDS = 20000 /* for SQLite's locks, which nobody holds for longer than reading takes */
};

static hf_status unreadable(hf_context *ctx, const hfi_track_store *store, int error)
{
    char words[128];
    return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be opened: %s", store->name, hfi_error_text(error, words));
}

/* ---- the lock ------------------------------------------------------------------------------------------------- */

static void wait_a_little(void)
{
    const struct timespec time = {.tv_nsec = WAIT_MILLISECONDS * 1000000L};
    (void)nanosleep(&time, NULL);
}

static hf_status lock(hf_context *ctx, hfi_track_store *store, const char *path)
{
    store->lock = open(path, O_RDWR | O_CLOEXEC);
    if (store->lock < 0) return unreadable(ctx, store, errno);
    for (int k = 0; flock(store->lock, LOCK_EX | LOCK_NB) != 0; k++) {
        if (errno != EWOULDBLOCK && errno != EINTR) return unreadable(ctx, store, errno);
        if (k >= WAIT_STEPS)
            return hfi_fail(
                ctx, HF_ERR_IO,
                "%s: another program has it open for changes; wait until that has ended, or open it "
                "to look at only",
                store->name);
        wait_a_little();
    }
    return HF_OK;
}

/* ---- the database --------------------------------------------------------------------------------------------- */

/* A header that asks for a write-ahead log would have SQLite make files. */
static hf_status check_journal_kind(hf_context *ctx, const char *name, const unsigned char *bytes)
{
    return bytes[18] == 1 && bytes[19] == 1
               ? HF_OK
               : hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: it is not kept with a rollback journal",
                          name);
}

/* SQLite's file, read as bytes: the header before SQLite believes it. */
static hf_status check_marks(hf_context *ctx, const hfi_track_store *store, bool and_length)
{
    unsigned char bytes[512] = {0};
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    int rc = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc == SQLITE_OK && (file == NULL || file->pMethods == NULL)) rc = SQLITE_CANTOPEN;
    if (rc == SQLITE_OK) rc = file->pMethods->xFileSize(file, &size);
    const int known = size < (sqlite3_int64)sizeof bytes ? (int)size : (int)sizeof bytes;
    if (rc == SQLITE_OK && known > 0) rc = file->pMethods->xRead(file, bytes, known, 0);
    if (rc != SQLITE_OK) return hfi_track_sqlite_failed(ctx, store, rc, "read");
    hf_status status = hfi_file_marks(ctx, &hfi_kind_track, bytes, (size_t)known, store->name);
    if (status >= 0 && and_length)
        status = hfi_file_length(ctx, &hfi_kind_track, bytes, (size_t)size, store->name);
    return status >= 0 ? check_journal_kind(ctx, store->name, bytes) : status;
}

static int configure(const hfi_track_store *store, bool write)
{
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_MILLISECONDS);
    hfi_database_distrust(store->db);
    const int rc = sqlite3_exec(store->db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    if (rc != SQLITE_OK || !write) return rc;
    return sqlite3_exec(store->db, "PRAGMA journal_mode=PERSIST; PRAGMA synchronous=FULL", NULL, NULL, NULL);
}

static int connect(hfi_track_store *store, const char *path, bool write)
{
    return hfi_database_open(&store->memory, path, write, &store->db, &store->files);
}

static void disconnect(hfi_track_store *store)
{
    hfi_database_close(&store->db, &store->files);
}

/* SQLite plays back what lies there under the journal's name. */
static hf_status check_journal(hf_context *ctx, const hfi_track_store *store, const char *path)
{
    const char *fault = NULL;
    if (!hfi_journal_fault(&store->memory, path, &fault)) return hfi_out_of_memory(ctx);
    return fault == NULL
               ? HF_OK
               : hfi_fail(ctx, HF_ERR_IO,
                          "%s: cannot be opened: its journal, %s-journal, %s; no program of ours made it so: "
                          "move it away",
                          store->name, path, fault);
}

/* Rolls back what was under way, by SQLite's own means: a reading by one that may write. */
static hf_status roll_back(hf_context *ctx, hfi_track_store *store, const char *path)
{
    hf_status status = check_journal(ctx, store, path);
    if (status < 0) return status;
    int rc = connect(store, path, true);
    if (rc == SQLITE_OK) rc = configure(store, true);
    if (rc == SQLITE_OK) rc = sqlite3_exec(store->db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
    disconnect(store);
    return rc == SQLITE_OK ? HF_OK : hfi_track_sqlite_failed(ctx, store, rc, "read");
}

/* Looking does not write. What a program left that was killed in a transaction is put in order by one that may write: by us, if we may, or by the one that has the file open for changes just now. */
static hf_status put_in_order(hf_context *ctx, hfi_track_store *store, const char *path)
{
    disconnect(store);
    hf_status status = lock(ctx, store, path);
    const bool another = status < 0 && store->lock >= 0;
    if (status >= 0)
        status = roll_back(ctx, store, path);
    else if (!another)
        status = hfi_fail(ctx, HF_ERR_IO,
                          "%s: a program was killed while it changed it; open it once for changes, where it "
                          "and its folder may be written",
                          store->name);
    if (store->lock >= 0) close(store->lock);
    store->lock = -1;
    return another ? HF_OK : status;
}

static bool is_left_over(int rc)
{
    return rc == SQLITE_READONLY_ROLLBACK || rc == SQLITE_READONLY_CANTINIT || rc == SQLITE_READONLY_RECOVERY;
}

/* Open, marks, and a first reading, by which SQLite finds out whether somebody was killed. */
static hf_status open_database(hf_context *ctx, hfi_track_store *store, const char *path, bool write, int *rc)
{
    hf_status status = check_journal(ctx, store, path);
    if (status < 0) return status;
    *rc = connect(store, path, write);
    if (*rc != SQLITE_OK) return hfi_track_sqlite_failed(ctx, store, *rc, "opened");
    status = check_marks(ctx, store, false);
    if (status < 0) return status;
    *rc = configure(store, write);
    if (*rc == SQLITE_OK) *rc = sqlite3_exec(store->db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
    if (*rc != SQLITE_OK) *rc = sqlite3_extended_errcode(store->db);
    return *rc == SQLITE_OK ? HF_OK : hfi_track_sqlite_failed(ctx, store, *rc, "read");
}

hf_status hfi_track_store_open(hf_context *ctx, hfi_track_store *store, const char *path, bool write)
{
    struct stat about;
    char resolved[PATH_MAX]; /* a plain path for SQLite, whatever characters it is made of */
    if (stat(path, &about) != 0 || realpath(path, resolved) == NULL) return unreadable(ctx, store, errno);
    if (!S_ISREG(about.st_mode))
        return hfi_fail(ctx, HF_ERR_IO, "%s: it is %s, not a track's file", store->name,
                        S_ISDIR(about.st_mode) ? "a folder" : "a device or a pipe");
    hf_status status = write ? lock(ctx, store, resolved) : HF_OK;
    if (status < 0) return status;
    int rc = SQLITE_OK;
    status = open_database(ctx, store, resolved, write, &rc);
    if (status >= 0 || write || !is_left_over(rc)) return status;
    status = put_in_order(ctx, store, resolved);
    return status >= 0 ? open_database(ctx, store, resolved, write, &rc) : status;
}

/* ---- the track in it ------------------------------------------------------------------------------------------ */

static hf_status check_content(const hfi_reader *r, hfi_track_store *store)
{
    char *stored = NULL, hex[HFI_SHA256_HEX];
    hf_status status = hfi_reader_intact(r);
    if (status >= 0) status = hfi_track_schema_check(r->ctx, r->db, r->name);
    if (status >= 0) status = hfi_meta_text(r, "content_sha256", false, &stored);
    if (status >= 0 &&
        (hfi_track_settings_digest(r->db, hex, &store->first) != SQLITE_OK || strcmp(hex, stored) != 0))
        status = hfi_reader_damaged(r, "its settings do not match their checksum");
    hfi_memory_free(&r->memory, stored);
    return status;
}

hf_status hfi_track_in_entry(hf_context *ctx, const hfi_track_store *store, uint64_t number, hf_status status)
{
    char words[512];
    if (status != HF_ERR_MODEL_FILE && status != HF_ERR_ARGUMENT && status != HF_ERR_NOT_FINITE)
        return status;
    sqlite3_snprintf(sizeof words, words, "%s", hf_context_message(ctx));
    return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: entry %llu of its journal cannot be: %s",
                    store->name, (unsigned long long)number, words);
}

typedef struct replaying {
    const hfi_track_store *store;
    hf_track *track;
    uint64_t list;    /* entry that the newest list of requests begins with */
    uint64_t missing; /* its requests that are still to come */
} replaying;

static hf_status cut_short(hf_context *ctx, const replaying *r)
{
    const hf_status status =
        hfi_fail(ctx, HF_ERR_MODEL_FILE, "it is a list of requests, of which the last %llu do not follow",
                 (unsigned long long)r->missing);
    return hfi_track_in_entry(ctx, r->store, r->list, status);
}

/* A list of requests is written at once: nothing comes between its entries, and nothing cuts it short. */
static hf_status follow_list(hf_context *ctx, uint64_t number, const hfi_event *event, replaying *r)
{
    const bool requested = event->kind == HFI_EVENT_REQUESTED;
    if (r->missing > 0 && !requested) return cut_short(ctx, r);
    if (r->missing == 0 && requested)
        return hfi_track_in_entry(
            ctx, r->store, number,
            hfi_fail(ctx, HF_ERR_MODEL_FILE, "it is a request that is on no list of requests"));
    if (requested) r->missing--;
    if (event->kind == HFI_EVENT_BATCH) {
        r->list = number;
        r->missing = event->id;
    }
    return HF_OK;
}

static hf_status replay(hf_context *ctx, uint64_t number, const hfi_event *event, void *user)
{
    replaying *r = user;
    hf_status status = follow_list(ctx, number, event, r);
    if (status < 0) return status;
    status = hfi_track_replay(ctx, r->track, event);
    return status >= 0 ? status : hfi_track_in_entry(ctx, r->store, number, status);
}

static hf_status make_track(const hfi_reader *r, hfi_track_store *store, const hfi_track_told *told,
                            hf_track **out)
{
    hf_status status = hf_track_create(r->ctx, &told->settings, out);
    if (status == HF_ERR_MEMORY || status == HF_ERR_CANCELLED) return status;
    if (status < 0) {
        char words[512];
        sqlite3_snprintf(sizeof words, words, "%s", hf_context_message(r->ctx));
        return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: its settings make no track: %s", r->name,
                        words);
    }
    replaying to = {.store = store, .track = *out};
    status = hfi_track_read_entries(r->ctx, store, replay, &to);
    if (status >= 0 && to.missing > 0) status = cut_short(r->ctx, &to);
    if (status >= 0) return HF_OK;
    if (to.missing > 0) store->entries = to.list - 1;
    hf_track_free(*out);
    *out = NULL;
    return status;
}

static hf_status load(hfi_reader *r, hfi_track_store *store, hf_track **out)
{
    hfi_track_told told = {0};
    hf_status status = check_marks(r->ctx, store, true);
    if (status >= 0) status = check_content(r, store);
    if (status >= 0) status = hfi_track_read_settings(r, &told);
    if (status < 0) return status;
    status = hfi_track_store_names(r->ctx, store, told.target,
                                   told.label != NULL ? told.settings.domain.candidates : 0,
                                   (const char *const *)told.label);
    if (status >= 0) status = make_track(r, store, &told, out);
    hfi_track_told_free(&r->memory, &told);
    return status;
}

hf_status hfi_track_load(hf_context *ctx, hfi_track_store *store, hf_track **out)
{
    hfi_reader r = {.ctx = ctx,
                    .db = store->db,
                    .name = store->name,
                    .size = SIZE_MAX, /* known within the transaction */
                    .version = HFI_TRACK_VERSION,
                    .kind = &hfi_kind_track,
                    .memory = store->memory};
    /* All of it as it is at one moment, whatever another program writes. */
    const bool own = sqlite3_get_autocommit(store->db) != 0;
    int rc = sqlite3_exec(store->db, own ? "BEGIN; SELECT 1 FROM sqlite_schema" : "", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return hfi_track_sqlite_failed(ctx, store, sqlite3_extended_errcode(store->db), "read");
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
        file->pMethods->xFileSize(file, &size) == SQLITE_OK)
        r.size = (size_t)size;
    const hf_status status = load(&r, store, out);
    if (own) (void)sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
    return status;
}

hf_status hfi_track_from_bytes(hf_context *ctx, const unsigned char *bytes, size_t size, const char *name,
                               hf_track **out)
{
    hf_status status = hfi_file_marks(ctx, &hfi_kind_track, bytes, size, name);
    if (status >= 0) status = hfi_file_length(ctx, &hfi_kind_track, bytes, size, name);
    if (status >= 0) status = check_journal_kind(ctx, name, bytes);
    if (status < 0) return status;
    hfi_track_store *store = hfi_track_store_new(ctx, name);
    if (store == NULL) return HF_ERR_MEMORY;
    const int rc = hfi_image_open(&store->db, bytes, size);
    status =
        rc == SQLITE_OK ? hfi_track_load(ctx, store, out) : hfi_track_sqlite_failed(ctx, store, rc, "read");
    hfi_track_store_free(store);
    return status;
}

hf_status hf_track_file_open(hf_context *ctx, const char *path, bool write, hf_track **out)
{
    if (ctx == NULL || path == NULL || out == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_track_file_open: context, path and out must not be NULL");
    hfi_track_store *store = hfi_track_store_new(ctx, path);
    if (store == NULL) return HF_ERR_MEMORY;
    hf_track *track = NULL;
    hf_status status = hfi_track_store_open(ctx, store, path, write);
    if (status >= 0) status = hfi_track_load(ctx, store, &track);
    if (status < 0) {
        hfi_track_store_free(store);
        return status;
    }
    const hfi_event_journal journal = hfi_track_store_journal(store, write);
    hfi_track_set_journal(track, &journal);
    *out = track;
    return HF_OK;
}
