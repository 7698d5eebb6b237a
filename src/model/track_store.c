/* SPDX-License-Identifier: Apache-2.0 */
/* The open file of a track: what belongs to it, and to whom it belongs. */
#include "model/track_store.h"

#include <string.h>
#include <unistd.h>

hfi_track_store *hfi_track_store_new(hf_context *ctx, const char *name)
{
    const hfi_memory memory = hfi_context_memory(ctx);
    hfi_track_store *store = hfi_memory_alloc(&memory, 1, sizeof *store);
    char *copy = hfi_memory_strdup(&memory, name);
    if (store == NULL || copy == NULL) {
        hfi_memory_free(&memory, store);
        hfi_memory_free(&memory, copy);
        (void)hfi_out_of_memory(ctx);
        return NULL;
    }
    *store = (hfi_track_store){.memory = memory, .lock = -1, .name = copy, .most = INT64_MAX};
    return store;
}

void hfi_track_store_free(hfi_track_store *store)
{
    if (store == NULL) return;
    const hfi_memory memory = store->memory;
    /* A transaction that is open ends here, undone. Whoever holds the lock may tidy up, unless somebody reads just now. The lock goes last: closing any descriptor of a file ends
     * all locks that SQLite has on it. */
    if (store->db != NULL && !sqlite3_get_autocommit(store->db))
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    if (store->db != NULL && store->lock >= 0) {
        sqlite3_busy_timeout(store->db, 0);
        (void)sqlite3_exec(store->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    }
    hfi_database_close(&store->db, &store->files);
    if (store->lock >= 0) close(store->lock);
    for (size_t i = 0; store->label != NULL && i < store->labels; i++)
        hfi_memory_free(&memory, store->label[i]);
    hfi_memory_free(&memory, store->label);
    hfi_memory_free(&memory, store->target);
    hfi_memory_free(&memory, store->name);
    hfi_memory_free(&memory, store);
}

hf_status hfi_track_store_names(hf_context *ctx, hfi_track_store *store, const char *target, size_t labels,
                                const char *const *label)
{
    store->target = hfi_memory_strdup(&store->memory, target);
    if (store->target == NULL) return hfi_out_of_memory(ctx);
    if (label == NULL) return HF_OK;
    store->label = hfi_memory_alloc(&store->memory, labels, sizeof *store->label);
    if (store->label == NULL) return hfi_out_of_memory(ctx);
    store->labels = labels;
    for (size_t i = 0; i < labels; i++) {
        store->label[i] = hfi_memory_strdup(&store->memory, label[i]);
        if (store->label[i] == NULL) return hfi_out_of_memory(ctx);
    }
    return HF_OK;
}

/* ---- the track it belongs to ---------------------------------------------------------------------------------- */

static void close_store(void *store)
{
    hfi_track_store_free(store);
}

hfi_event_journal hfi_track_store_journal(hfi_track_store *store, bool write)
{
    return (hfi_event_journal){.append = write ? hfi_track_append : NULL,
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
