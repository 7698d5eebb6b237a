/* SPDX-License-Identifier: Apache-2.0 */
/* An open ledger: what belongs to it, and what can be said of it. */
#include "store/ledger.h"

hfi_ledger *hfi_ledger_new(hf_context *ctx, const hfi_ledger_form *form, const char *name)
{
    const hfi_memory memory = hfi_context_memory(ctx);
    hfi_ledger *ledger = hfi_memory_alloc(&memory, 1, sizeof *ledger);
    char *copy = hfi_memory_strdup(&memory, name);
    if (ledger == NULL || copy == NULL) {
        HFI_MEMORY_FREE(&memory, ledger, copy);
        (void)hfi_out_of_memory(ctx);
        return NULL;
    }
    *ledger = (hfi_ledger){.memory = memory, .form = form, .name = copy, .most = INT64_MAX};
    return ledger;
}

/* Whoever has the lock may tidy up, unless somebody reads just now. */
static void tidy_up(hfi_ledger *ledger)
{
    if (ledger->db == NULL || ledger->mode == HFI_LEDGER_LOOK) return;
    if (!ledger->guard.locked && hfi_guard_lock(NULL, &ledger->guard, 0.0) < 0) return;
    sqlite3_busy_timeout(ledger->db, 0);
    (void)sqlite3_exec(ledger->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
}

void hfi_ledger_close(hfi_ledger *ledger)
{
    if (ledger == NULL) return;
    const hfi_memory memory = ledger->memory;
    if (ledger->db != NULL && !sqlite3_get_autocommit(ledger->db))
        (void)sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
    tidy_up(ledger);
    hfi_database_close(&ledger->db, &ledger->files);
    hfi_guard_leave(&ledger->guard);
    HFI_MEMORY_FREE(&memory, ledger->path, ledger->name, ledger->number, ledger);
}

hf_status hfi_ledger_failed(hf_context *ctx, const hfi_ledger *ledger, int rc, const char *doing)
{
    const int plain = rc & 0xff;
    const char *name = ledger->name;
    if (plain == SQLITE_NOMEM) return hfi_out_of_memory(ctx);
    if (plain == SQLITE_CORRUPT || plain == SQLITE_NOTADB)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: the database is not intact", name);
    if (rc == SQLITE_READONLY_DBMOVED)
        return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be %s: it was moved or replaced since it was opened",
                        name, doing);
    if (rc == SQLITE_READONLY_DIRECTORY)
        return hfi_fail(ctx, HF_ERR_IO,
                        "%s: cannot be %s: its folder is read-only, and a change keeps a journal there", name,
                        doing);
    if (plain == SQLITE_BUSY || plain == SQLITE_LOCKED)
        return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be %s: another program has been busy with it for long",
                        name, doing);
    if (plain == SQLITE_FULL || rc == SQLITE_IOERR_WRITE)
        return hfi_fail(ctx, HF_ERR_IO,
                        "%s: cannot be %s: the disk is full, or the file as large as is allowed", name,
                        doing);
    return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be %s: %s", name, doing, sqlite3_errstr(rc));
}

hf_status hfi_ledger_check(hf_context *ctx, const hfi_ledger *ledger)
{
    if (!ledger->behind) return HF_OK;
    return hfi_refuse(ctx, "%s: some of what was told has not reached the file: open the %s again",
                      ledger->name, ledger->form->file->noun);
}

int hfi_ledger_execute(const hfi_ledger *ledger, const char *sql)
{
    return sqlite3_exec(ledger->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? SQLITE_OK
               : sqlite3_extended_errcode(ledger->db);
}

int hfi_ledger_prepare(const hfi_ledger *ledger, const char *sql, sqlite3_stmt **out)
{
    char text[256];
    sqlite3_snprintf(sizeof text, text, sql, ledger->form->payload);
    return sqlite3_prepare_v2(ledger->db, text, -1, out, NULL);
}

double *hfi_ledger_numbers(hf_context *ctx, hfi_ledger *ledger, size_t count)
{
    if (ledger->number != NULL && count <= ledger->numbers) return ledger->number;
    hfi_memory_free(&ledger->memory, ledger->number);
    ledger->number = hfi_memory_alloc(&ledger->memory, count, sizeof *ledger->number);
    ledger->numbers = ledger->number != NULL ? count : 0;
    if (ledger->number == NULL) (void)hfi_out_of_memory(ctx);
    return ledger->number;
}

hf_status hfi_ledger_damaged_entry(hf_context *ctx, const hfi_ledger *ledger, uint64_t number)
{
    return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: entry %llu of its journal is not as it was written",
                    ledger->name, (unsigned long long)number);
}

hf_status hfi_ledger_blame(hf_context *ctx, const hfi_ledger *ledger, uint64_t k, hf_status status)
{
    char words[512];
    if (status != HF_ERR_MODEL_FILE && status != HF_ERR_ARGUMENT && status != HF_ERR_NOT_FINITE)
        return status;
    sqlite3_snprintf(sizeof words, words, "%s", hf_context_message(ctx));
    return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: entry %llu of its journal cannot be: %s",
                    ledger->name, (unsigned long long)k, words);
}

hf_status hfi_ledger_blame_settings(const hfi_reader *r, hf_status status)
{
    char words[512];
    if (status >= 0 || status == HF_ERR_MEMORY || status == HF_ERR_CANCELLED) return status;
    sqlite3_snprintf(sizeof words, words, "%s", hf_context_message(r->ctx));
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: its settings make no %s: %s", r->name,
                    r->kind->noun, words);
}
