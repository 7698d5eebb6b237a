/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of studies' files: any bytes are either refused with a message or become a study that can be asked. */
#include "files/study_bytes.h"
#include "files/study_store.h"
#include "fuzz/stored.h"
#include "store/seals.h"

#include <math.h>

enum {
    MOST_TRIALS = 12, /* of a study that is asked: an end to it */
    MOST_VARIABLES = 4
};

/* A trial's settings are in the space, as text too. */
static void check_trial(hf_context *ctx, const hf_study *study, uint64_t id)
{
    hf_trial trial;
    must(hf_study_trial(ctx, study, id, &trial) == HF_OK && trial.note != NULL, "no trial");
    for (size_t j = 0; j < study->d; j++) {
        char text[512];
        double again;
        if (hf_study_format(study, j, trial.at[j], sizeof text, text) >= sizeof text) continue;
        must(hf_study_parse(ctx, study, j, text, &again) == HF_OK && again == trial.at[j],
             "a text that is not the setting");
    }
    for (size_t o = 0; o < study->outcomes; o++)
        must(!isinf(trial.value[o]) && trial.noise[o] >= 0.0, "an outcome that cannot be told");
}

/* The study is one in memory: asking changes no file. */
static void use(hf_context *ctx, hf_study *study)
{
    const hf_study_settings *s = hf_study_settings_of(study);
    hf_proposal proposal;
    must(s->variables > 0 && s->outcomes > 0, "a study of nothing");
    must(study->pending + study->told + study->failed <= study->trials, "trials that are not there");
    for (uint64_t id = 1; id <= hf_study_trials(study); id++) check_trial(ctx, study, id);
    if (study->trials > MOST_TRIALS || s->variables > MOST_VARIABLES || s->outcomes > 2 || s->draws > 256 ||
        s->regions > 4 || s->kernel != NULL)
        return;
    const hf_status status = hf_study_ask(ctx, study, 1, 4e9, &proposal);
    must(status < 0 || proposal.trial == hf_study_trials(study), "a proposal without a trial");
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
    if (status >= 0) check_trial(ctx, study, proposal.trial);
}

static void load(hf_context *ctx, const unsigned char *bytes, size_t size)
{
    hf_study *study = NULL;
    const hf_status status = study_from_bytes(ctx, bytes, size, "s.hf", &study);
    must((status >= 0) == (study != NULL), "status and study disagree");
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
    if (study != NULL) use(ctx, study);
    hf_study_free(study);
}

static bool seal(hf_context *ctx, sqlite3 *db)
{
    return hfi_ledger_schema_check(ctx, db, &hfi_study_form, "s.hf") == HF_OK &&
           seal_ledger(db, &hfi_study_form) == SQLITE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const stored files = {.kind = &hfi_kind_study, .load = load, .seal = seal};
    return stored_try(&files, data, size);
}
