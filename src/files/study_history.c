/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a study that has a file, entry by entry. */
#include "files/study_store.h"

typedef struct study_telling {
    bool (*visit)(const hf_study_entry *entry, void *user);
    void *user;
    bool stopped;
    const hf_study *study;
    const hfi_ledger *ledger;
} study_telling;

/* False for what is no entry of its own. */
static bool describe_study_event(const hf_study *study, const hfi_study_event *event, hf_study_entry *entry)
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

static hf_status visit_study_entry(hf_context *ctx, uint64_t number, const hfi_study_event *event, void *user)
{
    study_telling *t = user;
    hf_study_entry entry = {.number = number};
    if (!hfi_study_event_sound(t->study, event)) return hfi_ledger_damaged_entry(ctx, t->ledger, number);
    if (!t->stopped && describe_study_event(t->study, event, &entry)) t->stopped = !t->visit(&entry, t->user);
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
    hfi_study_reading r = {.ledger = store->ledger, .take = visit_study_entry, .user = &t};
    const hfi_ledger_owner owner = {.take = hfi_study_take, .user = &r};
    return hfi_ledger_each(ctx, store->ledger, &owner);
}
