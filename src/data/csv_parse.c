/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV text to a table. The text is decoded in place: a field never gets longer when its quotes go, and the
 * separator or newline behind it makes room for the zero byte. So fields lie one behind the other where the file was
 * read to.
 */
#include "data/table_impl.h"

#include "data/manner.h"
#include "data/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS_PER_PROGRESS 4096

typedef enum field_end {
    END_OF_FIELD,
    END_OF_RECORD,
    BAD_FIELD
} field_end;

typedef struct scanner {
    hf_context *ctx;
    hf_table *table;
    size_t bytes;
    size_t at;   /* next byte to read */
    size_t put;  /* where the next decoded byte goes; never beyond `at` */
    size_t line; /* of the byte at `at` */
    char separator;
    bool comments;    /* lines that begin with # are none of the table, unless they have its fields */
    size_t commented; /* how many there were */
} scanner;

/* ---- errors ---------------------------------------------------------------------------------- */

/* "file: line 17, column 3 ("dose"): what". Column names are known once the header record is complete. */
static field_end bad_field(const scanner *s, size_t line, size_t column, const char *what)
{
    char shown[HFI_SHOWN_BYTES], name[HFI_SHOWN_BYTES + 8] = "";
    const hf_table *table = s->table;
    if (table->stride > 0 && column <= table->stride)
        hfi_print(name, sizeof name, " (\"%s\")",
                  hfi_text_shown(table->text + table->fields[column - 1], shown));
    hfi_fail(s->ctx, HF_ERR_PARSE, "%s: line %zu, column %zu%s: %s", table->source, line, column, name, what);
    return BAD_FIELD;
}

static hf_status ragged(const scanner *s, size_t line, size_t found)
{
    size_t expected = s->table->stride;
    return hfi_fail(s->ctx, HF_ERR_PARSE,
                    "%s: line %zu: %zu field%s found, %zu expected (one for each column of the header); %s",
                    s->table->source, line, found, found == 1 ? "" : "s", expected,
                    found > expected ? "a field that holds the separator must stand in quotes"
                                     : "leave a missing value empty, but keep its separator");
}

/* A zero byte means that this is no text at all; the first bytes of the file often say what it is. */
static hf_status not_text(const scanner *s, const char *zero)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *what;
    } known[] = {
        {"\xff\xfe", 2, "it looks like UTF-16 text; convert it to UTF-8"},
        {"\xfe\xff", 2, "it looks like UTF-16 text; convert it to UTF-8"},
        {"\x1f\x8b", 2, "it looks gzip-compressed; unpack it first"},
        {"PK\x03\x04", 4, "it looks like a spreadsheet or zip archive; save it as CSV"},
        {"SQLite format 3", 16,
         "it is an SQLite database, perhaps a model file; a CSV file is needed here, or a table in it, as "
         "FILE:TABLE"},
        {"", 0, "it is not a text file"},
    };
    const char *text = s->table->text;
    size_t i = 0, line = 1;
    while (s->bytes < known[i].count || memcmp(text, known[i].bytes, known[i].count) != 0) i++;
    for (const char *p = text; p < zero; p++) line += *p == '\n';
    return hfi_fail(s->ctx, HF_ERR_PARSE, "%s: line %zu: a zero byte at offset %zu; %s", s->table->source,
                    line, (size_t)(zero - text), known[i].what);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void put_bytes(scanner *s, size_t from, size_t count)
{
    char *text = s->table->text;
    if (s->put != from && count > 0) memmove(text + s->put, text + from, count);
    s->put += count;
}

/* Takes what ends a field, after which its zero byte has room. */
static field_end take_end(scanner *s, size_t column)
{
    char *text = s->table->text;
    field_end end = END_OF_RECORD;
    if (s->at < s->bytes && text[s->at] == s->separator) {
        s->at++;
        end = END_OF_FIELD;
    } else if (s->at < s->bytes && text[s->at] == '\n') {
        s->at++;
        s->line++;
    } else if (s->at < s->bytes) { /* a carriage return */
        if (s->at + 1 < s->bytes && text[s->at + 1] != '\n')
            return bad_field(
                s, s->line, column,
                "a carriage return without a line feed; convert the file to LF or CRLF line ends");
        s->at += s->at + 1 < s->bytes ? 2 : 1;
        s->line++;
    }
    text[s->put++] = '\0';
    return end;
}

static field_end quoted_field(scanner *s, size_t column)
{
    char *text = s->table->text;
    size_t opened = s->line;
    s->at++;
    for (;;) {
        size_t from = s->at;
        while (s->at < s->bytes && text[s->at] != '"') s->line += text[s->at++] == '\n';
        put_bytes(s, from, s->at - from);
        if (s->at == s->bytes)
            return bad_field(s, opened, column, "the quote that opens this field is never closed");
        s->at++;
        if (s->at == s->bytes || text[s->at] != '"') break;
        put_bytes(s, s->at, 1);
        s->at++;
    }
    if (s->at < s->bytes && text[s->at] != s->separator && text[s->at] != '\n' && text[s->at] != '\r')
        return bad_field(s, s->line, column,
                         "text after the closing quote; double every quote inside a quoted field");
    return take_end(s, column);
}

static field_end plain_field(scanner *s, size_t column, bool trim)
{
    const char *text = s->table->text;
    size_t from = s->at;
    while (s->at < s->bytes && text[s->at] != s->separator && text[s->at] != '\n' && text[s->at] != '\r')
        s->at++;
    size_t first = from, last = s->at;
    while (first < last && (text[first] == ' ' || text[first] == '\t')) first++;
    if (first > from && first < last && text[first] == '"')
        return bad_field(s, s->line, column,
                         "a quote after a blank; let the quote be the first character of the field");
    if (trim) {
        while (last > first && (text[last - 1] == ' ' || text[last - 1] == '\t')) last--;
        from = first;
    }
    put_bytes(s, from, last - from);
    return take_end(s, column);
}

/* `trim`: blanks around an unquoted field do not belong to it (header names). */
static field_end next_field(scanner *s, size_t column, bool trim)
{
    if (s->at < s->bytes && s->table->text[s->at] == '"') return quoted_field(s, column);
    return plain_field(s, column, trim);
}

/* ---- records --------------------------------------------------------------------------------- */

static void skip_line_ends(scanner *s)
{
    const char *text = s->table->text;
    for (;;) {
        size_t skip = 0;
        if (s->at < s->bytes && text[s->at] == '\r') skip = 1;
        if (s->at + skip < s->bytes && text[s->at + skip] == '\n')
            skip++;
        else if (s->at + skip < s->bytes || skip == 0)
            return;
        s->at += skip;
        s->line++;
    }
}

static void skip_blank_lines(scanner *s)
{
    const char *text = s->table->text;
    skip_line_ends(s);
    while (s->comments && s->at < s->bytes &&
           hfi_layout_is_comment(text, s->bytes, s->at, s->separator, s->table->stride)) {
        while (s->at < s->bytes && text[s->at] != '\n') s->at++;
        s->commented++;
        skip_line_ends(s);
    }
}

static hf_status header(scanner *s)
{
    hf_table *table = s->table;
    table->header_line = s->line;
    size_t columns = 0;
    field_end end = END_OF_FIELD;
    while (end == END_OF_FIELD) {
        table->fields[columns++] = s->put;
        end = next_field(s, columns, true);
    }
    if (end == BAD_FIELD) return HF_ERR_PARSE;
    table->stride = columns;
    return HF_OK;
}

static hf_status record(scanner *s)
{
    hf_table *table = s->table;
    size_t *fields = table->fields + (table->rows + 1) * table->stride;
    size_t line = s->line, found = 0;
    field_end end = END_OF_FIELD;
    while (end == END_OF_FIELD) {
        if (found < table->stride) fields[found] = s->put;
        end = next_field(s, ++found, false);
    }
    if (end == BAD_FIELD) return HF_ERR_PARSE;
    if (found != table->stride) return ragged(s, line, found);
    table->lines[table->rows++] = line;
    return HF_OK;
}

static hf_status records(scanner *s)
{
    for (skip_blank_lines(s); s->at < s->bytes; skip_blank_lines(s)) {
        hf_status status = record(s);
        if (status != HF_OK) return status;
        if (s->table->rows % ROWS_PER_PROGRESS == 0 &&
            !hfi_progress(s->ctx, "read", (double)s->at / (double)s->bytes, NAN))
            return hfi_cancelled(s->ctx);
    }
    return HF_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* No file has more fields than separators and newlines, plus one; this allows one allocation instead of a
 * growing array. */
static hf_status reserve_fields(scanner *s)
{
    size_t newlines = 0, separators = 0;
    for (size_t i = s->at; i < s->bytes; i++) {
        newlines += s->table->text[i] == '\n';
        separators += s->table->text[i] == s->separator;
    }
    /* a begin and a number for each field, a line for each row */
    size_t fields = newlines + separators + 2, needed = 0;
    if (!hfi_size_mul(fields, sizeof(size_t) + sizeof(double), &needed)) return hfi_out_of_memory(s->ctx);
    hf_status status = hfi_csv_must_fit(s->ctx, s->table->source, needed);
    if (status != HF_OK) return status;
    return HFI_ALLOC(s->ctx, HFI_ROOM(s->table->fields, fields), HFI_ROOM(s->table->lines, newlines + 1));
}

static hf_status not_empty(const scanner *s)
{
    if (s->at < s->bytes) return HF_OK;
    return hfi_fail(s->ctx, HF_ERR_NO_DATA, "%s: nothing in it; a header line with column names is needed",
                    s->table->source);
}

/* From the header on. `skipped`: lines of the source between it and the rest; `below`: the line where the
 * rest begins, 0 for the one below the header. */
static hf_status parse_from_header(scanner *s, size_t skipped, size_t below)
{
    hf_table *table = s->table;
    hf_status status = reserve_fields(s);
    if (status == HF_OK) status = header(s);
    s->line = below > 0 ? below : s->line + skipped;
    if (status == HF_OK) status = records(s);
    if (status == HF_OK && s->commented > 0 && table->manner != NULL)
        status =
            hfi_manner_note(s->ctx, table->manner, "%zu line%s of comments (#) between the rows left out",
                            s->commented, s->commented == 1 ? "" : "s");
    if (status != HF_OK) return status;
    table->fields[(table->rows + 1) * table->stride] = s->put;
    return hfi_table_make_columns(s->ctx, table);
}

static hf_status parse_csv_rows(scanner *s, size_t skipped)
{
    hf_table *table = s->table;
    const char *zero = memchr(table->text, '\0', s->bytes);
    if (zero != NULL) return not_text(s, zero);
    if (s->bytes >= 3 && memcmp(table->text, "\xef\xbb\xbf", 3) == 0) s->at = 3;
    skip_blank_lines(s);
    const hf_status status = not_empty(s);
    if (status != HF_OK) return status;
    s->separator = hfi_csv_separator(table->text + s->at, s->bytes - s->at);
    return parse_from_header(s, skipped, 0);
}

/* The same of a table as people have them. */
static hf_status parse_as(scanner *s)
{
    hf_table *table = s->table;
    hfi_layout layout;
    const char *zero = memchr(table->text, '\0', s->bytes);
    if (zero != NULL) return not_text(s, zero);
    hf_status status =
        hfi_layout_find(s->ctx, table->source, table->manner, &table->text, &s->bytes, &layout);
    if (status < 0) return status;
    s->at = layout.begin;
    s->line = layout.line;
    s->separator = layout.separator;
    s->comments = true;
    status = not_empty(s);
    if (status != HF_OK) return status;
    return parse_from_header(s, 0, layout.below);
}

hf_status hfi_csv_take_part(hf_context *ctx, char *text, size_t bytes, const char *source, size_t skipped,
                            bool comments, hf_table **out)
{
    hf_table *table = hfi_table_new(ctx, source);
    if (table == NULL) {
        hfi_free(ctx, text);
        return HF_ERR_MEMORY;
    }
    table->text = text;
    scanner s = {.ctx = ctx, .table = table, .bytes = bytes, .line = 1, .comments = comments};
    hf_status status = parse_csv_rows(&s, skipped);
    if (status != HF_OK) {
        hf_table_free(table);
        return status;
    }
    *out = table;
    return HF_OK;
}

hf_status hfi_csv_take_as(hf_context *ctx, char *text, size_t bytes, const char *source, hfi_manner *manner,
                          hf_table **out)
{
    hf_table *table = hfi_table_new(ctx, source);
    if (table == NULL) {
        hfi_free(ctx, text);
        hfi_manner_free(manner);
        return HF_ERR_MEMORY;
    }
    table->text = text;
    table->manner = manner;
    scanner s = {.ctx = ctx, .table = table, .bytes = bytes, .line = 1};
    const hf_status status = parse_as(&s);
    if (status != HF_OK) {
        hf_table_free(table);
        return status;
    }
    *out = table;
    return HF_OK;
}

hf_status hfi_csv_take(hf_context *ctx, char *text, size_t bytes, const char *source, hf_table **out)
{
    return hfi_csv_take_part(ctx, text, bytes, source, 0, false, out);
}

hf_status hf_table_parse_csv(hf_context *ctx, const char *text, size_t bytes, const char *name,
                             hf_table **out)
{
    if (out != NULL) *out = NULL;
    if (out == NULL || (text == NULL && bytes > 0))
        return hfi_refuse(ctx, "hf_table_parse_csv: text or out is NULL");
    if (bytes == SIZE_MAX)
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "hf_table_parse_csv: %zu bytes of text", bytes);
    char *copy = hfi_alloc(ctx, bytes + 1, 1);
    if (copy == NULL) return HF_ERR_MEMORY;
    if (bytes > 0) memcpy(copy, text, bytes);
    return hfi_csv_take(ctx, copy, bytes, name == NULL ? "text" : name, out);
}

hf_status hf_table_parse(hf_context *ctx, const char *text, size_t bytes, const char *name,
                         const hf_dialect *dialect, hf_table **out)
{
    if (out != NULL) *out = NULL;
    if (out == NULL || (text == NULL && bytes > 0))
        return hfi_refuse(ctx, "hf_table_parse: text or out is NULL");
    if (bytes == SIZE_MAX) return hfi_fail(ctx, HF_ERR_TOO_LARGE, "hf_table_parse: %zu bytes of text", bytes);
    hfi_manner *manner = NULL;
    const hf_status status = hfi_manner_make(ctx, dialect, &manner);
    if (status < 0) return status;
    char *copy = hfi_alloc(ctx, bytes + 1, 1);
    if (copy == NULL) {
        hfi_manner_free(manner);
        return HF_ERR_MEMORY;
    }
    if (bytes > 0) memcpy(copy, text, bytes);
    return hfi_csv_take_as(ctx, copy, bytes, name == NULL ? "text" : name, manner, out);
}
