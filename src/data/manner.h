/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file manner.h
 * @brief How a table was read that hf_table_read() made: what was asked for, what its fields
 * decided, and the remarks. Tables of hf_table_read_csv() have no manner.
 */
#ifndef HFI_DATA_MANNER_H
#define HFI_DATA_MANNER_H

#include "core/core.h"
#include "data/dress.h"

#include <holdfast/table.h>

/** How the fields of a column were read. */
typedef enum hfi_column_kind {
    HFI_COLUMN_TEXT,
    HFI_COLUMN_NUMBER,  /* plain */
    HFI_COLUMN_DRESSED, /* by the garments of hfi_worn */
    HFI_COLUMN_UNSURE,  /* fields may be two numbers: the column has none */
    HFI_COLUMN_NAMES,   /* names of rows: text or numbers, and no input unless it is named as one */
    HFI_COLUMN_EMPTY    /* no name and no field: left out of the table */
} hfi_column_kind;

/** One field of a record: what its column is. */
typedef struct hfi_worn {
    hfi_column_kind kind;
    unsigned wears; /* hfi_garment bits */
    char mark;      /* '.' or ',' */
    hfi_dress_survey survey;
    char words[HFI_DRESS_WORDS];
} hfi_worn;

typedef struct hfi_manner {
    hfi_memory memory;
    hf_dialect dialect; /* `missing` is owned */
    hf_dialect learnt;  /* the same with what the fields decided */
    double *code;       /* the number of each of these, NaN for a text */
    size_t *coded;      /* fields that were missing for it */
    size_t fields;      /* entries of worn; 0 until the columns are known */
    hfi_worn *worn;
    bool settled;   /* `worn` is decided, by the table that this one is a part of */
    bool row_names; /* the first column has them */
    bool unnamed;   /* there was no line with names */
    char separator; /* of the file; 0 of a database */
    size_t notes;
    char **note;
} hfi_manner;

/** A manner for this dialect (NULL: all is left to the table); checks it. */
hf_status hfi_manner_make(hf_context *ctx, const hf_dialect *dialect, hfi_manner **out);
/** The same for a part of a table: columns are decided already. NULL stays NULL. */
hf_status hfi_manner_copy(hf_context *ctx, const hfi_manner *from, hfi_manner **out);
void hfi_manner_free(hfi_manner *manner);
/** Room for the columns of records of so many fields, unless they are decided. */
hf_status hfi_manner_columns(hf_context *ctx, hfi_manner *manner, size_t fields);
/** Adds a remark; printf-like. */
hf_status hfi_manner_note(hf_context *ctx, hfi_manner *manner, const char *format, ...)
    HF_PRINTF(3, 4);

/** Whether a field is one of the codes for a missing value: which goes to *which. */
bool hfi_manner_is_code(const hfi_manner *manner, const char *text, size_t *which);

/** Whether a text is missing in this table: an empty field, NA and the like, a code. */
bool hfi_field_is_missing(const hf_table *table, const char *text);

/** Reads the fields of a table that has a manner: empty columns, units, numbers, remarks. Its
 * records are complete, and its columns have no names yet. */
hf_status hfi_manner_read(hf_context *ctx, hf_table *table);
/** After the columns have their names: numbers of each, and the remarks. */
hf_status hfi_manner_numbers(hf_context *ctx, hf_table *table);

/** Removes the first record if it has the units of the columns; a remark tells (units.c). */
hf_status hfi_manner_units(hf_context *ctx, hf_table *table);
/** The remarks on what columns wear, on limits and on codes (remarks.c). */
hf_status hfi_manner_remarks(hf_context *ctx, const hf_table *table, hfi_manner *manner);

/** Kind of a column; of a table without manner, and of computed columns, number or text. */
hfi_column_kind hfi_table_kind(const hf_table *table, size_t column);
/** Fields of a column that are numbers in some dress, and those that are text. Missing ones are
 * neither. */
void hfi_table_count_numbers(const hf_table *table, size_t column, size_t *numbers, size_t *texts);

/* ---- files that gzip or zstd packed (unpack.c) ----------------------------------------------- */

/** Whether bytes begin as those of a packed file do. */
bool hfi_is_packed(const char *bytes, size_t size);

/**
 * Unpacks a text in place of the packed one, which is freed, with a byte to spare behind it; leaves
 * alone what is not packed. HF_ERR_IO with a message: damaged, cut off, or a build without the
 * library; HF_ERR_TOO_LARGE for a bomb; HF_ERR_MEMORY, HF_ERR_CANCELLED. On error *text stays the
 * caller's.
 */
hf_status hfi_unpack(hf_context *ctx, const char *source, hfi_manner *manner, char **text,
                     size_t *bytes);

/* ---- piece by piece -------------------------------------------------------------------------- */

typedef struct hfi_unpacker hfi_unpacker;

/** Packed bytes at hand and room for unpacked ones; how many were used of each. */
typedef struct hfi_unpack_piece {
    const char *in;
    size_t bytes, taken;
    bool last; /* of the file */
    char *out;
    size_t room, made;
} hfi_unpack_piece;

/** For a packed file of `total` bytes that begins with these `bytes`. Errors as of hfi_unpack(). */
hf_status hfi_unpacker_make(hf_context *ctx, const char *source, const char *front, size_t bytes,
                            size_t total, hfi_unpacker **out);
/** Uses some of the bytes and some of the room, at least one of both. *done: the file is over. The
 * rest is to come again. Errors as of hfi_unpack(). */
hf_status hfi_unpacker_go(hfi_unpacker *unpacker, hfi_unpack_piece *piece, bool *done);
void hfi_unpacker_free(hfi_unpacker *unpacker);

/* ---- the head of a table: comments, the names of the columns, or none (layout.c) ------------- */

/** Where the parser begins. */
typedef struct hfi_layout {
    size_t begin; /* of the header in the text */
    size_t line;  /* the header's in the source */
    size_t below; /* line of the source at which the rest begins; 0: the one below the header */
    char separator;
} hfi_layout;

/**
 * Looks at the first lines of a text of *bytes bytes (and one to spare). Where the names have to be
 * made or changed, *text is freed and replaced by one with the new header in front. Remarks go to
 * the manner. HF_ERR_MEMORY, HF_ERR_NO_DATA for a text of blank lines and comments alone; *text
 * stays the caller's. Cost: O(first two records), and O(bytes) where the header changes.
 */
hf_status hfi_layout_find(hf_context *ctx, const char *source, hfi_manner *manner, char **text,
                          size_t *bytes, hfi_layout *out);

/** Fields of the record at `at`; *next is where the one below begins. */
size_t hfi_layout_fields(const char *text, size_t bytes, size_t at, char separator, size_t *next);
/** Whether the line at `at` is a comment: it begins with # and has not as many fields as the
 * records. O(line). */
bool hfi_layout_is_comment(const char *text, size_t bytes, size_t at, char separator,
                           size_t fields);

#endif
