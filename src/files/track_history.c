/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a track that has a file, entry by entry. */
#include "files/track_store.h"

#include <math.h>
#include <string.h>

/* Answers name a request, and the request has the place. */
typedef struct track_telling {
    bool (*visit)(const hf_track_entry *entry, void *user);
    void *user;
    bool stopped;
    size_t d;
    double *place; /* of request k at place + (k - 1) d */
    size_t requests, room;
    const hfi_track_store *store;
} track_telling;

static hf_status keep_place(hf_context *ctx, track_telling *t, const hfi_event *event)
{
    if (event->count != t->d || event->id != t->requests + 1)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "a request is out of order");
    double *place = hfi_memory_grow(&t->store->ledger->memory, t->place, t->requests, t->requests + 1,
                                    &t->room, t->d * sizeof *place);
    if (place == NULL) return hfi_out_of_memory(ctx);
    t->place = place;
    memcpy(t->place + t->requests * t->d, event->values, t->d * sizeof *t->place);
    t->requests++;
    return HF_OK;
}

static void describe_reading(const hfi_event *event, hf_track_entry *entry)
{
    const double away = (event->y - event->b) / event->c;
    entry->id = event->id;
    entry->y = event->y;
    entry->noise_var = event->a;
    entry->weight = isnan(event->b) ? 1.0 : 1.0 / (1.0 + away * away);
}

/* False for what is no entry of its own. */
static bool describe_track_event(const track_telling *t, const hfi_event *event, hf_track_entry *entry)
{
    static const hf_track_entry_kind kinds[] = {
        [HFI_EVENT_TOLD] = HF_ENTRY_TOLD,           [HFI_EVENT_ASKED] = HF_ENTRY_ASKED,
        [HFI_EVENT_REQUESTED] = HF_ENTRY_REQUESTED, [HFI_EVENT_ANSWERED] = HF_ENTRY_ANSWERED,
        [HFI_EVENT_TRUTH] = HF_ENTRY_TRUTH,         [HFI_EVENT_FITTED] = HF_ENTRY_FITTED};
    if (event->kind == HFI_EVENT_BATCH) return false;
    entry->kind = kinds[event->kind];
    entry->time = event->time;
    entry->y = entry->noise_var = entry->weight = NAN;
    entry->bound = entry->mean = entry->sd = entry->value = entry->best = NAN;
    if (event->kind == HFI_EVENT_TOLD || event->kind == HFI_EVENT_ANSWERED) describe_reading(event, entry);
    if (event->kind == HFI_EVENT_TOLD || event->kind == HFI_EVENT_ASKED || event->kind == HFI_EVENT_REQUESTED)
        entry->x = event->values;
    if (event->kind == HFI_EVENT_ANSWERED) {
        entry->request = event->of;
        entry->x = t->place + (event->of - 1) * t->d;
    } else if (event->kind == HFI_EVENT_ASKED) {
        entry->bound = event->y;
        entry->mean = event->a;
        entry->sd = event->b;
    } else if (event->kind == HFI_EVENT_TRUTH) {
        entry->value = event->y;
        entry->best = event->a;
    } else if (event->kind == HFI_EVENT_REQUESTED) {
        entry->id = event->id;
        entry->sd = event->a;
    }
    return true;
}

static hf_status visit_track_entry(hf_context *ctx, uint64_t number, const hfi_event *event, void *user)
{
    track_telling *t = user;
    hf_track_entry entry = {.number = number};
    if (t->stopped) return HF_OK;
    hf_status status = event->kind == HFI_EVENT_REQUESTED ? keep_place(ctx, t, event) : HF_OK;
    if (status >= 0 && event->kind == HFI_EVENT_ANSWERED && (event->of == 0 || event->of > t->requests))
        status = hfi_fail(ctx, HF_ERR_MODEL_FILE, "an answer to a request that was not made");
    if (status >= 0 && describe_track_event(t, event, &entry)) t->stopped = !t->visit(&entry, t->user);
    return hfi_ledger_blame(ctx, t->store->ledger, number, status);
}

hf_status hf_track_file_history(hf_context *ctx, const hf_track *track,
                                bool (*visit)(const hf_track_entry *entry, void *user), void *user)
{
    hfi_track_store *open = hfi_track_store_of(track);
    if (ctx == NULL || visit == NULL || open == NULL)
        return hfi_refuse(ctx, "hf_track_file_history: %s",
                          ctx == NULL || visit == NULL ? "context and visit must not be NULL"
                                                       : "the track has no file");
    track_telling t = {
        .visit = visit, .user = user, .d = hf_track_settings_of(track)->domain.dimension, .store = open};
    const hf_status status = hfi_track_read_entries(ctx, open, visit_track_entry, &t);
    hfi_memory_free(&open->ledger->memory, t.place);
    return status;
}
