/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file writer.h
 * @brief A database being filled, whatever it is of: the first failure sticks and the rest is
 * skipped.
 */
#ifndef HFI_STORE_WRITER_H
#define HFI_STORE_WRITER_H

#include "store/file.h"

typedef struct hfi_writer {
    hf_context *ctx;
    sqlite3 *db;
    const hfi_file_kind *kind;
    unsigned version;       /* of the format */
    hfi_file_tables tables; /* that have a checksum */
    size_t piece;           /* bytes of an entry of the table array, at most (one row at least) */
    sqlite3_stmt *meta;     /* inserts a row of the table meta */
    int rc;
} hfi_writer;

/** Opens an empty database in memory, with tables and marks as the writer says: everything but
 * `db`, `meta` and `rc` is set by the caller. */
void hfi_writer_begin(hfi_writer *w);
/** Seals it and hands out its bytes, which hfi_image_free() frees. Closes it whatever happens. */
hf_status hfi_writer_end(hfi_writer *w, unsigned char **image, size_t *size);
/** The failure of one who fills it: memory ran out. */
void hfi_writer_out_of_memory(hfi_writer *w);

sqlite3_stmt *hfi_writer_prepare(hfi_writer *w, const char *sql);
/** Runs a statement with these values and makes it ready for the next row. */
void hfi_writer_row(hfi_writer *w, sqlite3_stmt *statement, size_t count,
                    const hfi_sql_value *values);
/** Prepares and runs one. */
void hfi_writer_insert(hfi_writer *w, const char *sql, size_t count, const hfi_sql_value *values);

/** `count` structs of `size` bytes each. */
void hfi_writer_rows(hfi_writer *w, const hfi_file_rows *rows, size_t count, size_t size,
                     const void *objects);
/** A list of texts, number `of` where the rows are of several. */
void hfi_writer_texts(hfi_writer *w, const hfi_text_rows *rows, size_t of, size_t count,
                      const char *const *texts);

/** A row of the table meta. */
void hfi_writer_meta(hfi_writer *w, const char *key, hfi_sql_value value);
/** A number below 2^64, as text in decimal digits. */
void hfi_writer_meta_seed(hfi_writer *w, const char *key, uint64_t seed);
/** Fields of an object as rows of meta: those that the version of the writer has. */
void hfi_writer_fields(hfi_writer *w, const hfi_file_field *fields, size_t count,
                       const void *object);
/** Settings likewise. */
void hfi_writer_settings(hfi_writer *w, const hf_settings_table *table, const void *settings);

/** Inputs into the table feature; shift and scale NULL: 0 and 1. */
void hfi_writer_features(hfi_writer *w, size_t d, const char *const *names, const double *shift,
                         const double *scale);
/** The value of a kernel's parameter i in the user's units; NaN when there is none. */
typedef double hfi_user_value(const void *of, size_t i);
/** Parameters of a kernel into the table parameter. `value` NULL: the kernel is in the user's
 * units. */
void hfi_writer_parameters(hfi_writer *w, const hf_kernel *kernel, hfi_user_value *value,
                           const void *of);

/** A matrix, row by row: in one piece if it is small enough, else rows 0 .. in "name/0" and so
 * on. */
void hfi_writer_array(hfi_writer *w, const char *name, size_t rows, size_t columns,
                      const double *values);

/** Bytes to a file, complete or not at all; `fresh`: to one that is not there yet. */
hf_status hfi_writer_store(hf_context *ctx, const char *path, bool fresh,
                           const unsigned char *bytes, size_t size);
/** The bytes of hfi_writer_end(); NULL is allowed. */
void hfi_image_free(unsigned char *image);

#endif
