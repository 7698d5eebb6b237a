/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a file to a model, believing nothing. */
#include "model/file_reader.h"

#include "data/text.h"

#include <math.h>
#include <string.h>

hf_status hfi_reader_damaged(const hfi_reader *r, const char *what)
{
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: %s", r->name, what);
}

bool hfi_reader_has_room(const hfi_reader *r, size_t rows, size_t columns)
{
    return rows == 0 || columns <= r->size / sizeof(double) / rows;
}

/* ---- before SQLite sees it --------------------------------------------------------------------------------
 */

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3];
}

static bool looks_like_text(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size && i < 512; i++)
        if (bytes[i] < 32 && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\t') return false;
    return size > 0;
}

/* The database header (100 bytes) says what the file is, which format it has, and how long it must be. */
static hf_status check_header(hf_context *ctx, const unsigned char *bytes, size_t size, const char *name)
{
    static const char magic[16] = "SQLite format 3";
    if (size == 0) return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: empty file, not a Holdfast model", name);
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return hfi_fail(
            ctx, HF_ERR_MODEL_FILE, "%s: not a Holdfast model file%s", name,
            looks_like_text(bytes, size) ? " but text; is it the data? Make a model with holdfast fit" : "");
    if (size < 512) return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: truncated after %zu bytes", name, size);
    if (big_endian(bytes + 68) != HFI_APPLICATION_ID)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: a SQLite database, but not a Holdfast model", name);
    uint32_t version = big_endian(bytes + 60);
    if (version > HFI_FORMAT_VERSION)
        return hfi_fail(
            ctx, HF_ERR_MODEL_FILE,
            "%s: written by a newer Holdfast (format %u, this one reads up to %u); update Holdfast or fit "
            "again",
            name, (unsigned)version, (unsigned)HFI_FORMAT_VERSION);
    if (version == 0) return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: it has no format version", name);
    uint64_t page = (uint64_t)bytes[16] << 8 | bytes[17];
    if (page == 1) page = 65536;
    uint64_t expected = page * big_endian(bytes + 28);
    if (size < expected)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE,
                        "%s: truncated: %zu bytes of %llu; copy it again or fit again", name, size,
                        (unsigned long long)expected);
    if (size > expected)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: %zu bytes where there should be %llu", name,
                        size, (unsigned long long)expected);
    return HF_OK;
}

/* ---- the database as such ---------------------------------------------------------------------------------
 */

static int open_image(sqlite3 **db, const unsigned char *bytes, size_t size)
{
    int rc = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL);
    if (rc != SQLITE_OK) return rc;
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    /* No value can be longer than the file it is in, whatever the file says. */
    sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, size < INT32_MAX ? (int)size : INT32_MAX);
    /* Read only: SQLite does not touch the bytes, though its interface cannot say so. */
    unsigned char *image = (unsigned char *)(uintptr_t)bytes;
    rc = sqlite3_deserialize(*db, "main", image, (sqlite3_int64)size, (sqlite3_int64)size,
                             SQLITE_DESERIALIZE_READONLY);
    if (rc == SQLITE_OK) rc = sqlite3_exec(*db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    return rc;
}

static hf_status check_integrity(const hfi_reader *r)
{
    sqlite3_stmt *statement = NULL;
    bool sound = sqlite3_prepare_v2(r->db, "PRAGMA integrity_check(1)", -1, &statement, NULL) == SQLITE_OK &&
                 sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL &&
                 strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    sqlite3_finalize(statement);
    return sound ? HF_OK : hfi_reader_damaged(r, "the database is not intact");
}

/* ---- scalars, names, notes ----------------------------------------------------------------------------------
 */

/* Fields the format of the file does not have yet keep what they are. */
static hf_status read_list(const hfi_reader *r, const hfi_field *fields, size_t count, void *object)
{
    hf_status status = HF_OK;
    for (size_t i = 0; i < count && status >= 0; i++)
        if (fields[i].since <= r->version) status = hfi_meta_field(r, &fields[i], object);
    return status;
}

static hf_status read_fields(const hfi_reader *r)
{
    hf_fit_settings *settings = &r->model->settings;
    hf_fit_report *report = &r->model->report;
    *settings = hf_fit_settings_default();
    settings->kernel = r->model->kernel;
    settings->solver = HF_SOLVER_EXACT; /* there was no other before format 2 */
    *report = (hf_fit_report){.solver = HF_SOLVER_EXACT, .residual = NAN, .nu = INFINITY};
    hf_status status = read_list(r, hfi_settings_fields, hfi_settings_field_count, settings);
    if (status >= 0) status = read_list(r, hfi_report_fields, hfi_report_field_count, report);
    char *names = NULL;
    if (status >= 0) status = hfi_meta_text(r, "report.at_bound_names", false, &names);
    if (status >= 0) {
        size_t room = sizeof report->at_bound_names - 1, length = strlen(names);
        memcpy(report->at_bound_names, names, length < room ? length : room);
    }
    hfi_memory_free(&r->model->memory, names);
    return status;
}

static hf_status read_names(const hfi_reader *r)
{
    hf_model *model = r->model;
    char *checksum = NULL;
    hf_status status = hfi_meta_text(r, "source", false, &model->source);
    if (status >= 0) status = hfi_meta_text(r, "target", false, &model->target);
    if (status >= 0) status = hfi_meta_text(r, "noise_column", true, &model->noise_column);
    if (status >= 0) status = hfi_meta_text(r, "kernel", false, &model->kernel);
    if (status >= 0) status = hfi_meta_text(r, "data_sha256", false, &checksum);
    if (status >= 0 && strlen(checksum) != HFI_SHA256_HEX - 1) status = hfi_meta_bad(r, "data_sha256");
    if (status >= 0) memcpy(model->checksum, checksum, HFI_SHA256_HEX);
    hfi_memory_free(&model->memory, checksum);
    return status;
}

static hf_status check_digest(const hfi_reader *r)
{
    char *stored = NULL, hex[HFI_SHA256_HEX];
    hf_status status = hfi_meta_text(r, "content_sha256", false, &stored);
    if (status < 0) return status;
    bool same = hfi_schema_digest(r->db, r->version, hex) == SQLITE_OK && strcmp(hex, stored) == 0;
    hfi_memory_free(&r->model->memory, stored);
    return same
               ? HF_OK
               : hfi_reader_damaged(r, "its content does not match its checksum; copy it again or fit again");
}

static hf_status read_notes(const hfi_reader *r)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, "SELECT text FROM note ORDER BY position", -1, &s, NULL) != SQLITE_OK)
        return hfi_reader_damaged(r, "its notes cannot be read");
    hf_status status = HF_OK;
    while (status >= 0 && sqlite3_step(s) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(s, 0);
        status = text != NULL ? hfi_model_note(r->ctx, r->model, "%s", text)
                              : hfi_reader_damaged(r, "a note is missing");
    }
    sqlite3_finalize(s);
    return status;
}

/* ---- the whole
 * --------------------------------------------------------------------------------------------- */

/* The anchors are the readings that have a weight, except with the inducing solver. */
static hf_status check_anchors(const hfi_reader *r)
{
    if (hf_posterior_solver(r->model->posterior) == HF_SOLVER_INDUCING) return HF_OK;
    size_t anchors = 0;
    for (size_t i = 0; i < r->model->n; i++) anchors += r->model->reading[i].weight > 0.0;
    return anchors == hf_posterior_anchors(r->model->posterior)
               ? HF_OK
               : hfi_reader_damaged(r, "its rows and its anchors do not agree");
}

static hf_status read_model(hfi_reader *r)
{
    hf_status status = check_integrity(r);
    if (status >= 0) status = hfi_schema_check(r->ctx, r->db, r->version, r->name);
    if (status >= 0) status = check_digest(r);
    if (status >= 0) status = read_names(r);
    if (status >= 0) status = read_fields(r);
    size_t n = 0, d = 0;
    if (status >= 0) status = hfi_meta_size(r, "inputs", &d);
    if (status >= 0) status = hfi_meta_size(r, "rows", &n);
    if (status >= 0) status = hfi_meta_size(r, "rows_skipped", &r->model->skipped);
    if (status >= 0) status = hfi_meta_flag(r, "noise_held", &r->model->noise_held);
    /* More rows or inputs than the file has bytes for cannot be: refuse before anything is allocated for
     * them. */
    if (status >= 0 && (d == 0 || !hfi_reader_has_room(r, 1, d) || !hfi_reader_has_room(r, n, d)))
        status = hfi_meta_bad(r, "rows");
    r->model->d = r->model->width = d;
    r->model->n = n;
    if (status >= 0 && r->version >= 3) status = hfi_read_outputs(r);
    if (status >= 0) status = hfi_read_posterior(r);
    if (status >= 0) status = hfi_read_rows(r);
    if (status >= 0) status = check_anchors(r);
    if (status >= 0) status = read_notes(r);
    if (status >= 0) status = hfi_model_finish(r->ctx, r->model);
    return status;
}

hf_status hfi_model_from_bytes(hf_context *ctx, const unsigned char *bytes, size_t size, const char *name,
                               hf_model **out)
{
    hf_status status = check_header(ctx, bytes, size, name);
    if (status < 0) return status;
    hfi_reader r = {.ctx = ctx,
                    .name = name,
                    .size = size,
                    .version = big_endian(bytes + 60),
                    .model = hfi_model_new(ctx)};
    if (r.model == NULL) return HF_ERR_MEMORY;
    int rc = open_image(&r.db, bytes, size);
    if (rc == SQLITE_NOMEM)
        status = hfi_out_of_memory(ctx);
    else
        status = rc == SQLITE_OK ? read_model(&r) : hfi_reader_damaged(&r, "SQLite cannot open it");
    sqlite3_close(r.db);
    if (status < 0) {
        hf_model_free(r.model);
        return status;
    }
    *out = r.model;
    return HF_OK;
}

hf_status hf_model_load(hf_context *ctx, const char *path, hf_model **out)
{
    if (ctx == NULL || path == NULL || out == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_model_load: context, path and out must not be NULL");
    unsigned char *bytes;
    size_t size;
    hf_status status = hfi_file_read(ctx, path, &bytes, &size);
    if (status < 0) return status;
    status = hfi_model_from_bytes(ctx, bytes, size, path, out);
    hfi_free(ctx, bytes);
    return status;
}
