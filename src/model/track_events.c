/* SPDX-License-Identifier: Apache-2.0 */
/* What happened to a track, as entries of its journal and back. */
#include "model/track_store.h"

#include "core/bytes.h"

/* ---- into the file -------------------------------------------------------------------------------------------- */

static void pack(hfi_bytes *bytes, const hfi_event *event)
{
    const double fixed[HFI_EVENT_NUMBERS] = {event->time, event->y, event->a, event->b, event->c};
    hfi_bytes_add_doubles(bytes, HFI_EVENT_NUMBERS, fixed);
    hfi_bytes_add_doubles(bytes, event->count, event->values);
}

hf_status hfi_track_append(hf_context *ctx, void *user, size_t count, const hfi_event *events)
{
    hfi_track_store *store = user;
    hfi_bytes bytes = {.memory = store->ledger->memory};
    hfi_entry *entries = hfi_alloc(ctx, count, sizeof *entries);
    if (entries == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) pack(&bytes, &events[i]);
    const unsigned char *at = bytes.data;
    for (size_t i = 0; i < count && !bytes.failed; i++) {
        entries[i] = (hfi_entry){.kind = events[i].kind,
                                 .id = events[i].id,
                                 .of = events[i].of,
                                 .bytes = 8 * (HFI_EVENT_NUMBERS + events[i].count),
                                 .payload = at};
        at += entries[i].bytes;
    }
    const hf_status status =
        bytes.failed ? hfi_out_of_memory(ctx) : hfi_ledger_append(ctx, store->ledger, count, entries);
    hfi_bytes_free(&bytes);
    hfi_free(ctx, entries);
    return status;
}

/* ---- out of it ------------------------------------------------------------------------------------------------ */

static hf_status make_room(hf_context *ctx, hfi_track_reading *r, size_t count)
{
    if (count <= r->room) return HF_OK;
    double *larger = hfi_alloc(ctx, count, sizeof *larger);
    if (larger == NULL) return HF_ERR_MEMORY;
    hfi_free(ctx, r->numbers);
    r->numbers = larger;
    r->room = count;
    return HF_OK;
}

hf_status hfi_track_take(hf_context *ctx, const hfi_entry *entry, void *user)
{
    hfi_track_reading *r = user;
    const size_t count = entry->bytes / 8;
    if (entry->bytes % 8 != 0 || count < HFI_EVENT_NUMBERS)
        return hfi_ledger_damaged_entry(ctx, r->store->ledger, entry->number);
    const hf_status status = make_room(ctx, r, count);
    if (status < 0) return status;
    hfi_bytes_left from = {.at = entry->payload, .left = entry->bytes};
    hfi_bytes_take_doubles(&from, count, r->numbers);
    const hfi_event event = {.kind = (hfi_event_kind)entry->kind,
                             .id = entry->id,
                             .of = entry->of,
                             .time = r->numbers[0],
                             .y = r->numbers[1],
                             .a = r->numbers[2],
                             .b = r->numbers[3],
                             .c = r->numbers[4],
                             .count = count - HFI_EVENT_NUMBERS,
                             .values = count > HFI_EVENT_NUMBERS ? r->numbers + HFI_EVENT_NUMBERS : NULL};
    return r->take(ctx, entry->number, &event, r->user);
}

hf_status hfi_track_read_entries(hf_context *ctx, hfi_track_store *store, hfi_track_taker *take, void *user)
{
    hfi_track_reading r = {.store = store, .take = take, .user = user};
    const hfi_ledger_owner owner = {.take = hfi_track_take, .user = &r};
    const hf_status status = hfi_ledger_each(ctx, store->ledger, &owner);
    hfi_free(ctx, r.numbers);
    return status;
}
