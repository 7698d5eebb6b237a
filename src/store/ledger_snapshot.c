/* SPDX-License-Identifier: Apache-2.0 */
/* The owner's state as it was after some entry, so that opening need not take all entries before it again.
 * Never more than a shortcut: whatever is wrong with it, the entries are there. */
#include "store/ledger.h"

#include <string.h>

enum {
    LEAST = 1000,          /* entries between two snapshots */
    MOST_BYTES = 500000000 /* of a state: SQLite's limit for a value is 10^9 */
};

static void digest(uint64_t number, const hfi_seal *seal, const unsigned char *state, size_t bytes,
                   unsigned char out[HFI_SHA256_BYTES])
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    hfi_sha256_add_u64(&hash, number);
    hfi_sha256_add(&hash, seal->bytes, HFI_SEAL_BYTES);
    hfi_sha256_add_u64(&hash, bytes);
    if (bytes > 0) hfi_sha256_add(&hash, state, bytes);
    hfi_sha256_end(&hash, out);
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* One that is open: `state` lives as long as the statement. */
typedef struct snapshot {
    sqlite3_stmt *row;
    uint64_t number;
    hfi_seal seal;
    const unsigned char *state;
    size_t bytes;
} snapshot;

/* The one row, whole and as its digest says. */
static bool read_snapshot(const hfi_ledger *ledger, snapshot *out)
{
    sqlite3_stmt *s = out->row =
        hfi_statement_row(ledger->db, "SELECT number, seal, state, sha256 FROM snapshot", 0, NULL);
    if (s == NULL || sqlite3_column_type(s, 0) != SQLITE_INTEGER || sqlite3_column_int64(s, 0) < 1 ||
        sqlite3_column_type(s, 1) != SQLITE_BLOB || sqlite3_column_bytes(s, 1) != HFI_SEAL_BYTES ||
        sqlite3_column_type(s, 2) != SQLITE_BLOB || sqlite3_column_type(s, 3) != SQLITE_BLOB ||
        sqlite3_column_bytes(s, 3) != HFI_SHA256_BYTES)
        return false;
    out->number = (uint64_t)sqlite3_column_int64(s, 0);
    memcpy(out->seal.bytes, sqlite3_column_blob(s, 1), HFI_SEAL_BYTES);
    out->state = sqlite3_column_blob(s, 2);
    out->bytes = (size_t)sqlite3_column_bytes(s, 2);
    if (out->state == NULL) out->bytes = 0;
    unsigned char made[HFI_SHA256_BYTES];
    digest(out->number, &out->seal, out->state, out->bytes, made);
    return memcmp(made, sqlite3_column_blob(s, 3), HFI_SHA256_BYTES) == 0;
}

/* The journal has that entry with that seal, and does not end before it. */
static bool agrees(hf_context *ctx, const hfi_ledger *ledger, const snapshot *s)
{
    uint64_t entries = 0;
    hfi_seal seal;
    bool there = false;
    return hfi_ledger_head(ctx, ledger, &entries, &seal) >= 0 && s->number <= entries &&
           hfi_ledger_seal_at(ledger, s->number, &seal, &there) == SQLITE_OK && there &&
           memcmp(seal.bytes, s->seal.bytes, HFI_SEAL_BYTES) == 0;
}

hf_status hfi_ledger_restore(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_owner *owner,
                             bool *restored)
{
    snapshot s = {0};
    hf_status status = read_snapshot(ledger, &s) && agrees(ctx, ledger, &s)
                           ? owner->restore(ctx, s.state, s.bytes, owner->user)
                           : HF_ERR_MODEL_FILE;
    sqlite3_finalize(s.row);
    *restored = status >= 0;
    ledger->ruined = !*restored;
    ledger->covered = *restored ? s.number : 0;
    if (*restored) {
        ledger->entries = s.number;
        ledger->seal = s.seal;
    }
    return status == HF_ERR_MODEL_FILE ? HF_OK : status;
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

static bool is_due(const hfi_ledger *ledger, size_t held)
{
    const uint64_t apart = held / 2 > LEAST ? held / 2 : LEAST;
    return ledger->entries > ledger->covered && ledger->entries - ledger->covered >= apart;
}

/* Entries that a snapshot in the file covers; 0: none, or none that is worth anything. */
static uint64_t covered_by_file(const hfi_ledger *ledger)
{
    if (ledger->ruined || !hfi_ledger_has_snapshot(ledger->db)) return 0;
    sqlite3_stmt *s = hfi_statement_row(ledger->db, "SELECT number FROM snapshot", 0, NULL);
    const sqlite3_int64 number = s != NULL ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return number > 0 ? (uint64_t)number : 0;
}

/* Files with a snapshot are of a version of their own: earlier readers know no such table. */
static int change_version(const hfi_ledger *ledger, const char *sql, unsigned version)
{
    char mark[64];
    sqlite3_snprintf(sizeof mark, mark, "PRAGMA user_version=%d", (int)version);
    const int rc = hfi_ledger_execute(ledger, sql);
    return rc == SQLITE_OK ? hfi_ledger_execute(ledger, mark) : rc;
}

static int make_table(const hfi_ledger *ledger)
{
    if (hfi_ledger_has_snapshot(ledger->db)) return hfi_ledger_execute(ledger, "DELETE FROM snapshot");
    return change_version(ledger, hfi_ledger_snapshot_table, ledger->form->file->newest);
}

static int write_snapshot(const hfi_ledger *ledger, const hfi_bytes *state)
{
    unsigned char made[HFI_SHA256_BYTES];
    digest(ledger->entries, &ledger->seal, state->data, state->count, made);
    const int rc = make_table(ledger);
    if (rc != SQLITE_OK) return rc;
    return hfi_statement_run(
        ledger->db, "INSERT INTO snapshot (position, number, seal, state, sha256) VALUES (0, ?1, ?2, ?3, ?4)",
        HFI_VALUES(hfi_whole(ledger->entries), hfi_blob(ledger->seal.bytes, HFI_SEAL_BYTES),
                   hfi_blob(state->data, state->count), hfi_blob(made, HFI_SHA256_BYTES)));
}

/* In a transaction: whether our last entry is the file's still, and no other process made a snapshot meanwhile. */
static bool is_wanted(hfi_ledger *ledger, size_t held)
{
    hfi_seal seal;
    bool there = false;
    if (hfi_ledger_seal_at(ledger, ledger->entries, &seal, &there) != SQLITE_OK || !there ||
        memcmp(seal.bytes, ledger->seal.bytes, HFI_SEAL_BYTES) != 0)
        return false;
    const uint64_t number = covered_by_file(ledger);
    if (number > ledger->covered) ledger->covered = number;
    return is_due(ledger, held);
}

static void take_snapshot(hfi_ledger *ledger, size_t held, hfi_ledger_state *make, const void *user)
{
    hfi_bytes bytes = {.memory = ledger->memory};
    int rc = hfi_ledger_execute(ledger, "BEGIN IMMEDIATE");
    if (rc == SQLITE_OK && is_wanted(ledger, held)) {
        make(&bytes, user);
        rc = bytes.failed || bytes.count > MOST_BYTES ? SQLITE_TOOBIG : write_snapshot(ledger, &bytes);
        if (rc == SQLITE_OK) rc = hfi_ledger_execute(ledger, "COMMIT");
        hfi_bytes_free(&bytes);
        ledger->covered = ledger->entries; /* also after a failure: not again at once */
        if (rc == SQLITE_OK) ledger->ruined = false;
    }
    if (!sqlite3_get_autocommit(ledger->db)) (void)hfi_ledger_execute(ledger, "ROLLBACK");
}

void hfi_ledger_snapshot(hfi_ledger *ledger, size_t held, hfi_ledger_state *make, const void *user)
{
    if (ledger->mode == HFI_LEDGER_LOOK || ledger->held || ledger->behind || !is_due(ledger, held)) return;
    const bool shared = ledger->mode == HFI_LEDGER_SHARED;
    if (shared && hfi_guard_lock(NULL, &ledger->guard, 0.0) < 0) return;
    take_snapshot(ledger, held, make, user);
    if (shared) hfi_guard_unlock(&ledger->guard);
}

/* ---- taking back ---------------------------------------------------------------------------------------------- */

int hfi_ledger_drop_snapshot(const hfi_ledger *ledger)
{
    if (!hfi_ledger_has_snapshot(ledger->db)) return SQLITE_OK;
    const uint64_t number = covered_by_file(ledger);
    if (number > 0 && number <= ledger->entries) return SQLITE_OK;
    return change_version(ledger, "DROP TABLE snapshot", ledger->form->version);
}
