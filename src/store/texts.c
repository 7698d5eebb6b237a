/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of names in files: rows of a position, counted from 0, and a text. */
#include "store/reader.h"
#include "store/writer.h"

#include <string.h>

void hfi_writer_texts(hfi_writer *w, const hfi_text_rows *rows, size_t of, size_t count,
                      const char *const *texts)
{
    sqlite3_stmt *s = hfi_writer_prepare(w, rows->insert);
    for (size_t i = 0; i < count; i++) {
        hfi_writer_bind_size(w, s, 1, i);
        hfi_writer_bind_text(w, s, 2, texts[i]);
        if (sqlite3_bind_parameter_count(s) > 2) hfi_writer_bind_size(w, s, 3, of);
        hfi_writer_step(w, s);
    }
    sqlite3_finalize(s);
}

void hfi_texts_free(const hfi_memory *memory, char **texts, size_t count)
{
    for (size_t i = 0; texts != NULL && i < count; i++) hfi_memory_free(memory, texts[i]);
    hfi_memory_free(memory, texts);
}

hf_status hfi_row_text(const hfi_reader *r, sqlite3_stmt *s, int at, const char *noun, char **out)
{
    const char *text =
        sqlite3_column_type(s, at) == SQLITE_TEXT ? (const char *)sqlite3_column_text(s, at) : NULL;
    if (text == NULL || strlen(text) != (size_t)sqlite3_column_bytes(s, at))
        return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: a name of %s is missing", r->name, noun);
    *out = hfi_memory_strdup(&r->memory, text);
    return *out != NULL ? HF_OK : hfi_out_of_memory(r->ctx);
}

/* The row with text `position`. */
static hf_status take_text(const hfi_reader *r, sqlite3_stmt *s, size_t position, const char *noun,
                           char **out)
{
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int64(s, 0) == (sqlite3_int64)position)
        return hfi_row_text(r, s, 1, noun, out);
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: a name of %s is missing", r->name, noun);
}

hf_status hfi_reader_texts(const hfi_reader *r, const hfi_text_rows *rows, size_t of, size_t count,
                           char ***out)
{
    char **texts = hfi_memory_alloc(&r->memory, count, sizeof *texts);
    if (texts == NULL) return hfi_out_of_memory(r->ctx);
    *out = texts;
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(r->db, rows->select, -1, &s, NULL);
    if (rc == SQLITE_OK && sqlite3_bind_parameter_count(s) > 0)
        rc = sqlite3_bind_int64(s, 1, (sqlite3_int64)of);
    hf_status status = rc == SQLITE_OK ? HF_OK : hfi_reader_damaged(r, "its names cannot be read");
    for (size_t i = 0; i < count && status >= 0; i++) status = take_text(r, s, i, rows->noun, &texts[i]);
    if (status >= 0 && sqlite3_step(s) != SQLITE_DONE)
        status = hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: it has more names of %s than it should",
                          r->name, rows->noun);
    sqlite3_finalize(s);
    return status;
}
