/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file table_set.h
 * @brief Several computed columns at once.
 */
#ifndef HFI_DATA_TABLE_SET_H
#define HFI_DATA_TABLE_SET_H

#include "core/core.h"

#include <holdfast/table.h>

/** Adds or replaces `count` columns, all of them or, on HF_ERR_MEMORY, none: as
 * hf_table_set_numbers() for each. names are different from
 * each other and not empty; numbers has count x rows entries, column after column. */
hf_status hfi_table_set_columns(hf_context *ctx, hf_table *table, size_t count,
                                const char *const *names, const double *numbers);

/** hf_table_create() with a name for messages, in place of "table". */
hf_status hfi_table_create_named(hf_context *ctx, size_t rows, const char *source, hf_table **out);

#endif
