/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a track, as entries of its journal and back. */
#include "files/track_store.h"

#include "core/bytes.h"

/* ---- into the file -------------------------------------------------------------------------------------------- */

static void pack(hfi_bytes *bytes, size_t i, hfi_entry *entry, const void *events)
{
    const hfi_event *event = (const hfi_event *)events + i;
    const double fixed[HFI_EVENT_NUMBERS] = {event->time, event->y, event->a, event->b, event->c};
    hfi_bytes_add_doubles(bytes, HFI_EVENT_NUMBERS, fixed);
    hfi_bytes_add_doubles(bytes, event->count, event->values);
    *entry = (hfi_entry){.kind = event->kind, .id = event->id, .of = event->of};
}

hf_status hfi_track_append(hf_context *ctx, void *user, size_t count, const hfi_event *events)
{
    const hfi_track_store *store = user;
    const hfi_ledger_batch batch = {.count = count, .pack = pack, .events = events};
    return hfi_ledger_append_all(ctx, store->ledger, &batch);
}

/* ---- out of it ------------------------------------------------------------------------------------------------ */

hf_status hfi_track_take(hf_context *ctx, const hfi_entry *entry, void *user)
{
    hfi_track_reading *r = user;
    const size_t count = entry->bytes / 8;
    if (entry->bytes % 8 != 0 || count < HFI_EVENT_NUMBERS)
        return hfi_ledger_damaged_entry(ctx, r->store->ledger, entry->number);
    hfi_bytes_left from = {.at = entry->payload, .left = entry->bytes};
    double *numbers = hfi_ledger_numbers(ctx, r->store->ledger, count);
    if (numbers == NULL) return HF_ERR_MEMORY;
    hfi_bytes_take_doubles(&from, count, numbers);
    const hfi_event event = {.kind = (hfi_event_kind)entry->kind,
                             .id = entry->id,
                             .of = entry->of,
                             .time = numbers[0],
                             .y = numbers[1],
                             .a = numbers[2],
                             .b = numbers[3],
                             .c = numbers[4],
                             .count = count - HFI_EVENT_NUMBERS,
                             .values = count > HFI_EVENT_NUMBERS ? numbers + HFI_EVENT_NUMBERS : NULL};
    return r->take(ctx, entry->number, &event, r->user);
}

hf_status hfi_track_read_entries(hf_context *ctx, hfi_track_store *store, hfi_track_taker *take, void *user)
{
    hfi_track_reading r = {.store = store, .take = take, .user = user};
    const hfi_ledger_owner owner = {.take = hfi_track_take, .user = &r};
    return hfi_ledger_each(ctx, store->ledger, &owner);
}
