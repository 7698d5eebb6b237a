/* SPDX-License-Identifier: Apache-2.0 */
/* The open file of a study: what belongs to it, to whom it belongs, and whose turn it is. */
#include "files/study_store.h"

#define PATIENCE 30.0 /* seconds for the turn of others, where the caller does not say */

hfi_study_store *hfi_study_store_new(hf_context *ctx, const char *name)
{
    hfi_study_store *store = hfi_alloc(ctx, 1, sizeof *store);
    if (store == NULL) return NULL;
    *store = (hfi_study_store){.ledger = hfi_ledger_new(ctx, &hfi_study_form, name), .patience = PATIENCE};
    if (store->ledger != NULL) return store;
    hfi_free(ctx, store);
    return NULL;
}

void hfi_study_store_free(hfi_study_store *store)
{
    if (store == NULL) return;
    const hfi_memory memory = store->ledger->memory;
    hfi_ledger_close(store->ledger);
    hfi_memory_free(&memory, store);
}

/* ---- the journal of a study ------------------------------------------------------------------------------------- */

/* Whether others can have appended something. */
static bool is_alone(const hfi_ledger *ledger)
{
    return ledger->held && ledger->agreed;
}

static hf_status enter(hf_context *ctx, void *user, hf_study *study, bool lock)
{
    const hfi_study_store *store = user;
    hfi_ledger *ledger = store->ledger;
    hf_status status = HF_OK;
    if (lock && !store->grouped) status = hfi_ledger_begin(ctx, ledger, store->patience);
    if (status < 0 || is_alone(ledger)) return status;
    status = hfi_study_catch_up(ctx, store, study);
    if (status < 0 && lock && !store->grouped && ledger->held) (void)hfi_ledger_end(NULL, ledger, false);
    return status;
}

/* The entries appended are on the disk already: only the turn is given up. */
static void leave(void *user)
{
    const hfi_study_store *store = user;
    if (store->ledger->held && !store->grouped) (void)hfi_ledger_end(NULL, store->ledger, false);
}

static hf_status append(hf_context *ctx, void *user, size_t count, const hfi_study_event *events)
{
    const hfi_study_store *store = user;
    const hfi_ledger_batch batch = {.count = count, .pack = hfi_study_pack, .events = events};
    return store->grouped ? hfi_ledger_append_all(ctx, store->ledger, &batch)
                          : hfi_ledger_finish_all(ctx, store->ledger, &batch);
}

static void close_store(void *user)
{
    hfi_study_store_free(user);
}

void hfi_study_store_attach(hfi_study_store *store, hf_study *study)
{
    const bool write = store->ledger->mode != HFI_LEDGER_LOOK;
    const hfi_study_journal journal = {
        .begin = enter, .end = leave, .append = write ? append : NULL, .close = close_store, .user = store};
    store->study = study;
    hfi_study_set_journal(study, &journal);
}

hfi_study_store *hfi_study_store_of(const hf_study *study)
{
    const hfi_study_journal *journal = study != NULL ? hfi_study_get_journal(study) : NULL;
    return journal != NULL && journal->close == close_store ? journal->user : NULL;
}

hf_status hf_study_file_patience(hf_context *ctx, hf_study *study, double seconds)
{
    hfi_study_store *store = hfi_study_store_of(study);
    if (store == NULL) return hfi_refuse(ctx, "hf_study_file_patience: the study has no file");
    if (!(seconds >= 0.0))
        return hfi_refuse(ctx, "patience is %g seconds; it must be a number that is not negative", seconds);
    store->patience = seconds;
    return HF_OK;
}

/* ---- many changes in one -------------------------------------------------------------------------------------- */

hf_status hf_study_file_begin(hf_context *ctx, hf_study *study)
{
    hfi_study_store *store = hfi_study_store_of(study);
    if (ctx == NULL || store == NULL || store->ledger->mode == HFI_LEDGER_LOOK)
        return hfi_refuse(ctx, "hf_study_file_begin: %s",
                          ctx == NULL     ? "the context must not be NULL"
                          : store == NULL ? "the study has no file"
                                          : "the study is open to look at only");
    if (store->grouped) return hfi_refuse(ctx, "hf_study_file_begin: begun already");
    const hf_status status = enter(ctx, store, study, true);
    store->grouped = status >= 0;
    return status;
}

hf_status hf_study_file_end(hf_context *ctx, hf_study *study, bool keep)
{
    hfi_study_store *store = hfi_study_store_of(study);
    if (store == NULL || !store->grouped)
        return hfi_refuse(ctx, "hf_study_file_end: there was no hf_study_file_begin()");
    store->grouped = false;
    return hfi_ledger_end(ctx, store->ledger, keep);
}
