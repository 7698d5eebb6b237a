/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a study, as entries of its journal and back, and its history. */
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

/* ---- history -------------------------------------------------------------------------------------------------- */

typedef struct study_telling {
    bool (*visit)(const hf_study_entry *entry, void *user);
    void *user;
    bool stopped;
    const hf_study *study;
    const hfi_ledger *ledger;
} study_telling;

/* False for what is no entry of its own. */
static bool describe(const hf_study *study, const hfi_study_event *event, hf_study_entry *entry)
{
    static const hf_study_entry_kind kinds[] = {[HFI_STUDY_ASKED] = HF_STUDY_ENTRY_ASKED,
                                                [HFI_STUDY_ADDED] = HF_STUDY_ENTRY_ADDED,
                                                [HFI_STUDY_TOLD] = HF_STUDY_ENTRY_TOLD,
                                                [HFI_STUDY_FAILED] = HF_STUDY_ENTRY_FAILED,
                                                [HFI_STUDY_EXPIRED] = HF_STUDY_ENTRY_EXPIRED,
                                                [HFI_STUDY_LABELLED] = HF_STUDY_ENTRY_LABELLED,
                                                [HFI_STUDY_ADDED_FAILED] = HF_STUDY_ENTRY_ADDED_FAILED};
    if (event->kind == HFI_STUDY_FITTED || event->kind == HFI_STUDY_REGION) return false;
    entry->kind = kinds[event->kind];
    entry->trial = event->id;
    entry->time = event->time;
    entry->note = event->text != NULL ? event->text : "";
    if (event->kind == HFI_STUDY_ADDED || event->kind == HFI_STUDY_ADDED_FAILED)
        entry->value = event->values + study->d;
    if (event->kind == HFI_STUDY_TOLD || event->kind == HFI_STUDY_FAILED) entry->value = event->values;
    return true;
}

static hf_status tell(hf_context *ctx, uint64_t number, const hfi_study_event *event, void *user)
{
    study_telling *t = user;
    hf_study_entry entry = {.number = number};
    if (!hfi_study_event_sound(t->study, event)) return hfi_ledger_damaged_entry(ctx, t->ledger, number);
    if (!t->stopped && describe(t->study, event, &entry)) t->stopped = !t->visit(&entry, t->user);
    return HF_OK;
}

hf_status hf_study_file_history(hf_context *ctx, const hf_study *study,
                                bool (*visit)(const hf_study_entry *entry, void *user), void *user)
{
    const hfi_study_store *store = hfi_study_store_of(study);
    if (ctx == NULL || visit == NULL || store == NULL)
        return hfi_refuse(ctx, "hf_study_file_history: %s",
                          ctx == NULL || visit == NULL ? "context and visit must not be NULL"
                                                       : "the study has no file");
    study_telling t = {.visit = visit, .user = user, .study = study, .ledger = store->ledger};
    hfi_study_reading r = {.ledger = store->ledger, .take = tell, .user = &t};
    const hfi_ledger_owner owner = {.take = hfi_study_take, .user = &r};
    return hfi_ledger_each(ctx, store->ledger, &owner);
}
