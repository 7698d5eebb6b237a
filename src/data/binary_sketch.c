/* SPDX-License-Identifier: Apache-2.0 */
/* A small table in which the faults of a large one are found by the same means and at the same lines. */
#include "data/binary.h"
#include "data/number.h"
#include "data/table_impl.h"

#include <string.h>

/* CSV text under way: counted first, then written. */
typedef struct text {
    char *at; /* NULL: only count */
    size_t bytes;
} text;

static void put_sketch_bytes(text *to, const char *bytes, size_t count)
{
    if (to->at != NULL) memcpy(to->at + to->bytes, bytes, count);
    to->bytes += count;
}

static void put_quoted(text *to, const char *field)
{
    put_sketch_bytes(to, "\"", 1);
    for (; *field != '\0'; field++)
        put_sketch_bytes(to, *field == '"' ? "\"\"" : field, *field == '"' ? 2 : 1);
    put_sketch_bytes(to, "\"", 1);
}

/* A record with `field` in column j and the others missing; `line` is where it stands in the source. */
static void put_fault(text *to, size_t columns, size_t j, const char *field, size_t line, size_t *lines,
                      size_t *rows)
{
    for (size_t k = 0; k < columns; k++) {
        if (k > 0) put_sketch_bytes(to, ",", 1);
        if (k == j) put_quoted(to, field);
    }
    put_sketch_bytes(to, "\n", 1);
    if (lines != NULL) lines[*rows] = line;
    (*rows)++;
}

/* The text that may be shown. Characters that cannot be shown became question marks; a single one of those is a missing
 * number. */
static const char *shown(const hfi_binary_column *c)
{
    double value;
    return hfi_field_parse(c->text, &value) == HFI_FIELD_TEXT ? c->text : "(no number)";
}

/* Header, a record of zeros, and a record for each fault. Columns that are mostly text have no zero. */
static void put_all(const hfi_binary *b, text *to, size_t *lines, size_t *rows)
{
    *rows = 0;
    for (size_t j = 0; j < b->columns; j++) {
        if (j > 0) put_sketch_bytes(to, ",", 1);
        put_quoted(to, b->column[j].name);
    }
    put_sketch_bytes(to, "\n", 1);
    for (size_t j = 0; j < b->columns; j++) {
        const hfi_binary_column *c = &b->column[j];
        if (j > 0) put_sketch_bytes(to, ",", 1);
        put_quoted(to, c->texts > 0 && c->numbers < c->texts ? "" : "0");
    }
    put_sketch_bytes(to, "\n", 1);
    if (lines != NULL) lines[0] = 0;
    *rows = 1;
    for (size_t j = 0; j < b->columns; j++) {
        const hfi_binary_column *c = &b->column[j];
        if (c->texts > 0)
            put_fault(to, b->columns, j, shown(c), (size_t)c->text_line, lines, rows);
        else if (c->infinite_line > 0)
            put_fault(to, b->columns, j, "inf", (size_t)c->infinite_line, lines, rows);
    }
}

hf_status hfi_binary_sketch(hf_context *ctx, const hfi_binary *b, hf_table **out)
{
    text to = {0};
    size_t rows = 0;
    put_all(b, &to, NULL, &rows);
    const size_t bytes = to.bytes;
    char *csv = hfi_alloc(ctx, bytes + 1, 1);
    size_t *lines = hfi_alloc(ctx, rows, sizeof *lines);
    if (csv == NULL || lines == NULL) {
        HFI_FREE(ctx, csv, lines);
        return HF_ERR_MEMORY;
    }
    to = (text){.at = csv};
    put_all(b, &to, lines, &rows);
    const hf_status status = hfi_csv_take(ctx, csv, bytes, b->source, out);
    if (status >= 0) memcpy((*out)->lines, lines, rows * sizeof *lines);
    hfi_free(ctx, lines);
    return status;
}
