/* SPDX-License-Identifier: Apache-2.0 */
/* The open file of a track: what belongs to it, and to whom it belongs. */
#include "files/track_store.h"

hfi_track_store *hfi_track_store_new(hf_context *ctx, const char *name)
{
    hfi_track_store *store = hfi_alloc(ctx, 1, sizeof *store);
    if (store == NULL) return NULL;
    store->ledger = hfi_ledger_new(ctx, &hfi_track_form, name);
    if (store->ledger != NULL) return store;
    hfi_free(ctx, store);
    return NULL;
}

void hfi_track_store_forget_names(hfi_track_store *store)
{
    const hfi_memory *memory = &store->ledger->memory;
    hfi_texts_free(memory, store->label, store->labels);
    hfi_memory_free(memory, store->target);
    *store = (hfi_track_store){.ledger = store->ledger};
}

void hfi_track_store_free(hfi_track_store *store)
{
    if (store == NULL) return;
    const hfi_memory memory = store->ledger->memory;
    hfi_track_store_forget_names(store);
    hfi_ledger_close(store->ledger);
    hfi_memory_free(&memory, store);
}

hf_status hfi_track_store_names(hf_context *ctx, hfi_track_store *store, const char *target, size_t labels,
                                const char *const *label)
{
    const hfi_memory *memory = &store->ledger->memory;
    store->target = hfi_memory_strdup(memory, target);
    if (store->target == NULL) return hfi_out_of_memory(ctx);
    if (label == NULL) return HF_OK;
    store->label = hfi_texts_copy(memory, label, labels);
    store->labels = store->label != NULL ? labels : 0;
    return store->label != NULL ? HF_OK : hfi_out_of_memory(ctx);
}

/* ---- the track it belongs to ---------------------------------------------------------------------------------- */

static void add_state(hfi_bytes *to, const void *user)
{
    hfi_track_state(to, user);
}

static void keep_state(void *user, const hf_track *track)
{
    const hfi_track_store *store = user;
    hfi_ledger_snapshot(store->ledger, track->held, add_state, track);
}

static void close_store(void *store)
{
    hfi_track_store_free(store);
}

hfi_event_journal hfi_track_store_journal(hfi_track_store *store, bool write)
{
    return (hfi_event_journal){.append = write ? hfi_track_append : NULL,
                               .applied = keep_state,
                               .close = close_store,
                               .user = store,
                               .target = store->target};
}

hfi_track_store *hfi_track_store_of(const hf_track *track)
{
    const hfi_event_journal *journal = track != NULL ? hfi_track_journal(track) : NULL;
    return journal != NULL && journal->close == close_store ? journal->user : NULL;
}

const char *hf_track_target(const hf_track *track)
{
    const hfi_event_journal *journal = track != NULL ? hfi_track_journal(track) : NULL;
    return journal != NULL && journal->target != NULL ? journal->target : "y";
}

const char *hf_track_candidate(const hf_track *track, size_t index)
{
    const hfi_track_store *store = hfi_track_store_of(track);
    return store != NULL && index < store->labels ? store->label[index] : NULL;
}

/* ---- many changes in one -------------------------------------------------------------------------------------- */

hf_status hf_track_file_begin(hf_context *ctx, hf_track *track)
{
    const hfi_track_store *store = hfi_track_store_of(track);
    if (store == NULL || store->ledger->mode == HFI_LEDGER_LOOK)
        return hfi_refuse(ctx, "hf_track_file_begin: %s",
                          store == NULL ? "the track has no file" : "the track is open to look at only");
    if (store->ledger->held) return hfi_refuse(ctx, "hf_track_file_begin: begun already");
    return hfi_ledger_begin(ctx, store->ledger, 0.0);
}

hf_status hf_track_file_end(hf_context *ctx, hf_track *track, bool keep)
{
    hfi_track_store *store = hfi_track_store_of(track);
    if (store == NULL || (!store->ledger->held && !store->ledger->behind))
        return hfi_refuse(ctx, "hf_track_file_end: there was no hf_track_file_begin()");
    const hf_status status = hfi_ledger_end(ctx, store->ledger, keep);
    if (status >= 0 && keep) keep_state(store, track);
    return status;
}
