/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a model file, and the checksum over everything in them. */
#include "store/file.h"

/* A table is recognised by its name and the exact text that made it: a file whose tables are views, virtual
 * tables or have triggers is not ours, whatever it would answer. */
typedef struct table_text {
    const char *name, *create, *select;
    unsigned since; /* format version that has it first */
} table_text;

/* `select` gives every column of every row, in an order that does not depend on how they were inserted. */
static const table_text tables[] = {
    {"meta", "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value)",
     "SELECT key, value FROM meta WHERE key <> 'content_sha256' ORDER BY key", 1},
    {"feature",
     "CREATE TABLE feature (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, shift REAL NOT NULL, "
     "scale REAL NOT NULL)",
     "SELECT position, name, shift, scale FROM feature ORDER BY position", 1},
    {"parameter",
     "CREATE TABLE parameter (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, value REAL NOT "
     "NULL, lower REAL NOT NULL, upper REAL NOT NULL, held INTEGER NOT NULL, user_value REAL NOT NULL)",
     "SELECT position, name, value, lower, upper, held, user_value FROM parameter ORDER BY position", 1},
    {"array",
     "CREATE TABLE array (name TEXT PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, columns INTEGER NOT NULL, "
     "data BLOB NOT NULL)",
     "SELECT name, rows, columns, data FROM array ORDER BY name", 1},
    {"note", "CREATE TABLE note (position INTEGER PRIMARY KEY NOT NULL, text TEXT NOT NULL)",
     "SELECT position, text FROM note ORDER BY position", 1},
    {"output",
     "CREATE TABLE output (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, shift REAL NOT NULL, "
     "scale REAL NOT NULL, noise REAL NOT NULL, noise_held INTEGER NOT NULL)",
     "SELECT position, name, shift, scale, noise, noise_held FROM output ORDER BY position", 3},
    {"class",
     "CREATE TABLE class (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, rows INTEGER NOT NULL)",
     "SELECT position, name, rows FROM class ORDER BY position", 4},
};

enum {
    TABLES = sizeof tables / sizeof tables[0]
};

/* The tables of a version come first in the list. */
static size_t count_tables(unsigned version)
{
    size_t count = 0;
    while (count < TABLES && tables[count].since <= version) count++;
    return count;
}

int hfi_schema_create(sqlite3 *db, unsigned version)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; i < count_tables(version) && rc == SQLITE_OK; i++)
        rc = sqlite3_exec(db, tables[i].create, NULL, NULL, NULL);
    return rc;
}

bool hfi_schema_has_table(sqlite3 *db, const char *name, const char *create)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;
    if (sqlite3_prepare_v2(
            db,
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND tbl_name = ?1 AND sql = ?2",
            -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_text(statement, 2, create, -1, SQLITE_STATIC) == SQLITE_OK)
        found = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return found;
}

/* Entries beside the tables: only the indices SQLite makes for the two text keys, which have no text. */
bool hfi_schema_has_strangers(sqlite3 *db, size_t wanted)
{
    sqlite3_stmt *statement = NULL;
    bool strangers = true;
    if (sqlite3_prepare_v2(
            db,
            "SELECT count(*) FROM sqlite_schema WHERE NOT (type = 'table' OR (type = 'index' AND sql IS "
            "NULL)) UNION ALL SELECT count(*) FROM sqlite_schema WHERE type = 'table'",
            -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0) == 0 &&
        sqlite3_step(statement) == SQLITE_ROW)
        strangers = sqlite3_column_int64(statement, 0) != (sqlite3_int64)wanted;
    sqlite3_finalize(statement);
    return strangers;
}

hf_status hfi_schema_check(hf_context *ctx, sqlite3 *db, unsigned version, const char *path)
{
    const size_t count = count_tables(version);
    for (size_t i = 0; i < count; i++) {
        if (!hfi_schema_has_table(db, tables[i].name, tables[i].create))
            return hfi_fail(ctx, HF_ERR_MODEL_FILE,
                            "%s: damaged: table \"%s\" is missing or not as it should be", path,
                            tables[i].name);
    }
    if (hfi_schema_has_strangers(db, count))
        return hfi_fail(ctx, HF_ERR_MODEL_FILE,
                        "%s: damaged: it has tables, views or triggers that no model has", path);
    return HF_OK;
}

/* Type, length where it varies, bytes: unambiguous, and easy to do again in any language. */
static void digest_value(hfi_sha256 *hash, sqlite3_stmt *statement, int column)
{
    static const char letters[] = {[SQLITE_INTEGER] = 'i',
                                   [SQLITE_FLOAT] = 'r',
                                   [SQLITE_TEXT] = 't',
                                   [SQLITE_BLOB] = 'b',
                                   [SQLITE_NULL] = 'n'};
    int type = sqlite3_column_type(statement, column);
    hfi_sha256_add(hash, &letters[type], 1);
    if (type == SQLITE_INTEGER) {
        hfi_sha256_add_u64(hash, (uint64_t)sqlite3_column_int64(statement, column));
    } else if (type == SQLITE_FLOAT) {
        hfi_sha256_add_double(hash, sqlite3_column_double(statement, column));
    } else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
        const void *bytes = type == SQLITE_TEXT ? (const void *)sqlite3_column_text(statement, column)
                                                : sqlite3_column_blob(statement, column);
        size_t length = (size_t)sqlite3_column_bytes(statement, column);
        hfi_sha256_add_u64(hash, length);
        if (bytes != NULL) hfi_sha256_add(hash, bytes, length);
    }
}

int hfi_schema_hash(sqlite3 *db, const char *name, const char *select, hfi_sha256 *hash)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, select, -1, &statement, NULL);
    if (rc != SQLITE_OK) return rc;
    hfi_sha256_add_text(hash, name);
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
        for (int column = 0; column < sqlite3_column_count(statement); column++)
            digest_value(hash, statement, column);
    sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int hfi_schema_digest(sqlite3 *db, unsigned version, char hex[HFI_SHA256_HEX])
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    int rc = SQLITE_OK;
    for (size_t i = 0; i < count_tables(version) && rc == SQLITE_OK; i++)
        rc = hfi_schema_hash(db, tables[i].name, tables[i].select, &hash);
    if (rc == SQLITE_OK) hfi_sha256_hex(&hash, hex);
    return rc;
}

int hfi_schema_seal(sqlite3 *db, unsigned version)
{
    char hex[HFI_SHA256_HEX];
    int rc = hfi_schema_digest(db, version, hex);
    if (rc != SQLITE_OK) return rc;
    sqlite3_stmt *statement = NULL;
    rc = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO meta (key, value) VALUES ('content_sha256', ?1)", -1,
                            &statement, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_text(statement, 1, hex, -1, SQLITE_TRANSIENT);
    if (rc == SQLITE_OK && sqlite3_step(statement) != SQLITE_DONE) rc = sqlite3_errcode(db);
    int finalized = sqlite3_finalize(statement);
    return rc == SQLITE_OK ? finalized : rc;
}
