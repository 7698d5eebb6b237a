/* SPDX-License-Identifier: Apache-2.0 */
/* A database being filled, and its bytes in a file. */
#include "store/writer.h"

#include "core/bytes.h"
#include "data/atomic_file.h"

#include <inttypes.h>

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
    if (w->rc == SQLITE_OK) w->rc = hfi_tables_create(w->db, &w->tables);
    w->meta = hfi_writer_prepare(w, "INSERT INTO meta (key, value) VALUES (?1, ?2)");
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
    sqlite3_finalize(w->meta);
    w->meta = NULL;
    if (w->rc == SQLITE_OK) w->rc = hfi_tables_seal(w->db, &w->tables);
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

void hfi_writer_out_of_memory(hfi_writer *w)
{
    w->rc = SQLITE_NOMEM;
}

void hfi_image_free(unsigned char *image)
{
    sqlite3_free(image);
}

hf_status hfi_writer_store(hf_context *ctx, const char *path, bool fresh, const unsigned char *bytes,
                           size_t size)
{
    hfi_file file;
    hf_status status = hfi_file_begin(ctx, path, &file);
    if (status >= 0) status = hfi_file_write(ctx, &file, bytes, size);
    if (status >= 0) status = fresh ? hfi_file_commit_new(ctx, &file) : hfi_file_commit(ctx, &file);
    hfi_file_abort(&file);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

sqlite3_stmt *hfi_writer_prepare(hfi_writer *w, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (w->rc == SQLITE_OK) w->rc = sqlite3_prepare_v2(w->db, sql, -1, &statement, NULL);
    return statement;
}

void hfi_writer_row(hfi_writer *w, sqlite3_stmt *statement, size_t count, const hfi_sql_value *values)
{
    if (w->rc == SQLITE_OK) w->rc = hfi_statement_bind(statement, count, values);
    if (w->rc == SQLITE_OK && sqlite3_step(statement) != SQLITE_DONE) w->rc = sqlite3_errcode(w->db);
    sqlite3_reset(statement);
}

void hfi_writer_insert(hfi_writer *w, const char *sql, size_t count, const hfi_sql_value *values)
{
    sqlite3_stmt *statement = hfi_writer_prepare(w, sql);
    hfi_writer_row(w, statement, count, values);
    sqlite3_finalize(statement);
}

void hfi_writer_meta(hfi_writer *w, const char *key, hfi_sql_value value)
{
    hfi_writer_row(w, w->meta, HFI_VALUES(hfi_text(key), value));
}

void hfi_writer_meta_seed(hfi_writer *w, const char *key, uint64_t seed)
{
    char text[32];
    (void)hfi_print(text, sizeof text, "%" PRIu64, seed);
    hfi_writer_meta(w, key, hfi_text(text));
}

/* ---- names and parameters -------------------------------------------------------------------- */

void hfi_writer_features(hfi_writer *w, size_t d, const char *const *names, const double *shift,
                         const double *scale)
{
    sqlite3_stmt *s =
        hfi_writer_prepare(w, "INSERT INTO feature (position, name, shift, scale) VALUES (?1, ?2, ?3, ?4)");
    for (size_t j = 0; j < d; j++)
        hfi_writer_row(w, s,
                       HFI_VALUES(hfi_whole(j), hfi_text(names[j]),
                                  hfi_number(shift != NULL ? shift[j] : 0.0),
                                  hfi_number(scale != NULL ? scale[j] : 1.0)));
    sqlite3_finalize(s);
}

void hfi_writer_parameters(hfi_writer *w, const hf_kernel *kernel, hfi_user_value *value, const void *of)
{
    sqlite3_stmt *s =
        hfi_writer_prepare(w, "INSERT INTO parameter (position, name, value, lower, upper, held, user_value) "
                              "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p = {0};
        if (hf_kernel_parameter(kernel, i, &p) < 0) w->rc = SQLITE_INTERNAL;
        hfi_writer_row(w, s,
                       HFI_VALUES(hfi_whole(i), hfi_text(p.name), hfi_number(p.value), hfi_number(p.lower),
                                  hfi_number(p.upper), hfi_whole(p.fixed ? 1 : 0),
                                  hfi_number(value != NULL ? value(of, i) : p.value)));
    }
    sqlite3_finalize(s);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Doubles as little-endian bytes, row by row. */
static void write_piece(hfi_writer *w, const char *name, size_t rows, size_t columns, const double *values)
{
    if (w->rc != SQLITE_OK) return;
    unsigned char *bytes = hfi_alloc_product(w->ctx, rows, columns, 8);
    if (bytes == NULL) {
        w->rc = SQLITE_NOMEM;
        return;
    }
    hfi_doubles_to_bytes(rows * columns, values, bytes);
    hfi_writer_insert(
        w, "INSERT INTO array (name, rows, columns, data) VALUES (?1, ?2, ?3, ?4)",
        HFI_VALUES(hfi_text(name), hfi_whole(rows), hfi_whole(columns), hfi_blob(bytes, 8 * rows * columns)));
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
