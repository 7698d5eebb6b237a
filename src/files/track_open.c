/* SPDX-License-Identifier: Apache-2.0 */
/* The track that an open file holds, and its newest entries taken back. */
#include "files/track_store.h"

/* A track on its way out of its journal. */
typedef struct loading {
    hfi_track_store *store;
    hfi_track_own told;
    hf_track *track;
    uint64_t list;    /* entry that the newest list of requests begins with */
    uint64_t missing; /* its requests that are still to come */
    hfi_track_reading reading;
    hfi_ledger_owner owner;
} loading;

static hf_status cut_short(hf_context *ctx, const loading *l)
{
    const hf_status status =
        hfi_fail(ctx, HF_ERR_MODEL_FILE, "it is a list of requests, of which the last %llu do not follow",
                 (unsigned long long)l->missing);
    return hfi_ledger_blame(ctx, l->store->ledger, l->list, status);
}

/* A list of requests is written at once: nothing comes between its entries, and nothing cuts it short. */
static hf_status follow_list(hf_context *ctx, uint64_t number, const hfi_event *event, loading *l)
{
    const bool requested = event->kind == HFI_EVENT_REQUESTED;
    if (l->missing > 0 && !requested) return cut_short(ctx, l);
    if (l->missing == 0 && requested)
        return hfi_ledger_blame(
            ctx, l->store->ledger, number,
            hfi_fail(ctx, HF_ERR_MODEL_FILE, "it is a request that is on no list of requests"));
    if (requested) l->missing--;
    if (event->kind == HFI_EVENT_BATCH) {
        l->list = number;
        l->missing = event->id;
    }
    return HF_OK;
}

static hf_status replay(hf_context *ctx, uint64_t number, const hfi_event *event, void *user)
{
    loading *l = user;
    hf_status status = follow_list(ctx, number, event, l);
    if (status < 0) return status;
    status = hfi_track_replay(ctx, l->track, event);
    return status >= 0 ? status : hfi_ledger_blame(ctx, l->store->ledger, number, status);
}

/* ---- what the ledger asks of a track ------------------------------------------------------------------------- */

static void drop(loading *l)
{
    hf_track_free(l->track);
    l->track = NULL;
    hfi_track_own_free(&l->store->ledger->memory, &l->told);
    hfi_track_store_forget_names(l->store);
    l->missing = 0;
}

static hf_status begin(const hfi_reader *r, void *user)
{
    loading *l = ((hfi_track_reading *)user)->user;
    drop(l);
    const hf_status status = hfi_track_read_settings(r, l->store, &l->told);
    if (status < 0) return status;
    return hfi_ledger_blame_settings(r, hf_track_create(r->ctx, &l->told.s, &l->track));
}

static hf_status restore(hf_context *ctx, const unsigned char *state, size_t bytes, void *user)
{
    const loading *l = ((const hfi_track_reading *)user)->user;
    return hfi_track_restore(ctx, l->track, state, bytes);
}

static hf_status end(hf_context *ctx, hf_status status, uint64_t *good, void *user)
{
    const loading *l = ((const hfi_track_reading *)user)->user;
    if (l->missing == 0) return status;
    *good = l->list - 1;
    return status >= 0 ? cut_short(ctx, l) : status;
}

static void prepare(loading *l, hfi_track_store *store)
{
    *l = (loading){.store = store, .reading = {.store = store, .take = replay, .user = l}};
    l->owner = (hfi_ledger_owner){
        .begin = begin, .restore = restore, .take = hfi_track_take, .end = end, .user = &l->reading};
}

hf_status hfi_track_load(hf_context *ctx, hfi_track_store *store, hf_track **out)
{
    loading l;
    prepare(&l, store);
    const hf_status status = hfi_ledger_load(ctx, store->ledger, &l.owner);
    hfi_track_own_free(&store->ledger->memory, &l.told);
    if (status < 0)
        hf_track_free(l.track);
    else
        *out = l.track;
    return status;
}

hf_status hf_track_file_undo(hf_context *ctx, const char *path, uint64_t entries, uint64_t *removed)
{
    if (ctx == NULL || path == NULL)
        return hfi_refuse(ctx, "hf_track_file_undo: context and path must not be NULL");
    hfi_track_store *store = hfi_track_store_new(ctx, path);
    if (store == NULL) return HF_ERR_MEMORY;
    uint64_t count = 0;
    loading l;
    prepare(&l, store);
    hf_status status = hfi_ledger_open(ctx, store->ledger, path, HFI_LEDGER_OWN);
    if (status >= 0) status = hfi_ledger_undo(ctx, store->ledger, entries, &l.owner, &count);
    drop(&l);
    hfi_track_store_free(store);
    if (status >= 0 && removed != NULL) *removed = count;
    return status;
}

hf_status hf_track_file_open(hf_context *ctx, const char *path, bool write, hf_track **out)
{
    if (ctx == NULL || path == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_track_file_open: context, path and out must not be NULL");
    hfi_track_store *store = hfi_track_store_new(ctx, path);
    if (store == NULL) return HF_ERR_MEMORY;
    hf_track *track = NULL;
    hf_status status = hfi_ledger_open(ctx, store->ledger, path, write ? HFI_LEDGER_OWN : HFI_LEDGER_LOOK);
    if (status >= 0) status = hfi_track_load(ctx, store, &track);
    if (status < 0) {
        hfi_track_store_free(store);
        return status;
    }
    const hfi_event_journal journal = hfi_track_store_journal(store, write);
    hfi_track_set_journal(track, &journal);
    *out = track;
    return HF_OK;
}
