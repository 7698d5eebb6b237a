/* SPDX-License-Identifier: Apache-2.0 */
/* A new file for a new track. */
#include "files/track_store.h"

#include <stdlib.h>
#include <string.h>

/* ---- names of candidates -------------------------------------------------------------------------------------- */

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

/* ---- the file ------------------------------------------------------------------------------------------------- */

typedef struct filling {
    const hf_track_settings *settings;
    const char *target;
    const char *const *labels;
} filling;

static void fill(hfi_writer *w, const void *user)
{
    const filling *f = user;
    hfi_track_write_settings(w, f->settings, f->target, f->labels);
}

static hf_status create_file(hf_context *ctx, const char *path, const filling *f, hfi_track_store *store)
{
    const size_t count = f->labels != NULL ? f->settings->domain.candidates : 0;
    const hf_status status = hfi_track_store_names(ctx, store, f->target, count, f->labels);
    return status >= 0 ? hfi_ledger_create(ctx, store->ledger, path, fill, f, HFI_LEDGER_OWN) : status;
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
    const filling f = {.settings = settings, .target = target != NULL ? target : "y", .labels = labels};
    if (status >= 0) status = create_file(ctx, path, &f, store);
    if (status < 0) {
        hfi_track_store_free(store);
        hf_track_free(track);
        return status;
    }
    const hfi_event_journal journal = hfi_track_store_journal(store, true);
    hfi_track_set_journal(track, &journal);
    *out = track;
    return HF_OK;
}
