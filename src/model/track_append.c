/* SPDX-License-Identifier: Apache-2.0 */
/* What happened to a track into its file: one transaction, or one for many. */
#include "model/track_store.h"

#include <string.h>

hf_status hfi_track_sqlite_failed(hf_context *ctx, const hfi_track_store *store, int rc, const char *doing)
{
    const int plain = rc & 0xff;
    if (plain == SQLITE_NOMEM) return hfi_out_of_memory(ctx);
    if (plain == SQLITE_CORRUPT || plain == SQLITE_NOTADB)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: the database is not intact", store->name);
    if (rc == SQLITE_READONLY_DBMOVED)
        return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be %s: it was moved or replaced since it was opened",
                        store->name, doing);
    if (rc == SQLITE_READONLY_DIRECTORY)
        return hfi_fail(ctx, HF_ERR_IO,
                        "%s: cannot be %s: its folder is read-only, and a change keeps a journal there",
                        store->name, doing);
    if (plain == SQLITE_BUSY || plain == SQLITE_LOCKED)
        return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be %s: another program has been busy with it for long",
                        store->name, doing);
    if (plain == SQLITE_FULL || rc == SQLITE_IOERR_WRITE)
        return hfi_fail(ctx, HF_ERR_IO,
                        "%s: cannot be %s: the disk is full, or the file as large as is allowed", store->name,
                        doing);
    return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be %s: %s", store->name, doing, sqlite3_errstr(rc));
}

/* ---- one entry ------------------------------------------------------------------------------------------------ */

static void pack(unsigned char *out, size_t count, const double *numbers)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        for (unsigned b = 0; b < 8; b++) out[8 * i + b] = (unsigned char)(bits >> (8U * b));
    }
}

/* uint64_t as SQLite's int64_t, bit by bit. */
static sqlite3_int64 as_signed(uint64_t value)
{
    sqlite3_int64 same;
    memcpy(&same, &value, sizeof same);
    return same;
}

static int insert(hfi_track_store *store, sqlite3_stmt *s, const hfi_event *event, unsigned char *numbers,
                  uint64_t number, hfi_seal *seal)
{
    const double fixed[HFI_EVENT_NUMBERS] = {event->time, event->y, event->a, event->b, event->c};
    const size_t bytes = 8 * (HFI_EVENT_NUMBERS + event->count);
    const char *kind = hfi_event_names[event->kind];
    pack(numbers, HFI_EVENT_NUMBERS, fixed);
    pack(numbers + sizeof fixed, event->count, event->values);
    *seal = hfi_track_seal(seal, number, kind, event->id, event->of, numbers, bytes);
    int rc = sqlite3_bind_int64(s, 1, as_signed(number));
    if (rc == SQLITE_OK) rc = sqlite3_bind_text(s, 2, kind, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(s, 3, as_signed(event->id));
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(s, 4, as_signed(event->of));
    if (rc == SQLITE_OK) rc = sqlite3_bind_blob64(s, 5, numbers, bytes, SQLITE_STATIC);
    if (rc == SQLITE_OK) rc = sqlite3_bind_blob(s, 6, seal->bytes, HFI_SEAL_BYTES, SQLITE_STATIC);
    if (rc == SQLITE_OK && sqlite3_step(s) != SQLITE_DONE) rc = sqlite3_extended_errcode(store->db);
    sqlite3_reset(s);
    return rc;
}

static int insert_all(hf_context *ctx, hfi_track_store *store, size_t count, const hfi_event *events,
                      hfi_seal *seal)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++) most = events[i].count > most ? events[i].count : most;
    unsigned char *numbers = hfi_alloc(ctx, HFI_EVENT_NUMBERS + most, 8);
    if (numbers == NULL) return SQLITE_NOMEM;
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(store->db,
                                "INSERT INTO journal (number, kind, id, of, numbers, seal) VALUES (?1, ?2, "
                                "?3, ?4, ?5, ?6)",
                                -1, &s, NULL);
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++)
        rc = insert(store, s, &events[i], numbers, store->entries + i + 1, seal);
    sqlite3_finalize(s);
    hfi_free(ctx, numbers);
    return rc;
}

/* ---- the end of the journal ----------------------------------------------------------------------------------- */

/* SQLITE_OK if the journal of the file ends where ours does; SQLITE_ABORT if not. */
static int check_head(const hfi_track_store *store)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(store->db, "SELECT entries, seal FROM head", -1, &s, NULL);
    if (rc == SQLITE_OK && sqlite3_step(s) != SQLITE_ROW) {
        rc = sqlite3_extended_errcode(store->db);
        if (rc == SQLITE_OK || rc == SQLITE_DONE) rc = SQLITE_ABORT;
    } else if (rc == SQLITE_OK &&
               (sqlite3_column_int64(s, 0) != as_signed(store->entries) ||
                sqlite3_column_bytes(s, 1) != HFI_SEAL_BYTES ||
                memcmp(sqlite3_column_blob(s, 1), store->seal.bytes, HFI_SEAL_BYTES) != 0)) {
        rc = SQLITE_ABORT;
    }
    sqlite3_finalize(s);
    return rc;
}

static int move_head(hfi_track_store *store, uint64_t entries, const hfi_seal *seal)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(store->db, "UPDATE head SET entries = ?1, seal = ?2", -1, &s, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(s, 1, as_signed(entries));
    if (rc == SQLITE_OK) rc = sqlite3_bind_blob(s, 2, seal->bytes, HFI_SEAL_BYTES, SQLITE_STATIC);
    if (rc == SQLITE_OK && sqlite3_step(s) != SQLITE_DONE) rc = sqlite3_extended_errcode(store->db);
    sqlite3_finalize(s);
    return rc;
}

/* ---- transactions --------------------------------------------------------------------------------------------- */

static int execute(const hfi_track_store *store, const char *sql)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? SQLITE_OK
                                                                       : sqlite3_extended_errcode(store->db);
}

/* A writer that has the lock, and a file that ends where we think it does. */
static hf_status begin(hf_context *ctx, hfi_track_store *store)
{
    int moved = 0;
    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0)
        return hfi_track_sqlite_failed(ctx, store, SQLITE_READONLY_DBMOVED, "written");
    int rc = execute(store, "BEGIN IMMEDIATE");
    if (rc == SQLITE_OK) rc = check_head(store);
    if (rc == SQLITE_OK) return HF_OK;
    if (!sqlite3_get_autocommit(store->db)) (void)execute(store, "ROLLBACK");
    if (rc == SQLITE_ABORT)
        return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be written: something else has changed it; open it again",
                        store->name);
    return hfi_track_sqlite_failed(ctx, store, rc, "written");
}

static hf_status lost(hf_context *ctx, const hfi_track_store *store)
{
    return hfi_fail(ctx, HF_ERR_ARGUMENT,
                    "%s: some of what was told has not reached the file: open the track again", store->name);
}

hf_status hfi_track_append(hf_context *ctx, void *user, size_t count, const hfi_event *events)
{
    hfi_track_store *store = user;
    if (store->behind) return lost(ctx, store);
    hf_status status = store->held ? HF_OK : begin(ctx, store);
    if (status < 0) return status;
    hfi_seal seal = store->seal;
    int rc = insert_all(ctx, store, count, events, &seal);
    if (rc == SQLITE_OK) rc = move_head(store, store->entries + count, &seal);
    if (rc == SQLITE_OK && !store->held) rc = execute(store, "COMMIT");
    if (rc != SQLITE_OK) {
        status = hfi_track_sqlite_failed(ctx, store, rc, "written");
        store->behind = store->held;
        store->held = false;
        if (!sqlite3_get_autocommit(store->db)) (void)execute(store, "ROLLBACK");
        return status;
    }
    store->entries += count;
    store->seal = seal;
    return HF_OK;
}

hf_status hf_track_file_begin(hf_context *ctx, hf_track *track)
{
    hfi_track_store *store = hfi_track_store_of(track);
    if (store == NULL || store->lock < 0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_track_file_begin: %s",
                        store == NULL ? "the track has no file" : "the track is open to look at only");
    if (store->held) return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_track_file_begin: begun already");
    if (store->behind) return lost(ctx, store);
    const hf_status status = begin(ctx, store);
    store->held = status >= 0;
    return status;
}

hf_status hf_track_file_end(hf_context *ctx, hf_track *track, bool keep)
{
    hfi_track_store *store = hfi_track_store_of(track);
    if (store != NULL && store->behind && !keep) return HF_OK;
    if (store != NULL && store->behind) return lost(ctx, store);
    if (store == NULL || !store->held)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_track_file_end: there was no hf_track_file_begin()");
    const int rc = keep ? execute(store, "COMMIT") : SQLITE_OK;
    store->held = false;
    store->behind = !keep || rc != SQLITE_OK;
    const hf_status status = rc == SQLITE_OK ? HF_OK : hfi_track_sqlite_failed(ctx, store, rc, "written");
    if (!sqlite3_get_autocommit(store->db)) (void)execute(store, "ROLLBACK");
    return status;
}
