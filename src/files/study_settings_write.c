/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a study into its file. */
#include "files/study_store.h"

#include <holdfast/version.h>

static void write_meta(hfi_writer *w, const hf_study_settings *s)
{
    sqlite3_stmt *statement = hfi_writer_prepare(w, "INSERT INTO meta (key, value) VALUES (?1, ?2)");
    hfi_writer_meta_text(w, statement, "format", "holdfast study");
    hfi_writer_meta_text(w, statement, "library", hf_version());
    hfi_writer_meta_size(w, statement, "variables", s->variables);
    hfi_writer_meta_size(w, statement, "outcomes", s->outcomes);
    hfi_writer_meta_text(w, statement, "preset", s->preset);
    hfi_writer_meta_text(w, statement, "kernel", s->kernel);
    hfi_writer_meta_seed(w, statement, "seed", s->seed);
    hfi_writer_settings(w, statement, hf_study_settings_table(), s);
    sqlite3_finalize(statement);
}

/* Position, name and fields; the statement is still to be stepped. */
static void bind_row(hfi_writer *w, sqlite3_stmt *s, const hfi_study_row *row, size_t position,
                     const char *name, const void *object)
{
    hfi_writer_bind_size(w, s, 1, position);
    hfi_writer_bind_text(w, s, 2, name);
    for (size_t i = 0; i < row->fields && w->rc == SQLITE_OK; i++)
        w->rc = hfi_file_field_bind(s, (int)i + 3, &row->field[i], object);
}

void hfi_study_write_settings(hfi_writer *w, const void *settings)
{
    const hf_study_settings *from = settings;
    write_meta(w, from);
    const hfi_study_row *row = &hfi_study_variable_row;
    sqlite3_stmt *s = hfi_writer_prepare(w, row->insert);
    for (size_t j = 0; j < from->variables; j++) {
        bind_row(w, s, row, j, from->variable[j].name, &from->variable[j]);
        hfi_writer_step(w, s);
    }
    sqlite3_finalize(s);
    for (size_t j = 0; j < from->variables; j++)
        hfi_writer_texts(w, &hfi_study_levels, j, from->variable[j].levels, from->variable[j].level);
    row = &hfi_study_outcome_row;
    s = hfi_writer_prepare(w, row->insert);
    for (size_t o = 0; o < from->outcomes; o++) {
        bind_row(w, s, row, o, from->outcome[o].name, &from->outcome[o]);
        hfi_writer_bind_text(w, s, (int)row->fields + 3, from->outcome[o].kernel);
        hfi_writer_step(w, s);
    }
    sqlite3_finalize(s);
}
