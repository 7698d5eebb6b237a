/* SPDX-License-Identifier: Apache-2.0 */
/* A new file for a new ledger: made in memory, and there complete or not at all. */
#include "store/ledger.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
