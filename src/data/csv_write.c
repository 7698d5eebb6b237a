/* SPDX-License-Identifier: Apache-2.0 */
/* A table to CSV text. */
#include "data/table_impl.h"

#include "data/atomic_file.h"

#include <string.h>

/* Header names are looked at more closely than fields: blanks around them would be trimmed, a ; or tab could
 * be taken for the separator, and a byte order mark at the front for no part of the name. */
static bool needs_quotes(const char *text, bool is_name)
{
    if (text[strcspn(text, ",\"\r\n")] != '\0') return true;
    if (!is_name || *text == '\0') return false;
    char last = text[strlen(text) - 1];
    return *text == ' ' || last == ' ' || text[strcspn(text, ";\t")] != '\0' ||
           strncmp(text, "\xef\xbb\xbf", 3) == 0;
}

static hf_status emit_quoted(hf_context *ctx, const char *text, hfi_sink sink, void *arg)
{
    hf_status status = sink(ctx, arg, "\"", 1);
    while (status == HF_OK && *text != '\0') {
        size_t span = strcspn(text, "\"");
        status = sink(ctx, arg, text, span);
        text += span;
        if (status == HF_OK && *text == '"') {
            status = sink(ctx, arg, "\"\"", 2);
            text++;
        }
    }
    return status == HF_OK ? sink(ctx, arg, "\"", 1) : status;
}

static hf_status emit_field(hf_context *ctx, const char *text, bool quoted, hfi_sink sink, void *arg)
{
    return quoted ? emit_quoted(ctx, text, sink, arg) : sink(ctx, arg, text, strlen(text));
}

static hf_status emit_row(hf_context *ctx, const hf_table *table, size_t row, hfi_sink sink, void *arg)
{
    char number[32];
    hf_status status = HF_OK;
    for (size_t j = 0; j < table->columns && status == HF_OK; j++) {
        const char *text = hf_table_field(table, row, j, number);
        /* An empty line would be no row at all. */
        bool quoted = needs_quotes(text, false) || (table->columns == 1 && *text == '\0');
        if (j > 0) status = sink(ctx, arg, ",", 1);
        if (status == HF_OK) status = emit_field(ctx, text, quoted, sink, arg);
    }
    return status == HF_OK ? sink(ctx, arg, "\n", 1) : status;
}

hf_status hfi_table_emit(hf_context *ctx, const hf_table *table, hfi_sink sink, void *arg, double *done)
{
    hf_status status = HF_OK;
    for (size_t j = 0; j < table->columns && status == HF_OK; j++) {
        const char *name = table->column[j].name;
        if (j > 0) status = sink(ctx, arg, ",", 1);
        if (status == HF_OK) status = emit_field(ctx, name, needs_quotes(name, true), sink, arg);
    }
    if (status == HF_OK) status = sink(ctx, arg, "\n", 1);
    for (size_t i = 0; i < table->rows && status == HF_OK; i++) {
        if (done != NULL) *done = (double)i / (double)table->rows;
        status = emit_row(ctx, table, i, sink, arg);
    }
    return status;
}

static hf_status to_file(hf_context *ctx, void *arg, const char *text, size_t bytes)
{
    return hfi_file_write(ctx, arg, text, bytes);
}

hf_status hf_table_write_csv(hf_context *ctx, const hf_table *table, const char *path)
{
    if (table == NULL || path == NULL) return hfi_refuse(ctx, "hf_table_write_csv: table or path is NULL");
    if (table->columns == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: not written: the table has no columns", path);
    hfi_file file;
    hf_status status = hfi_file_begin(ctx, path, &file);
    if (status == HF_OK) status = hfi_table_emit(ctx, table, to_file, &file, &file.done);
    if (status == HF_OK) status = hfi_file_commit(ctx, &file);
    hfi_file_abort(&file);
    return status;
}
