/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a track's file, and the checksums over them. */
#include "model/track_store.h"

#include <string.h>

const char *const hfi_event_names[HFI_EVENTS] = {"told",  "asked",  "requested", "answered",
                                                 "truth", "fitted", "batch"};

typedef struct table_text {
    const char *name, *create, *select; /* no select: not part of the settings */
} table_text;

static const table_text tables[] = {
    {"meta", "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value)",
     "SELECT key, value FROM meta WHERE key <> 'content_sha256' ORDER BY key"},
    {"input", "CREATE TABLE input (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL)",
     "SELECT position, name FROM input ORDER BY position"},
    {"candidate", "CREATE TABLE candidate (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL)",
     "SELECT position, name FROM candidate ORDER BY position"},
    {"array",
     "CREATE TABLE array (name TEXT PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, columns INTEGER NOT NULL, "
     "data BLOB NOT NULL)",
     "SELECT name, rows, columns, data FROM array ORDER BY name"},
    {"head",
     "CREATE TABLE head (position INTEGER PRIMARY KEY NOT NULL, entries INTEGER NOT NULL, seal BLOB NOT "
     "NULL)",
     NULL},
    {"journal",
     "CREATE TABLE journal (number INTEGER PRIMARY KEY NOT NULL, kind TEXT NOT NULL, id INTEGER NOT NULL, "
     "of INTEGER NOT NULL, numbers BLOB NOT NULL, seal BLOB NOT NULL)",
     NULL},
};

enum {
    TABLES = sizeof tables / sizeof tables[0]
};

int hfi_track_schema_create(sqlite3 *db)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; i < TABLES && rc == SQLITE_OK; i++)
        rc = sqlite3_exec(db, tables[i].create, NULL, NULL, NULL);
    return rc;
}

hf_status hfi_track_schema_check(hf_context *ctx, sqlite3 *db, const char *name)
{
    for (size_t i = 0; i < TABLES; i++) {
        if (!hfi_schema_has_table(db, tables[i].name, tables[i].create))
            return hfi_fail(ctx, HF_ERR_MODEL_FILE,
                            "%s: damaged: table \"%s\" is missing or not as it should be", name,
                            tables[i].name);
    }
    if (hfi_schema_has_strangers(db, TABLES))
        return hfi_fail(ctx, HF_ERR_MODEL_FILE,
                        "%s: damaged: it has tables, views or triggers that no track has", name);
    return HF_OK;
}

/* ---- checksums ------------------------------------------------------------------------------------------------ */

int hfi_track_settings_digest(sqlite3 *db, char hex[HFI_SHA256_HEX], hfi_seal *first)
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    int rc = SQLITE_OK;
    for (size_t i = 0; i < TABLES && rc == SQLITE_OK; i++)
        if (tables[i].select != NULL) rc = hfi_schema_hash(db, tables[i].name, tables[i].select, &hash);
    if (rc != SQLITE_OK) return rc;
    hfi_sha256 same = hash;
    unsigned char digest[HFI_SHA256_BYTES];
    hfi_sha256_hex(&hash, hex);
    hfi_sha256_end(&same, digest);
    memcpy(first->bytes, digest, HFI_SEAL_BYTES);
    return SQLITE_OK;
}

hfi_seal hfi_track_seal(const hfi_seal *before, uint64_t number, const char *kind, uint64_t id, uint64_t of,
                        const void *numbers, size_t bytes)
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    hfi_sha256_add(&hash, before->bytes, HFI_SEAL_BYTES);
    hfi_sha256_add_u64(&hash, number);
    hfi_sha256_add_text(&hash, kind);
    hfi_sha256_add_u64(&hash, id);
    hfi_sha256_add_u64(&hash, of);
    hfi_sha256_add_u64(&hash, bytes);
    hfi_sha256_add(&hash, numbers, bytes);
    unsigned char digest[HFI_SHA256_BYTES];
    hfi_sha256_end(&hash, digest);
    hfi_seal seal;
    memcpy(seal.bytes, digest, HFI_SEAL_BYTES);
    return seal;
}

/* ---- for tests ------------------------------------------------------------------------------------------------ */

static int store_digest(sqlite3 *db, hfi_seal *first)
{
    char hex[HFI_SHA256_HEX];
    int rc = hfi_track_settings_digest(db, hex, first);
    sqlite3_stmt *s = NULL;
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO meta (key, value) VALUES ('content_sha256', ?1)",
                                -1, &s, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_text(s, 1, hex, -1, SQLITE_TRANSIENT);
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

int hfi_track_seal_all(sqlite3 *db)
{
    hfi_seal seal;
    sqlite3_int64 entries = 0, last = 0;
    sqlite3_stmt *s = NULL;
    int rc = store_digest(db, &seal);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, "SELECT number, kind, id, of, numbers FROM journal ORDER BY number", -1,
                                &s, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        /* A damaged tree can lead round in circles. */
        if (entries > 0 && sqlite3_column_int64(s, 0) <= last) break;
        last = sqlite3_column_int64(s, 0);
        const char *kind = (const char *)sqlite3_column_text(s, 1);
        const void *numbers = sqlite3_column_blob(s, 4);
        seal = hfi_track_seal(&seal, (uint64_t)sqlite3_column_int64(s, 0), kind != NULL ? kind : "",
                              (uint64_t)sqlite3_column_int64(s, 2), (uint64_t)sqlite3_column_int64(s, 3),
                              numbers != NULL ? numbers : "", (size_t)sqlite3_column_bytes(s, 4));
        rc = store_seal(db, "UPDATE journal SET seal = ?2 WHERE number = ?1", sqlite3_column_int64(s, 0),
                        &seal);
        entries++;
    }
    sqlite3_finalize(s);
    if (rc != SQLITE_DONE) return rc == SQLITE_ROW ? SQLITE_CORRUPT : rc;
    return store_seal(db, "UPDATE head SET entries = ?1, seal = ?2", entries, &seal);
}
