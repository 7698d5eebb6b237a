/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a ledger's file, and the checksums over them. */
#include "store/ledger.h"

#include <string.h>

static const char head_table[] =
    "CREATE TABLE head (position INTEGER PRIMARY KEY NOT NULL, entries INTEGER NOT NULL, seal BLOB NOT NULL)";

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
    int rc = SQLITE_OK;
    for (size_t i = 0; i < form->tables && rc == SQLITE_OK; i++)
        rc = sqlite3_exec(db, form->table[i].create, NULL, NULL, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_exec(db, head_table, NULL, NULL, NULL);
    return rc == SQLITE_OK ? sqlite3_exec(db, entries, NULL, NULL, NULL) : rc;
}

static hf_status check_table(hf_context *ctx, sqlite3 *db, const char *name, const char *table,
                             const char *create)
{
    return hfi_schema_has_table(db, table, create)
               ? HF_OK
               : hfi_fail(ctx, HF_ERR_MODEL_FILE,
                          "%s: damaged: table \"%s\" is missing or not as it should be", name, table);
}

hf_status hfi_ledger_schema_check(hf_context *ctx, sqlite3 *db, const hfi_ledger_form *form, const char *name)
{
    char entries[256];
    journal_table(form, entries);
    hf_status status = HF_OK;
    for (size_t i = 0; i < form->tables && status >= 0; i++)
        status = check_table(ctx, db, name, form->table[i].name, form->table[i].create);
    if (status >= 0) status = check_table(ctx, db, name, "head", head_table);
    if (status >= 0) status = check_table(ctx, db, name, "journal", entries);
    if (status < 0) return status;
    if (hfi_schema_has_strangers(db, form->tables + 2 + (hfi_ledger_has_snapshot(db) ? 1 : 0)))
        return hfi_fail(ctx, HF_ERR_MODEL_FILE,
                        "%s: damaged: it has tables, views or triggers that no %s has", name,
                        form->file->noun);
    return HF_OK;
}

/* ---- checksums ------------------------------------------------------------------------------------------------ */

int hfi_ledger_settings_digest(sqlite3 *db, const hfi_ledger_form *form, char hex[HFI_SHA256_HEX],
                               hfi_seal *first)
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    int rc = SQLITE_OK;
    for (size_t i = 0; i < form->tables && rc == SQLITE_OK; i++)
        rc = hfi_schema_hash(db, form->table[i].name, form->table[i].select, &hash);
    if (rc != SQLITE_OK) return rc;
    hfi_sha256 same = hash;
    unsigned char digest[HFI_SHA256_BYTES];
    hfi_sha256_hex(&hash, hex);
    hfi_sha256_end(&same, digest);
    memcpy(first->bytes, digest, HFI_SEAL_BYTES);
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
    unsigned char digest[HFI_SHA256_BYTES];
    hfi_sha256_end(&hash, digest);
    hfi_seal seal;
    memcpy(seal.bytes, digest, HFI_SEAL_BYTES);
    return seal;
}
