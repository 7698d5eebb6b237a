/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file binary.h
 * @brief A table on disk whose rows can be read in any order: a CSV file of any size, parsed once.
 *
 * A cache holds every column as double precision numbers, row after row, NaN for what is missing or
 * text. It knows of each column what a reader of the CSV file would have complained about, with the
 * line. It belongs to this machine (byte order) and to one state of its source (size and time of
 * the last change).
 *
 *     offset  0   16 bytes  "holdfast table\0\0"
 *            16    8 bytes  version; 8 bytes 0x0102030405060708 in the byte order of the writer
 *            32             rows x columns doubles
 *             .             the description: counts, stamp, digest of the rows, names, one record
 *             for each column, source
 *           -56   48 bytes  place and length of the description, its SHA-256
 *            -8    8 bytes  "end tab\0"
 *
 * The end is written last and the file put in place when it is complete, so that what was
 * interrupted is no cache.
 */
#ifndef HFI_DATA_BINARY_H
#define HFI_DATA_BINARY_H

#include "core/core.h"
#include "core/sha256.h"
#include "data/csv_stream.h"
#include "data/text.h"

/** Content of a column. */
typedef struct hfi_binary_column {
    char *name;
    uint64_t numbers, missing, texts; /* fields of each kind; texts > 0 makes it a text column */
    uint64_t text_line;               /* line of the first text field; 0 when there is none */
    uint64_t infinite_line;           /* line of the row of the first infinite number; 0 */
    uint64_t negative_line;           /* of the first number below 0 */
    char text[HFI_SHOWN_BYTES];       /* the first text field, as it may be shown */
} hfi_binary_column;

/** An open cache. */
typedef struct hfi_binary {
    hfi_memory memory;
    int descriptor;
    char *path;   /* of the cache */
    char *source; /* of the CSV file, as it was given */
    hfi_stamp stamp;
    size_t rows, columns;
    hfi_binary_column *column;
    unsigned char digest[HFI_SHA256_BYTES]; /* of the rows */
} hfi_binary;

/** Converts a CSV file. Errors: those of hfi_csv_stream() and hfi_file_*(); nothing is left behind.
 * Memory as for hfi_csv_stream(); 8 bytes of disk for a field. A cache or an empty file of that
 * name is replaced; any other file is HF_ERR_IO. */
hf_status hfi_binary_create(hf_context *ctx, const char *csv, const char *path);

/** Opens a cache. `csv`, unless NULL, must be the file it was made from, in the state it had then:
 * else HF_ERR_IO. HF_ERR_IO too for what is no cache, is damaged, cut short, or from another kind
 * of machine. *out is zeroed on error. */
hf_status hfi_binary_open(hf_context *ctx, const char *path, const char *csv, hfi_binary *out);
void hfi_binary_close(hfi_binary *binary);

/** Opens the cache of a CSV file at `path`. The cache is made if there is none (*made true), and
 * made anew if it is damaged or the source has changed since. Errors as of hfi_binary_create() and
 * hfi_binary_open(). */
hf_status hfi_binary_obtain(hf_context *ctx, const char *csv, const char *path, hfi_binary *out,
                            bool *made);

/** `count` rows from `begin` on into numbers (count x columns). HF_ERR_IO. Calls from several
 * threads do not disturb each other. */
hf_status hfi_binary_read(hf_context *ctx, const hfi_binary *binary, size_t begin, size_t count,
                          double *numbers);

/** Reads all rows once and compares their digest: HF_ERR_IO when they are damaged. Reports progress
 * "verify"; can be cancelled. */
hf_status hfi_binary_verify(hf_context *ctx, const hfi_binary *binary);

/** A table of the same columns, numeric and text ones as in the cache, with few rows (and with the
 * lines of the source). They suffice to find in it what would have been found in the whole:
 * for each column its first text and its first infinite number; and a row of zeros for columns with
 * at least as many numbers as texts. */
hf_status hfi_binary_sketch(hf_context *ctx, const hfi_binary *binary, hf_table **out);

/* ---- numbers of the format, for src/data/binary*.c only -------------------------------------- */

#define HFI_BINARY_MAGIC   "holdfast table\0" /* 16 bytes with the last zero */
#define HFI_BINARY_END     "end tab"          /* 8 */
#define HFI_BINARY_VERSION UINT64_C(1)
#define HFI_BINARY_ORDER   UINT64_C(0x0102030405060708)

enum {
    HFI_BINARY_HEAD = 32,
    HFI_BINARY_TAIL = 56, /* place, length, digest, end mark */
    HFI_BINARY_CHUNK = 1 << 20
};

#endif
