/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* realpath */
/* The file of a ledger is found, locked, opened, and looked at before anything in it is believed. */
#include "store/ledger.h"

#include "data/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUSY_MILLISECONDS = 20000 /* for SQLite's locks, which nobody holds for longer than reading takes */
};

#define LOCK_SECONDS 0.5 /* for the lock of one who has the file open for changes */

static hf_status unreadable(hf_context *ctx, const hfi_ledger *ledger, int error)
{
    char words[128];
    return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be opened: %s", ledger->name, hfi_error_text(error, words));
}

/* ---- the header ----------------------------------------------------------------------------------------------- */

/* A header that asks for a write-ahead log would have SQLite make files. */
static hf_status check_rollback_kind(hf_context *ctx, const hfi_ledger *ledger, const unsigned char *bytes)
{
    return bytes[18] == 1 && bytes[19] == 1
               ? HF_OK
               : hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: it is not kept with a rollback journal",
                          ledger->name);
}

static int find_file(const hfi_ledger *ledger, sqlite3_file **file)
{
    const int rc = sqlite3_file_control(ledger->db, "main", SQLITE_FCNTL_FILE_POINTER, file);
    if (rc != SQLITE_OK) return rc;
    return *file == NULL || (*file)->pMethods == NULL ? SQLITE_CANTOPEN : SQLITE_OK;
}

int hfi_ledger_size(const hfi_ledger *ledger, sqlite3_int64 *size)
{
    sqlite3_file *file = NULL;
    const int rc = find_file(ledger, &file);
    return rc == SQLITE_OK ? file->pMethods->xFileSize(file, size) : rc;
}

/* SQLite's file, read as bytes: the header before SQLite believes it. */
hf_status hfi_ledger_check_marks(hf_context *ctx, const hfi_ledger *ledger, bool and_length)
{
    unsigned char bytes[512] = {0};
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    int rc = find_file(ledger, &file);
    if (rc == SQLITE_OK) rc = file->pMethods->xFileSize(file, &size);
    const int known = size < (sqlite3_int64)sizeof bytes ? (int)size : (int)sizeof bytes;
    if (rc == SQLITE_OK && known > 0) rc = file->pMethods->xRead(file, bytes, known, 0);
    if (rc != SQLITE_OK) return hfi_ledger_failed(ctx, ledger, rc, "read");
    const hfi_file_kind *kind = ledger->form->file;
    hf_status status = hfi_file_marks(ctx, kind, bytes, (size_t)known, ledger->name);
    if (status >= 0 && and_length) status = hfi_file_length(ctx, kind, bytes, (size_t)size, ledger->name);
    return status >= 0 ? check_rollback_kind(ctx, ledger, bytes) : status;
}

/* ---- the database --------------------------------------------------------------------------------------------- */

static int configure(const hfi_ledger *ledger, bool write)
{
    sqlite3_extended_result_codes(ledger->db, 1);
    sqlite3_busy_timeout(ledger->db, BUSY_MILLISECONDS);
    hfi_database_distrust(ledger->db);
    const int rc = sqlite3_exec(ledger->db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    if (rc != SQLITE_OK || !write) return rc;
    return sqlite3_exec(ledger->db, "PRAGMA journal_mode=PERSIST; PRAGMA synchronous=FULL", NULL, NULL, NULL);
}

static int connect(hfi_ledger *ledger, bool write)
{
    return hfi_database_open(&ledger->memory, ledger->path, write, &ledger->db, &ledger->files);
}

static void disconnect(hfi_ledger *ledger)
{
    hfi_database_close(&ledger->db, &ledger->files);
}

/* A first reading, by which SQLite finds out whether somebody was killed. */
static int read_first(const hfi_ledger *ledger)
{
    return hfi_ledger_execute(ledger, "SELECT 1 FROM sqlite_schema");
}

/* SQLite plays back what lies there under the rollback journal's name. */
hf_status hfi_ledger_check_rollback(hf_context *ctx, const hfi_ledger *ledger)
{
    const char *fault = NULL;
    if (!hfi_journal_fault(&ledger->memory, ledger->path, &fault)) return hfi_out_of_memory(ctx);
    return fault == NULL ? HF_OK
                         : hfi_fail(ctx, HF_ERR_IO,
                                    "%s: cannot be opened: its journal, %s-journal, %s; no program of ours "
                                    "made it so: move it away",
                                    ledger->name, ledger->path, fault);
}

/* Rolls back what was under way, by SQLite's own means: a reading by one that may write. */
static hf_status roll_back(hf_context *ctx, hfi_ledger *ledger)
{
    hf_status status = hfi_ledger_check_rollback(ctx, ledger);
    if (status < 0) return status;
    int rc = connect(ledger, true);
    if (rc == SQLITE_OK) rc = configure(ledger, true);
    if (rc == SQLITE_OK) rc = read_first(ledger);
    disconnect(ledger);
    return rc == SQLITE_OK ? HF_OK : hfi_ledger_failed(ctx, ledger, rc, "read");
}

/* Looking does not write. A program killed in a transaction leaves work: one that may write puts it in
 * order: by us, if we may, or by the one that has the file open for changes just now. */
static hf_status put_in_order(hf_context *ctx, hfi_ledger *ledger)
{
    hfi_file_guard guard = {0};
    disconnect(ledger);
    if (hfi_guard_enter(ledger->path, true, &guard) != 0)
        return hfi_fail(ctx, HF_ERR_IO,
                        "%s: a program was killed while it changed it; open it once for changes, where it "
                        "and its folder may be written",
                        ledger->name);
    hf_status status = hfi_guard_lock(ctx, &guard, LOCK_SECONDS);
    const bool another = status == HF_ERR_IO && guard.error == 0;
    if (guard.error != 0) status = unreadable(ctx, ledger, guard.error);
    if (status >= 0) status = roll_back(ctx, ledger);
    hfi_guard_leave(&guard);
    return another ? HF_OK : status;
}

bool hfi_ledger_is_left_over(int rc)
{
    return rc == SQLITE_READONLY_ROLLBACK || rc == SQLITE_READONLY_CANTINIT || rc == SQLITE_READONLY_RECOVERY;
}

static hf_status open_database(hf_context *ctx, hfi_ledger *ledger, int *rc)
{
    const bool write = ledger->mode != HFI_LEDGER_LOOK;
    hf_status status = hfi_ledger_check_rollback(ctx, ledger);
    if (status < 0) return status;
    *rc = connect(ledger, write);
    if (*rc != SQLITE_OK) return hfi_ledger_failed(ctx, ledger, *rc, "opened");
    status = hfi_ledger_check_marks(ctx, ledger, false);
    if (status < 0) return status;
    *rc = configure(ledger, write);
    if (*rc == SQLITE_OK) *rc = read_first(ledger);
    if (*rc == SQLITE_OK) return HF_OK;
    /* A file that was not copied to its end is told from one that is damaged in itself. */
    if ((*rc & 0xff) == SQLITE_CORRUPT) status = hfi_ledger_check_marks(ctx, ledger, true);
    return status < 0 ? status : hfi_ledger_failed(ctx, ledger, *rc, "read");
}

hf_status hfi_ledger_mend(hf_context *ctx, hfi_ledger *ledger)
{
    int rc = SQLITE_OK;
    const hf_status status = put_in_order(ctx, ledger);
    return status >= 0 ? open_database(ctx, ledger, &rc) : status;
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

static hf_status own(hf_context *ctx, hfi_ledger *ledger)
{
    if (ledger->mode != HFI_LEDGER_OWN) return HF_OK;
    const hf_status status = hfi_guard_lock(ctx, &ledger->guard, LOCK_SECONDS);
    if (status != HF_ERR_IO) return status;
    if (ledger->guard.error != 0) return unreadable(ctx, ledger, ledger->guard.error);
    return hfi_fail(
        ctx, HF_ERR_IO,
        "%s: another program has it open for changes; wait until that has ended, or open it to look at only",
        ledger->name);
}

hf_status hfi_ledger_open(hf_context *ctx, hfi_ledger *ledger, const char *path, hfi_ledger_use as)
{
    struct stat about;
    char resolved[PATH_MAX]; /* a plain path for SQLite, whatever characters it is made of */
    if (stat(path, &about) != 0 || realpath(path, resolved) == NULL) return unreadable(ctx, ledger, errno);
    if (!S_ISREG(about.st_mode))
        return hfi_fail(ctx, HF_ERR_IO, "%s: it is %s, not %s's file", ledger->name,
                        S_ISDIR(about.st_mode) ? "a folder" : "a device or a pipe",
                        ledger->form->file->article);
    ledger->mode = as;
    ledger->path = hfi_memory_strdup(&ledger->memory, resolved);
    if (ledger->path == NULL) return hfi_out_of_memory(ctx);
    const int error = hfi_guard_enter(resolved, as != HFI_LEDGER_LOOK, &ledger->guard);
    if (error != 0) return unreadable(ctx, ledger, error);
    hf_status status = own(ctx, ledger);
    if (status < 0) return status;
    int rc = SQLITE_OK;
    status = open_database(ctx, ledger, &rc);
    if (status >= 0 || as != HFI_LEDGER_LOOK || !hfi_ledger_is_left_over(rc)) return status;
    return hfi_ledger_mend(ctx, ledger);
}

/* ---- a new file: made in memory, and there complete or not at all --------------------------------------------- */

/* The end of the journal, which begins with the seal of the settings. */
static void insert_head(hfi_writer *w, hfi_ledger *ledger)
{
    char hex[HFI_SHA256_HEX];
    if (w->rc == SQLITE_OK) w->rc = hfi_ledger_settings_digest(w->db, ledger->form, hex, &ledger->first);
    hfi_writer_insert(w, "INSERT INTO head (position, entries, seal) VALUES (0, 0, ?1)",
                      HFI_VALUES(hfi_blob(ledger->first.bytes, HFI_SEAL_BYTES)));
}

/* The empty ledger as a database image, whose memory is SQLite's. */
static hf_status make_image(hf_context *ctx, hfi_ledger *ledger, hfi_ledger_settings *settings,
                            const void *user, unsigned char **image, size_t *size)
{
    const hfi_ledger_form *form = ledger->form;
    hfi_writer w = {.ctx = ctx,
                    .kind = form->file,
                    .version = form->version,
                    .tables = form->tables,
                    .piece = HFI_PIECE_BYTES};
    hfi_writer_begin(&w);
    if (w.rc == SQLITE_OK) w.rc = hfi_ledger_schema_create(w.db, form);
    settings(&w, user);
    insert_head(&w, ledger);
    return hfi_writer_end(&w, image, size);
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
    size_t size = 0;
    hf_status status = check_place(ctx, ledger->form, path);
    if (status >= 0) status = make_image(ctx, ledger, settings, user, &image, &size);
    if (status >= 0) status = hfi_writer_store(ctx, path, true, image, size);
    sqlite3_free(image);
    ledger->seal = ledger->first;
    if (status < 0) return status;
    status = hfi_ledger_open(ctx, ledger, path, as);
    if (status < 0) unlink(path); /* made a moment ago, and of no use to anybody */
    return status;
}
