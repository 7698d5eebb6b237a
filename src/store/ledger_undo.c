/* SPDX-License-Identifier: Apache-2.0 */
/* The newest entries of a ledger taken back. The entries that stay are read first; what goes is only counted, and may
 * be damaged. */
#include "store/ledger.h"

#include <inttypes.h>
#include <string.h>

/* How the entry of the present row hangs together with others; a kind that there is not stands alone. */
static hfi_entry_part part_of(const hfi_ledger *ledger, sqlite3_stmt *row)
{
    const char *name = (const char *)sqlite3_column_text(row, 1);
    for (size_t k = 0; name != NULL && k < ledger->form->kinds; k++)
        if (strcmp(name, ledger->form->kind[k].name) == 0) return ledger->form->kind[k].part;
    return HFI_ENTRY_ALONE;
}

static bool counts(hfi_entry_part part)
{
    return part == HFI_ENTRY_ALONE || part == HFI_ENTRY_LISTED;
}

/* A damaged tree can lead round in circles: before anything is counted, SQLite finds it intact. */
static hf_status check_ledger_intact(hf_context *ctx, const hfi_ledger *ledger)
{
    const hfi_reader r = {.ctx = ctx, .db = ledger->db, .name = ledger->name, .kind = ledger->form->file};
    const hf_status status = hfi_reader_intact(&r, NULL);
    return status >= 0 ? hfi_ledger_schema_check(ctx, ledger->db, ledger->form, ledger->name) : status;
}

/* Where the journal is cut: the number of the entry that is the last to stay. */
static int find_cut(const hfi_ledger *ledger, uint64_t entries, int64_t *last, uint64_t *count)
{
    sqlite3_stmt *s = NULL;
    int rc =
        sqlite3_prepare_v2(ledger->db, "SELECT number, kind FROM journal ORDER BY number DESC", -1, &s, NULL);
    bool in_list = false, found = false;
    *count = 0;
    *last = INT64_MIN;
    while (rc == SQLITE_OK && !found && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        const hfi_entry_part part = part_of(ledger, s);
        found = *count >= entries && part != HFI_ENTRY_AHEAD && !(in_list && part != HFI_ENTRY_ALONE);
        if (found) *last = sqlite3_column_int64(s, 0);
        if (!found && counts(part)) (*count)++;
        in_list = part == HFI_ENTRY_LISTED;
        rc = SQLITE_OK;
    }
    if (rc != SQLITE_OK && rc != SQLITE_DONE) rc = sqlite3_extended_errcode(ledger->db);
    sqlite3_finalize(s);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Entries that count after those that are good. */
static uint64_t count_bad(const hfi_ledger *ledger)
{
    uint64_t count = 0;
    sqlite3_stmt *s = NULL;
    const int rc = hfi_statement_open(ledger->db, "SELECT number, kind FROM journal WHERE number > ?1",
                                      HFI_VALUES(hfi_whole(ledger->entries)), &s);
    while (rc == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW) count += counts(part_of(ledger, s));
    sqlite3_finalize(s);
    return count;
}

/* The known part of the damage goes with this many. */
static hf_status say_what_helps(hf_context *ctx, const hfi_ledger *ledger, uint64_t least)
{
    char words[512];
    sqlite3_snprintf(sizeof words, words, "%s", hf_context_message(ctx));
    uint64_t count = count_bad(ledger);
    if (count < least) count = least;
    return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s; taking back the last %" PRIu64 " entr%s helps", words, count,
                    count == 1 ? "y" : "ies");
}

/* The part that stays is made, to see that it can be, and for the seal it ends with. */
static hf_status verify(hf_context *ctx, hfi_ledger *ledger, int64_t last, uint64_t count,
                        const hfi_ledger_owner *owner)
{
    ledger->most = last;
    ledger->entries = UINT64_MAX; /* until the entries are reached */
    const hf_status status = hfi_ledger_verify(ctx, ledger, owner);
    if (status == HF_ERR_MODEL_FILE && ledger->entries != UINT64_MAX)
        return say_what_helps(ctx, ledger, count + 1);
    return status;
}

static int cut_ledger_journal(const hfi_ledger *ledger)
{
    int rc = hfi_statement_run(ledger->db, "DELETE FROM journal WHERE number > ?1",
                               HFI_VALUES(hfi_whole(ledger->entries)));
    /* A head that is missing, or more than one, is damage that goes too. */
    if (rc == SQLITE_OK) rc = hfi_ledger_execute(ledger, "DELETE FROM head");
    if (rc != SQLITE_OK) return rc;
    return hfi_statement_run(
        ledger->db, "INSERT INTO head (position, entries, seal) VALUES (0, ?1, ?2)",
        HFI_VALUES(hfi_whole(ledger->entries), hfi_blob(ledger->seal.bytes, HFI_SEAL_BYTES)));
}

/* In one transaction, which closing the ledger undoes where it was not committed. */
hf_status hfi_ledger_undo(hf_context *ctx, hfi_ledger *ledger, uint64_t entries,
                          const hfi_ledger_owner *owner, uint64_t *removed)
{
    int64_t last = INT64_MAX;
    *removed = 0;
    int rc = hfi_ledger_execute(ledger, "BEGIN IMMEDIATE");
    if (rc != SQLITE_OK) return hfi_ledger_failed(ctx, ledger, rc, "written");
    hf_status status = check_ledger_intact(ctx, ledger);
    if (status < 0) return status;
    if (entries > 0) rc = find_cut(ledger, entries, &last, removed);
    if (rc != SQLITE_OK) return hfi_ledger_failed(ctx, ledger, rc, "read");
    status = verify(ctx, ledger, last, *removed, owner);
    if (status < 0 || entries == 0) return status;
    rc = cut_ledger_journal(ledger);
    if (rc == SQLITE_OK) rc = hfi_ledger_drop_snapshot(ledger);
    if (rc == SQLITE_OK) rc = hfi_ledger_execute(ledger, "COMMIT");
    return rc == SQLITE_OK ? HF_OK : hfi_ledger_failed(ctx, ledger, rc, "written");
}
