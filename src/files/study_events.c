/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a study, as entries of its journal and back. */
#include "files/study_store.h"

/* ---- into the file -------------------------------------------------------------------------------------------- */

/* How many numbers, the time, the numbers, the text. */
void hfi_study_pack(hfi_bytes *bytes, size_t i, hfi_entry *entry, const void *events)
{
    const hfi_study_event *event = (const hfi_study_event *)events + i;
    hfi_bytes_add_u64(bytes, event->count);
    hfi_bytes_add_double(bytes, event->time);
    hfi_bytes_add_doubles(bytes, event->count, event->values);
    hfi_bytes_add_text(bytes, event->text != NULL ? event->text : "");
    *entry = (hfi_entry){.kind = event->kind, .id = event->id, .of = event->of};
}

/* ---- out of it ------------------------------------------------------------------------------------------------ */

/* The text, NULL where it is empty: most are. */
static char *take_text(const hfi_ledger *ledger, hfi_bytes_left *from)
{
    if (from->left > 8) return hfi_bytes_take_text(from, &ledger->memory);
    if (hfi_bytes_take_u64(from) != 0) from->bad = true;
    return NULL;
}

hf_status hfi_study_take(hf_context *ctx, const hfi_entry *entry, void *user)
{
    hfi_study_reading *r = user;
    hfi_bytes_left from = {.at = entry->payload, .left = entry->bytes};
    const uint64_t count = hfi_bytes_take_u64(&from);
    const double time = hfi_bytes_take_double(&from);
    if (!hfi_bytes_have(&from, count, 8)) return hfi_ledger_damaged_entry(ctx, r->ledger, entry->number);
    double *numbers = hfi_ledger_numbers(ctx, r->ledger, (size_t)count + 1);
    if (numbers == NULL) return HF_ERR_MEMORY;
    hfi_bytes_take_doubles(&from, (size_t)count, numbers);
    const bool empty = from.left <= 8;
    char *text = take_text(r->ledger, &from);
    if (!from.bad && text == NULL && !empty) return hfi_out_of_memory(ctx);
    const hfi_study_event event = {.kind = (hfi_study_kind)entry->kind,
                                   .id = entry->id,
                                   .of = entry->of,
                                   .time = time,
                                   .count = (size_t)count,
                                   .values = numbers,
                                   .text = text};
    const hf_status status = from.bad || from.left > 0
                                 ? hfi_ledger_damaged_entry(ctx, r->ledger, entry->number)
                                 : r->take(ctx, entry->number, &event, r->user);
    hfi_memory_free(&r->ledger->memory, text);
    return status;
}

bool hfi_study_event_sound(const hf_study *study, const hfi_study_event *event)
{
    const bool added = event->kind == HFI_STUDY_ADDED || event->kind == HFI_STUDY_ADDED_FAILED;
    if (!added && event->kind != HFI_STUDY_TOLD && event->kind != HFI_STUDY_FAILED) return true;
    const size_t first = added ? study->d : 0;
    return event->count == first + 2 * study->outcomes &&
           hfi_study_outcomes_sound(study, event->values + first);
}
