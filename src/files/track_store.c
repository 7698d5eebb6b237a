/* SPDX-License-Identifier: Apache-2.0 */
/* The open file of a track: what belongs to it, and to whom it belongs. */
#include "files/track_store.h"

#include <stdlib.h>
#include <string.h>

hfi_track_store *hfi_track_store_new(hf_context *ctx, const char *name)
{
    hfi_track_store *store = hfi_alloc(ctx, 1, sizeof *store);
    if (store == NULL) return NULL;
    store->ledger = hfi_ledger_new(ctx, &hfi_track_form, name);
    if (store->ledger != NULL) return store;
    hfi_free(ctx, store);
    return NULL;
}

static void forget_names(hfi_track_store *store)
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
    forget_names(store);
    hfi_ledger_close(store->ledger);
    hfi_memory_free(&memory, store);
}

/* Copies target and labels. */
static hf_status keep_names(hf_context *ctx, hfi_track_store *store, const char *target, size_t labels,
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

/* From now on the track's events go to the store, which the track then owns. */
static void attach(hfi_track_store *store, hf_track *track)
{
    const bool write = store->ledger->mode != HFI_LEDGER_LOOK;
    const hfi_event_journal journal = {.append = write ? hfi_track_append : NULL,
                                       .applied = keep_state,
                                       .close = close_store,
                                       .user = store,
                                       .target = store->target};
    hfi_track_set_journal(track, &journal);
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

/* ---- a track out of its journal ----------------------------------------------------------------------------- */

/* A track on its way out of its journal. */
typedef struct track_loading {
    hfi_track_store *store;
    hfi_track_own told;
    hf_track *track;
    uint64_t list;    /* entry that the newest list of requests begins with */
    uint64_t missing; /* its requests that are still to come */
    hfi_track_reading reading;
    hfi_ledger_owner owner;
} track_loading;

static hf_status cut_short(hf_context *ctx, const track_loading *l)
{
    const hf_status status =
        hfi_fail(ctx, HF_ERR_MODEL_FILE, "it is a list of requests, of which the last %llu do not follow",
                 (unsigned long long)l->missing);
    return hfi_ledger_blame(ctx, l->store->ledger, l->list, status);
}

/* A list of requests is written at once: nothing comes between its entries, and nothing cuts it short. */
static hf_status follow_list(hf_context *ctx, uint64_t number, const hfi_event *event, track_loading *l)
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
    track_loading *l = user;
    hf_status status = follow_list(ctx, number, event, l);
    if (status < 0) return status;
    status = hfi_track_replay(ctx, l->track, event);
    return status >= 0 ? status : hfi_ledger_blame(ctx, l->store->ledger, number, status);
}

static void drop_loaded_track(track_loading *l)
{
    hf_track_free(l->track);
    l->track = NULL;
    hfi_track_own_free(&l->store->ledger->memory, &l->told);
    forget_names(l->store);
    l->missing = 0;
}

static hf_status begin_track_load(const hfi_reader *r, void *user)
{
    track_loading *l = ((hfi_track_reading *)user)->user;
    drop_loaded_track(l);
    const hf_status status = hfi_track_read_settings(r, l->store, &l->told);
    if (status < 0) return status;
    return hfi_ledger_blame_settings(r, hf_track_create(r->ctx, &l->told.s, &l->track));
}

static hf_status restore(hf_context *ctx, const unsigned char *state, size_t bytes, void *user)
{
    const track_loading *l = ((const hfi_track_reading *)user)->user;
    return hfi_track_restore(ctx, l->track, state, bytes);
}

static hf_status end(hf_context *ctx, hf_status status, uint64_t *good, void *user)
{
    const track_loading *l = ((const hfi_track_reading *)user)->user;
    if (l->missing == 0) return status;
    *good = l->list - 1;
    return status >= 0 ? cut_short(ctx, l) : status;
}

static void prepare_track_load(track_loading *l, hfi_track_store *store)
{
    *l = (track_loading){.store = store, .reading = {.store = store, .take = replay, .user = l}};
    l->owner = (hfi_ledger_owner){.begin = begin_track_load,
                                  .restore = restore,
                                  .take = hfi_track_take,
                                  .end = end,
                                  .user = &l->reading};
}

hf_status hfi_track_load(hf_context *ctx, hfi_track_store *store, hf_track **out)
{
    track_loading l;
    prepare_track_load(&l, store);
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
    track_loading l;
    prepare_track_load(&l, store);
    hf_status status = hfi_ledger_open(ctx, store->ledger, path, HFI_LEDGER_OWN);
    if (status >= 0) status = hfi_ledger_undo(ctx, store->ledger, entries, &l.owner, &count);
    drop_loaded_track(&l);
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
    attach(store, track);
    *out = track;
    return HF_OK;
}

/* ---- a new file for a new track ---------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static hf_status check_labels(hf_context *ctx, size_t count, const char *const *labels)
{
    if (labels == NULL) return HF_OK;
    if (count == 0) return hfi_refuse(ctx, "hf_track_file_create: names of candidates, and there are none");
    const char **sorted = hfi_alloc(ctx, count, sizeof *sorted);
    if (sorted == NULL) return HF_ERR_MEMORY;
    hf_status status = HF_OK;
    for (size_t i = 0; i < count && status >= 0; i++) {
        sorted[i] = labels[i];
        if (labels[i] == NULL || *labels[i] == '\0')
            status = hfi_refuse(ctx, "candidate %zu (counted from 1) has no name", i + 1);
    }
    if (status >= 0) qsort(sorted, count, sizeof *sorted, compare_texts);
    for (size_t i = 1; i < count && status >= 0; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = hfi_refuse(ctx, "two candidates are called \"%s\"", sorted[i]);
    hfi_free(ctx, sorted);
    return status;
}

typedef struct track_names {
    const hf_track_settings *settings;
    const char *target;
    const char *const *labels;
} track_names;

static void write_track_settings(hfi_writer *w, const void *user)
{
    const track_names *f = user;
    hfi_track_write_settings(w, f->settings, f->target, f->labels);
}

static hf_status create_file(hf_context *ctx, const char *path, const track_names *f, hfi_track_store *store)
{
    const size_t count = f->labels != NULL ? f->settings->domain.candidates : 0;
    const hf_status status = keep_names(ctx, store, f->target, count, f->labels);
    return status >= 0 ? hfi_ledger_create(ctx, store->ledger, path, write_track_settings, f, HFI_LEDGER_OWN)
                       : status;
}

hf_status hf_track_file_create(hf_context *ctx, const char *path, const hf_track_settings *settings,
                               const char *target, const char *const *labels, hf_track **out)
{
    if (ctx == NULL || path == NULL || settings == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_track_file_create: context, path, settings and out must not be NULL");
    hf_track *track = NULL;
    hf_status status = hf_track_create(ctx, settings, &track);
    if (status >= 0) status = check_labels(ctx, settings->domain.candidates, labels);
    hfi_track_store *store = status >= 0 ? hfi_track_store_new(ctx, path) : NULL;
    if (status >= 0 && store == NULL) status = HF_ERR_MEMORY;
    const track_names f = {.settings = settings, .target = target != NULL ? target : "y", .labels = labels};
    if (status >= 0) status = create_file(ctx, path, &f, store);
    if (status < 0) {
        hfi_track_store_free(store);
        hf_track_free(track);
        return status;
    }
    attach(store, track);
    *out = track;
    return HF_OK;
}
