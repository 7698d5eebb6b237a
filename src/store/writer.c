/* SPDX-License-Identifier: Apache-2.0 */
/* A database being filled, and its bytes in a file. */
#include "store/writer.h"

#include "data/atomic_file.h"
#include "store/database.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the database ---------------------------------------------------------------------------- */

void hfi_writer_begin(hfi_writer *w)
{
    char pragmas[128];
    w->rc = hfi_database_in_memory(&w->db);
    if (w->rc != SQLITE_OK) return;
    sqlite3_snprintf(sizeof pragmas, pragmas,
                     "PRAGMA encoding='UTF-8';PRAGMA application_id=%d;PRAGMA user_version=%d;BEGIN",
                     (int)w->kind->application, (int)w->version);
    w->rc = sqlite3_exec(w->db, pragmas, NULL, NULL, NULL);
    if (w->rc == SQLITE_OK) w->rc = hfi_schema_create(w->db, w->schema);
}

static hf_status sqlite_failure(hf_context *ctx, const char *noun, int rc)
{
    if (rc == SQLITE_NOMEM) return hfi_out_of_memory(ctx);
    if (rc == SQLITE_TOOBIG)
        return hfi_fail(ctx, HF_ERR_TOO_LARGE,
                        "the %s does not fit in a file: a row of one of its arrays exceeds 1 GB", noun);
    return hfi_fail(ctx, HF_ERR_INTERNAL, "the %s could not be written as a database: %s", noun,
                    sqlite3_errstr(rc));
}

hf_status hfi_writer_end(hfi_writer *w, unsigned char **image, size_t *size)
{
    if (w->rc == SQLITE_OK) w->rc = hfi_schema_seal(w->db, w->schema);
    if (w->rc == SQLITE_OK) w->rc = sqlite3_exec(w->db, "COMMIT", NULL, NULL, NULL);
    hf_status status = w->rc == SQLITE_OK ? HF_OK : sqlite_failure(w->ctx, w->kind->noun, w->rc);
    if (status >= 0) {
        sqlite3_int64 length = 0;
        unsigned char *bytes = sqlite3_serialize(w->db, "main", &length, 0);
        if (bytes == NULL) {
            status = hfi_out_of_memory(w->ctx);
        } else {
            *image = bytes;
            *size = (size_t)length;
        }
    }
    sqlite3_close(w->db);
    w->db = NULL;
    return status;
}

hf_status hfi_writer_store(hf_context *ctx, const char *path, const unsigned char *bytes, size_t size)
{
    hfi_file file;
    hf_status status = hfi_file_begin(ctx, path, &file);
    if (status >= 0) status = hfi_file_write(ctx, &file, bytes, size);
    if (status >= 0) status = hfi_file_commit(ctx, &file);
    hfi_file_abort(&file);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void hfi_writer_step(hfi_writer *w, sqlite3_stmt *statement)
{
    if (w->rc == SQLITE_OK && sqlite3_step(statement) != SQLITE_DONE) w->rc = sqlite3_errcode(w->db);
    sqlite3_reset(statement);
}

sqlite3_stmt *hfi_writer_prepare(hfi_writer *w, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (w->rc == SQLITE_OK) w->rc = sqlite3_prepare_v2(w->db, sql, -1, &statement, NULL);
    return statement;
}

void hfi_writer_bind_text(hfi_writer *w, sqlite3_stmt *statement, int at, const char *text)
{
    if (w->rc == SQLITE_OK)
        w->rc = text != NULL ? sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC)
                             : sqlite3_bind_null(statement, at);
}

void hfi_writer_bind_double(hfi_writer *w, sqlite3_stmt *statement, int at, double value)
{
    if (w->rc == SQLITE_OK) w->rc = sqlite3_bind_double(statement, at, value);
}

void hfi_writer_bind_size(hfi_writer *w, sqlite3_stmt *statement, int at, size_t value)
{
    if (w->rc == SQLITE_OK) w->rc = sqlite3_bind_int64(statement, at, (sqlite3_int64)value);
}

/* ---- meta ------------------------------------------------------------------------------------ */

void hfi_writer_meta_text(hfi_writer *w, sqlite3_stmt *statement, const char *key, const char *text)
{
    hfi_writer_bind_text(w, statement, 1, key);
    hfi_writer_bind_text(w, statement, 2, text);
    hfi_writer_step(w, statement);
}

void hfi_writer_meta_seed(hfi_writer *w, sqlite3_stmt *statement, const char *key, uint64_t seed)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, seed);
    hfi_writer_meta_text(w, statement, key, text);
}

void hfi_writer_meta_size(hfi_writer *w, sqlite3_stmt *statement, const char *key, size_t value)
{
    hfi_writer_bind_text(w, statement, 1, key);
    hfi_writer_bind_size(w, statement, 2, value);
    hfi_writer_step(w, statement);
}

void hfi_writer_meta_double(hfi_writer *w, sqlite3_stmt *statement, const char *key, double value)
{
    hfi_writer_bind_text(w, statement, 1, key);
    hfi_writer_bind_double(w, statement, 2, value);
    hfi_writer_step(w, statement);
}

/* ---- names and parameters -------------------------------------------------------------------- */

sqlite3_stmt *hfi_writer_features(hfi_writer *w)
{
    return hfi_writer_prepare(w,
                              "INSERT INTO feature (position, name, shift, scale) VALUES (?1, ?2, ?3, ?4)");
}

void hfi_writer_feature(hfi_writer *w, sqlite3_stmt *statement, size_t j, const char *name, double shift,
                        double scale)
{
    hfi_writer_bind_size(w, statement, 1, j);
    hfi_writer_bind_text(w, statement, 2, name);
    hfi_writer_bind_double(w, statement, 3, shift);
    hfi_writer_bind_double(w, statement, 4, scale);
    hfi_writer_step(w, statement);
}

sqlite3_stmt *hfi_writer_parameters(hfi_writer *w)
{
    return hfi_writer_prepare(w,
                              "INSERT INTO parameter (position, name, value, lower, upper, held, user_value) "
                              "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
}

void hfi_writer_parameter(hfi_writer *w, sqlite3_stmt *statement, const hf_kernel *kernel, size_t i,
                          double user_value)
{
    hf_parameter internal = {0};
    if (hf_kernel_parameter(kernel, i, &internal) < 0) w->rc = SQLITE_INTERNAL;
    hfi_writer_bind_size(w, statement, 1, i);
    hfi_writer_bind_text(w, statement, 2, internal.name);
    hfi_writer_bind_double(w, statement, 3, internal.value);
    hfi_writer_bind_double(w, statement, 4, internal.lower);
    hfi_writer_bind_double(w, statement, 5, internal.upper);
    hfi_writer_bind_size(w, statement, 6, internal.fixed ? 1 : 0);
    hfi_writer_bind_double(w, statement, 7, user_value);
    hfi_writer_step(w, statement);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Doubles as little-endian bytes, row by row. */
static void pack(unsigned char *out, size_t count, const double *values)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (unsigned b = 0; b < 8; b++) out[8 * i + b] = (unsigned char)(bits >> (8U * b));
    }
}

static void write_piece(hfi_writer *w, const char *name, size_t rows, size_t columns, const double *values)
{
    if (w->rc != SQLITE_OK) return;
    unsigned char *bytes = hfi_alloc_product(w->ctx, rows, columns, 8);
    if (bytes == NULL) {
        w->rc = SQLITE_NOMEM;
        return;
    }
    pack(bytes, rows * columns, values);
    sqlite3_stmt *statement =
        hfi_writer_prepare(w, "INSERT INTO array (name, rows, columns, data) VALUES (?1, ?2, ?3, ?4)");
    hfi_writer_bind_text(w, statement, 1, name);
    hfi_writer_bind_size(w, statement, 2, rows);
    hfi_writer_bind_size(w, statement, 3, columns);
    if (w->rc == SQLITE_OK)
        w->rc = sqlite3_bind_blob64(statement, 4, bytes, 8 * rows * columns, SQLITE_STATIC);
    hfi_writer_step(w, statement);
    sqlite3_finalize(statement);
    hfi_free(w->ctx, bytes);
}

void hfi_writer_array(hfi_writer *w, const char *name, size_t rows, size_t columns, const double *values)
{
    size_t most = columns > 0 ? w->piece / 8 / columns : rows;
    if (rows <= most || rows <= 1) {
        write_piece(w, name, rows, columns, values);
        return;
    }
    if (most == 0) most = 1;
    for (size_t first = 0, k = 0; first < rows; first += most, k++) {
        char numbered[64];
        sqlite3_snprintf(sizeof numbered, numbered, "%s/%llu", name, (unsigned long long)k);
        write_piece(w, numbered, rows - first < most ? rows - first : most, columns,
                    values + first * columns);
    }
}
