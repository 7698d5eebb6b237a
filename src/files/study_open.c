/* SPDX-License-Identifier: Apache-2.0 */
/* The study that an open file holds, and what others add to it. */
#include "files/study_store.h"

/* A study on its way out of its journal. */
typedef struct loading {
    hfi_ledger *ledger;
    hf_study *study;
    hfi_study_reading reading;
    hfi_ledger_owner owner;
} loading;

static hf_status replay(hf_context *ctx, uint64_t number, const hfi_study_event *event, void *user)
{
    const loading *l = user;
    if (!hfi_study_event_sound(l->study, event)) return hfi_ledger_damaged_entry(ctx, l->ledger, number);
    const hf_status status = hfi_study_replay(ctx, l->study, event);
    return status >= 0 ? status : hfi_ledger_blame(ctx, l->ledger, number, status);
}

/* With the file's seed, also if that is 0, which would stand for the context's. */
static hf_status create(const hfi_reader *r, const hf_study_settings *settings, hf_study **out)
{
    hf_context *own = hfi_context_borrow(r->ctx);
    if (own == NULL) return HF_ERR_MEMORY;
    hf_context_set_seed(own, settings->seed);
    const hf_status status = hf_study_create(own, settings, out);
    hfi_context_give_back(r->ctx, own);
    return status;
}

/* ---- what the ledger asks of a study ------------------------------------------------------------------------- */

static hf_status begin(const hfi_reader *r, void *user)
{
    loading *l = ((hfi_study_reading *)user)->user;
    hf_study_settings settings;
    hf_study_free(l->study);
    l->study = NULL;
    hf_status status = hfi_study_read_settings(r, &settings);
    const bool there = status >= 0;
    if (there) status = create(r, &settings, &l->study);
    hfi_study_settings_free(&r->memory, &settings);
    return there ? hfi_ledger_blame_settings(r, status) : status;
}

/* `study`: the one that others have added to; NULL: it is to be made. */
static void prepare(loading *l, hfi_ledger *ledger, hf_study *study)
{
    *l = (loading){.ledger = ledger,
                   .study = study,
                   .reading = {.ledger = ledger, .take = replay, .user = l},
                   .owner = {.begin = begin, .take = hfi_study_take, .user = &l->reading}};
}

hf_status hfi_study_load(hf_context *ctx, const hfi_study_store *store, hf_study **out)
{
    loading l;
    prepare(&l, store->ledger, NULL);
    const hf_status status = hfi_ledger_load(ctx, store->ledger, &l.owner);
    if (status < 0)
        hf_study_free(l.study);
    else
        *out = l.study;
    return status;
}

hf_status hfi_study_catch_up(hf_context *ctx, const hfi_study_store *store, hf_study *study)
{
    loading l;
    prepare(&l, store->ledger, study);
    return hfi_ledger_catch_up(ctx, store->ledger, &l.owner);
}

hf_status hf_study_file_undo(hf_context *ctx, const char *path, uint64_t entries, uint64_t *taken_back)
{
    if (ctx == NULL || path == NULL)
        return hfi_refuse(ctx, "hf_study_file_undo: context and path must not be NULL");
    hfi_ledger *ledger = hfi_ledger_new(ctx, &hfi_study_form, path);
    if (ledger == NULL) return HF_ERR_MEMORY;
    uint64_t count = 0;
    loading l;
    prepare(&l, ledger, NULL);
    hf_status status = hfi_ledger_open(ctx, ledger, path, HFI_LEDGER_OWN);
    if (status >= 0) status = hfi_ledger_undo(ctx, ledger, entries, &l.owner, &count);
    hf_study_free(l.study);
    hfi_ledger_close(ledger);
    if (status >= 0 && taken_back != NULL) *taken_back = count;
    return status;
}

/* ---- the two ways to a file ------------------------------------------------------------------------------------ */

hf_status hf_study_file_open(hf_context *ctx, const char *path, bool write, hf_study **out)
{
    if (ctx == NULL || path == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_study_file_open: context, path and out must not be NULL");
    hfi_study_store *store = hfi_study_store_new(ctx, path);
    if (store == NULL) return HF_ERR_MEMORY;
    hf_study *study = NULL;
    hf_status status = hfi_ledger_open(ctx, store->ledger, path, write ? HFI_LEDGER_SHARED : HFI_LEDGER_LOOK);
    if (status >= 0) status = hfi_study_load(ctx, store, &study);
    if (status < 0) {
        hfi_study_store_free(store);
        return status;
    }
    hfi_study_store_attach(store, study);
    *out = study;
    return HF_OK;
}

hf_status hf_study_file_create(hf_context *ctx, const char *new_path, const hf_study_settings *settings,
                               hf_study **out)
{
    if (ctx == NULL || new_path == NULL || settings == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_study_file_create: context, path, settings and out must not be NULL");
    hf_study *study = NULL;
    hf_status status = hf_study_create(ctx, settings, &study);
    hfi_study_store *store = status >= 0 ? hfi_study_store_new(ctx, new_path) : NULL;
    if (status >= 0 && store == NULL) status = HF_ERR_MEMORY;
    if (status >= 0)
        status = hfi_ledger_create(ctx, store->ledger, new_path, hfi_study_write_settings,
                                   hf_study_settings_of(study), HFI_LEDGER_SHARED);
    if (status < 0) {
        hfi_study_store_free(store);
        hf_study_free(study);
        return status;
    }
    hfi_study_store_attach(store, study);
    *out = study;
    return HF_OK;
}
