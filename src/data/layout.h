/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file layout.h
 * @brief The head of a table as people have it: comments, the names of the columns, or none.
 */
#ifndef HFI_DATA_LAYOUT_H
#define HFI_DATA_LAYOUT_H

#include "data/manner.h"

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
