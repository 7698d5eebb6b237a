/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a ledger's file, and the checksums over them. */
#include "store/ledger.h"

#include <string.h>

static const char head_table[] =
    "CREATE TABLE head (position INTEGER PRIMARY KEY NOT NULL, entries INTEGER NOT NULL, seal BLOB NOT NULL)";

const char hfi_ledger_snapshot_table[] =
    "CREATE TABLE snapshot (position INTEGER PRIMARY KEY NOT NULL, number INTEGER NOT NULL, seal BLOB NOT "
    "NULL, state BLOB NOT NULL, sha256 BLOB NOT NULL)";

static void journal_table(const hfi_ledger_form *form, char text[256])
{
    sqlite3_snprintf(256, text,
                     "CREATE TABLE journal (number INTEGER PRIMARY KEY NOT NULL, kind TEXT NOT NULL, id "
                     "INTEGER NOT NULL, of INTEGER NOT NULL, %s BLOB NOT NULL, seal BLOB NOT NULL)",
                     form->payload);
}

int hfi_ledger_schema_create(sqlite3 *db, const hfi_ledger_form *form)
{
    char entries[256];
    journal_table(form, entries);
    const int rc = sqlite3_exec(db, head_table, NULL, NULL, NULL);
    return rc == SQLITE_OK ? sqlite3_exec(db, entries, NULL, NULL, NULL) : rc;
}

bool hfi_ledger_has_snapshot(sqlite3 *db)
{
    return hfi_tables_has(db, "snapshot", hfi_ledger_snapshot_table);
}

hf_status hfi_ledger_schema_check(hf_context *ctx, sqlite3 *db, const hfi_ledger_form *form, const char *name)
{
    char entries[256];
    journal_table(form, entries);
    const hfi_file_table own[] = {{.name = "head", .create = head_table},
                                  {.name = "journal", .create = entries}};
    const hfi_file_tables journal = {.count = 2, .table = own};
    const size_t all = form->tables.count + journal.count + (hfi_ledger_has_snapshot(db) ? 1 : 0);
    hf_status status = hfi_tables_check(ctx, db, &form->tables, name);
    if (status >= 0) status = hfi_tables_check(ctx, db, &journal, name);
    return status < 0 ? status : hfi_tables_check_count(ctx, db, all, form->file->noun, name);
}

/* ---- checksums ------------------------------------------------------------------------------------------------ */

/* The seal that a digest begins with. */
static hfi_seal seal_of(hfi_sha256 *hash)
{
    unsigned char digest[HFI_SHA256_BYTES];
    hfi_seal seal;
    hfi_sha256_end(hash, digest);
    memcpy(seal.bytes, digest, HFI_SEAL_BYTES);
    return seal;
}

int hfi_ledger_settings_digest(sqlite3 *db, const hfi_ledger_form *form, char hex[HFI_SHA256_HEX],
                               hfi_seal *first)
{
    hfi_sha256 hash;
    const int rc = hfi_tables_digest(db, &form->tables, &hash);
    if (rc != SQLITE_OK) return rc;
    hfi_sha256 same = hash;
    hfi_sha256_hex(&hash, hex);
    *first = seal_of(&same);
    return SQLITE_OK;
}

hfi_seal hfi_ledger_seal(const hfi_seal *before, const char *kind, const hfi_entry *entry)
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    hfi_sha256_add(&hash, before->bytes, HFI_SEAL_BYTES);
    hfi_sha256_add_u64(&hash, entry->number);
    hfi_sha256_add_text(&hash, kind);
    hfi_sha256_add_u64(&hash, entry->id);
    hfi_sha256_add_u64(&hash, entry->of);
    hfi_sha256_add_u64(&hash, entry->bytes);
    if (entry->bytes > 0) hfi_sha256_add(&hash, entry->payload, entry->bytes);
    return seal_of(&hash);
}
