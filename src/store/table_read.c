/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* realpath */
/* hf_table_read(): a table or a view of a database, or a file. It is here since only this room and those
 * below know SQLite. */
#include "core/settings.h"
#include "store/database.h"

#include "data/manner.h"
#include "data/table_impl.h"
#include "data/text.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ROWS_PER_PROGRESS = 4096,
    LIST_BYTES = 300
};

/* A table of a database under way. Fields become the text of a CSV file, which is read as any other. */
typedef struct dump {
    hf_context *ctx;
    const char *source; /* FILE:TABLE */
    const char *table;
    sqlite3 *db;
    char *text;
    size_t bytes, capacity;
    bool logged; /* it has a write-ahead log, by its header */
} dump;

/* ---- which it is ------------------------------------------------------------------------------------------- */

/* The first bytes of a database have a name, and behind it how it is written: 2 for a log. */
static bool is_database(const char *path, bool *logged)
{
    static const char magic[16] = "SQLite format 3";
    char head[20] = "";
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    const ssize_t got = read(descriptor, head, sizeof head);
    close(descriptor);
    *logged = head[18] == 2 || head[19] == 2;
    return got == (ssize_t)sizeof head && memcmp(head, magic, sizeof magic) == 0;
}

/* Splits "data.db:table" at the last colon behind which a name stands and before which a database lies.
 * False: it is a file. */
static bool split_name(char *path, const char **table, bool *logged)
{
    char *colon = strrchr(path, ':');
    if (colon == NULL || colon == path || colon[1] == '\0') return false;
    *colon = '\0';
    *table = colon + 1;
    return is_database(path, logged);
}

/* ---- text -------------------------------------------------------------------------------------------------- */

static hf_status put_dump_bytes(dump *d, const char *bytes, size_t count)
{
    if (d->bytes + count + 1 > d->capacity) {
        const size_t wanted = 2 * (d->bytes + count) + 4096;
        hf_status status = hfi_csv_must_fit(d->ctx, d->source, wanted);
        if (status != HF_OK) return status;
        char *larger = hfi_alloc_unset(d->ctx, wanted, 1);
        if (larger == NULL) return HF_ERR_MEMORY;
        if (d->bytes > 0) memcpy(larger, d->text, d->bytes);
        hfi_free(d->ctx, d->text);
        d->text = larger;
        d->capacity = wanted;
    }
    memcpy(d->text + d->bytes, bytes, count);
    d->bytes += count;
    return HF_OK;
}

static hf_status put_quoted(dump *d, const char *text, size_t length)
{
    hf_status status = put_dump_bytes(d, "\"", 1);
    for (size_t k = 0; k < length && status >= 0; k++)
        status = put_dump_bytes(d, text[k] == '"' ? "\"\"" : text + k, text[k] == '"' ? 2 : 1);
    return status < 0 ? status : put_dump_bytes(d, "\"", 1);
}

static hf_status put_field(dump *d, sqlite3_stmt *s, int column, size_t row)
{
    char number[32];
    const int type = sqlite3_column_type(s, column);
    if (type == SQLITE_NULL) return HF_OK;
    if (type == SQLITE_BLOB)
        return hfi_fail(d->ctx, HF_ERR_PARSE,
                        "%s: row %zu, column \"%s\": bytes (BLOB) are neither number nor text", d->source,
                        row, sqlite3_column_name(s, column));
    if (type == SQLITE_FLOAT) {
        hf_format_double(sqlite3_column_double(s, column), number);
        return put_dump_bytes(d, number, strlen(number));
    }
    const char *text = (const char *)sqlite3_column_text(s, column);
    const size_t length = (size_t)sqlite3_column_bytes(s, column);
    if (text == NULL) return hfi_out_of_memory(d->ctx);
    if (memchr(text, '\0', length) != NULL)
        return hfi_fail(d->ctx, HF_ERR_PARSE, "%s: row %zu, column \"%s\": a zero byte in a text", d->source,
                        row, sqlite3_column_name(s, column));
    return type == SQLITE_INTEGER ? put_dump_bytes(d, text, length) : put_quoted(d, text, length);
}

/* ---- the database ------------------------------------------------------------------------------------------ */

static hf_status cannot_read(const dump *d)
{
    const int code = sqlite3_errcode(d->db);
    if (code == SQLITE_INTERRUPT) return hfi_cancelled(d->ctx);
    if (code == SQLITE_AUTH)
        return hfi_fail(d->ctx, HF_ERR_IO,
                        "%s: the view does more than read tables and views, as one that recurses; write what "
                        "it gives to a table",
                        d->source);
    if (d->logged)
        return hfi_fail(
            d->ctx, HF_ERR_IO,
            "%s: the database keeps a write-ahead log, which may hold rows of it; end that first with the "
            "SQL \"PRAGMA journal_mode=DELETE\"",
            d->source);
    return hfi_fail(d->ctx, HF_ERR_IO, "%s: the database cannot be read: %s", d->source,
                    sqlite3_errmsg(d->db));
}

/* "a", "b", ...: the tables and views that there are. */
static void list_tables(const dump *d, char list[LIST_BYTES])
{
    sqlite3_stmt *s = NULL;
    size_t used = 0;
    *list = '\0';
    if (sqlite3_prepare_v2(
            d->db,
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' "
            "ORDER BY name",
            -1, &s, NULL) == SQLITE_OK)
        while (used + HFI_SHOWN_BYTES + 8 < LIST_BYTES && sqlite3_step(s) == SQLITE_ROW) {
            char shown[HFI_SHOWN_BYTES];
            const char *name = (const char *)sqlite3_column_text(s, 0);
            used += (size_t)hfi_print(list + used, LIST_BYTES - used, "%s\"%s\"", used > 0 ? ", " : "",
                                      hfi_text_shown(name != NULL ? name : "", shown));
        }
    sqlite3_finalize(s);
}

static int ask_of_view(void *arg)
{
    const dump *d = arg;
    return hfi_progress(d->ctx, "read", -1.0, NAN) ? 0 : 1;
}

/* A table or a view of that name. A stranger's view may compute for ever, and be interrupted. */
static hf_status find_table(dump *d)
{
    char list[LIST_BYTES];
    sqlite3_stmt *s = NULL;
    const int rc = hfi_statement_open(d->db,
                                      "SELECT type = 'view' FROM sqlite_schema WHERE type IN ('table', "
                                      "'view') AND name = ?1 COLLATE NOCASE",
                                      HFI_VALUES(hfi_text(d->table)), &s);
    const bool found = rc == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
    const bool view = found && sqlite3_column_int(s, 0) != 0;
    sqlite3_finalize(s);
    if (rc != SQLITE_OK) return cannot_read(d);
    if (view) hfi_database_views(d->db, ask_of_view, d);
    if (found) return HF_OK;
    list_tables(d, list);
    return hfi_fail(d->ctx, HF_ERR_NO_COLUMN,
                    "%s: the database has no table \"%s\"; its tables and views are: %s", d->source, d->table,
                    *list != '\0' ? list : "none");
}

static hf_status dump_rows(dump *d, sqlite3_stmt *s)
{
    const int columns = sqlite3_column_count(s);
    hf_status status = HF_OK;
    int rc = SQLITE_ROW;
    for (int j = 0; j < columns && status >= 0; j++) {
        const char *name = sqlite3_column_name(s, j);
        if (j > 0) status = put_dump_bytes(d, ",", 1);
        if (status >= 0)
            status = name != NULL ? put_quoted(d, name, strlen(name)) : hfi_out_of_memory(d->ctx);
    }
    for (size_t row = 1; status >= 0 && (rc = sqlite3_step(s)) == SQLITE_ROW; row++) {
        status = put_dump_bytes(d, "\n", 1);
        /* An empty line is no row: a lone empty field stands in quotes. */
        if (columns == 1 && status >= 0 && sqlite3_column_type(s, 0) == SQLITE_NULL)
            status = put_dump_bytes(d, "\"\"", 2);
        for (int j = 0; j < columns && status >= 0; j++) {
            if (j > 0) status = put_dump_bytes(d, ",", 1);
            if (status >= 0) status = put_field(d, s, j, row);
        }
        if (status >= 0 && row % ROWS_PER_PROGRESS == 0 && !hfi_progress(d->ctx, "read", -1.0, NAN))
            status = hfi_cancelled(d->ctx);
    }
    return status >= 0 && rc != SQLITE_DONE ? cannot_read(d) : status;
}

static hf_status dump_table(dump *d)
{
    sqlite3_stmt *s = NULL;
    hf_status status = find_table(d);
    if (status < 0) return status;
    char *query = sqlite3_mprintf("SELECT * FROM \"%w\"", d->table);
    if (query == NULL) return hfi_out_of_memory(d->ctx);
    const int rc = sqlite3_prepare_v2(d->db, query, -1, &s, NULL);
    sqlite3_free(query);
    status = rc == SQLITE_OK ? dump_rows(d, s) : cannot_read(d);
    sqlite3_finalize(s);
    return status;
}

/* The database as its owner left it, for reading alone. */
static hf_status open_database(dump *d, const char *path, hfi_two_names **files)
{
    const hfi_memory memory = hfi_context_memory(d->ctx);
    char *full = realpath(path, NULL);
    if (full == NULL) return hfi_fail(d->ctx, HF_ERR_IO, "%s: the database cannot be found", d->source);
    const int rc = hfi_database_open(&memory, full, false, &d->db, files);
    free(full);
    if (rc == SQLITE_NOMEM) return hfi_out_of_memory(d->ctx);
    if (rc != SQLITE_OK) return cannot_read(d);
    hfi_database_distrust(d->db);
    return HF_OK;
}

static hf_status read_database(dump d, const char *path, const hf_dialect *dialect, hf_table **out)
{
    hf_context *ctx = d.ctx;
    hf_dialect own;
    hfi_two_names *files = NULL;
    hfi_manner *manner = NULL;
    hf_status status = hfi_settings_take(ctx, hf_dialect_table(), dialect, &own);
    own.header = HF_HEADER_YES;
    if (status >= 0) status = open_database(&d, path, &files);
    if (status >= 0) status = dump_table(&d);
    hfi_database_close(&d.db, &files);
    if (status >= 0) status = hfi_manner_make(ctx, &own, &manner);
    if (status < 0) {
        hfi_free(ctx, d.text);
        return status;
    }
    return hfi_csv_take_as(ctx, d.text, d.bytes, d.source, manner, out);
}

hf_status hf_table_read(hf_context *ctx, const char *path, const hf_dialect *dialect, hf_table **out)
{
    if (out != NULL) *out = NULL;
    if (path == NULL || out == NULL) return hfi_refuse(ctx, "hf_table_read: path or out is NULL");
    const hfi_memory memory = hfi_context_memory(ctx);
    char *copy = hfi_memory_strdup(&memory, path);
    if (copy == NULL) return hfi_out_of_memory(ctx);
    dump d = {.ctx = ctx, .source = path};
    /* A file of the very name is that file. */
    const bool database = access(path, F_OK) != 0 && split_name(copy, &d.table, &d.logged);
    const hf_status status =
        database ? read_database(d, copy, dialect, out) : hfi_table_read_file(ctx, path, dialect, out);
    hfi_memory_free(&memory, copy);
    return status;
}
