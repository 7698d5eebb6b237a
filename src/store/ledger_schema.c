/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a ledger's file, and the checksums over them. */
#include "store/ledger.h"

#include <string.h>

static const char head_table[] =
    "CREATE TABLE head (position INTEGER PRIMARY KEY NOT NULL, entries INTEGER NOT NULL, seal BLOB NOT "
    "NULL)";

static void journal_table(const hfi_ledger_form *form, char text[256])
{
    sqlite3_snprintf(256, text,
                     "CREATE TABLE journal (number INTEGER PRIMARY KEY NOT NULL, kind TEXT NOT NULL, id "
                     "INTEGER NOT NULL, of INTEGER NOT NULL, %s BLOB NOT NULL, seal BLOB NOT NULL)",
                     form->payload);
}

int hfi_ledger_schema_create(sqlite3 *db, const hfi_ledger_form *form)
{
    char entries[256];
    journal_table(form, entries);
    int rc = SQLITE_OK;
    for (size_t i = 0; i < form->tables && rc == SQLITE_OK; i++)
        rc = sqlite3_exec(db, form->table[i].create, NULL, NULL, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_exec(db, head_table, NULL, NULL, NULL);
    return rc == SQLITE_OK ? sqlite3_exec(db, entries, NULL, NULL, NULL) : rc;
}

static hf_status check_table(hf_context *ctx, sqlite3 *db, const char *name, const char *table,
                             const char *create)
{
    return hfi_schema_has_table(db, table, create)
               ? HF_OK
               : hfi_fail(ctx, HF_ERR_MODEL_FILE,
                          "%s: damaged: table \"%s\" is missing or not as it should be", name, table);
}

hf_status hfi_ledger_schema_check(hf_context *ctx, sqlite3 *db, const hfi_ledger_form *form, const char *name)
{
    char entries[256];
    journal_table(form, entries);
    hf_status status = HF_OK;
    for (size_t i = 0; i < form->tables && status >= 0; i++)
        status = check_table(ctx, db, name, form->table[i].name, form->table[i].create);
    if (status >= 0) status = check_table(ctx, db, name, "head", head_table);
    if (status >= 0) status = check_table(ctx, db, name, "journal", entries);
    if (status < 0) return status;
    if (hfi_schema_has_strangers(db, form->tables + 2 + (hfi_ledger_has_snapshot(db) ? 1 : 0)))
        return hfi_fail(ctx, HF_ERR_MODEL_FILE,
                        "%s: damaged: it has tables, views or triggers that no %s has", name,
                        form->file->noun);
    return HF_OK;
}

/* ---- checksums ------------------------------------------------------------------------------------------------ */

int hfi_ledger_settings_digest(sqlite3 *db, const hfi_ledger_form *form, char hex[HFI_SHA256_HEX],
                               hfi_seal *first)
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    int rc = SQLITE_OK;
    for (size_t i = 0; i < form->tables && rc == SQLITE_OK; i++)
        rc = hfi_schema_hash(db, form->table[i].name, form->table[i].select, &hash);
    if (rc != SQLITE_OK) return rc;
    hfi_sha256 same = hash;
    unsigned char digest[HFI_SHA256_BYTES];
    hfi_sha256_hex(&hash, hex);
    hfi_sha256_end(&same, digest);
    memcpy(first->bytes, digest, HFI_SEAL_BYTES);
    return SQLITE_OK;
}

hfi_seal hfi_ledger_seal(const hfi_seal *before, const char *kind, const hfi_entry *entry)
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    hfi_sha256_add(&hash, before->bytes, HFI_SEAL_BYTES);
    hfi_sha256_add_u64(&hash, entry->number);
    hfi_sha256_add_text(&hash, kind);
    hfi_sha256_add_u64(&hash, entry->id);
    hfi_sha256_add_u64(&hash, entry->of);
    hfi_sha256_add_u64(&hash, entry->bytes);
    if (entry->bytes > 0) hfi_sha256_add(&hash, entry->payload, entry->bytes);
    unsigned char digest[HFI_SHA256_BYTES];
    hfi_sha256_end(&hash, digest);
    hfi_seal seal;
    memcpy(seal.bytes, digest, HFI_SEAL_BYTES);
    return seal;
}

/* ---- for tests ------------------------------------------------------------------------------------------------ */

static int store_digest(sqlite3 *db, const hfi_ledger_form *form, hfi_seal *first)
{
    char hex[HFI_SHA256_HEX];
    int rc = hfi_ledger_settings_digest(db, form, hex, first);
    sqlite3_stmt *s = NULL;
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO meta (key, value) VALUES ('content_sha256', ?1)",
                                -1, &s, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_text(s, 1, hex, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK && sqlite3_step(s) != SQLITE_DONE) rc = sqlite3_errcode(db);
    sqlite3_finalize(s);
    return rc;
}

static int store_seal(sqlite3 *db, const char *sql, sqlite3_int64 number, const hfi_seal *seal)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(s, 1, number);
    if (rc == SQLITE_OK) rc = sqlite3_bind_blob(s, 2, seal->bytes, HFI_SEAL_BYTES, SQLITE_STATIC);
    if (rc == SQLITE_OK && sqlite3_step(s) != SQLITE_DONE) rc = sqlite3_errcode(db);
    sqlite3_finalize(s);
    return rc;
}

int hfi_ledger_seal_all(sqlite3 *db, const hfi_ledger_form *form)
{
    hfi_seal seal;
    sqlite3_int64 entries = 0, last = 0;
    sqlite3_stmt *s = NULL;
    int rc = store_digest(db, form, &seal);
    const hfi_ledger here = {.db = db, .form = form};
    if (rc == SQLITE_OK)
        rc = hfi_ledger_prepare(&here, "SELECT number, kind, id, of, %s FROM journal ORDER BY number", &s);
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
    return rc == SQLITE_OK ? hfi_ledger_seal_snapshot(&here) : rc;
}
