/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a track out of its file. */
#include "files/track_store.h"

void hfi_track_told_free(const hfi_memory *memory, hfi_track_told *told)
{
    hfi_texts_free(memory, told->names, told->settings.domain.dimension);
    hfi_texts_free(memory, told->label, told->settings.domain.candidates);
    HFI_MEMORY_FREE(memory, told->target, told->kernel, told->numbers);
    *told = (hfi_track_told){0};
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

static hf_status read_arrays(const hfi_reader *r, hfi_track_told *out)
{
    hf_track_settings *s = &out->settings;
    const size_t d = s->domain.dimension, m = s->domain.candidates, entries = s->age.entries;
    const size_t of_domain = m > 0 ? m * d : 2 * d;
    out->numbers = hfi_memory_alloc(&r->memory, of_domain + 2 * entries, sizeof *out->numbers);
    if (out->numbers == NULL) return hfi_out_of_memory(r->ctx);
    double *domain = out->numbers, *ages = domain + of_domain;
    hf_status status = m > 0 ? hfi_array_read(r, "points", m, d, false, domain)
                             : hfi_array_read(r, "lower", d, 1, false, domain);
    if (status >= 0 && m == 0) status = hfi_array_read(r, "upper", d, 1, false, domain + d);
    if (status >= 0 && entries > 0) status = hfi_array_read(r, "ages", entries, 1, false, ages);
    if (status >= 0 && entries > 0) status = hfi_array_read(r, "added", entries, 1, false, ages + entries);
    s->domain.points = m > 0 ? domain : NULL;
    s->domain.lower = m > 0 ? NULL : domain;
    s->domain.upper = m > 0 ? NULL : domain + d;
    s->age.ages = ages;
    s->age.added = ages + entries;
    return status;
}

/* Nothing is allocated for more than the file has bytes for. */
static hf_status read_sizes(const hfi_reader *r, hf_track_settings *s, bool *named, bool *labelled)
{
    size_t d = 0, m = 0, entries = 0;
    hf_status status = hfi_meta_size(r, "inputs", &d);
    if (status >= 0) status = hfi_meta_size(r, "candidates", &m);
    if (status >= 0) status = hfi_meta_size(r, "age_entries", &entries);
    if (status >= 0) status = hfi_meta_flag(r, "named", named);
    if (status >= 0) status = hfi_meta_flag(r, "labelled", labelled);
    if (status < 0) return status;
    if (d == 0 || !hfi_reader_has_room(r, 1, d) || !hfi_reader_has_room(r, m, d) ||
        !hfi_reader_has_room(r, entries, 1) || (s->age.kind == HF_AGE_TABLE) != (entries > 0) ||
        (*labelled && m == 0))
        return hfi_meta_bad(r, "inputs");
    s->domain.dimension = d;
    s->domain.candidates = m;
    s->age.entries = entries;
    return HF_OK;
}

hf_status hfi_track_read_settings(const hfi_reader *r, hfi_track_told *out)
{
    *out = (hfi_track_told){.settings = hf_track_settings_default(HF_TRACK_GP_UCB)};
    hf_track_settings *s = &out->settings;
    bool named = false, labelled = false;
    hf_status status = hfi_meta_settings(r, hf_track_settings_table(), s);
    if (status >= 0) status = read_sizes(r, s, &named, &labelled);
    if (status >= 0) status = hfi_meta_text(r, "target", false, &out->target);
    if (status >= 0) status = hfi_meta_text(r, "kernel", true, &out->kernel);
    if (status >= 0) status = read_arrays(r, out);
    if (status >= 0 && named)
        status = hfi_reader_texts(r, &hfi_track_inputs, 0, s->domain.dimension, &out->names);
    if (status >= 0 && labelled)
        status = hfi_reader_texts(r, &hfi_track_candidates, 0, s->domain.candidates, &out->label);
    s->kernel = out->kernel;
    s->names = (const char *const *)out->names;
    if (status < 0) hfi_track_told_free(&r->memory, out);
    return status;
}
