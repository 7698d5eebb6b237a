/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file reader.h
 * @brief Reading a file's database. All of it takes any content whatever: what is not as it should
 * be becomes HF_ERR_MODEL_FILE with the file's name. Nothing is allocated for numbers that the file
 * has no bytes for.
 */
#ifndef HFI_STORE_READER_H
#define HFI_STORE_READER_H

#include "store/file.h"

/** The file that is being read. */
typedef struct hfi_reader {
    hf_context *ctx;
    sqlite3 *db;
    const char *name; /* of the file */
    size_t size;      /* of the file, bytes */
    unsigned version; /* of its format */
    unsigned schema;  /* version of the model format whose tables it has */
    const hfi_file_kind *kind;
    hfi_memory memory; /* of what is read */
    hf_model *model;   /* NULL when it is of something else */
} hfi_reader;

/** Looks at the bytes before SQLite does, opens them and checks the database: intact, exactly our
 * tables, checksum. `schema` 0: that of the version. On success the caller closes with
 * hfi_reader_close(); on error nothing is left to close. */
hf_status hfi_reader_open(hf_context *ctx, const hfi_file_kind *kind, unsigned schema,
                          const unsigned char *bytes, size_t size, const char *name, hfi_reader *r);
void hfi_reader_close(hfi_reader *r);

/** "<file>: damaged: <what>". */
hf_status hfi_reader_damaged(const hfi_reader *r, const char *what);
/** Whether SQLite finds the database intact; with the name of a table, only that and its indices.
 * O(what is looked at). */
hf_status hfi_reader_intact(const hfi_reader *r, const char *table);
/** The file has bytes for rows x columns numbers. */
bool hfi_reader_has_room(const hfi_reader *r, size_t rows, size_t columns);

/* ---- rows (rows.c) ---------------------------------------------------------------------- */

/** Exactly `count` rows into as many structs of `size` bytes, which are zero. On error too, texts
 * that are set are the caller's. */
hf_status hfi_reader_rows(const hfi_reader *r, const hfi_file_rows *rows, size_t count, size_t size,
                          void *objects);
/** The number that a query about these values gives, as of rows; 0 when it gives none. */
size_t hfi_reader_count(const hfi_reader *r, const char *sql, size_t count,
                        const hfi_sql_value *values);
/** Exactly `count` texts that hfi_writer_texts() wrote. On error *out is what there is, the
 * caller's. */
hf_status hfi_reader_texts(const hfi_reader *r, const hfi_text_rows *rows, size_t of, size_t count,
                           char ***out);

/* ---- the table meta (meta.c) ----------------------------------------------------------------- */

/** Whether the key is there. */
bool hfi_meta_has(const hfi_reader *r, const char *key);
hf_status hfi_meta_bad(const hfi_reader *r, const char *key);
/** Text without zero bytes, as a copy in the reader's memory. `optional`: NULL is fine. */
hf_status hfi_meta_text(const hfi_reader *r, const char *key, bool optional, char **out);
/** Reads a number that hfi_writer_meta_seed() wrote. */
hf_status hfi_meta_seed(const hfi_reader *r, const char *key, uint64_t *out);
hf_status hfi_meta_field(const hfi_reader *r, const hfi_file_field *field, void *object);
/** Fields that the format of the file has; others keep what they are. */
hf_status hfi_meta_fields(const hfi_reader *r, const hfi_file_field *fields, size_t count,
                          void *object);
/** Settings likewise, but their ranges. */
hf_status hfi_meta_settings(const hfi_reader *r, const hf_settings_table *table, void *settings);
hf_status hfi_meta_size(const hfi_reader *r, const char *key, size_t *out);
hf_status hfi_meta_flag(const hfi_reader *r, const char *key, bool *out);
/** A finite number of at least `lowest`. */
hf_status hfi_meta_double(const hfi_reader *r, const char *key, double lowest, double *out);
/** A number, NULL being NaN. */
hf_status hfi_meta_any_double(const hfi_reader *r, const char *key, double *out);
/** One of the names, as its number. */
hf_status hfi_meta_choice(const hfi_reader *r, const char *key, const char *const *names,
                          size_t count, unsigned *out);

/* ---- the table array (arrays.c) -------------------------------------------------------------- */

bool hfi_array_there(const hfi_reader *r, const char *name);
/** Exactly rows x columns numbers into `out`, from one entry or from numbered pieces; `missing`:
 * NaN is fine. */
hf_status hfi_array_read(const hfi_reader *r, const char *name, size_t rows, size_t columns,
                         bool missing, double *out);
/** The same into a block of the reader's memory, which is the caller's also on error, or NULL. */
hf_status hfi_array_new(const hfi_reader *r, const char *name, size_t rows, size_t columns,
                        bool missing, double **out);
/** Whether a number is a whole one from 0 on. */
bool hfi_is_count(double value);
/** Whole numbers below `limit`. */
hf_status hfi_array_read_sizes(const hfi_reader *r, const char *name, size_t rows, size_t limit,
                               size_t *out);
/* ---- inputs and kernel (rows.c) ------------------------------------------------------------ */

/** The kernel of this expression, with the values of the table parameter. HF_ERR_MODEL_FILE unless
 * these are all there. */
hf_status hfi_read_kernel(const hfi_reader *r, const char *expression, const char *const *features,
                          size_t d, hf_kernel **out);
/** Names of the d inputs, each a copy in the reader's memory, into `names`, of which those that are
 * set are the caller's also on error; shift and scale of d entries. */
hf_status hfi_read_features(const hfi_reader *r, size_t d, char **names, double *shift,
                            double *scale);
#endif
