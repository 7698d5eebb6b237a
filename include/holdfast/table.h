/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file table.h
 * @brief Tables with named columns: CSV in, CSV out, columns by name.
 *
 * A column is numeric if every non-missing field in it is a number, else it is text. Missing fields (empty, NA, NaN, nan, null,
 * ?, -) are NaN in numeric columns. Text columns are carried through so that an output keeps them, but cannot be
 * used as inputs or targets. Field text of numeric columns is kept as read, so columns that pass through a program
 * are written back character for character. The locale is never consulted: the decimal mark is a point.
 */
#ifndef HOLDFAST_TABLE_H
#define HOLDFAST_TABLE_H

#include <holdfast/context.h>

HF_BEGIN_DECLS

typedef struct hf_table hf_table;

/**
 * Reads a CSV file with a header line. `path` "-" is standard input.
 *
 * RFC 4180: comma-separated, fields may be quoted, quotes are doubled inside quotes, quoted fields may hold newlines;
 * LF or CRLF line ends, an UTF-8 byte order mark is skipped, a last line without newline is fine, blank lines are skipped.
 * Also accepts `;` or tab as the separator, decided by the header line.
 * Errors (message: file, line, column): HF_ERR_IO, HF_ERR_PARSE (ragged row, text after a closing quote, unclosed quote,
 * empty or repeated column name, NUL byte), HF_ERR_NO_DATA (empty file, or no header), HF_ERR_MEMORY. On error *out is NULL.
 * A table with a header and zero rows is not an error here. Cost O(bytes).
 */
HF_API hf_status hf_table_read_csv(hf_context *ctx, const char *path, hf_table **out);

/** The same from memory; `name` stands for the file in messages. */
HF_API hf_status hf_table_parse_csv(hf_context *ctx, const char *text, size_t bytes, const char *name, hf_table **out);

/** An empty table with `rows` rows and no columns. */
HF_API hf_status hf_table_create(hf_context *ctx, size_t rows, hf_table **out);

HF_API void hf_table_free(hf_table *table);

HF_API size_t hf_table_rows(const hf_table *table);
HF_API size_t hf_table_columns(const hf_table *table);
/** Name of column j (< columns). Owned by the table. */
HF_API const char *hf_table_name(const hf_table *table, size_t column);
/** The name used in messages for where the table came from (path, "standard input", or what was given). */
HF_API const char *hf_table_source(const hf_table *table);
/** Line of the source (1 = header) at which row i begins; 0 for rows that came from no file. */
HF_API size_t hf_table_line(const hf_table *table, size_t row);

/** Index of a column by exact name. HF_ERR_NO_COLUMN with the nearest name suggested and the columns listed. */
HF_API hf_status hf_table_find(hf_context *ctx, const hf_table *table, const char *name, size_t *column);
HF_API bool hf_table_is_numeric(const hf_table *table, size_t column);

/** The numbers of a numeric column (rows entries, NaN = missing), owned by the table; NULL with HF_ERR_PARSE and a message
 *  that names the first field that is not a number (file, line, column, text) for a text column. Infinite numbers are accepted here. */
HF_API hf_status hf_table_numbers(hf_context *ctx, const hf_table *table, size_t column, const double **numbers);

/** Field text as it will be written. Valid until the table changes. `buffer` (32 bytes) is used for computed numbers. */
HF_API const char *hf_table_field(const hf_table *table, size_t row, size_t column, char buffer[32]);

/** Adds a numeric column, or replaces the column of that name. Copies `rows` numbers and the name. NaN is written as an empty field. */
HF_API hf_status hf_table_set_numbers(hf_context *ctx, hf_table *table, const char *name, const double *numbers);

/** A new table of the chosen rows, in the given order (repeats allowed). */
HF_API hf_status hf_table_select(hf_context *ctx, const hf_table *table, const size_t *rows, size_t count, hf_table **out);

/**
 * Writes CSV: header, LF line ends, quotes only where needed, numbers in the shortest form that reads back to the same double.
 * `path` "-" is standard output. A file is written beside its final place and renamed when complete: on any error (disk full,
 * no permission, interrupted) nothing is left behind and an older file of that name is unharmed.
 */
HF_API hf_status hf_table_write_csv(hf_context *ctx, const hf_table *table, const char *path);

/** Shortest decimal text that reads back to exactly `value`, locale-free. `buffer` has 32 bytes. Returns buffer. */
HF_API const char *hf_format_double(double value, char buffer[32]);

HF_END_DECLS

#endif
