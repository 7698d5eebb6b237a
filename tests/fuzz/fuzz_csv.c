/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of tables: any bytes are either refused with a message or become a table that can be used. The table
 * reads back as itself when it is written.
 */
#include "core/core.h"
#include "data/dates.h"
#include "data/manner.h"
#include "data/table_impl.h"

#include <holdfast/table.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says what is wrong before libFuzzer or the replay keeps the input. */
static void must(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_csv: %s\n", what);
    abort();
}

typedef struct memory_sink {
    char *text;
    size_t bytes, capacity;
} memory_sink;

static hf_status into_memory(hf_context *ctx, void *arg, const char *text, size_t bytes)
{
    memory_sink *sink = arg;
    (void)ctx;
    if (sink->bytes + bytes > sink->capacity) {
        sink->capacity = 2 * (sink->bytes + bytes);
        sink->text = realloc(sink->text, sink->capacity);
        must(sink->text != NULL, "out of memory");
    }
    if (bytes > 0) memcpy(sink->text + sink->bytes, text, bytes);
    sink->bytes += bytes;
    return HF_OK;
}

static void must_be_same(const hf_table *a, const hf_table *b)
{
    char first[32], second[32];
    must(hf_table_rows(a) == hf_table_rows(b), "another number of rows");
    must(hf_table_columns(a) == hf_table_columns(b), "another number of columns");
    for (size_t j = 0; j < hf_table_columns(a); j++) {
        must(strcmp(hf_table_name(a, j), hf_table_name(b, j)) == 0, "another name");
        must(hf_table_is_numeric(a, j) == hf_table_is_numeric(b, j), "another kind of column");
        for (size_t i = 0; i < hf_table_rows(a); i++)
            must(strcmp(hf_table_field(a, i, j, first), hf_table_field(b, i, j, second)) == 0,
                 "another field");
    }
}

static void use_columns(hf_context *ctx, const hf_table *table)
{
    char buffer[32];
    for (size_t j = 0; j < hf_table_columns(table); j++) {
        size_t found = SIZE_MAX;
        const double *numbers = NULL;
        must(hf_table_find(ctx, table, hf_table_name(table, j), &found) == HF_OK && found == j,
             "a name is not found");
        hf_status status = hf_table_numbers(ctx, table, j, &numbers);
        must((status == HF_OK) == hf_table_is_numeric(table, j), "numeric or not?");
        must(status == HF_OK || *hf_context_message(ctx) != '\0', "no message");
        for (size_t i = 0; i < hf_table_rows(table); i++) {
            must(hf_table_line(table, i) > 0, "a row without a line");
            if (status == HF_OK && isfinite(numbers[i])) {
                hf_format_double(numbers[i], buffer);
                must(strtod(buffer, NULL) == numbers[i], "a number does not read back");
            }
        }
    }
    size_t none = 0;
    if (hf_table_find(ctx, table, "no such column", &none) != HF_OK)
        must(*hf_context_message(ctx) != '\0', "no message");
}

/* Rows in reverse, a computed column added, one replaced; then all of it written to a device that takes
 * everything. */
static void rearrange(hf_context *ctx, const hf_table *table)
{
    size_t rows = hf_table_rows(table);
    size_t *order = malloc((rows + 1) * sizeof *order);
    double *numbers = calloc(rows + 1, sizeof *numbers);
    hf_table *chosen = NULL;
    must(order != NULL && numbers != NULL, "out of memory");
    for (size_t i = 0; i < rows; i++) order[i] = rows - 1 - i;
    must(hf_table_select(ctx, table, order, rows, &chosen) == HF_OK, "rows could not be chosen");
    must(hf_table_set_numbers(ctx, chosen, "\x01 new", numbers) == HF_OK, "no column could be added");
    must(hf_table_set_numbers(ctx, chosen, hf_table_name(chosen, 0), numbers) == HF_OK,
         "no column could be replaced");
    must(hf_table_write_csv(ctx, chosen, "/dev/null") == HF_OK, "the table could not be written");
    hf_table_free(chosen);
    free(numbers);
    free(order);
}

/* ---- tables as people have them ---------------------------------------------------------------------------- */

/* Dates and numbers of every column, in doubt or not. */
static void use_kinds(hf_context *ctx, const hf_table *table)
{
    char buffer[32];
    for (size_t j = 0; j < hf_table_columns(table); j++) {
        const double *numbers = NULL;
        hfi_date_style style;
        size_t count = 0, texts = 0;
        must(hf_table_read_as(table, j) != NULL, "read as nothing");
        const hf_status status = hf_table_numbers(ctx, table, j, &numbers);
        must((status == HF_OK) == hf_table_is_numeric(table, j), "numeric or not?");
        hfi_table_count_numbers(table, j, &count, &texts);
        must(count + texts <= hf_table_rows(table), "more fields than rows");
        if (hfi_dates_find(table, j, HF_DATE_ORDER_AUTO, &style) != HFI_DATES_FOUND) continue;
        for (size_t i = 0; i < hf_table_rows(table); i++) {
            double seconds = 0.0;
            must(hfi_date_read(table, &style, hf_table_field(table, i, j, buffer), &seconds),
                 "a date is none");
            must(isnan(seconds) || strlen(hfi_date_text(&style, seconds, buffer)) > 0, "a date has no text");
        }
    }
    for (size_t i = 0; i < hf_table_rows(table); i++)
        must(hf_table_line(table, i) > 0, "a row without a line");
    for (size_t k = 0; k < hf_table_notes(table); k++) must(hf_table_note(table, k) != NULL, "no remark");
}

static void must_have_same_fields(const hf_table *a, const hf_table *b)
{
    char first[32], second[32];
    must(hf_table_rows(a) == hf_table_rows(b), "another number of rows");
    must(hf_table_columns(a) == hf_table_columns(b), "another number of columns");
    for (size_t j = 0; j < hf_table_columns(a); j++) {
        must(strcmp(hf_table_name(a, j), hf_table_name(b, j)) == 0, "another name");
        for (size_t i = 0; i < hf_table_rows(a); i++)
            must(strcmp(hf_table_field(a, i, j, first), hf_table_field(b, i, j, second)) == 0,
                 "another field");
    }
}

/* A plain table stays what it is, and what is written of any is CSV as it should be. */
static void in_dialect(hf_context *ctx, const uint8_t *data, size_t size, const hf_dialect *dialect)
{
    hf_table *table = NULL, *again = NULL;
    const hf_status status = hf_table_parse(ctx, (const char *)data, size, "fuzz.csv", dialect, &table);
    must((status == HF_OK) == (table != NULL), "status and table disagree");
    must(status == HF_OK || strncmp(hf_context_message(ctx), "fuzz.csv: ", 10) == 0, "no message");
    if (table == NULL) return;
    memory_sink sink = {0};
    use_kinds(ctx, table);
    rearrange(ctx, table);
    must(hfi_table_emit(ctx, table, into_memory, &sink, NULL) == HF_OK, "not written");
    must(hf_table_parse_csv(ctx, sink.text, sink.bytes, "again", &again) == HF_OK,
         "what was written is refused");
    must_have_same_fields(table, again);
    free(sink.text);
    hf_table_free(again);
    hf_table_free(table);
}

/* The same bytes as a packed file: refused, or unpacked with a byte to spare. */
static void unpack(hf_context *ctx, const uint8_t *data, size_t size)
{
    hfi_manner *manner = NULL;
    char *text = hfi_alloc(ctx, size + 1, 1);
    size_t bytes = size;
    must(text != NULL && hfi_manner_make(ctx, NULL, &manner) == HF_OK, "out of memory");
    if (size > 0) memcpy(text, data, size);
    if (hfi_unpack(ctx, "fuzz.gz", manner, &text, &bytes) == HF_OK) text[bytes] = 0;
    hfi_free(ctx, text);
    hfi_manner_free(manner);
}

static void as_people_have_it(hf_context *ctx, const uint8_t *data, size_t size)
{
    static const char *const codes[] = {"-999", "x"};
    const hf_dialect dialects[] = {
        {.size = sizeof(hf_dialect)},
        {.size = sizeof(hf_dialect),
         .decimal = HF_DECIMAL_COMMA,
         .header = HF_HEADER_NO,
         .limits = HF_LIMITS_HALF},
        {.size = sizeof(hf_dialect),
         .decimal = HF_DECIMAL_POINT,
         .header = HF_HEADER_YES,
         .missing = codes,
         .missing_count = 2},
        {.size = sizeof(hf_dialect), .decimal = HF_DECIMAL_COMMA, .remembered = true}};
    for (size_t k = 0; k < sizeof dialects / sizeof dialects[0]; k++)
        in_dialect(ctx, data, size, &dialects[k]);
    unpack(ctx, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hf_context *ctx = hf_context_create();
    hf_table *table = NULL, *again = NULL;
    must(ctx != NULL, "out of memory");
    hf_status status = hf_table_parse_csv(ctx, (const char *)data, size, "fuzz.csv", &table);
    must((status == HF_OK) == (table != NULL), "status and table disagree");
    must(status == HF_OK || strncmp(hf_context_message(ctx), "fuzz.csv: ", 10) == 0, "no message");
    if (table != NULL) {
        memory_sink sink = {0};
        use_columns(ctx, table);
        rearrange(ctx, table);
        must(hfi_table_emit(ctx, table, into_memory, &sink, NULL) == HF_OK, "not written");
        must(hf_table_parse_csv(ctx, sink.text, sink.bytes, "again", &again) == HF_OK,
             "what was written is refused");
        must_be_same(table, again);
        free(sink.text);
    }
    hf_table_free(again);
    hf_table_free(table);
    as_people_have_it(ctx, data, size);
    hf_context_free(ctx);
    return 0;
}
