/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that claim to be a file of ours: read, looked at before SQLite sees them, opened, and checked as a database. */
#include "store/database.h"
#include "store/reader.h"

#include "data/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a whole file into memory ---------------------------------------------------------------- */

static hf_status read_failed(hf_context *ctx, const char *path)
{
    char words[128];
    return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be read: %s", path, hfi_error_text(errno, words));
}

/* Reads until the end; the size of a file may change while it is read, and a pipe has none. */
static hf_status read_all(hf_context *ctx, int fd, const char *path, size_t guess, unsigned char **out,
                          size_t *size)
{
    size_t capacity = guess + 1, used = 0;
    unsigned char *bytes = hfi_alloc(ctx, capacity, 1);
    while (bytes != NULL) {
        ssize_t got = read(fd, bytes + used, capacity - used);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            hfi_free(ctx, bytes);
            return read_failed(ctx, path);
        }
        if (got == 0) break;
        used += (size_t)got;
        if (used < capacity) continue;
        unsigned char *larger = capacity > SIZE_MAX / 2 ? NULL : hfi_alloc(ctx, 2 * capacity, 1);
        if (larger != NULL) memcpy(larger, bytes, used);
        hfi_free(ctx, bytes);
        bytes = larger;
        capacity *= 2;
    }
    if (bytes == NULL) return HF_ERR_MEMORY;
    *out = bytes;
    *size = used;
    return HF_OK;
}

hf_status hfi_file_read(hf_context *ctx, const char *path, unsigned char **bytes, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return read_failed(ctx, path);
    struct stat info;
    hf_status status;
    if (fstat(fd, &info) != 0)
        status = read_failed(ctx, path);
    else if (S_ISDIR(info.st_mode))
        status = hfi_fail(ctx, HF_ERR_IO, "%s: it is a folder, not a model file", path);
    else
        status = read_all(ctx, fd, path, info.st_size > 0 ? (size_t)info.st_size : 4096, bytes, size);
    close(fd);
    return status;
}

/* ---- kinds of files -------------------------------------------------------------------------- */

hf_status hfi_reader_damaged(const hfi_reader *r, const char *what)
{
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: %s", r->name, what);
}

bool hfi_reader_has_room(const hfi_reader *r, size_t rows, size_t columns)
{
    return rows == 0 || columns <= r->size / sizeof(double) / rows;
}

const hfi_file_kind hfi_kind_model = {
    .application = HFI_APPLICATION_ID,
    .newest = HFI_FORMAT_VERSION,
    .noun = "model",
    .article = "a model",
    .maker = "a model with holdfast fit",
    .again = "fit again",
    .reader = "hf_model_load() and holdfast predict read it",
};

const hfi_file_kind hfi_kind_envelope = {
    .application = HFI_ENVELOPE_ID,
    .newest = HFI_ENVELOPE_VERSION,
    .noun = "envelope",
    .article = "an envelope",
    .maker = "an envelope with holdfast bound --save",
    .again = "make it again",
    .reader = "hf_envelope_load() and holdfast bound read it",
};

const hfi_file_kind hfi_kind_track = {
    .application = HFI_TRACK_ID,
    .newest = HFI_TRACK_VERSION,
    .noun = "track",
    .article = "a track",
    .maker = "a track with holdfast track create",
    .again = "go on from a copy",
    .reader = "hf_track_file_open() and holdfast track read it",
};

const hfi_file_kind hfi_kind_study = {
    .application = HFI_STUDY_ID,
    .newest = HFI_STUDY_VERSION,
    .noun = "study",
    .article = "a study",
    .maker = "a study with holdfast study create",
    .again = "go on from a copy",
    .reader = "hf_study_file_open() and holdfast study read it",
};

static const char magic[16] = "SQLite format 3";

/* ---- before SQLite sees it ------------------------------------------------------------------- */

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

static hf_status wrong_kind(hf_context *ctx, const hfi_file_kind *kind, uint32_t application,
                            const char *name)
{
    static const hfi_file_kind *const kinds[] = {&hfi_kind_model, &hfi_kind_envelope, &hfi_kind_track,
                                                 &hfi_kind_study};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (application == kinds[k]->application)
            return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: %s, not %s; %s", name, kinds[k]->article,
                            kind->article, kinds[k]->reader);
    return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: a SQLite database, but not a Holdfast %s", name, kind->noun);
}

/* The database header (100 bytes) says what the file is, and which format it has. */
hf_status hfi_file_marks(hf_context *ctx, const hfi_file_kind *kind, const unsigned char *bytes, size_t known,
                         const char *name)
{
    if (known == 0)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: empty file, not a Holdfast %s", name, kind->noun);
    if (known < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: not a Holdfast %s file%s%s", name, kind->noun,
                        looks_like_text(bytes, known) ? " but text; is it the data? Make " : "",
                        looks_like_text(bytes, known) ? kind->maker : "");
    if (known < 512) return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: truncated after %zu bytes", name, known);
    const uint32_t application = big_endian(bytes + 68), version = big_endian(bytes + 60);
    if (application != kind->application) return wrong_kind(ctx, kind, application, name);
    if (version > kind->newest)
        return hfi_fail(
            ctx, HF_ERR_MODEL_FILE,
            "%s: written by a newer Holdfast (format %u, this one reads up to %u); update Holdfast or %s",
            name, (unsigned)version, kind->newest, kind->again);
    if (version == 0) return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: it has no format version", name);
    return HF_OK;
}

/* And how long the file must be. */
hf_status hfi_file_length(hf_context *ctx, const hfi_file_kind *kind, const unsigned char *bytes, size_t size,
                          const char *name)
{
    uint64_t page = (uint64_t)bytes[16] << 8 | bytes[17];
    if (page == 1) page = 65536;
    uint64_t expected = page * big_endian(bytes + 28);
    if (size < expected)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: truncated: %zu bytes of %llu; copy it again or %s", name,
                        size, (unsigned long long)expected, kind->again);
    if (size > expected)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: %zu bytes where there should be %llu", name,
                        size, (unsigned long long)expected);
    return HF_OK;
}

/* ---- the database as such -------------------------------------------------------------------- */

/* A database of these bytes, which stay the caller's and are not changed. *db is to be closed also on error.
 * SQLite result code. */
static int open_image(sqlite3 **db, const unsigned char *bytes, size_t size)
{
    int rc = hfi_database_in_memory(db);
    if (rc != SQLITE_OK) return rc;
    hfi_database_distrust(*db);
    /* No value can be longer than the file it is in, whatever the file says. */
    sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, size < INT32_MAX ? (int)size : INT32_MAX);
    /* Read only: SQLite does not touch the bytes, though its interface cannot say so. */
    unsigned char *image = (unsigned char *)(uintptr_t)bytes;
    rc = sqlite3_deserialize(*db, "main", image, (sqlite3_int64)size, (sqlite3_int64)size,
                             SQLITE_DESERIALIZE_READONLY);
    if (rc == SQLITE_OK) rc = sqlite3_exec(*db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    return rc;
}

hf_status hfi_reader_intact(const hfi_reader *r, const char *table)
{
    char check[64] = "PRAGMA integrity_check(1)";
    if (table != NULL) sqlite3_snprintf(sizeof check, check, "PRAGMA integrity_check(\"%w\")", table);
    sqlite3_stmt *statement = hfi_statement_row(r->db, check, 0, NULL);
    const char *found = statement != NULL ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    const bool sound = found != NULL && strcmp(found, "ok") == 0;
    sqlite3_finalize(statement);
    return sound ? HF_OK : hfi_reader_damaged(r, "the database is not intact");
}

static hf_status check_digest(const hfi_reader *r)
{
    char *stored = NULL, hex[HFI_SHA256_HEX];
    hf_status status = hfi_meta_text(r, "content_sha256", false, &stored);
    if (status < 0) return status;
    const hfi_file_tables tables = hfi_model_tables(r->schema);
    hfi_sha256 hash;
    const bool made = hfi_tables_digest(r->db, &tables, &hash) == SQLITE_OK;
    if (made) hfi_sha256_hex(&hash, hex);
    const bool same = made && strcmp(hex, stored) == 0;
    hfi_memory_free(&r->memory, stored);
    return same ? HF_OK
                : hfi_fail(r->ctx, HF_ERR_MODEL_FILE,
                           "%s: damaged: its content does not match its checksum; copy it again or %s",
                           r->name, r->kind->again);
}

/* ---- the whole ------------------------------------------------------------------------------- */

hf_status hfi_reader_open(hf_context *ctx, const hfi_file_kind *kind, unsigned schema,
                          const unsigned char *bytes, size_t size, const char *name, hfi_reader *r)
{
    hf_status status = hfi_file_marks(ctx, kind, bytes, size, name);
    if (status >= 0) status = hfi_file_length(ctx, kind, bytes, size, name);
    if (status < 0) return status;
    *r = (hfi_reader){.ctx = ctx,
                      .name = name,
                      .size = size,
                      .version = big_endian(bytes + 60),
                      .kind = kind,
                      .memory = hfi_context_memory(ctx)};
    r->schema = schema != 0 ? schema : r->version;
    const int rc = open_image(&r->db, bytes, size);
    if (rc == SQLITE_NOMEM)
        status = hfi_out_of_memory(ctx);
    else if (rc != SQLITE_OK)
        status = hfi_reader_damaged(r, "SQLite cannot open it");
    if (status >= 0) status = hfi_reader_intact(r, NULL);
    if (status >= 0) status = hfi_schema_check(ctx, r->db, r->schema, name);
    if (status >= 0) status = check_digest(r);
    if (status < 0) hfi_reader_close(r);
    return status;
}

void hfi_reader_close(hfi_reader *r)
{
    sqlite3_close(r->db);
    r->db = NULL;
}
