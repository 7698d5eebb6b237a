/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a study's file; its settings into them, and out of them. Names and keys are part of the format: never
 * rename one. */
#include "files/study_store.h"

#include <holdfast/version.h>

/* ---- tables ----------------------------------------------------------------------------------------------------- */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const hfi_file_table tables[] = {
    {"meta", "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value)",
     "SELECT key, value FROM meta WHERE key <> 'content_sha256' ORDER BY key"},
    {"variable",
     "CREATE TABLE variable (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, "
     "lower REAL, upper REAL, log INTEGER NOT NULL)",
     "SELECT position, name, kind, lower, upper, log FROM variable ORDER BY position"},
    {"level",
     "CREATE TABLE level (variable INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY "
     "KEY (variable, position))",
     "SELECT variable, position, name FROM level ORDER BY variable, position"},
    {"outcome",
     "CREATE TABLE outcome (position INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, goal TEXT NOT NULL, "
     "bound REAL, certain INTEGER NOT NULL, noise_bound REAL, norm_bound REAL, centre REAL, kernel TEXT)",
     "SELECT position, name, goal, bound, certain, noise_bound, norm_bound, centre, kernel FROM outcome "
     "ORDER BY position"},
};

/* Whatever was learnt on the way to a question goes with that question. */
static const hfi_ledger_kind kinds[HFI_STUDY_KINDS] = {
    [HFI_STUDY_ASKED] = {"asked", HFI_ENTRY_ALONE},
    [HFI_STUDY_ADDED] = {"added", HFI_ENTRY_ALONE},
    [HFI_STUDY_TOLD] = {"told", HFI_ENTRY_ALONE},
    [HFI_STUDY_FAILED] = {"failed", HFI_ENTRY_ALONE},
    [HFI_STUDY_EXPIRED] = {"expired", HFI_ENTRY_ALONE},
    [HFI_STUDY_FITTED] = {"fitted", HFI_ENTRY_AHEAD},
    [HFI_STUDY_REGION] = {"region", HFI_ENTRY_AHEAD},
    [HFI_STUDY_LABELLED] = {"labelled", HFI_ENTRY_ALONE},
    [HFI_STUDY_ADDED_FAILED] = {"added_failed", HFI_ENTRY_ALONE}};

const hfi_ledger_form hfi_study_form = {.file = &hfi_kind_study,
                                        .version = HFI_STUDY_VERSION,
                                        .tables = {.count = COUNT(tables), .table = tables},
                                        .kinds = HFI_STUDY_KINDS,
                                        .kind = kinds,
                                        .payload = "payload"};

static const char *const variable_kinds[] = {"real", "integer", "ordered", "category"};
static const char *const goals[] = {"maximise", "minimise", "at-most", "at-least"};

#define FIELD(object, field, type)                                                                           \
    {                                                                                                        \
        "settings." #field, type, offsetof(object, field), NULL, 0, 1                                        \
    }
#define CHOICE(object, field, list)                                                                          \
    {                                                                                                        \
        "settings." #field, HFI_CHOICE, offsetof(object, field), list, COUNT(list), 1                        \
    }

#define TEXT(object, field, called, type)                                                                    \
    {                                                                                                        \
        called, type, offsetof(object, field), NULL, 0, 1                                                    \
    }

static const hfi_file_field variable_fields[] = {
    TEXT(hf_variable, name, "variable", HFI_TEXT),
    CHOICE(hf_variable, kind, variable_kinds),
    FIELD(hf_variable, lower, HFI_REAL),
    FIELD(hf_variable, upper, HFI_REAL),
    FIELD(hf_variable, log, HFI_FLAG),
};
static const hfi_file_field outcome_fields[] = {
    TEXT(hf_outcome, name, "outcome", HFI_TEXT), CHOICE(hf_outcome, goal, goals),
    FIELD(hf_outcome, limit, HFI_REAL),          FIELD(hf_outcome, certain, HFI_FLAG),
    FIELD(hf_outcome, noise_bound, HFI_REAL),    FIELD(hf_outcome, norm_bound, HFI_REAL),
    FIELD(hf_outcome, centre, HFI_REAL),         TEXT(hf_outcome, kernel, "a kernel", HFI_TEXT_OR_NULL),
};

static const hfi_file_rows variable_rows = {
    .noun = "variable",
    .insert =
        "INSERT INTO variable (position, name, kind, lower, upper, log) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    .select = "SELECT position, name, kind, lower, upper, log FROM variable ORDER BY position",
    .fields = COUNT(variable_fields),
    .field = variable_fields};

static const hfi_file_rows outcome_rows = {
    .noun = "outcome",
    .insert = "INSERT INTO outcome (position, name, goal, bound, certain, noise_bound, norm_bound, centre, "
              "kernel) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    .select = "SELECT position, name, goal, bound, certain, noise_bound, norm_bound, centre, kernel FROM "
              "outcome ORDER BY position",
    .fields = COUNT(outcome_fields),
    .field = outcome_fields};

static const hfi_text_rows level_rows = {
    .noun = "level",
    .insert = "INSERT INTO level (position, name, variable) VALUES (?1, ?2, ?3)",
    .select = "SELECT position, name FROM level WHERE variable = ?1 ORDER BY position"};

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
    hfi_writer_rows(w, &variable_rows, s->variables, sizeof *s->variable, s->variable);
    for (size_t j = 0; j < s->variables; j++)
        hfi_writer_texts(w, &level_rows, j, s->variable[j].levels, s->variable[j].level);
    hfi_writer_rows(w, &outcome_rows, s->outcomes, sizeof *s->outcome, s->outcome);
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
        status = hfi_reader_texts(r, &level_rows, j, count, &level);
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
    status = hfi_reader_rows(r, &variable_rows, count, sizeof *variable, variable);
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
    return hfi_reader_rows(r, &outcome_rows, count, sizeof *outcome, outcome);
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
