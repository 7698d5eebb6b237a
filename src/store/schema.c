/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a model file, and the checksum over everything in them. */
#include "store/file.h"

static const hfi_file_table tables[] = {
    {"meta", "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value)",
     "SELECT key, value FROM meta WHERE key <> 'content_sha256' ORDER BY key"},
    {"feature",
     "CREATE TABLE feature (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, shift REAL NOT NULL, "
     "scale REAL NOT NULL)",
     "SELECT position, name, shift, scale FROM feature ORDER BY position"},
    {"parameter",
     "CREATE TABLE parameter (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, value REAL NOT "
     "NULL, lower REAL NOT NULL, upper REAL NOT NULL, held INTEGER NOT NULL, user_value REAL NOT NULL)",
     "SELECT position, name, value, lower, upper, held, user_value FROM parameter ORDER BY position"},
    {"array",
     "CREATE TABLE array (name TEXT PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, columns INTEGER NOT NULL, "
     "data BLOB NOT NULL)",
     "SELECT name, rows, columns, data FROM array ORDER BY name"},
    {"note", "CREATE TABLE note (position INTEGER PRIMARY KEY NOT NULL, text TEXT NOT NULL)",
     "SELECT position, text FROM note ORDER BY position"},
    {"output",
     "CREATE TABLE output (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, shift REAL NOT NULL, "
     "scale REAL NOT NULL, noise REAL NOT NULL, noise_held INTEGER NOT NULL)",
     "SELECT position, name, shift, scale, noise, noise_held FROM output ORDER BY position"},
    {"class",
     "CREATE TABLE class (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, rows INTEGER NOT NULL)",
     "SELECT position, name, rows FROM class ORDER BY position"},
};

hfi_file_tables hfi_model_tables(unsigned version)
{
    const size_t all = sizeof tables / sizeof tables[0];
    const size_t count = version < HFI_FORMAT_OUTPUTS   ? all - 2
                         : version < HFI_FORMAT_CLASSES ? all - 1
                                                        : all;
    return (hfi_file_tables){.count = count, .table = tables};
}

int hfi_tables_create(sqlite3 *db, const hfi_file_tables *list)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; i < list->count && rc == SQLITE_OK; i++)
        rc = sqlite3_exec(db, list->table[i].create, NULL, NULL, NULL);
    return rc;
}

bool hfi_tables_has(sqlite3 *db, const char *name, const char *create)
{
    sqlite3_stmt *statement = hfi_statement_row(
        db, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND tbl_name = ?1 AND sql = ?2",
        HFI_VALUES(hfi_text(name), hfi_text(create)));
    sqlite3_finalize(statement);
    return statement != NULL;
}

/* Entries beside the tables: only the indices SQLite makes for the two text keys, which have no text. */
static bool has_strangers(sqlite3 *db, size_t wanted)
{
    sqlite3_stmt *statement =
        hfi_statement_row(db,
                          "SELECT count(*) FROM sqlite_schema WHERE NOT (type = 'table' OR (type = 'index' "
                          "AND sql IS NULL)) UNION ALL SELECT count(*) FROM sqlite_schema WHERE type = "
                          "'table'",
                          0, NULL);
    const bool strangers = statement == NULL || sqlite3_column_int64(statement, 0) != 0 ||
                           sqlite3_step(statement) != SQLITE_ROW ||
                           sqlite3_column_int64(statement, 0) != (sqlite3_int64)wanted;
    sqlite3_finalize(statement);
    return strangers;
}

hf_status hfi_tables_check(hf_context *ctx, sqlite3 *db, const hfi_file_tables *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!hfi_tables_has(db, list->table[i].name, list->table[i].create))
            return hfi_fail(ctx, HF_ERR_MODEL_FILE,
                            "%s: damaged: table \"%s\" is missing or not as it should be", path,
                            list->table[i].name);
    }
    return HF_OK;
}

hf_status hfi_tables_check_count(hf_context *ctx, sqlite3 *db, size_t count, const char *noun,
                                 const char *path)
{
    if (!has_strangers(db, count)) return HF_OK;
    return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: it has tables, views or triggers that no %s has",
                    path, noun);
}

hf_status hfi_schema_check(hf_context *ctx, sqlite3 *db, unsigned version, const char *path)
{
    const hfi_file_tables list = hfi_model_tables(version);
    const hf_status status = hfi_tables_check(ctx, db, &list, path);
    return status < 0 ? status : hfi_tables_check_count(ctx, db, list.count, "model", path);
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

static int digest_table(sqlite3 *db, const hfi_file_table *table, hfi_sha256 *hash)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, table->select, -1, &statement, NULL);
    if (rc != SQLITE_OK) return rc;
    hfi_sha256_add_text(hash, table->name);
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
        for (int column = 0; column < sqlite3_column_count(statement); column++)
            digest_value(hash, statement, column);
    sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int hfi_tables_digest(sqlite3 *db, const hfi_file_tables *list, hfi_sha256 *hash)
{
    int rc = SQLITE_OK;
    hfi_sha256_init(hash);
    for (size_t i = 0; i < list->count && rc == SQLITE_OK; i++) rc = digest_table(db, &list->table[i], hash);
    return rc;
}

int hfi_tables_seal(sqlite3 *db, const hfi_file_tables *list)
{
    char hex[HFI_SHA256_HEX];
    hfi_sha256 hash;
    const int rc = hfi_tables_digest(db, list, &hash);
    if (rc != SQLITE_OK) return rc;
    hfi_sha256_hex(&hash, hex);
    return hfi_statement_run(db, "INSERT OR REPLACE INTO meta (key, value) VALUES ('content_sha256', ?1)",
                             HFI_VALUES(hfi_text(hex)));
}
