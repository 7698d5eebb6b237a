/* SPDX-License-Identifier: Apache-2.0 */
/* Entries into a ledger's file: one transaction, or one for many. */
#include "store/ledger.h"

#include "data/text.h"

#include <string.h>

#define PATIENCE 10.0 /* seconds for one's turn, where the caller does not say */

static int insert(const hfi_ledger *ledger, sqlite3_stmt *s, const hfi_entry *entry, hfi_seal *seal)
{
    const char *kind = ledger->form->kind[entry->kind].name;
    *seal = hfi_ledger_seal(seal, kind, entry);
    int rc = hfi_statement_bind(s, HFI_VALUES(hfi_whole(entry->number), hfi_text(kind), hfi_whole(entry->id),
                                              hfi_whole(entry->of), hfi_blob(entry->payload, entry->bytes),
                                              hfi_blob(seal->bytes, HFI_SEAL_BYTES)));
    if (rc == SQLITE_OK && sqlite3_step(s) != SQLITE_DONE) rc = sqlite3_extended_errcode(ledger->db);
    sqlite3_reset(s);
    return rc;
}

static int insert_all(const hfi_ledger *ledger, size_t count, const hfi_entry *entries, hfi_seal *seal)
{
    sqlite3_stmt *s = NULL;
    int rc = hfi_ledger_prepare(
        ledger, "INSERT INTO journal (number, kind, id, of, %s, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6)", &s);
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
        hfi_entry entry = entries[i];
        entry.number = ledger->entries + i + 1;
        rc = insert(ledger, s, &entry, seal);
    }
    sqlite3_finalize(s);
    return rc;
}

static int move_head(const hfi_ledger *ledger, uint64_t entries, const hfi_seal *seal)
{
    return hfi_statement_run(ledger->db, "UPDATE head SET entries = ?1, seal = ?2",
                             HFI_VALUES(hfi_whole(entries), hfi_blob(seal->bytes, HFI_SEAL_BYTES)));
}

/* ---- whose turn it is ----------------------------------------------------------------------------------------- */

/* The journal of the file must end where ours does. */
static hf_status check_head(hf_context *ctx, hfi_ledger *ledger)
{
    uint64_t entries = 0;
    hfi_seal seal;
    const hf_status status = hfi_ledger_head(ctx, ledger, &entries, &seal);
    if (status < 0 && status != HF_ERR_MODEL_FILE) return status;
    ledger->agreed = status >= 0 && entries == ledger->entries &&
                     memcmp(seal.bytes, ledger->seal.bytes, HFI_SEAL_BYTES) == 0;
    if (ledger->agreed) return HF_OK;
    return hfi_fail(ctx, HF_ERR_IO,
                    ledger->mode == HFI_LEDGER_SHARED
                        ? "%s: cannot be written: it has changed since it was read last"
                        : "%s: cannot be written: something else has changed it; open it again",
                    ledger->name);
}

static hf_status take_turn(hf_context *ctx, hfi_ledger *ledger, double seconds)
{
    if (ledger->mode != HFI_LEDGER_SHARED) return HF_OK;
    char words[128];
    const hf_status status = hfi_guard_lock(ctx, &ledger->guard, seconds);
    if (status == HF_ERR_IO && ledger->guard.error != 0)
        return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be locked: %s", ledger->name,
                        hfi_error_text(ledger->guard.error, words));
    if (status == HF_ERR_IO)
        return hfi_fail(ctx, HF_ERR_IO,
                        "%s: cannot be written: another program has been changing it for %g seconds; try "
                        "again when that has ended",
                        ledger->name, seconds);
    return status >= 0 ? hfi_ledger_check_rollback(ctx, ledger) : status;
}

static void end_turn(hfi_ledger *ledger)
{
    if (!sqlite3_get_autocommit(ledger->db)) (void)hfi_ledger_execute(ledger, "ROLLBACK");
    ledger->held = ledger->agreed = ledger->added = false;
    if (ledger->mode == HFI_LEDGER_SHARED) hfi_guard_unlock(&ledger->guard);
}

static hf_status check_writable(hf_context *ctx, const hfi_ledger *ledger)
{
    if (ledger->mode == HFI_LEDGER_LOOK)
        return hfi_refuse(ctx, "%s: the %s was opened to look at, not to change", ledger->name,
                          ledger->form->file->noun);
    return hfi_ledger_check(ctx, ledger);
}

hf_status hfi_ledger_begin(hf_context *ctx, hfi_ledger *ledger, double seconds)
{
    hf_status status = check_writable(ctx, ledger);
    if (status >= 0 && ledger->held)
        status = hfi_refuse(ctx, "%s: a change of it has begun already", ledger->name);
    if (status < 0) return status;
    int moved = 0;
    if (sqlite3_file_control(ledger->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0)
        return hfi_ledger_failed(ctx, ledger, SQLITE_READONLY_DBMOVED, "written");
    status = take_turn(ctx, ledger, seconds);
    const int rc = status >= 0 ? hfi_ledger_execute(ledger, "BEGIN IMMEDIATE") : SQLITE_OK;
    if (rc != SQLITE_OK) status = hfi_ledger_failed(ctx, ledger, rc, "written");
    if (status >= 0 && ledger->mode == HFI_LEDGER_OWN) status = check_head(ctx, ledger);
    if (status < 0) end_turn(ledger);
    ledger->held = status >= 0;
    return status;
}

/* ---- changes -------------------------------------------------------------------------------------------------- */

/* The entries held are lost, and with them those appended before. */
static hf_status lose(hf_context *ctx, hfi_ledger *ledger, int rc)
{
    const hf_status status = hfi_ledger_failed(ctx, ledger, rc, "written");
    ledger->behind = true;
    end_turn(ledger);
    return status;
}

static hf_status append_held(hf_context *ctx, hfi_ledger *ledger, size_t count, const hfi_entry *entries)
{
    const hf_status status = ledger->agreed ? HF_OK : check_head(ctx, ledger);
    if (status < 0) return status;
    hfi_seal seal = ledger->seal;
    int rc = insert_all(ledger, count, entries, &seal);
    if (rc == SQLITE_OK) rc = move_head(ledger, ledger->entries + count, &seal);
    if (rc != SQLITE_OK) return lose(ctx, ledger, rc);
    ledger->added = true;
    ledger->entries += count;
    ledger->seal = seal;
    return HF_OK;
}

/* The owner has not taken the entries yet, and does not when this fails. */
static hf_status finish_ledger_append(hf_context *ctx, hfi_ledger *ledger, size_t count,
                                      const hfi_entry *entries)
{
    const uint64_t before = ledger->entries;
    const hfi_seal seal = ledger->seal;
    const bool ahead = ledger->added;
    hf_status status = append_held(ctx, ledger, count, entries);
    if (status >= 0) status = hfi_ledger_end(ctx, ledger, true);
    if (status >= 0 || ahead) return status;
    end_turn(ledger);
    ledger->entries = before;
    ledger->seal = seal;
    ledger->behind = false;
    return status;
}

static hf_status append_alone(hf_context *ctx, hfi_ledger *ledger, size_t count, const hfi_entry *entries)
{
    const hf_status status = hfi_ledger_begin(ctx, ledger, PATIENCE);
    return status >= 0 ? finish_ledger_append(ctx, ledger, count, entries) : status;
}

hf_status hfi_ledger_append(hf_context *ctx, hfi_ledger *ledger, size_t n, const hfi_entry *entry)
{
    const hf_status status = check_writable(ctx, ledger);
    if (status < 0) return status;
    return ledger->held ? append_held(ctx, ledger, n, entry) : append_alone(ctx, ledger, n, entry);
}

/* ---- events on their way to being entries -------------------------------------------------------------------- */

typedef hf_status appender(hf_context *ctx, hfi_ledger *ledger, size_t n, const hfi_entry *entry);

static hf_status packed(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_batch *batch, appender *append)
{
    hfi_bytes bytes = {.memory = ledger->memory};
    hfi_entry *entries = hfi_alloc(ctx, batch->count, sizeof *entries);
    if (entries == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < batch->count; i++) {
        const size_t before = bytes.count;
        batch->pack(&bytes, i, &entries[i], batch->events);
        entries[i].bytes = bytes.count - before;
    }
    const unsigned char *at = bytes.data;
    for (size_t i = 0; i < batch->count && !bytes.failed; i++) {
        entries[i].payload = at;
        at += entries[i].bytes;
    }
    const hf_status status =
        bytes.failed ? hfi_out_of_memory(ctx) : append(ctx, ledger, batch->count, entries);
    hfi_bytes_free(&bytes);
    hfi_free(ctx, entries);
    return status;
}

hf_status hfi_ledger_append_all(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_batch *batch)
{
    return packed(ctx, ledger, batch, hfi_ledger_append);
}

hf_status hfi_ledger_finish_all(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_batch *batch)
{
    const hf_status status = check_writable(ctx, ledger);
    if (status < 0) return status;
    if (!ledger->held) return hfi_refuse(ctx, "%s: no change of it has begun", ledger->name);
    return packed(ctx, ledger, batch, finish_ledger_append);
}

/* ---- the end -------------------------------------------------------------------------------------------------- */

hf_status hfi_ledger_end(hf_context *ctx, hfi_ledger *ledger, bool keep)
{
    if (ledger->behind && !keep) return HF_OK;
    if (ledger->behind) return hfi_ledger_check(ctx, ledger);
    if (!ledger->held) return hfi_refuse(ctx, "%s: no change of it has begun", ledger->name);
    const int rc = keep ? hfi_ledger_execute(ledger, "COMMIT") : SQLITE_OK;
    if (rc != SQLITE_OK) return lose(ctx, ledger, rc);
    ledger->behind = !keep && ledger->added;
    end_turn(ledger);
    return HF_OK;
}
