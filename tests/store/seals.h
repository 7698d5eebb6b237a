/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file seals.h
 * @brief Checksums of a ledger, made to agree with what is there: so that damage gets past them.
 *
 * All return result codes of SQLite.
 */
#ifndef HF_TESTS_STORE_SEALS_H
#define HF_TESTS_STORE_SEALS_H

#include "store/ledger.h"

#include <string.h>

/* SHA-256 over number, seal, and length and bytes of the state of a row of `snapshot`, if all are
 * there. */
static inline bool digest_snapshot(sqlite3_stmt *row, unsigned char out[HFI_SHA256_BYTES])
{
    hfi_sha256 hash;
    const size_t bytes = (size_t)sqlite3_column_bytes(row, 2);
    if (sqlite3_column_int64(row, 0) < 1 || sqlite3_column_bytes(row, 1) != HFI_SEAL_BYTES ||
        bytes == 0)
        return false;
    hfi_sha256_init(&hash);
    hfi_sha256_add_u64(&hash, (uint64_t)sqlite3_column_int64(row, 0));
    hfi_sha256_add(&hash, sqlite3_column_blob(row, 1), HFI_SEAL_BYTES);
    hfi_sha256_add_u64(&hash, bytes);
    hfi_sha256_add(&hash, sqlite3_column_blob(row, 2), bytes);
    hfi_sha256_end(&hash, out);
    return true;
}

/** Seal and digest of a snapshot, if there is one. */
static inline int seal_snapshot(sqlite3 *db)
{
    unsigned char made[HFI_SHA256_BYTES];
    sqlite3_stmt *s = NULL;
    if (!hfi_ledger_has_snapshot(db)) return SQLITE_OK;
    int rc = sqlite3_exec(db,
                          "UPDATE snapshot SET seal = coalesce((SELECT seal FROM journal WHERE "
                          "journal.number = snapshot.number), seal)",
                          NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, "SELECT number, seal, state FROM snapshot", -1, &s, NULL);
    if (rc != SQLITE_OK) return rc;
    const bool whole = sqlite3_step(s) == SQLITE_ROW && digest_snapshot(s, made);
    sqlite3_finalize(s);
    if (!whole) return SQLITE_OK; /* nothing that could be made to agree */
    rc = sqlite3_prepare_v2(db, "UPDATE snapshot SET sha256 = ?1", -1, &s, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_blob(s, 1, made, HFI_SHA256_BYTES, SQLITE_STATIC);
    if (rc == SQLITE_OK && sqlite3_step(s) != SQLITE_DONE) rc = sqlite3_extended_errcode(db);
    sqlite3_finalize(s);
    return rc;
}

static inline int store_digest(sqlite3 *db, const hfi_ledger_form *form, hfi_seal *first)
{
    char hex[HFI_SHA256_HEX];
    int rc = hfi_ledger_settings_digest(db, form, hex, first);
    sqlite3_stmt *s = NULL;
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(
            db, "INSERT OR REPLACE INTO meta (key, value) VALUES ('content_sha256', ?1)", -1, &s,
            NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_text(s, 1, hex, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK && sqlite3_step(s) != SQLITE_DONE) rc = sqlite3_errcode(db);
    sqlite3_finalize(s);
    return rc;
}

static inline int store_seal(sqlite3 *db, const char *sql, sqlite3_int64 number,
                             const hfi_seal *seal)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(s, 1, number);
    if (rc == SQLITE_OK) rc = sqlite3_bind_blob(s, 2, seal->bytes, HFI_SEAL_BYTES, SQLITE_STATIC);
    if (rc == SQLITE_OK && sqlite3_step(s) != SQLITE_DONE) rc = sqlite3_errcode(db);
    sqlite3_finalize(s);
    return rc;
}

/** All checksums, as far as what is there is of the right types. */
static inline int seal_ledger(sqlite3 *db, const hfi_ledger_form *form)
{
    hfi_seal seal;
    sqlite3_int64 entries = 0, last = 0;
    sqlite3_stmt *s = NULL;
    int rc = store_digest(db, form, &seal);
    const hfi_ledger here = {.db = db, .form = form};
    if (rc == SQLITE_OK)
        rc = hfi_ledger_prepare(&here,
                                "SELECT number, kind, id, of, %s FROM journal ORDER BY number", &s);
    while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        /* A damaged tree can lead round in circles. */
        if (entries > 0 && sqlite3_column_int64(s, 0) <= last) break;
        last = sqlite3_column_int64(s, 0);
        const char *kind = (const char *)sqlite3_column_text(s, 1);
        const void *payload = sqlite3_column_blob(s, 4);
        const hfi_entry entry = {.number = (uint64_t)last,
                                 .id = (uint64_t)sqlite3_column_int64(s, 2),
                                 .of = (uint64_t)sqlite3_column_int64(s, 3),
                                 .bytes = payload != NULL ? (size_t)sqlite3_column_bytes(s, 4) : 0,
                                 .payload = payload};
        seal = hfi_ledger_seal(&seal, kind != NULL ? kind : "", &entry);
        rc = store_seal(db, "UPDATE journal SET seal = ?2 WHERE number = ?1", last, &seal);
        entries++;
    }
    sqlite3_finalize(s);
    if (rc != SQLITE_DONE) return rc == SQLITE_ROW ? SQLITE_CORRUPT : rc;
    rc = store_seal(db, "UPDATE head SET entries = ?1, seal = ?2", entries, &seal);
    return rc == SQLITE_OK ? seal_snapshot(db) : rc;
}

#endif
