/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file table_impl.h
 * @brief The parts of a table; for the data room only, everybody else uses <holdfast/table.h>.
 */
#ifndef HFI_DATA_TABLE_IMPL_H
#define HFI_DATA_TABLE_IMPL_H

#include "core/core.h"

#include <holdfast/table.h>

/** Open addressing over names owned by somebody else. All zero is an empty index. */
typedef struct hfi_names {
    struct hfi_names_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} hfi_names;

/** Makes room for `count` names in all, so that as many hfi_names_add succeed. False when out of
 * memory; the index is then as before. */
bool hfi_names_reserve(hfi_names *names, const hfi_memory *memory, size_t count);

/** Adds a name, which must stay where it is, unless it is there. Returns the column it stands for:
 * `column`, or that of the equal name. */
size_t hfi_names_add(hfi_names *names, const char *name, size_t column);

/** The column of a name; SIZE_MAX when there is none. O(length) on average. */
size_t hfi_names_find(const hfi_names *names, const char *name);

void hfi_names_free(hfi_names *names, const hfi_memory *memory);

/** One column. It comes from the source (`field` says which field of a record) or was computed
 * (`field` = SIZE_MAX). */
typedef struct hfi_column {
    const char *name; /* in the table's text, or owned_name */
    char *owned_name; /* NULL when the name is in the table's text */
    double *numbers;  /* owned; NULL for a text column */
    /* computed text column: the different texts, one after the other; else NULL */
    char *words;
    size_t *word; /* of each row, where its text begins in there */
    size_t field;
    size_t first_text; /* text column: the first row whose field is not a number */
} hfi_column;

/**
 * The text of all fields lies in one block, each field zero-terminated, records one after the other
 * without gaps; record 0 is the header. `fields` has the begin of every field, record by record,
 * and one more entry: the end of the last.
 */
struct hf_table {
    hfi_memory memory;
    char *source;
    char *text;
    size_t *fields; /* (rows + 1) * stride + 1 entries; NULL when nothing came from a source */
    size_t *lines;  /* rows entries; NULL like fields */
    size_t stride;  /* fields in a record */
    size_t header_line;
    size_t rows;
    size_t columns;
    size_t capacity; /* of column */
    hfi_column *column;
    hfi_names names;
    /* how it was read by hf_table_read(); NULL for CSV as it should be */
    struct hfi_manner *manner;
};

/** An empty table: no rows, no columns. NULL, with the message, when out of memory. */
hf_table *hfi_table_new(hf_context *ctx, const char *source);

/** Makes columns out of the header record and finds out which are numeric. The rest of the table
 * must be complete. HF_ERR_MEMORY, HF_ERR_CANCELLED, or HF_ERR_PARSE for an empty or repeated
 * name. */
hf_status hfi_table_make_columns(hf_context *ctx, hf_table *table);

/** A place for a column of that name, the one it has or a new one at the end, without content.
 * NULL, with nothing changed, when out of memory. */
hfi_column *hfi_table_place(hf_table *table, const char *name);
/** Chosen rows of a computed text column into another table, as a column of the same name. */
hf_status hfi_table_copy_text(hf_context *ctx, const hfi_column *from, const size_t *rows,
                              size_t count, hf_table *to);

/** Text of a field of the source. */
const char *hfi_table_text(const hf_table *table, size_t row, size_t field);

/** Line of the source at which a field begins, which is not its row's when a field before it holds
 * newlines.
 */
size_t hfi_table_field_line(const hf_table *table, size_t row, size_t field);

/** Receives a table's CSV text piece by piece. */
typedef hf_status (*hfi_sink)(hf_context *ctx, void *arg, const char *text, size_t bytes);

/** Writes the whole table; `done`, if given, is kept at the share of rows written. Returns the
 * first error of the sink. */
hf_status hfi_table_emit(hf_context *ctx, const hf_table *table, hfi_sink sink, void *arg,
                         double *done);

/** hf_table_read() of a file that is no database, whose arguments are checked. */
hf_status hfi_table_read_file(hf_context *ctx, const char *path, const hf_dialect *dialect,
                              hf_table **out);

/** HF_ERR_TOO_LARGE if the machine has not that much memory to give. */
hf_status hfi_csv_must_fit(hf_context *ctx, const char *source, size_t bytes);

/** Takes over `text` (bytes + 1 bytes of the context's memory) and makes a table of it; frees it on
 * error. */
hf_status hfi_csv_take(hf_context *ctx, char *text, size_t bytes, const char *source,
                       hf_table **out);

/** The same in the manner of hf_table_read(), which is taken over too. */
hf_status hfi_csv_take_as(hf_context *ctx, char *text, size_t bytes, const char *source,
                          struct hfi_manner *manner, hf_table **out);

/** The same for a header and records that in the source begin `skipped` lines further down than
 * they do here. `comments`: lines of them are left out (manner.h). */
hf_status hfi_csv_take_part(hf_context *ctx, char *text, size_t bytes, const char *source,
                            size_t skipped, bool comments, hf_table **out);

/** The one of , ; tab that the header line at the front of `text` has most of outside quotes; the
 * comma when in doubt. */
char hfi_csv_separator(const char *text, size_t bytes);

#endif
