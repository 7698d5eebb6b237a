/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ledger_owner.h
 * @brief The smallest owner of a ledger, for tests: a count of entries and a sum that depends on
 * their order.
 */
#ifndef TESTS_MODEL_LEDGER_OWNER_H
#define TESTS_MODEL_LEDGER_OWNER_H

#include "data/support.h"

#include "core/bytes.h"
#include "store/ledger.h"

static const hfi_file_kind tally_file = {.application = 0x48467478,
                                         .newest = 2,
                                         .noun = "tally",
                                         .article = "a tally",
                                         .maker = "a tally with this test",
                                         .again = "make it again",
                                         .reader = "this test reads it"};

static const hfi_file_table tally_tables[] = {
    {"meta", "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value)",
     "SELECT key, value FROM meta WHERE key <> 'content_sha256' ORDER BY key"}};

enum {
    PUT,
    LIST,
    ITEM
};

static const hfi_ledger_kind tally_kinds[] = {
    {"put", HFI_ENTRY_ALONE}, {"list", HFI_ENTRY_LIST}, {"item", HFI_ENTRY_LISTED}};

static const hfi_ledger_form tally_form = {.file = &tally_file,
                                           .version = 1,
                                           .tables = {.count = 1, .table = tally_tables},
                                           .kinds = 3,
                                           .kind = tally_kinds,
                                           .payload = "payload"};

/* The sum of all entries, and how many were taken one by one. */
typedef struct tally {
    uint64_t count, sum;
    uint64_t taken, begun, restored;
    uint64_t last_of[16]; /* by id: `of` of its newest entry, which must go up one by one */
    bool torn;            /* it did not */
} tally;

static inline hf_status tally_take(hf_context *ctx, const hfi_entry *entry, void *user)
{
    (void)ctx;
    tally *t = user;
    t->count++;
    t->taken++;
    t->sum =
        6364136223846793005U * (t->sum + entry->number) + entry->id + 16 * entry->of + entry->kind;
    for (size_t i = 0; i < entry->bytes; i++) t->sum = 31 * t->sum + entry->payload[i];
    if (entry->of != t->last_of[entry->id % 16] + 1) t->torn = true;
    t->last_of[entry->id % 16] = entry->of;
    return HF_OK;
}

static inline hf_status tally_begin(const hfi_reader *r, void *user)
{
    char *format = NULL;
    const hf_status status = hfi_meta_text(r, "format", false, &format);
    hfi_memory_free(&r->memory, format);
    tally *t = user;
    *t = (tally){.begun = t->begun + 1};
    return status;
}

static inline hf_status tally_restore(hf_context *ctx, const unsigned char *state, size_t bytes,
                                      void *user)
{
    (void)ctx;
    tally *t = user;
    hfi_bytes_left from = {.at = state, .left = bytes};
    if (hfi_bytes_take_u64(&from) != 1) return HF_ERR_MODEL_FILE; /* of another version */
    t->count = hfi_bytes_take_u64(&from);
    t->sum = hfi_bytes_take_u64(&from);
    for (size_t i = 0; i < 16; i++) t->last_of[i] = hfi_bytes_take_u64(&from);
    t->restored++;
    return from.bad || from.left != 0 ? HF_ERR_MODEL_FILE : HF_OK;
}

static inline void tally_state(hfi_bytes *to, const void *user)
{
    const tally *t = user;
    hfi_bytes_add_u64(to, 1);
    hfi_bytes_add_u64(to, t->count);
    hfi_bytes_add_u64(to, t->sum);
    for (size_t i = 0; i < 16; i++) hfi_bytes_add_u64(to, t->last_of[i]);
}

static inline hfi_ledger_owner tally_owner(tally *t)
{
    return (hfi_ledger_owner){
        .begin = tally_begin, .restore = tally_restore, .take = tally_take, .user = t};
}

static inline void tally_fill(hfi_writer *w, const void *user)
{
    hfi_writer_meta(w, "format", hfi_text(user));
}

/* ---- files of tallies ------------------------------------------------------------------------ */

static inline hfi_ledger *tally_new(hf_context *ctx, const char *path)
{
    hfi_ledger *ledger = hfi_ledger_new(ctx, &tally_form, path);
    assert_non_null(ledger);
    return ledger;
}

static inline void tally_make(hf_context *ctx, const char *path)
{
    hfi_ledger *ledger = tally_new(ctx, path);
    if (hfi_ledger_create(ctx, ledger, path, tally_fill, "a tally", HFI_LEDGER_OWN) < 0)
        fail_msg("%s", hf_context_message(ctx));
    hfi_ledger_close(ledger);
}

static inline hf_status tally_catch_up(hf_context *ctx, hfi_ledger *ledger, tally *t)
{
    const hfi_ledger_owner owner = tally_owner(t);
    return hfi_ledger_catch_up(ctx, ledger, &owner);
}

static inline hf_status tally_load(hf_context *ctx, hfi_ledger *ledger, tally *t)
{
    const hfi_ledger_owner owner = tally_owner(t);
    return hfi_ledger_load(ctx, ledger, &owner);
}

static inline hfi_ledger *tally_open(hf_context *ctx, const char *path, hfi_ledger_use mode,
                                     tally *t)
{
    hfi_ledger *ledger = tally_new(ctx, path);
    *t = (tally){0};
    hf_status status = hfi_ledger_open(ctx, ledger, path, mode);
    if (status >= 0) status = tally_load(ctx, ledger, t);
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
    return ledger;
}

/* Entry number `of` of the one that is called `id`, and some bytes that say so, or none. */
static inline hfi_entry tally_entry(uint64_t id, uint64_t of, char text[64])
{
    snprintf(text, 64, "%llu says %llu", (unsigned long long)id, (unsigned long long)of);
    return (hfi_entry){.kind = PUT,
                       .id = id,
                       .of = of,
                       .bytes = of % 5 == 0 ? 0 : strlen(text),
                       .payload = of % 5 == 0 ? NULL : (const unsigned char *)text};
}

/* Appends one, and takes it as the owner does. */
static inline hf_status tally_put(hf_context *ctx, hfi_ledger *ledger, tally *t, uint64_t id)
{
    char text[64];
    hfi_entry entry = tally_entry(id, t->last_of[id % 16] + 1, text);
    const hf_status status = hfi_ledger_append(ctx, ledger, 1, &entry);
    if (status < 0) return status;
    entry.number = ledger->entries;
    return tally_take(ctx, &entry, t);
}

/* A change of one entry, in one's turn. */
static inline hf_status tally_turn(hf_context *ctx, hfi_ledger *ledger, tally *t, uint64_t id)
{
    hf_status status = hfi_ledger_begin(ctx, ledger, 60.0);
    if (status < 0) return status;
    status = tally_catch_up(ctx, ledger, t);
    if (status >= 0) status = tally_put(ctx, ledger, t, id);
    const hf_status ended = hfi_ledger_end(ctx, ledger, status >= 0);
    return status >= 0 ? ended : status;
}

/* The file as a whole, every entry of it checked. */
static inline tally tally_of_file(hf_context *ctx, const char *path)
{
    tally t = {0};
    const hfi_ledger_owner owner = tally_owner(&t);
    hfi_ledger *ledger = tally_new(ctx, path);
    hf_status status = hfi_ledger_open(ctx, ledger, path, HFI_LEDGER_LOOK);
    if (status >= 0) status = hfi_ledger_verify(ctx, ledger, &owner);
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
    assert_int_equal(t.taken, t.count);
    hfi_ledger_close(ledger);
    return t;
}

#endif
