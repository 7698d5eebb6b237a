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

/* ---- a study out of its journal ----------------------------------------------------------------------------- */

/* A study on its way out of its journal. */
typedef struct study_loading {
    hfi_ledger *ledger;
    hf_study *study;
    hfi_study_reading reading;
    hfi_ledger_owner owner;
} study_loading;

static hf_status replay(hf_context *ctx, uint64_t number, const hfi_study_event *event, void *user)
{
    const study_loading *l = user;
    if (!hfi_study_event_sound(l->study, event)) return hfi_ledger_damaged_entry(ctx, l->ledger, number);
    const hf_status status = hfi_study_replay(ctx, l->study, event);
    return status >= 0 ? status : hfi_ledger_blame(ctx, l->ledger, number, status);
}

/* With the file's seed, also if that is 0, which would stand for the context's. */
static hf_status make_study(const hfi_reader *r, const hf_study_settings *settings, hf_study **out)
{
    hf_context *own = hfi_context_borrow(r->ctx);
    if (own == NULL) return HF_ERR_MEMORY;
    hf_context_set_seed(own, settings->seed);
    const hf_status status = hf_study_create(own, settings, out);
    hfi_context_give_back(r->ctx, own);
    return status;
}

static hf_status begin_study_load(const hfi_reader *r, void *user)
{
    study_loading *l = ((hfi_study_reading *)user)->user;
    hf_study_settings settings;
    hf_study_free(l->study);
    l->study = NULL;
    hf_status status = hfi_study_read_settings(r, &settings);
    const bool there = status >= 0;
    if (there) status = make_study(r, &settings, &l->study);
    hfi_study_settings_free(&r->memory, &settings);
    return there ? hfi_ledger_blame_settings(r, status) : status;
}

/* `study`: the one that others have added to; NULL: it is to be made. */
static void prepare_study_load(study_loading *l, hfi_ledger *ledger, hf_study *study)
{
    *l = (study_loading){.ledger = ledger,
                         .study = study,
                         .reading = {.ledger = ledger, .take = replay, .user = l},
                         .owner = {.begin = begin_study_load, .take = hfi_study_take, .user = &l->reading}};
}

hf_status hfi_study_load(hf_context *ctx, const hfi_study_store *store, hf_study **out)
{
    study_loading l;
    prepare_study_load(&l, store->ledger, NULL);
    const hf_status status = hfi_ledger_load(ctx, store->ledger, &l.owner);
    if (status < 0)
        hf_study_free(l.study);
    else
        *out = l.study;
    return status;
}

/* Replays entries that others appended, into the study of the store. */
static hf_status catch_up(hf_context *ctx, const hfi_study_store *store, hf_study *study)
{
    study_loading l;
    prepare_study_load(&l, store->ledger, study);
    return hfi_ledger_catch_up(ctx, store->ledger, &l.owner);
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
    status = catch_up(ctx, store, study);
    if (status < 0 && lock && !store->grouped && ledger->held) (void)hfi_ledger_end(NULL, ledger, false);
    return status;
}

/* The entries appended are on the disk already: only the turn is given up. */
static void leave(void *user)
{
    const hfi_study_store *store = user;
    if (store->ledger->held && !store->grouped) (void)hfi_ledger_end(NULL, store->ledger, false);
}

static hf_status append_study_events(hf_context *ctx, void *user, size_t count, const hfi_study_event *events)
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

/* From now on the study's events go to the store, which the study then owns. */
static void attach(hfi_study_store *store, hf_study *study)
{
    const bool write = store->ledger->mode != HFI_LEDGER_LOOK;
    const hfi_study_journal journal = {.begin = enter,
                                       .end = leave,
                                       .append = write ? append_study_events : NULL,
                                       .close = close_store,
                                       .user = store};
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

/* ---- files ------------------------------------------------------------------------------------------------------ */

hf_status hf_study_file_undo(hf_context *ctx, const char *path, uint64_t entries, uint64_t *taken_back)
{
    if (ctx == NULL || path == NULL)
        return hfi_refuse(ctx, "hf_study_file_undo: context and path must not be NULL");
    hfi_ledger *ledger = hfi_ledger_new(ctx, &hfi_study_form, path);
    if (ledger == NULL) return HF_ERR_MEMORY;
    uint64_t count = 0;
    study_loading l;
    prepare_study_load(&l, ledger, NULL);
    hf_status status = hfi_ledger_open(ctx, ledger, path, HFI_LEDGER_OWN);
    if (status >= 0) status = hfi_ledger_undo(ctx, ledger, entries, &l.owner, &count);
    hf_study_free(l.study);
    hfi_ledger_close(ledger);
    if (status >= 0 && taken_back != NULL) *taken_back = count;
    return status;
}

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
    attach(store, study);
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
    attach(store, study);
    *out = study;
    return HF_OK;
}
