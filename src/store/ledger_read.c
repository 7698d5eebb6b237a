/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger's file, entry by entry. */
#include "store/ledger.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    TELL_EVERY = 1000 /* entries between two reports of progress */
};

/* The entry being read: it moves `entries` and `seal` of the journal on. */
typedef struct ledger_reading {
    hf_context *ctx;
    hfi_ledger *ledger;
    sqlite3_stmt *statement;
    const hfi_ledger_owner *owner;
    uint64_t expected; /* entries by the head */
    hfi_seal last;     /* and its seal */
} ledger_reading;

static bool find_kind(const hfi_ledger_form *form, const char *name, unsigned *kind)
{
    for (unsigned k = 0; name != NULL && k < form->kinds; k++) {
        if (strcmp(name, form->kind[k].name) != 0) continue;
        *kind = k;
        return true;
    }
    return false;
}

/* The present row, which must be the entry after the last, and its seal. */
static hf_status read_row(const ledger_reading *r, hfi_entry *entry, hfi_seal *made)
{
    sqlite3_stmt *s = r->statement;
    const hfi_ledger *ledger = r->ledger;
    const char *kind = (const char *)sqlite3_column_text(s, 1);
    const void *seal = sqlite3_column_blob(s, 5);
    *entry = (hfi_entry){.number = ledger->entries + 1,
                         .id = (uint64_t)sqlite3_column_int64(s, 2),
                         .of = (uint64_t)sqlite3_column_int64(s, 3),
                         .payload = sqlite3_column_blob(s, 4),
                         .bytes = (size_t)sqlite3_column_bytes(s, 4)};
    if ((uint64_t)sqlite3_column_int64(s, 0) != entry->number ||
        !find_kind(ledger->form, kind, &entry->kind) || (entry->payload == NULL && entry->bytes > 0) ||
        seal == NULL || sqlite3_column_bytes(s, 5) != HFI_SEAL_BYTES)
        return hfi_ledger_damaged_entry(r->ctx, ledger, entry->number);
    *made = hfi_ledger_seal(&ledger->seal, kind, entry);
    return memcmp(made->bytes, seal, HFI_SEAL_BYTES) == 0
               ? HF_OK
               : hfi_ledger_damaged_entry(r->ctx, ledger, entry->number);
}

static hf_status take_row(ledger_reading *r)
{
    hfi_entry entry;
    hfi_seal seal;
    hf_status status = read_row(r, &entry, &seal);
    const double number = (double)entry.number;
    if (status >= 0 && entry.number % TELL_EVERY == 0 &&
        !hfi_progress(r->ctx, "open", number / fmax(number, (double)r->expected), NAN))
        status = hfi_cancelled(r->ctx);
    if (status >= 0) status = r->owner->take(r->ctx, &entry, r->owner->user);
    if (status < 0) return status;
    r->ledger->entries = entry.number;
    r->ledger->seal = seal;
    return HF_OK;
}

static hf_status read_rows(ledger_reading *r)
{
    hf_status status = HF_OK;
    int rc = SQLITE_OK;
    while (status >= 0 && (rc = sqlite3_step(r->statement)) == SQLITE_ROW) status = take_row(r);
    if (status < 0) return status;
    const hfi_ledger *ledger = r->ledger;
    if (rc != SQLITE_DONE) return hfi_ledger_failed(r->ctx, ledger, rc, "read");
    if (ledger->most < INT64_MAX) return HF_OK;
    if (ledger->entries != r->expected || memcmp(ledger->seal.bytes, r->last.bytes, HFI_SEAL_BYTES) != 0)
        return hfi_fail(r->ctx, HF_ERR_MODEL_FILE,
                        "%s: damaged: its journal has %" PRIu64 " entries where there should be %" PRIu64,
                        ledger->name, ledger->entries, r->expected);
    return HF_OK;
}

/* Every entry from number `first` on. */
static hf_status read_from(ledger_reading *r, sqlite3_int64 first)
{
    const hfi_ledger *ledger = r->ledger;
    hf_status status = HF_OK;
    if (ledger->most == INT64_MAX)
        status = hfi_ledger_head(r->ctx, ledger, &r->expected, &r->last);
    else
        r->expected = ledger->most > 0 ? (uint64_t)ledger->most : 0;
    if (status < 0) return status;
    int rc = hfi_ledger_prepare(ledger,
                                "SELECT number, kind, id, of, %s, seal FROM journal WHERE number >= ?1 AND "
                                "number <= ?2 ORDER BY number",
                                &r->statement);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(r->statement, 1, first);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(r->statement, 2, ledger->most);
    status = rc == SQLITE_OK ? read_rows(r) : hfi_ledger_failed(r->ctx, ledger, rc, "read");
    sqlite3_finalize(r->statement);
    return status;
}

/* From before the first entry, whatever number that has. */
static hf_status read_all(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_owner *owner)
{
    ledger_reading r = {.ctx = ctx, .ledger = ledger, .owner = owner};
    ledger->entries = 0;
    ledger->seal = ledger->first;
    return read_from(&r, INT64_MIN);
}

static hf_status read_tail(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_owner *owner)
{
    ledger_reading r = {.ctx = ctx, .ledger = ledger, .owner = owner};
    return read_from(&r, (sqlite3_int64)ledger->entries + 1);
}

/* ---- a reading is of one moment ------------------------------------------------------------------------------- */

static void end_reading(const hfi_ledger *ledger, bool own)
{
    if (own && !sqlite3_get_autocommit(ledger->db)) (void)hfi_ledger_execute(ledger, "COMMIT");
}

/* *own: the transaction is ours to end; after an error there is none. */
static int begin_reading(const hfi_ledger *ledger, bool *own)
{
    *own = sqlite3_get_autocommit(ledger->db) != 0;
    if (!*own) return SQLITE_OK;
    const int rc = hfi_ledger_execute(ledger, "BEGIN; SELECT 1 FROM sqlite_schema");
    if (rc != SQLITE_OK) end_reading(ledger, true);
    return rc;
}

hf_status hfi_ledger_each(hf_context *ctx, const hfi_ledger *ledger, const hfi_ledger_owner *owner)
{
    hfi_ledger passing = *ledger; /* where the journal ends is the owner's to know */
    bool own = false;
    const int rc = begin_reading(ledger, &own);
    const hf_status status =
        rc == SQLITE_OK ? read_all(ctx, &passing, owner) : hfi_ledger_failed(ctx, ledger, rc, "read");
    end_reading(ledger, own);
    return status;
}

/* The entries here must be in the file still. */
static hf_status check_own(hf_context *ctx, const hfi_ledger *ledger)
{
    hfi_seal seal;
    bool there = false;
    const int rc = hfi_ledger_seal_at(ledger, ledger->entries, &seal, &there);
    if (rc != SQLITE_OK) return hfi_ledger_failed(ctx, ledger, rc, "read");
    return there && memcmp(seal.bytes, ledger->seal.bytes, HFI_SEAL_BYTES) == 0
               ? HF_OK
               : hfi_fail(ctx, HF_ERR_IO,
                          "%s: cannot be read on: something else has changed it; open it again",
                          ledger->name);
}

hf_status hfi_ledger_catch_up(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_owner *owner)
{
    hf_status status = hfi_ledger_check(ctx, ledger);
    if (status < 0) return status;
    bool own = false;
    int rc = begin_reading(ledger, &own);
    if (hfi_ledger_is_left_over(rc)) {
        status = hfi_ledger_mend(ctx, ledger);
        if (status >= 0) rc = begin_reading(ledger, &own);
    }
    if (status >= 0 && rc != SQLITE_OK) status = hfi_ledger_failed(ctx, ledger, rc, "read");
    if (status >= 0) status = check_own(ctx, ledger);
    if (status >= 0) status = read_tail(ctx, ledger, owner);
    if (ledger->db != NULL) end_reading(ledger, own);
    ledger->agreed = status >= 0 && ledger->held;
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------------------------ */

static hf_status check_ledger_settings(const hfi_reader *r, hfi_ledger *ledger)
{
    char *stored = NULL, hex[HFI_SHA256_HEX];
    hf_status status = hfi_meta_text(r, "content_sha256", false, &stored);
    if (status >= 0 && (hfi_ledger_settings_digest(r->db, ledger->form, hex, &ledger->first) != SQLITE_OK ||
                        strcmp(hex, stored) != 0))
        status = hfi_reader_damaged(r, "its settings do not match their checksum");
    hfi_memory_free(&r->memory, stored);
    return status;
}

/* A damaged tree can lead round in circles. Where there is a snapshot, only what is read is looked at. */
static hf_status check_intact(const hfi_reader *r, const hfi_ledger_form *form, bool whole)
{
    if (whole) return hfi_reader_intact(r, NULL);
    hf_status status = hfi_reader_intact(r, "head");
    for (size_t i = 0; i < form->tables.count && status >= 0; i++)
        status = hfi_reader_intact(r, form->tables.table[i].name);
    return status >= 0 ? hfi_reader_intact(r, "snapshot") : status;
}

/* Settings, and a snapshot where `whole` is false, in which case *done tells whether that was enough. */
static hf_status load_part(const hfi_reader *r, hfi_ledger *ledger, bool whole, const hfi_ledger_owner *owner,
                           bool *done)
{
    hf_status status = check_intact(r, ledger->form, whole);
    if (status >= 0) status = hfi_ledger_schema_check(r->ctx, r->db, ledger->form, r->name);
    if (status >= 0) status = check_ledger_settings(r, ledger);
    if (status >= 0) status = owner->begin(r, owner->user);
    *done = whole;
    if (status < 0) return status;
    if (whole) return read_all(r->ctx, ledger, owner);
    status = hfi_ledger_restore(r->ctx, ledger, owner, done);
    if (status >= 0 && *done) status = read_tail(r->ctx, ledger, owner);
    return status;
}

static hf_status load_ledger(const hfi_reader *r, hfi_ledger *ledger, bool whole,
                             const hfi_ledger_owner *owner)
{
    bool done = false;
    hf_status status = hfi_ledger_check_marks(r->ctx, ledger, true);
    if (status < 0) return status;
    const bool shortly = !whole && owner->restore != NULL && hfi_ledger_has_snapshot(ledger->db);
    if (shortly) status = load_part(r, ledger, false, owner, &done);
    if (!shortly || status == HF_ERR_MODEL_FILE || (status >= 0 && !done)) {
        ledger->covered = 0;
        ledger->ruined = shortly;
        status = load_part(r, ledger, true, owner, &done); /* which may be sound, or says more */
    }
    return owner->end != NULL ? owner->end(r->ctx, status, &ledger->entries, owner->user) : status;
}

/* In a transaction. */
static hf_status load_now(hf_context *ctx, hfi_ledger *ledger, bool whole, const hfi_ledger_owner *owner)
{
    hfi_reader r = {.ctx = ctx,
                    .db = ledger->db,
                    .name = ledger->name,
                    .size = SIZE_MAX, /* known within the transaction */
                    .version = ledger->form->version,
                    .kind = ledger->form->file,
                    .memory = ledger->memory};
    bool own = false;
    const int rc = begin_reading(ledger, &own);
    if (rc != SQLITE_OK) return hfi_ledger_failed(ctx, ledger, rc, "read");
    sqlite3_int64 size = 0;
    if (hfi_ledger_size(ledger, &size) == SQLITE_OK) r.size = (size_t)size;
    const hf_status status = load_ledger(&r, ledger, whole, owner);
    end_reading(ledger, own);
    if (status >= 0) ledger->behind = false;
    return status;
}

hf_status hfi_ledger_load(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_owner *owner)
{
    return load_now(ctx, ledger, false, owner);
}

hf_status hfi_ledger_verify(hf_context *ctx, hfi_ledger *ledger, const hfi_ledger_owner *owner)
{
    return load_now(ctx, ledger, true, owner);
}
