/* SPDX-License-Identifier: Apache-2.0 */
/* Life of a study. */
#include "study/study.h"

/* Trust regions, where the settings ask for them. */
static hf_status make_regions(hf_context *ctx, hf_study *study)
{
    size_t numeric = 0;
    for (size_t j = 0; j < study->d; j++) numeric += !study->domain.category[j];
    const bool wanted = study->s.reach == HF_REACH_REGIONS ||
                        (study->s.reach == HF_REACH_AUTO && numeric >= study->s.region_from);
    if (!wanted || study->objectives > 1) return HF_OK;
    study->region = hfi_memory_alloc(&study->memory, study->s.regions, sizeof *study->region);
    if (study->region == NULL) return hfi_out_of_memory(ctx);
    study->regions = study->s.regions;
    for (size_t r = 0; r < study->regions; r++) {
        const hf_status s = hf_trust_region_create(ctx, NULL, study->d, 1, &study->region[r].state);
        if (s < 0) return s;
    }
    return HF_OK;
}

hf_status hf_study_create(hf_context *ctx, const hf_study_settings *from, hf_study **out)
{
    if (ctx == NULL || from == NULL || out == NULL)
        return hfi_refuse(ctx, "a study needs a context, settings and a place for the result");
    hf_study *study = hfi_alloc(ctx, 1, sizeof *study);
    if (study == NULL) return HF_ERR_MEMORY;
    study->memory = hfi_context_memory(ctx);
    hf_status s = hfi_study_take_settings(ctx, from, study);
    if (s >= 0) s = make_regions(ctx, study);
    if (s < 0) {
        hf_study_free(study);
        return s;
    }
    *out = study;
    return HF_OK;
}

void hf_study_free(hf_study *study)
{
    if (study == NULL) return;
    const hfi_memory memory = study->memory;
    if (study->journalled && study->journal.close != NULL) study->journal.close(study->journal.user);
    for (uint64_t id = 1; id <= study->trials; id++)
        HFI_MEMORY_FREE(&memory, study->trial[id - 1]->note, study->trial[id - 1]);
    hfi_memory_free(&memory, study->trial);
    for (size_t o = 0; o <= HFI_STUDY_OUTCOMES; o++) {
        hfi_fitted_free(&memory, &study->fitted[o]);
        hfi_surrogate_free(&memory, &study->surrogate[o]);
    }
    hfi_memory_free(&memory, study->region);
    hfi_study_free_settings(study);
    hfi_memory_free(&memory, study);
}

const hf_study_settings *hf_study_settings_of(const hf_study *study)
{
    return study != NULL ? &study->s : NULL;
}
