/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file table.h
 * @brief Tables with named columns: CSV in, CSV out, columns by name.
 *
 * hf_table_read_csv() reads CSV as it should be, and refuses all else. hf_table_read() reads tables
 * as people have them, and tells what it understood.
 *
 * A column is numeric if every field in it is a number or missing, else it is text. Text columns
 * are carried through, so that an output keeps them, but cannot be used as inputs or targets.
 * Fields are kept as read: columns that pass through a program are written back character for
 * character.
 *
 * A number is 1, -1.5e3, .5, 5., inf, Infinity (any case, any sign); blanks around it do not count,
 * quotes neither. Hexadecimal is text. The decimal mark is a point whatever the locale, and the
 * rounding is exact: what hf_format_double() writes reads back to the same bits. A number beyond
 * the range of a double becomes infinite. Missing are (any case): the empty field, NA, N/A, #N/A,
 * nan, null, none, ?, -. They are NaN in numeric columns.
 *
 * Rows and columns count from 0 in calls, lines and columns from 1 in messages, as a person counts.
 * Functions that take a const table may be called from several threads at once, each with a context
 * of its own.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_TABLE_H
#define HOLDFAST_TABLE_H

#include <holdfast/settings.h>

HF_BEGIN_DECLS

typedef struct hf_table hf_table;

/**
 * Reads a CSV file with a header line. `path` "-" is standard input.
 *
 * RFC 4180: comma-separated, fields may be quoted, quotes are doubled inside quotes, quoted fields
 * may hold newlines; LF or CRLF line ends, a UTF-8 byte order mark is skipped, a last line without
 * newline is fine, empty lines are skipped. The separator may also be `;` or a tab: the one of the
 * three that the header line has most of. A quote is special at the front of a field only. Blanks
 * belong to a field, but are trimmed around a column name that is not quoted. Errors (message:
 * file, line, column): HF_ERR_IO, HF_ERR_PARSE (ragged row, text after a closing quote, unclosed
 * quote, a quote after a blank; a carriage return alone, empty or repeated column
 * name, zero byte); HF_ERR_NO_DATA (nothing in it), HF_ERR_TOO_LARGE (more text than the machine
 * has memory for), HF_ERR_CANCELLED, HF_ERR_MEMORY. On error *out is NULL. A table with a header
 * and zero rows is not an error here. Cost O(bytes); 100 000 columns are fine. Memory: the text,
 * and 16 bytes for each field.
 */
HF_API hf_status hf_table_read_csv(hf_context *ctx, const char *path, hf_table **out);

/**
 * The same from memory; `name` stands for the file in messages. Errors: those of
 * hf_table_read_csv() but HF_ERR_IO; HF_ERR_ARGUMENT for NULL. O(bytes).
 */
HF_API hf_status hf_table_parse_csv(hf_context *ctx, const char *text, size_t bytes,
                                    const char *name, hf_table **out);

/** Which character is the decimal mark. AUTO: the fields of a column decide, all of them. */
typedef enum hf_decimal {
    HF_DECIMAL_AUTO,
    HF_DECIMAL_POINT,
    HF_DECIMAL_COMMA
} hf_decimal;

/** Which number comes first in 03/04/2024. AUTO: the fields of a column decide, all of them. */
typedef enum hf_date_order {
    HF_DATE_ORDER_AUTO,
    /** the day, then the month */
    HF_DATE_ORDER_DAY,
    /** the month, then the day */
    HF_DATE_ORDER_MONTH
} hf_date_order;

/** Whether the first line has the names of the columns. AUTO: it has them unless all its fields
 * are numbers or dates; five numbers or more that only grow, or only shrink, are names. */
typedef enum hf_header {
    HF_HEADER_AUTO,
    HF_HEADER_YES,
    HF_HEADER_NO
} hf_header;

/** A reading <20 (below what can be detected) is a missing one, or 10. A reading >20 is missing. */
typedef enum hf_limits {
    HF_LIMITS_MISSING,
    HF_LIMITS_HALF
} hf_limits;

/** How a table is read where it does not say so itself. Zero all but `size`: all is left to the
 * table. Strings need only live during the call. */
typedef struct hf_dialect {
    /** sizeof(hf_dialect) */
    size_t size;
    /** Default: 0. */
    hf_decimal decimal;
    /** Default: 0. */
    hf_date_order dates;
    /** Default: 0. */
    hf_header header;
    /** Default: 0. */
    hf_limits limits;
    /** texts that stand for a missing value ("-999"); a number does however it is written.
     * Default: none. */
    const char *const *missing;
    /** Default: 0. */
    size_t missing_count;
    /** True of hf_table_dialect(): `decimal` comes from another table, and settles fields with a
     * comma alone. A decimal point stays one. Default: false. */
    bool remembered;
} hf_dialect;
HF_SETTINGS(hf_dialect)

/**
 * Reads a table as people have them. `path` is a CSV file or "-" for standard input, plain or
 * packed by gzip or zstd; or FILE:TABLE, a table or a view of an SQLite database. A view may read,
 * and no more: one that recurses, or has a value above 16 MiB, is HF_ERR_IO. `dialect` may be NULL.
 *
 * Beside what hf_table_read_csv() reads, and with the same numbers to the bit, these are
 * understood. All rows decide, and nothing is guessed: docs/tables.md has the rules.
 * - Lines: `#` comments; no header (columns are called V1, V2, ...); a header behind `#`; a first
 *   column without a name, or a header that is one name short, as R and pandas write row names (it
 *   is called row_name); empty columns without a name, as separators at the ends of lines make
 *   them; a row of units below the header.
 * - Numbers: decimal commas, thousands separators, percent signs (12 % is 12), currency signs,
 *   limits of detection (<20), TRUE and FALSE (1 and 0), codes for missing values.
 * Dates and texts stay text columns, which hf_fit() can take as inputs (hf_columns.text_inputs).
 *
 * hf_table_note() tells each understanding. A column of fields that may be two numbers (1,234) has
 * no numbers: hf_table_numbers() says so. Errors: those of hf_table_read_csv(); HF_ERR_IO for
 * packed files that are damaged or cut off, a build without the library that unpacks them, and
 * databases that cannot be read; HF_ERR_TOO_LARGE for packed files that are more than 64 MiB and
 * 500 times their size when unpacked; HF_ERR_ARGUMENT for a value of an enum that there is not,
 * and a NULL among the codes; HF_ERR_NO_COLUMN for no such table or view in a database. Cost and
 * memory as hf_table_read_csv(), and of packed files their bytes.
 */
HF_API hf_status hf_table_read(hf_context *ctx, const char *path, const hf_dialect *dialect,
                               hf_table **out);

/** The same from memory, unpacked; `name` stands for the file in messages. Errors: those of
 * hf_table_parse_csv(); HF_ERR_ARGUMENT also as hf_table_read(). O(bytes). */
HF_API hf_status hf_table_parse(hf_context *ctx, const char *text, size_t bytes, const char *name,
                                const hf_dialect *dialect, hf_table **out);

/** Number of remarks on how a table was read, and one of them: a sentence without the name of the
 * file. NULL if there is no such remark. None of tables that are CSV as it should be. Owned by the
 * table. */
HF_API size_t hf_table_notes(const hf_table *table);
HF_API const char *hf_table_note(const hf_table *table, size_t i);

/** How a column was read, in words: "number", "number (decimal comma)", "text". NULL if there is no
 * such column. Owned by the table, valid until the column is replaced. */
HF_API const char *hf_table_read_as(const hf_table *table, size_t column);

/** The dialect of a table with what its fields decided: given to hf_table_read(), another table of
 * the same kind is read alike. NULL, which goes there too, for a table that was not read that way.
 * Owned by the table. */
HF_API const hf_dialect *hf_table_dialect(const hf_table *table);

/**
 * An empty table with `rows` rows and no columns. Errors: HF_ERR_ARGUMENT for NULL, HF_ERR_MEMORY.
 * O(1).
 */
HF_API hf_status hf_table_create(hf_context *ctx, size_t rows, hf_table **out);

/** Frees a table; NULL is allowed. */
HF_API void hf_table_free(hf_table *table);

/** Number of rows (the header is none) and of columns. */
HF_API size_t hf_table_rows(const hf_table *table);
HF_API size_t hf_table_columns(const hf_table *table);
/** Name of a column, owned by the table; NULL if there is no such column. */
HF_API const char *hf_table_name(const hf_table *table, size_t column);
/** The name used in messages for where the table came from (path, "standard input", or what was
 * given). */
HF_API const char *hf_table_source(const hf_table *table);
/** Line of the source (1 = header) at which row i begins; 0 for rows that came from no file. */
HF_API size_t hf_table_line(const hf_table *table, size_t row);

/** Index of a column by exact name. HF_ERR_NO_COLUMN with a near name suggested, if there is one,
 * and the columns listed (the first of them, if there are many). O(length of the name) when it is
 * found. */
HF_API hf_status hf_table_find(hf_context *ctx, const hf_table *table, const char *name,
                               size_t *column);
/** False for a text column, and when there is no such column. */
HF_API bool hf_table_is_numeric(const hf_table *table, size_t column);

/**
 * The numbers of a numeric column (rows entries, NaN = missing), owned by the table and valid until
 * that column is replaced. For a text column HF_ERR_PARSE and a message with the first field that
 * is not a number (file, line, column, text). Infinite numbers are accepted here. On error *numbers
 * is NULL. O(1).
 */
HF_API hf_status hf_table_numbers(hf_context *ctx, const hf_table *table, size_t column,
                                  const double **numbers);

/** Field text as it will be written (quotes aside); NULL if there is no such field. Valid until the
 * table changes. `buffer` (32 bytes) is used for computed numbers. */
HF_API const char *hf_table_field(const hf_table *table, size_t row, size_t column,
                                  char buffer[32]);

/** Adds a numeric column at the end, or replaces the column of that name, text or numeric, in its
 * place. Copies the name and as many numbers as the table has rows. NaN is written as an empty
 * field. HF_ERR_ARGUMENT for an empty name, HF_ERR_MEMORY. O(rows), and O(length of the name). */
HF_API hf_status hf_table_set_numbers(hf_context *ctx, hf_table *table, const char *name,
                                      const double *numbers);

/**
 * The same for a text column of few different texts: row i has text[choice[i]], or is missing where
 * choice[i] is SIZE_MAX. `text` has `count` entries, `choice` as many as the table has rows; both
 * are copied. A text that is a number stays text here, and is read back from a file as a number.
 * HF_ERR_ARGUMENT for an empty name, a NULL among the texts and a choice beyond them;
 * HF_ERR_MEMORY, with nothing changed. O(rows + bytes of the texts).
 */
HF_API hf_status hf_table_set_text(hf_context *ctx, hf_table *table, const char *name, size_t count,
                                   const char *const *text, const size_t *choice);

/** A new table of the chosen rows, in the given order (repeats allowed), which knows the lines they
 * came from. A text column becomes numeric if all that is not a number is left behind.
 * HF_ERR_ARGUMENT for a row that does not exist. O(bytes copied). */
HF_API hf_status hf_table_select(hf_context *ctx, const hf_table *table, const size_t *rows,
                                 size_t count, hf_table **out);

/**
 * Writes CSV: commas, header, LF line ends, quotes only where needed, computed numbers as
 * hf_format_double() writes them. `path` "-" is standard output. A file is written beside its final
 * place, made durable and renamed when complete: on any error (disk full, no permission, cancelled)
 * nothing is left behind and an older file of that name is unharmed. Devices and pipes are written
 * in place; a link is followed; a replaced file keeps its permissions. Ctrl-C: let the signal
 * handler set a flag and the progress callback (stage "write") return false when it is set. Errors:
 * HF_ERR_IO, HF_ERR_CANCELLED, HF_ERR_NO_DATA (a table without columns), HF_ERR_MEMORY. O(bytes).
 */
HF_API hf_status hf_table_write_csv(hf_context *ctx, const hf_table *table, const char *path);

/**
 * Writes `size` bytes as a file, in the way hf_table_write_csv() writes a table: complete, or an
 * older file of that name stays as it was. `bytes` may be NULL if size is 0. Errors:
 * HF_ERR_ARGUMENT, HF_ERR_IO, HF_ERR_CANCELLED, HF_ERR_MEMORY. O(size). Thread-safe with a context
 * for each thread.
 */
HF_API hf_status hf_file_write(hf_context *ctx, const char *path, const void *bytes, size_t size);

/** The decimal with the fewest digits that reads back to exactly `value`, locale-free; plain from
 * 1e-5 up to 1e17, else with an exponent; nan, inf, -inf, -0. `buffer` has 32 bytes. Returns
 * buffer. Thread-safe, no allocation. */
HF_API const char *hf_format_double(double value, char buffer[32]);

HF_END_DECLS

#endif
