/* SPDX-License-Identifier: Apache-2.0 */
/* A new file for a new track: made in memory, and there complete or not at all. */
#include "model/track_store.h"

#include "data/atomic_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names of candidates -------------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static hf_status check_labels(hf_context *ctx, size_t count, const char *const *labels)
{
    if (labels == NULL) return HF_OK;
    if (count == 0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "hf_track_file_create: names of candidates, and there are none");
    const char **sorted = hfi_alloc(ctx, count, sizeof *sorted);
    if (sorted == NULL) return HF_ERR_MEMORY;
    hf_status status = HF_OK;
    for (size_t i = 0; i < count && status >= 0; i++) {
        sorted[i] = labels[i];
        if (labels[i] == NULL || *labels[i] == '\0')
            status = hfi_fail(ctx, HF_ERR_ARGUMENT, "candidate %zu (counted from 1) has no name", i + 1);
    }
    if (status >= 0) qsort(sorted, count, sizeof *sorted, compare_texts);
    for (size_t i = 1; i < count && status >= 0; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = hfi_fail(ctx, HF_ERR_ARGUMENT, "two candidates are called \"%s\"", sorted[i]);
    hfi_free(ctx, sorted);
    return status;
}

/* ---- the database --------------------------------------------------------------------------------------------- */

static void insert_marks(hfi_writer *w, const hfi_seal *first, const char *hex)
{
    sqlite3_stmt *s = hfi_writer_prepare(w, "INSERT INTO meta (key, value) VALUES (?1, ?2)");
    hfi_writer_meta_text(w, s, "content_sha256", hex);
    sqlite3_finalize(s);
    s = hfi_writer_prepare(w, "INSERT INTO head (position, entries, seal) VALUES (0, 0, ?1)");
    if (w->rc == SQLITE_OK) w->rc = sqlite3_bind_blob(s, 1, first->bytes, HFI_SEAL_BYTES, SQLITE_STATIC);
    hfi_writer_step(w, s);
    sqlite3_finalize(s);
}

/* The empty journal of a track as a database image, whose memory is SQLite's. */
static hf_status make_image(hf_context *ctx, const hf_track_settings *settings, const char *target,
                            const char *const *labels, hfi_seal *first, unsigned char **image,
                            sqlite3_int64 *size)
{
    hfi_writer w = {
        .ctx = ctx, .kind = &hfi_kind_track, .version = HFI_TRACK_VERSION, .piece = HFI_PIECE_BYTES};
    char pragmas[128], hex[HFI_SHA256_HEX];
    sqlite3_snprintf(sizeof pragmas, pragmas,
                     "PRAGMA encoding='UTF-8';PRAGMA application_id=%d;PRAGMA user_version=%d;BEGIN",
                     HFI_TRACK_ID, HFI_TRACK_VERSION);
    w.rc = hfi_database_in_memory(&w.db);
    if (w.rc == SQLITE_OK) w.rc = sqlite3_exec(w.db, pragmas, NULL, NULL, NULL);
    if (w.rc == SQLITE_OK) w.rc = hfi_track_schema_create(w.db);
    hfi_track_write_settings(&w, settings, target, labels);
    if (w.rc == SQLITE_OK) w.rc = hfi_track_settings_digest(w.db, hex, first);
    insert_marks(&w, first, hex);
    if (w.rc == SQLITE_OK) w.rc = sqlite3_exec(w.db, "COMMIT", NULL, NULL, NULL);
    *image = w.rc == SQLITE_OK ? sqlite3_serialize(w.db, "main", size, 0) : NULL;
    sqlite3_close(w.db);
    if (*image != NULL) return HF_OK;
    if (w.rc == SQLITE_NOMEM || w.rc == SQLITE_OK) return hfi_out_of_memory(ctx);
    return hfi_fail(ctx, HF_ERR_INTERNAL, "the track could not be written as a database: %s",
                    sqlite3_errstr(w.rc));
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

static hf_status write_new(hf_context *ctx, const char *path, const unsigned char *image, size_t size)
{
    hfi_file file;
    hf_status status = hfi_file_begin(ctx, path, &file);
    if (status >= 0) status = hfi_file_write(ctx, &file, image, size);
    if (status >= 0) status = hfi_file_commit_new(ctx, &file);
    hfi_file_abort(&file);
    return status;
}

static hf_status create_file(hf_context *ctx, const char *path, const hf_track_settings *settings,
                             const char *target, const char *const *labels, hfi_track_store *store)
{
    unsigned char *image = NULL;
    sqlite3_int64 size = 0;
    const size_t count = settings->domain.candidates;
    hf_status status = hfi_track_store_names(ctx, store, target, labels != NULL ? count : 0, labels);
    if (status >= 0) status = make_image(ctx, settings, target, labels, &store->first, &image, &size);
    if (status >= 0) status = write_new(ctx, path, image, (size_t)size);
    sqlite3_free(image);
    store->seal = store->first;
    if (status < 0) return status;
    status = hfi_track_store_open(ctx, store, path, true);
    if (status < 0) unlink(path); /* made a moment ago, and of no use to anybody */
    return status;
}

static hf_status check_place(hf_context *ctx, const char *path)
{
    struct stat about;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "a track is a file that changes: give it a name");
    if (lstat(path, &about) != 0) return HF_OK;
    return hfi_fail(ctx, HF_ERR_IO, "%s: is there already; a track is never made over another file", path);
}

hf_status hf_track_file_create(hf_context *ctx, const char *path, const hf_track_settings *settings,
                               const char *target, const char *const *labels, hf_track **out)
{
    if (ctx == NULL || path == NULL || settings == NULL || out == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "hf_track_file_create: context, path, settings and out must not be NULL");
    hf_track *track = NULL;
    hf_status status = check_place(ctx, path);
    if (status >= 0) status = hf_track_create(ctx, settings, &track);
    if (status >= 0) status = check_labels(ctx, settings->domain.candidates, labels);
    hfi_track_store *store = status >= 0 ? hfi_track_store_new(ctx, path) : NULL;
    if (status >= 0 && store == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = create_file(ctx, path, settings, target != NULL ? target : "y", labels, store);
    if (status < 0) {
        hfi_track_store_free(store);
        hf_track_free(track);
        return status;
    }
    const hfi_event_journal journal = hfi_track_store_journal(store, true);
    hfi_track_set_journal(track, &journal);
    *out = track;
    return HF_OK;
}
