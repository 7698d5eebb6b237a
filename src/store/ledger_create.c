/* SPDX-License-Identifier: Apache-2.0 */
/* A new file for a new ledger: made in memory, and there complete or not at all. */
#include "store/ledger.h"

#include "data/atomic_file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The empty ledger as a database image, whose memory is SQLite's. */
static hf_status make_image(hf_context *ctx, hfi_ledger *ledger, hfi_ledger_settings *settings,
                            const void *user, unsigned char **image, sqlite3_int64 *size)
{
    const hfi_ledger_form *form = ledger->form;
    hfi_writer w = {.ctx = ctx, .kind = form->file, .version = form->version, .piece = HFI_PIECE_BYTES};
    char pragmas[128], hex[HFI_SHA256_HEX];
    sqlite3_snprintf(sizeof pragmas, pragmas,
                     "PRAGMA encoding='UTF-8';PRAGMA application_id=%d;PRAGMA user_version=%d;BEGIN",
                     (int)form->file->application, (int)form->version);
    w.rc = hfi_database_in_memory(&w.db);
    if (w.rc == SQLITE_OK) w.rc = sqlite3_exec(w.db, pragmas, NULL, NULL, NULL);
    if (w.rc == SQLITE_OK) w.rc = hfi_ledger_schema_create(w.db, form);
    settings(&w, user);
    if (w.rc == SQLITE_OK) w.rc = hfi_ledger_settings_digest(w.db, form, hex, &ledger->first);
    insert_marks(&w, &ledger->first, hex);
    if (w.rc == SQLITE_OK) w.rc = sqlite3_exec(w.db, "COMMIT", NULL, NULL, NULL);
    *image = w.rc == SQLITE_OK ? sqlite3_serialize(w.db, "main", size, 0) : NULL;
    sqlite3_close(w.db);
    if (*image != NULL) return HF_OK;
    if (w.rc == SQLITE_NOMEM || w.rc == SQLITE_OK) return hfi_out_of_memory(ctx);
    return hfi_fail(ctx, HF_ERR_INTERNAL, "the %s could not be written as a database: %s", form->file->noun,
                    sqlite3_errstr(w.rc));
}

static hf_status write_new(hf_context *ctx, const char *path, const unsigned char *image, size_t size)
{
    hfi_file file;
    hf_status status = hfi_file_begin(ctx, path, &file);
    if (status >= 0) status = hfi_file_write(ctx, &file, image, size);
    if (status >= 0) status = hfi_file_commit_new(ctx, &file);
    hfi_file_abort(&file);
    return status;
}

static hf_status check_place(hf_context *ctx, const hfi_ledger_form *form, const char *path)
{
    struct stat about;
    const char *article = form->file->article;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return hfi_refuse(ctx, "%s is a file that changes: give it a name", article);
    if (lstat(path, &about) != 0) return HF_OK;
    return hfi_fail(ctx, HF_ERR_IO, "%s: is there already; %s is never made over another file", path,
                    article);
}

hf_status hfi_ledger_create(hf_context *ctx, hfi_ledger *ledger, const char *path,
                            hfi_ledger_settings *settings, const void *user, hfi_ledger_use as)
{
    unsigned char *image = NULL;
    sqlite3_int64 size = 0;
    hf_status status = check_place(ctx, ledger->form, path);
    if (status >= 0) status = make_image(ctx, ledger, settings, user, &image, &size);
    if (status >= 0) status = write_new(ctx, path, image, (size_t)size);
    sqlite3_free(image);
    ledger->seal = ledger->first;
    if (status < 0) return status;
    status = hfi_ledger_open(ctx, ledger, path, as);
    if (status < 0) unlink(path); /* made a moment ago, and of no use to anybody */
    return status;
}
