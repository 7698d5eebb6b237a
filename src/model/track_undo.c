/* SPDX-License-Identifier: Apache-2.0 */
/* The newest entries of a track's file taken back. What stays is read and played first; what goes is only counted, and may be damaged. */
#include "model/track_store.h"

#include <inttypes.h>
#include <string.h>

static int execute(const hfi_track_store *store, const char *sql)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? SQLITE_OK
                                                                       : sqlite3_extended_errcode(store->db);
}

static bool is_kind(sqlite3_stmt *row, hfi_event_kind kind)
{
    const char *name = (const char *)sqlite3_column_text(row, 1);
    return name != NULL && strcmp(name, hfi_event_names[kind]) == 0;
}

/* A damaged tree can lead round in circles: before anything is counted, SQLite finds it intact. */
static hf_status check(hf_context *ctx, const hfi_track_store *store)
{
    const hfi_reader r = {.ctx = ctx, .db = store->db, .name = store->name, .kind = &hfi_kind_track};
    const hf_status status = hfi_reader_intact(&r);
    return status >= 0 ? hfi_track_schema_check(ctx, store->db, store->name) : status;
}

/* Where the journal is cut: the number of the entry that is the last to stay. Of a list of requests the head does not count, and goes with any of them. */
static int find_cut(const hfi_track_store *store, uint64_t entries, int64_t *last, uint64_t *count)
{
    sqlite3_stmt *s = NULL;
    int rc =
        sqlite3_prepare_v2(store->db, "SELECT number, kind FROM journal ORDER BY number DESC", -1, &s, NULL);
    bool in_list = false, found = false;
    *count = 0;
    *last = INT64_MIN;
    while (rc == SQLITE_OK && !found && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        const bool head = is_kind(s, HFI_EVENT_BATCH), requested = is_kind(s, HFI_EVENT_REQUESTED);
        found = *count >= entries && !(in_list && (head || requested));
        if (found) *last = sqlite3_column_int64(s, 0);
        if (!found && !head) (*count)++;
        in_list = requested;
        rc = SQLITE_OK;
    }
    if (rc != SQLITE_OK && rc != SQLITE_DONE) rc = sqlite3_extended_errcode(store->db);
    sqlite3_finalize(s);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* What of the damage is known: it goes with this many. */
static hf_status say_what_helps(hf_context *ctx, const hfi_track_store *store, uint64_t least)
{
    char words[512];
    uint64_t count = 0;
    sqlite3_stmt *s = NULL;
    sqlite3_snprintf(sizeof words, words, "%s", hf_context_message(ctx));
    int rc = sqlite3_prepare_v2(
        store->db, "SELECT count(*) FROM journal WHERE number > ?1 AND kind <> 'batch'", -1, &s, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(s, 1, (sqlite3_int64)store->entries);
    if (rc == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW) count = (uint64_t)sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    if (count < least) count = least;
    return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s; taking back the last %" PRIu64 " entr%s helps", words, count,
                    count == 1 ? "y" : "ies");
}

/* The track without what goes: it is made to see that it can be, and for the seal it ends with. */
static hf_status verify(hf_context *ctx, hfi_track_store *store, int64_t last, uint64_t count)
{
    hf_track *track = NULL;
    store->most = last;
    store->entries = UINT64_MAX; /* until the journal is reached */
    const hf_status status = hfi_track_load(ctx, store, &track);
    hf_track_free(track);
    if (status == HF_ERR_MODEL_FILE && store->entries != UINT64_MAX)
        return say_what_helps(ctx, store, count + 1);
    return status;
}

static int cut(const hfi_track_store *store)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(store->db, "DELETE FROM journal WHERE number > ?1", -1, &s, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(s, 1, (sqlite3_int64)store->entries);
    if (rc == SQLITE_OK && sqlite3_step(s) != SQLITE_DONE) rc = sqlite3_extended_errcode(store->db);
    sqlite3_finalize(s);
    /* A head that is missing, or more than one, is damage that goes too. */
    if (rc == SQLITE_OK) rc = execute(store, "DELETE FROM head");
    if (rc != SQLITE_OK) return rc;
    s = NULL;
    rc = sqlite3_prepare_v2(store->db, "INSERT INTO head (position, entries, seal) VALUES (0, ?1, ?2)", -1,
                            &s, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(s, 1, (sqlite3_int64)store->entries);
    if (rc == SQLITE_OK) rc = sqlite3_bind_blob(s, 2, store->seal.bytes, HFI_SEAL_BYTES, SQLITE_STATIC);
    if (rc == SQLITE_OK && sqlite3_step(s) != SQLITE_DONE) rc = sqlite3_extended_errcode(store->db);
    sqlite3_finalize(s);
    return rc;
}

/* In one transaction, which closing the store undoes where it was not committed. */
static hf_status take_back(hf_context *ctx, hfi_track_store *store, uint64_t entries, uint64_t *count)
{
    int64_t last = INT64_MAX;
    int rc = execute(store, "BEGIN IMMEDIATE");
    if (rc != SQLITE_OK) return hfi_track_sqlite_failed(ctx, store, rc, "written");
    hf_status status = check(ctx, store);
    if (status < 0) return status;
    *count = 0;
    if (entries > 0) rc = find_cut(store, entries, &last, count);
    if (rc != SQLITE_OK) return hfi_track_sqlite_failed(ctx, store, rc, "read");
    status = verify(ctx, store, last, *count);
    if (status < 0 || entries == 0) return status;
    rc = cut(store);
    if (rc == SQLITE_OK) rc = execute(store, "COMMIT");
    return rc == SQLITE_OK ? HF_OK : hfi_track_sqlite_failed(ctx, store, rc, "written");
}

hf_status hf_track_file_undo(hf_context *ctx, const char *path, uint64_t entries, uint64_t *removed)
{
    if (ctx == NULL || path == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_track_file_undo: context and path must not be NULL");
    hfi_track_store *store = hfi_track_store_new(ctx, path);
    if (store == NULL) return HF_ERR_MEMORY;
    uint64_t count = 0;
    hf_status status = hfi_track_store_open(ctx, store, path, true);
    if (status >= 0) status = take_back(ctx, store, entries, &count);
    hfi_track_store_free(store);
    if (status >= 0 && removed != NULL) *removed = count;
    return status;
}
