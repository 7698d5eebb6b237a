/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file csv_stream.h
 * @brief A CSV file part by part: tables larger than memory.
 *
 * Every part is cut between two records, and the reader of whole files parses it (csv_parse.c),
 * header in front. An error there is thus one here, with the same message and the line of the
 * source. Comments (#) are left out by the rule of manner.h.
 */
#ifndef HFI_DATA_CSV_STREAM_H
#define HFI_DATA_CSV_STREAM_H

#include "core/core.h"

#include <holdfast/table.h>

/** Marks that a file is recognised by: whoever writes to it changes one of these. */
typedef struct hfi_stamp {
    uint64_t bytes;
    int64_t seconds, nanoseconds; /* of the last change */
} hfi_stamp;

bool hfi_stamp_equal(const hfi_stamp *a, const hfi_stamp *b);
/** The stamp of a regular file; HF_ERR_IO with a message for anything else. */
hf_status hfi_stamp_read(hf_context *ctx, const char *path, hfi_stamp *out);

/** Receives a part: a table of some rows, which is freed afterwards. A column may be numeric in one
 * part and text in another. */
typedef hf_status (*hfi_part_consumer)(hf_context *ctx, void *arg, const hf_table *part);

/**
 * Reads a regular file, plain or packed, from begin to end in parts of about `part_bytes` (0: 4
 * MiB; a longer record is a part of its own). A file with a header alone is one part without rows.
 * *stamp (may be NULL) receives what the file was. Errors: those of hf_table_read_csv() and
 * hfi_unpack(), HF_ERR_IO for what is no regular file and for one that changed in the meantime, and
 * the consumer's. Memory: some ten times part_bytes. Reports progress "read"; can be cancelled.
 */
hf_status hfi_csv_stream(hf_context *ctx, const char *path, size_t part_bytes,
                         hfi_part_consumer consume, void *arg, hfi_stamp *stamp);

#endif
