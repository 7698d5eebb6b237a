/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a study out of its file. */
#include "files/study_store.h"

void hfi_study_told_free(const hfi_memory *memory, hfi_study_told *told)
{
    for (size_t j = 0; told->level != NULL && j < told->variables; j++)
        hfi_texts_free(memory, told->level[j], told->variable[j].levels);
    hfi_memory_free(memory, told->level);
    hfi_texts_free(memory, told->name, told->variables);
    hfi_texts_free(memory, told->outcome_name, told->outcomes);
    hfi_texts_free(memory, told->outcome_kernel, told->outcomes);
    HFI_MEMORY_FREE(memory, told->variable, told->outcome, told->preset, told->kernel);
    *told = (hfi_study_told){0};
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

static hf_status bad_row(const hfi_reader *r, const hfi_study_row *row, size_t position)
{
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: its %s %zu is missing or not as it should be",
                    r->name, row->noun, position + 1);
}

/* The next row, which must be number `position`. */
static hf_status read_row(const hfi_reader *r, sqlite3_stmt *s, const hfi_study_row *row, size_t position,
                          char **name, void *object)
{
    if (sqlite3_step(s) != SQLITE_ROW || sqlite3_column_int64(s, 0) != (sqlite3_int64)position)
        return bad_row(r, row, position);
    for (size_t i = 0; i < row->fields; i++)
        if (!hfi_file_field_take(s, (int)i + 2, &row->field[i], object)) return bad_row(r, row, position);
    return hfi_row_text(r, s, 1, row->noun, name);
}

static hf_status prepare(const hfi_reader *r, const hfi_study_row *row, sqlite3_stmt **s)
{
    return sqlite3_prepare_v2(r->db, row->select, -1, s, NULL) == SQLITE_OK ? HF_OK : bad_row(r, row, 0);
}

static hf_status read_variables(const hfi_reader *r, hfi_study_told *out)
{
    sqlite3_stmt *s = NULL;
    hf_status status = prepare(r, &hfi_study_variable_row, &s);
    for (size_t j = 0; j < out->variables && status >= 0; j++) {
        status = read_row(r, s, &hfi_study_variable_row, j, &out->name[j], &out->variable[j]);
        out->variable[j].name = out->name[j];
    }
    if (status >= 0 && sqlite3_step(s) != SQLITE_DONE)
        status = bad_row(r, &hfi_study_variable_row, out->variables);
    sqlite3_finalize(s);
    return status;
}

static hf_status read_outcomes(const hfi_reader *r, hfi_study_told *out)
{
    const hfi_study_row *row = &hfi_study_outcome_row;
    const int column = (int)row->fields + 2;
    sqlite3_stmt *s = NULL;
    hf_status status = prepare(r, row, &s);
    for (size_t o = 0; o < out->outcomes && status >= 0; o++) {
        status = read_row(r, s, row, o, &out->outcome_name[o], &out->outcome[o]);
        if (status >= 0 && sqlite3_column_type(s, column) != SQLITE_NULL)
            status = hfi_row_text(r, s, column, "a kernel", &out->outcome_kernel[o]);
        out->outcome[o].name = out->outcome_name[o];
        out->outcome[o].kernel = out->outcome_kernel[o];
    }
    if (status >= 0 && sqlite3_step(s) != SQLITE_DONE) status = bad_row(r, row, out->outcomes);
    sqlite3_finalize(s);
    return status;
}

/* ---- labels ------------------------------------------------------------------------------------------------ */

/* Labels of a variable, or with -1 of all. */
static size_t count_levels(const hfi_reader *r, sqlite3_int64 variable)
{
    sqlite3_stmt *s = NULL;
    sqlite3_int64 count = 0;
    const char *sql = "SELECT count(*) FROM level WHERE ?1 < 0 OR variable = ?1";
    if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) == SQLITE_OK &&
        sqlite3_bind_int64(s, 1, variable) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        count = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return (size_t)count;
}

static hf_status read_levels(const hfi_reader *r, hfi_study_told *out)
{
    size_t total = 0;
    hf_status status = HF_OK;
    for (size_t j = 0; j < out->variables && status >= 0; j++) {
        hf_variable *v = &out->variable[j];
        const size_t count = count_levels(r, (sqlite3_int64)j);
        if (count == 0) continue;
        v->levels = count;
        status = hfi_reader_texts(r, &hfi_study_levels, j, count, &out->level[j]);
        v->level = (const char *const *)out->level[j];
        total += count;
    }
    if (status >= 0 && total != count_levels(r, -1))
        return hfi_reader_damaged(r, "it has labels of no variable");
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

/* Nothing is allocated for more than the file has bytes for. */
static hf_status make_room(const hfi_reader *r, hfi_study_told *out)
{
    size_t d = 0, o = 0;
    hf_status status = hfi_meta_size(r, "variables", &d);
    if (status >= 0) status = hfi_meta_size(r, "outcomes", &o);
    if (status < 0) return status;
    if (d == 0 || !hfi_reader_has_room(r, 1, d)) return hfi_meta_bad(r, "variables");
    if (o == 0 || !hfi_reader_has_room(r, 1, o)) return hfi_meta_bad(r, "outcomes");
    const hfi_memory *memory = &r->memory;
    out->variable = hfi_memory_alloc(memory, d, sizeof *out->variable);
    out->outcome = hfi_memory_alloc(memory, o, sizeof *out->outcome);
    if (out->variable == NULL || out->outcome == NULL) return hfi_out_of_memory(r->ctx);
    out->variables = d;
    out->outcomes = o;
    out->name = hfi_memory_alloc(memory, d, sizeof *out->name);
    out->level = hfi_memory_alloc(memory, d, sizeof *out->level);
    out->outcome_name = hfi_memory_alloc(memory, o, sizeof *out->outcome_name);
    out->outcome_kernel = hfi_memory_alloc(memory, o, sizeof *out->outcome_kernel);
    return out->name != NULL && out->level != NULL && out->outcome_name != NULL && out->outcome_kernel != NULL
               ? HF_OK
               : hfi_out_of_memory(r->ctx);
}

/* Reads the settings. Those that came later are missing in older files, which have the default then. */
hf_status hfi_study_read_settings(const hfi_reader *r, hfi_study_told *out)
{
    *out = (hfi_study_told){.settings = hf_study_settings_default()};
    hf_study_settings *s = &out->settings;
    hf_status status = make_room(r, out);
    if (status >= 0) status = hfi_meta_settings(r, hf_study_settings_table(), s);
    if (status >= 0) status = hfi_meta_text(r, "preset", false, &out->preset);
    if (status >= 0) status = hfi_meta_text(r, "kernel", true, &out->kernel);
    if (status >= 0) status = hfi_meta_seed(r, "seed", &s->seed);
    if (status >= 0) status = read_variables(r, out);
    if (status >= 0) status = read_levels(r, out);
    if (status >= 0) status = read_outcomes(r, out);
    s->preset = out->preset;
    s->kernel = out->kernel;
    s->variables = out->variables;
    s->variable = out->variable;
    s->outcomes = out->outcomes;
    s->outcome = out->outcome;
    if (status < 0) hfi_study_told_free(&r->memory, out);
    return status;
}
