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
    unsigned version; /* of the format */
    unsigned schema;  /* tables: those of this version of the model format */
    size_t piece;     /* bytes of an entry of the table array, at most (one row at least) */
    int rc;
} hfi_writer;

/** Opens an empty database in memory, with tables and marks as the writer says: everything but `db`
 * and `rc` is set by the caller. */
void hfi_writer_begin(hfi_writer *w);
/** Seals it and hands out its bytes, whose memory is SQLite's: sqlite3_free() them. Closes it
 * whatever happens. */
hf_status hfi_writer_end(hfi_writer *w, unsigned char **image, size_t *size);

sqlite3_stmt *hfi_writer_prepare(hfi_writer *w, const char *sql);
void hfi_writer_bind_text(hfi_writer *w, sqlite3_stmt *statement, int at, const char *text);
void hfi_writer_bind_double(hfi_writer *w, sqlite3_stmt *statement, int at, double value);
void hfi_writer_bind_size(hfi_writer *w, sqlite3_stmt *statement, int at, size_t value);
/** Runs a statement whose parameters are bound and makes it ready for the next row. */
void hfi_writer_step(hfi_writer *w, sqlite3_stmt *statement);

/** A list of texts, number `of` where the rows are of several. */
void hfi_writer_texts(hfi_writer *w, const hfi_text_rows *rows, size_t of, size_t count,
                      const char *const *texts);

/** A row of the table meta; `statement` inserts key and value. NULL is a text too. */
void hfi_writer_meta_text(hfi_writer *w, sqlite3_stmt *statement, const char *key,
                          const char *text);
/** A number below 2^64, as text in decimal digits. */
void hfi_writer_meta_seed(hfi_writer *w, sqlite3_stmt *statement, const char *key, uint64_t seed);
void hfi_writer_meta_size(hfi_writer *w, sqlite3_stmt *statement, const char *key, size_t value);
void hfi_writer_meta_double(hfi_writer *w, sqlite3_stmt *statement, const char *key, double value);

/** Fields of an object as rows of meta: those that the version of the writer has. */
void hfi_writer_fields(hfi_writer *w, sqlite3_stmt *statement, const hfi_file_field *fields,
                       size_t count, const void *object);
/** Settings likewise. */
void hfi_writer_settings(hfi_writer *w, sqlite3_stmt *statement, const hf_settings_table *table,
                         const void *settings);

/** An input in the table feature. */
void hfi_writer_feature(hfi_writer *w, sqlite3_stmt *statement, size_t j, const char *name,
                        double shift, double scale);
/** Statement that inserts a feature. */
sqlite3_stmt *hfi_writer_features(hfi_writer *w);
/** A kernel's parameter i as the kernel has it, and its value in the user's units. */
void hfi_writer_parameter(hfi_writer *w, sqlite3_stmt *statement, const hf_kernel *kernel, size_t i,
                          double user_value);
sqlite3_stmt *hfi_writer_parameters(hfi_writer *w);

/** A matrix, row by row: in one piece if it is small enough, else rows 0 .. in "name/0" and so
 * on. */
void hfi_writer_array(hfi_writer *w, const char *name, size_t rows, size_t columns,
                      const double *values);

/** Bytes to a file, complete or not at all. */
hf_status hfi_writer_store(hf_context *ctx, const char *path, const unsigned char *bytes,
                           size_t size);

#endif
