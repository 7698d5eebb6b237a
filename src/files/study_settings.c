/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a study into its file, and out of it. */
#include "files/study_store.h"

#include <holdfast/version.h>

/* ---- into the file -------------------------------------------------------------------------------------------- */

void hfi_study_write_settings(hfi_writer *w, const void *settings)
{
    const hf_study_settings *s = settings;
    hfi_writer_meta(w, "format", hfi_text("holdfast study"));
    hfi_writer_meta(w, "library", hfi_text(hf_version()));
    hfi_writer_meta(w, "variables", hfi_whole(s->variables));
    hfi_writer_meta(w, "outcomes", hfi_whole(s->outcomes));
    hfi_writer_meta(w, "preset", hfi_text(s->preset));
    hfi_writer_meta(w, "kernel", hfi_text(s->kernel));
    hfi_writer_meta_seed(w, "seed", s->seed);
    hfi_writer_settings(w, hf_study_settings_table(), s);
    hfi_writer_rows(w, &hfi_study_variables, s->variables, sizeof *s->variable, s->variable);
    for (size_t j = 0; j < s->variables; j++)
        hfi_writer_texts(w, &hfi_study_levels, j, s->variable[j].levels, s->variable[j].level);
    hfi_writer_rows(w, &hfi_study_outcomes, s->outcomes, sizeof *s->outcome, s->outcome);
}

/* ---- out of it ------------------------------------------------------------------------------------------------ */

/* Labels of a variable, or with -1 of all. */
static size_t count_levels(const hfi_reader *r, int64_t variable)
{
    return hfi_reader_count(r, "SELECT count(*) FROM level WHERE ?1 < 0 OR variable = ?1",
                            HFI_VALUES(hfi_whole((uint64_t)variable)));
}

static hf_status read_levels(const hfi_reader *r, size_t variables, hf_variable *variable)
{
    size_t total = 0;
    hf_status status = HF_OK;
    for (size_t j = 0; j < variables && status >= 0; j++) {
        char **level = NULL;
        const size_t count = count_levels(r, (int64_t)j);
        if (count == 0) continue;
        status = hfi_reader_texts(r, &hfi_study_levels, j, count, &level);
        variable[j].levels = level != NULL ? count : 0;
        variable[j].level = (const char *const *)level;
        total += count;
    }
    if (status >= 0 && total != count_levels(r, -1))
        return hfi_reader_damaged(r, "it has labels of no variable");
    return status;
}

/* Nothing is allocated for more than the file has bytes for. */
static hf_status read_count(const hfi_reader *r, const char *key, size_t *out)
{
    const hf_status status = hfi_meta_size(r, key, out);
    return status >= 0 && (*out == 0 || !hfi_reader_has_room(r, 1, *out)) ? hfi_meta_bad(r, key) : status;
}

static hf_status read_variables(const hfi_reader *r, hf_study_settings *s)
{
    size_t count = 0;
    hf_status status = read_count(r, "variables", &count);
    if (status < 0) return status;
    hf_variable *variable = hfi_memory_alloc(&r->memory, count, sizeof *variable);
    s->variable = variable;
    if (variable == NULL) return hfi_out_of_memory(r->ctx);
    s->variables = count;
    status = hfi_reader_rows(r, &hfi_study_variables, count, sizeof *variable, variable);
    return status >= 0 ? read_levels(r, count, variable) : status;
}

static hf_status read_outcomes(const hfi_reader *r, hf_study_settings *s)
{
    size_t count = 0;
    const hf_status status = read_count(r, "outcomes", &count);
    if (status < 0) return status;
    hf_outcome *outcome = hfi_memory_alloc(&r->memory, count, sizeof *outcome);
    s->outcome = outcome;
    if (outcome == NULL) return hfi_out_of_memory(r->ctx);
    s->outcomes = count;
    return hfi_reader_rows(r, &hfi_study_outcomes, count, sizeof *outcome, outcome);
}

/* Reads the settings. Those that came later are missing in older files, which have the default then. */
hf_status hfi_study_read_settings(const hfi_reader *r, hf_study_settings *s)
{
    char *preset = NULL, *kernel = NULL;
    *s = hf_study_settings_default();
    hf_status status = hfi_meta_settings(r, hf_study_settings_table(), s);
    if (status >= 0) status = hfi_meta_text(r, "preset", false, &preset);
    if (status >= 0) status = hfi_meta_text(r, "kernel", true, &kernel);
    s->preset = preset;
    s->kernel = kernel;
    if (status >= 0) status = hfi_meta_seed(r, "seed", &s->seed);
    if (status >= 0) status = read_variables(r, s);
    return status >= 0 ? read_outcomes(r, s) : status;
}
