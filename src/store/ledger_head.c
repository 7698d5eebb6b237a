/* SPDX-License-Identifier: Apache-2.0 */
/* Where the journal of a ledger's file ends, and the seals in it. */
#include "store/ledger.h"

#include <string.h>

hf_status hfi_ledger_head(hf_context *ctx, const hfi_ledger *ledger, uint64_t *end, hfi_seal *seal)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(ledger->db, "SELECT entries, seal FROM head", -1, &s, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(s);
    bool good = rc == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_INTEGER &&
                sqlite3_column_int64(s, 0) >= 0 && sqlite3_column_bytes(s, 1) == HFI_SEAL_BYTES;
    if (good) {
        *end = (uint64_t)sqlite3_column_int64(s, 0);
        memcpy(seal->bytes, sqlite3_column_blob(s, 1), HFI_SEAL_BYTES);
        good = sqlite3_step(s) == SQLITE_DONE;
    }
    sqlite3_finalize(s);
    if (good) return HF_OK;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE && rc != SQLITE_OK)
        return hfi_ledger_failed(ctx, ledger, rc, "read");
    return hfi_fail(ctx, HF_ERR_MODEL_FILE, "%s: damaged: it does not say how long its journal is",
                    ledger->name);
}

int hfi_ledger_seal_at(const hfi_ledger *ledger, uint64_t number, hfi_seal *seal, bool *there)
{
    *there = number == 0;
    *seal = ledger->first;
    if (number == 0) return SQLITE_OK;
    sqlite3_stmt *s = NULL;
    int rc = hfi_statement_open(ledger->db, "SELECT seal FROM journal WHERE number = ?1",
                                HFI_VALUES(hfi_whole(number)), &s);
    if (rc == SQLITE_OK) rc = sqlite3_step(s);
    *there = rc == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_BLOB &&
             sqlite3_column_bytes(s, 0) == HFI_SEAL_BYTES;
    if (*there) memcpy(seal->bytes, sqlite3_column_blob(s, 0), HFI_SEAL_BYTES);
    sqlite3_finalize(s);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : sqlite3_extended_errcode(ledger->db);
}
