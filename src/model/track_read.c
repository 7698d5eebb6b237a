/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a track's file, entry by entry. */
#include "model/track_store.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    TELL_EVERY = 1000 /* entries between two reports of progress */
};

static void unpack(double *out, size_t count, const unsigned char *bytes)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        for (unsigned b = 0; b < 8; b++) bits |= (uint64_t)bytes[8 * i + b] << (8U * b);
        memcpy(&out[i], &bits, sizeof bits);
    }
}

static hf_status damaged_entry(hf_context *ctx, const hfi_track_store *store, uint64_t number)
{
    return hfi_fail(ctx, HF_ERR_MODEL_FILE,
                    "%s: damaged: entry %" PRIu64 " of its journal is not as it was written", store->name,
                    number);
}

/* What is being read, and room for the numbers of an entry. */
typedef struct reading {
    hf_context *ctx;
    hfi_track_store *store;
    sqlite3_stmt *statement;
    double *numbers;
    size_t room;
    uint64_t expected; /* entries by the head */
    hfi_seal last;     /* and its seal */
} reading;

static hf_status make_room(reading *r, size_t count)
{
    if (count <= r->room) return HF_OK;
    double *larger = hfi_alloc(r->ctx, count, sizeof *larger);
    if (larger == NULL) return HF_ERR_MEMORY;
    hfi_free(r->ctx, r->numbers);
    r->numbers = larger;
    r->room = count;
    return HF_OK;
}

static bool find_kind(const char *name, hfi_event_kind *kind)
{
    for (unsigned k = 0; name != NULL && k < HFI_EVENTS; k++) {
        if (strcmp(name, hfi_event_names[k]) != 0) continue;
        *kind = (hfi_event_kind)k;
        return true;
    }
    return false;
}

/* The present row, which must be entry number entries + 1. */
static hf_status take_row(reading *r, hfi_event *event)
{
    sqlite3_stmt *s = r->statement;
    const uint64_t number = r->store->entries + 1;
    const char *kind = (const char *)sqlite3_column_text(s, 1);
    const unsigned char *bytes = sqlite3_column_blob(s, 4), *seal = sqlite3_column_blob(s, 5);
    const size_t size = (size_t)sqlite3_column_bytes(s, 4);
    *event =
        (hfi_event){.id = (uint64_t)sqlite3_column_int64(s, 2), .of = (uint64_t)sqlite3_column_int64(s, 3)};
    if ((uint64_t)sqlite3_column_int64(s, 0) != number || !find_kind(kind, &event->kind) || bytes == NULL ||
        size % 8 != 0 || size < 8 * HFI_EVENT_NUMBERS || seal == NULL ||
        sqlite3_column_bytes(s, 5) != HFI_SEAL_BYTES)
        return damaged_entry(r->ctx, r->store, number);
    const hfi_seal made = hfi_track_seal(&r->store->seal, number, kind, event->id, event->of, bytes, size);
    if (memcmp(made.bytes, seal, HFI_SEAL_BYTES) != 0) return damaged_entry(r->ctx, r->store, number);
    const hf_status status = make_room(r, size / 8);
    if (status < 0) return status;
    unpack(r->numbers, size / 8, bytes);
    event->time = r->numbers[0];
    event->y = r->numbers[1];
    event->a = r->numbers[2];
    event->b = r->numbers[3];
    event->c = r->numbers[4];
    event->count = size / 8 - HFI_EVENT_NUMBERS;
    event->values = event->count > 0 ? r->numbers + HFI_EVENT_NUMBERS : NULL;
    r->store->entries = number;
    r->store->seal = made;
    return HF_OK;
}

/* How many entries there must be. */
static hf_status read_head(reading *r)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(r->store->db, "SELECT entries, seal FROM head", -1, &s, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(s);
    bool good = rc == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_INTEGER &&
                sqlite3_column_int64(s, 0) >= 0 && sqlite3_column_bytes(s, 1) == HFI_SEAL_BYTES;
    if (good) {
        r->expected = (uint64_t)sqlite3_column_int64(s, 0);
        memcpy(r->last.bytes, sqlite3_column_blob(s, 1), HFI_SEAL_BYTES);
        good = sqlite3_step(s) == SQLITE_DONE;
    }
    sqlite3_finalize(s);
    if (good) return HF_OK;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE && rc != SQLITE_OK)
        return hfi_track_sqlite_failed(r->ctx, r->store, rc, "read");
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: it does not say how long its journal is",
                    r->store->name);
}

static hf_status read_rows(reading *r, hfi_track_taker *take, void *user)
{
    hf_status status = HF_OK;
    int rc = SQLITE_OK;
    while (status >= 0 && (rc = sqlite3_step(r->statement)) == SQLITE_ROW) {
        hfi_event event;
        status = take_row(r, &event);
        if (status < 0) break;
        const uint64_t number = r->store->entries;
        if (number % TELL_EVERY == 0 &&
            !hfi_progress(r->ctx, "open", (double)number / fmax((double)number, (double)r->expected), NAN))
            status = hfi_cancelled(r->ctx);
        if (status >= 0) status = take(r->ctx, number, &event, user);
        if (status < 0) r->store->entries = number - 1;
    }
    if (status < 0) return status;
    if (rc != SQLITE_DONE) return hfi_track_sqlite_failed(r->ctx, r->store, rc, "read");
    if (r->store->most < INT64_MAX) return HF_OK;
    if (r->store->entries != r->expected || memcmp(r->store->seal.bytes, r->last.bytes, HFI_SEAL_BYTES) != 0)
        return hfi_fail(r->ctx, HF_ERR_MODEL_FILE,
                        "%s: damaged: its journal has %" PRIu64 " entries where there should be %" PRIu64,
                        r->store->name, r->store->entries, r->expected);
    return HF_OK;
}

hf_status hfi_track_read_entries(hf_context *ctx, hfi_track_store *store, hfi_track_taker *take, void *user)
{
    reading r = {.ctx = ctx, .store = store};
    hf_status status = HF_OK;
    if (store->most == INT64_MAX)
        status = read_head(&r);
    else
        r.expected = store->most > 0 ? (uint64_t)store->most : 0;
    if (status < 0) return status;
    store->entries = 0;
    store->seal = store->first;
    int rc = sqlite3_prepare_v2(store->db,
                                "SELECT number, kind, id, of, numbers, seal FROM journal WHERE number <= ?1 "
                                "ORDER BY number",
                                -1, &r.statement, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(r.statement, 1, store->most);
    if (rc != SQLITE_OK) status = hfi_track_sqlite_failed(ctx, store, rc, "read");
    if (status >= 0) status = read_rows(&r, take, user);
    sqlite3_finalize(r.statement);
    hfi_free(ctx, r.numbers);
    return status;
}
