/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_content.h
 * @brief All that is in a database, to be compared: files differ in pages that carry nothing.
 */
#ifndef TESTS_MODEL_DATABASE_CONTENT_H
#define TESTS_MODEL_DATABASE_CONTENT_H

#include "data/support.h"

#include <sqlite3.h>
#include <sys/stat.h>

static inline void content_of_table(sqlite3 *db, const char *table, sqlite3_str *text)
{
    sqlite3_stmt *s = NULL;
    char *sql = sqlite3_mprintf("SELECT * FROM %s ORDER BY 1, 2", table);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        sqlite3_str_appendall(text, table);
        for (int k = 0; k < sqlite3_column_count(s); k++) {
            const unsigned char *bytes = sqlite3_column_blob(s, k);
            sqlite3_str_appendf(text, " %s:", sqlite3_column_type(s, k) == SQLITE_BLOB ? "x" : "t");
            for (int b = 0; b < sqlite3_column_bytes(s, k); b++)
                sqlite3_str_appendf(text, "%02x", bytes[b]);
        }
        sqlite3_str_appendchar(text, 1, '\n');
    }
    sqlite3_finalize(s);
    sqlite3_free(sql);
}

/* Every row of every table, as text to be freed by sqlite3_free(). */
static inline char *database_content(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    sqlite3_str *text = sqlite3_str_new(NULL);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1", -1,
                           &s, NULL),
        SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW)
        content_of_table(db, (const char *)sqlite3_column_text(s, 0), text);
    sqlite3_finalize(s);
    sqlite3_close(db);
    char *done = sqlite3_str_finish(text);
    assert_non_null(done);
    return done;
}

static inline void assert_content(const char *path, const char *expected)
{
    char *found = database_content(path);
    assert_string_equal(found, expected);
    sqlite3_free(found);
}

static inline void copy_file(const char *from, const char *to)
{
    struct stat about;
    assert_int_equal(stat(from, &about), 0);
    char *bytes = file_get(from);
    file_put(to, bytes, (size_t)about.st_size);
    free(bytes);
}

#endif
